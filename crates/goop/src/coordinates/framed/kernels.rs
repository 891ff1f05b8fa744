//! The passes of a framed step over its nodes, four at a time.
//!
//! Vectors lie in planes, so four nodes are one load for each component. Written once over
//! [`Lanes`], compiled plainly and for AVX2, with the same rounding.

use crate::lanes::{Lanes, WIDE};
use crate::parallel::{Chunks, Disjoint};
use glam::{DMat3, DVec3};
use std::ops::Range;

/// Below this a body's passes are not shared out: waking a thread costs more than a pass.
const LARGE: usize = 40_000;

/// Runs `work` over all nodes and adds up what it returns, in an order that depends on n alone.
pub fn sum<const N: usize>(n: usize, work: impl Fn(Range<usize>) -> [f64; N] + Sync) -> [f64; N] {
    if n < LARGE { work(0..n) } else { Chunks::new(n).sum(|_, range| work(range)) }
}

/// Compiles a kernel over `Lanes` for AVX2 beside the plain form, and chooses.
macro_rules! wide {
    ($name:ident, $by:ident, ($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name($($arg: $type),*) -> $out {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $type),*) -> $out {
                    $by::<crate::lanes::avx2::Register>($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has AVX2.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $by::<[f64; WIDE]>($($arg),*)
        }
    };
}

/// Four numbers from a place, zeros beyond the end.
#[inline(always)]
fn take<L: Lanes>(from: &[f64], at: usize) -> L {
    match from.get(at..at + WIDE).and_then(|four| four.first_chunk::<WIDE>()) {
        Some(four) => L::load(four),
        None => L::load(&std::array::from_fn(|k| from.get(at + k).copied().unwrap_or(0.0))),
    }
}

#[inline(always)]
fn give<L: Lanes>(value: L, to: &mut [f64], at: usize) {
    match to.get_mut(at..at + WIDE).and_then(|four| four.first_chunk_mut::<WIDE>()) {
        Some(four) => value.store(four),
        None => {
            let mut four = [0.0; WIDE];
            value.store(&mut four);
            for (k, slot) in to[at..].iter_mut().enumerate() {
                *slot = four[k];
            }
        }
    }
}

/// Four vectors.
type V<L> = [L; 3];

/// Three planes over a range of nodes.
type Planes<'a> = [&'a [f64]; 3];

#[inline(always)]
fn take3<L: Lanes>(from: &Planes, at: usize) -> V<L> {
    [take(from[0], at), take(from[1], at), take(from[2], at)]
}

#[inline(always)]
fn add<L: Lanes>(a: V<L>, b: V<L>) -> V<L> {
    L::plus_vectors(a, b)
}

#[inline(always)]
fn scaled<L: Lanes>(a: V<L>, by: L) -> V<L> {
    [a[0].times(by), a[1].times(by), a[2].times(by)]
}

#[inline(always)]
fn dot<L: Lanes>(a: V<L>, b: V<L>) -> L {
    a[0].times(b[0]).plus(a[1].times(b[1])).plus(a[2].times(b[2]))
}

#[inline(always)]
fn crossed<L: Lanes>(a: V<L>, b: V<L>) -> V<L> {
    let part = |i: usize, j: usize| a[i].times(b[j]).minus(a[j].times(b[i]));
    [part(1, 2), part(2, 0), part(0, 1)]
}

/// A matrix, each entry four times.
#[derive(Clone, Copy)]
struct Matrix<L>([V<L>; 3]);

impl<L: Lanes> Matrix<L> {
    #[inline(always)]
    fn new(m: &DMat3) -> Self {
        Self([0, 1, 2].map(|c| m.col(c).to_array().map(L::splat)))
    }

    #[inline(always)]
    fn times(&self, v: V<L>) -> V<L> {
        let [a, b, c] = self.0;
        add(add(scaled(a, v[0]), scaled(b, v[1])), scaled(c, v[2]))
    }
}

#[inline(always)]
fn total<L: Lanes>(value: L) -> f64 {
    let mut four = [0.0; WIDE];
    value.store(&mut four);
    (four[0] + four[1]) + (four[2] + four[3])
}

/// The part of each plane of an array that belongs to a range of nodes.
fn planes<'a>(all: &'a [f64], n: usize, range: &Range<usize>) -> Planes<'a> {
    [0, 1, 2].map(|p| &all[p * n + range.start..p * n + range.end])
}

/// The same for writing.
///
/// # Safety
/// Ranges in use at the same time must not overlap.
#[allow(clippy::mut_from_ref)]
unsafe fn planes_mut<'a>(all: &'a Disjoint<'_, f64>, n: usize, range: &Range<usize>) -> [&'a mut [f64]; 3] {
    // SAFETY: planes are disjoint, ranges by the caller's promise.
    [0, 1, 2].map(|p| unsafe { all.slice(p * n + range.start..p * n + range.end) })
}

/// What a node starts a step with, and its inertial force per mass: matrices on r, e and ė, and a constant.
#[derive(Clone, Copy)]
pub struct Start<'a> {
    /// μ (kg)
    pub masses: &'a [f64],
    /// r (m)
    pub reference: &'a [f64],
    /// e (m)
    pub displacement: &'a [f64],
    /// ė (m/s)
    pub rate: &'a [f64],
    /// On r, e and ė (1/s², 1/s², 1/s).
    pub inertial: [DMat3; 3],
}

/// b = μ (inertial + fall) - K e - reach K ė, by planes. Returns Σμ w and Σμ r×w for w = e/h + ė: what the
/// displacement already has of a rigid motion, by rounding.
pub fn right_side(start: &Start, h: f64, fall: DVec3, reach: f64, ke: &[f64], kr: &[f64], out: &mut [f64]) -> [f64; 6] {
    let n = start.masses.len();
    let out = Disjoint::new(out);
    sum(n, |range| {
        // SAFETY: ranges are disjoint.
        let out = unsafe { planes_mut(&out, n, &range) };
        let part = |all| planes(all, n, &range);
        let inputs = [start.reference, start.displacement, start.rate, ke, kr].map(part);
        right_side_range(&start.masses[range.clone()], &inputs, &start.inertial, fall, [reach, 1.0 / h], out)
    })
}

wide!(right_side_range, right_side_by, (masses: &[f64], inputs: &[Planes; 5], inertial: &[DMat3; 3], fall: DVec3, times: [f64; 2], out: [&mut [f64]; 3]) -> [f64; 6]);

#[inline(always)]
fn right_side_by<L: Lanes>(
    masses: &[f64],
    [r, e, rate, ke, kr]: &[Planes; 5],
    inertial: &[DMat3; 3],
    fall: DVec3,
    [reach, over_h]: [f64; 2],
    out: [&mut [f64]; 3],
) -> [f64; 6] {
    let [on_r, on_e, on_rate] = [0, 1, 2].map(|k| Matrix::<L>::new(&inertial[k]));
    let (fall, reach, over_h) = (fall.to_array().map(L::splat), L::splat(reach), L::splat(over_h));
    let (mut shift, mut turn) = ([L::splat(0.0); 3], [L::splat(0.0); 3]);
    let [x, y, z] = out;
    for i in (0..masses.len()).step_by(WIDE) {
        let m: L = take(masses, i);
        let (r, e, rate): (V<L>, V<L>, V<L>) = (take3(r, i), take3(e, i), take3(rate, i));
        let own = add(add(on_r.times(r), on_e.times(e)), add(on_rate.times(rate), fall));
        let w = scaled(add(rate, scaled(e, over_h)), m);
        shift = add(shift, w);
        turn = add(turn, crossed(r, w));
        let pull = add(take3(ke, i), scaled(take3(kr, i), reach));
        let b = L::minus_vectors(scaled(own, m), pull);
        give(b[0], x, i);
        give(b[1], y, i);
        give(b[2], z, i);
    }
    six(shift, turn)
}

/// Σμ δ and Σμ r×δ.
pub fn rigid_part(start: &Start, delta: &[f64]) -> [f64; 6] {
    let n = start.masses.len();
    sum(n, |range| {
        let part = |all| planes(all, n, &range);
        rigid_range(&start.masses[range.clone()], &[start.reference, delta].map(part))
    })
}

wide!(rigid_range, rigid_by, (masses: &[f64], inputs: &[Planes; 2]) -> [f64; 6]);

#[inline(always)]
fn rigid_by<L: Lanes>(masses: &[f64], [r, delta]: &[Planes; 2]) -> [f64; 6] {
    let (mut shift, mut turn) = ([L::splat(0.0); 3], [L::splat(0.0); 3]);
    for i in (0..masses.len()).step_by(WIDE) {
        let w = scaled(take3(delta, i), take(masses, i));
        shift = add(shift, w);
        turn = add(turn, crossed(take3(r, i), w));
    }
    six(shift, turn)
}

#[inline(always)]
fn six<L: Lanes>(shift: V<L>, turn: V<L>) -> [f64; 6] {
    let ([a, b, c], [d, e, f]) = (shift.map(total), turn.map(total));
    [a, b, c, d, e, f]
}

/// Sums of a move: second moments at the middle and at the end, Σμ e₁×ė₁, Σμ|ė₀|², Σμ|ė₁|², Σμ inertial·(ė₀ + ė₁).
pub const SUMS: usize = 18;

/// δ -= Y c; ė₁ = ė₀ + δ, e₁ = e₀ + h ė₁; and the sums. `y` has, by plane, the columns that count and their factors.
pub fn advance(
    start: &Start,
    h: f64,
    y: &[[(f64, &[f64]); 6]; 3],
    delta: &mut [f64],
    e_out: &mut [f64],
    rate_out: &mut [f64],
) -> [f64; SUMS] {
    let n = start.masses.len();
    let (delta, e_out, rate_out) = (Disjoint::new(delta), Disjoint::new(e_out), Disjoint::new(rate_out));
    sum(n, |range| {
        // SAFETY: ranges are disjoint.
        let mut out =
            unsafe { [planes_mut(&delta, n, &range), planes_mut(&e_out, n, &range), planes_mut(&rate_out, n, &range)] };
        let part = |all| planes(all, n, &range);
        let inputs = [start.reference, start.displacement, start.rate].map(part);
        let y = y.map(|columns| {
            columns.map(|(c, y)| if c == 0.0 || y.is_empty() { (0.0, &y[..0]) } else { (c, &y[range.clone()]) })
        });
        advance_range(&start.masses[range.clone()], &inputs, &start.inertial, h, &y, &mut out)
    })
}

wide!(advance_range, advance_by, (masses: &[f64], inputs: &[Planes; 3], inertial: &[DMat3; 3], h: f64, y: &[[(f64, &[f64]); 6]; 3], out: &mut [[&mut [f64]; 3]; 3]) -> [f64; SUMS]);

#[inline(always)]
fn advance_by<L: Lanes>(
    masses: &[f64],
    [r, e, rate]: &[Planes; 3],
    inertial: &[DMat3; 3],
    h: f64,
    y: &[[(f64, &[f64]); 6]; 3],
    [delta, e_out, rate_out]: &mut [[&mut [f64]; 3]; 3],
) -> [f64; SUMS] {
    let (h, half) = (L::splat(h), L::splat(0.5));
    // Columns first, a plane at a time: a handful of long, simple loops.
    for p in 0..3 {
        for (c, y) in y[p].iter().filter(|(c, _)| *c != 0.0) {
            let c = L::splat(*c);
            for i in (0..masses.len()).step_by(WIDE) {
                let d: L = take(delta[p], i);
                give(d.minus(c.times(take(y, i))), delta[p], i);
            }
        }
    }
    let [on_r, on_e, on_rate] = [0, 1, 2].map(|k| Matrix::<L>::new(&inertial[k]));
    let mut s = [L::splat(0.0); SUMS];
    for i in (0..masses.len()).step_by(WIDE) {
        let m: L = take(masses, i);
        let (r, e, rate): (V<L>, V<L>, V<L>) = (take3(r, i), take3(e, i), take3(rate, i));
        let new_rate = add(rate, [take(delta[0], i), take(delta[1], i), take(delta[2], i)]);
        let new_e = add(e, scaled(new_rate, h));
        for p in 0..3 {
            give(new_e[p], e_out[p], i);
            give(new_rate[p], rate_out[p], i);
        }
        let end = add(r, new_e);
        let middle = add(r, scaled(add(e, new_e), half));
        for (k, q) in [middle, end].into_iter().enumerate() {
            let [x, y, z] = scaled(q, m);
            let terms = [x.times(q[0]), y.times(q[1]), z.times(q[2]), y.times(q[2]), z.times(q[0]), x.times(q[1])];
            for t in 0..6 {
                s[6 * k + t] = s[6 * k + t].plus(terms[t]);
            }
        }
        let heavy = scaled(new_rate, m);
        let turned = crossed(new_e, heavy);
        for t in 0..3 {
            s[12 + t] = s[12 + t].plus(turned[t]);
        }
        s[15] = s[15].plus(m.times(dot(rate, rate)));
        s[16] = s[16].plus(dot(heavy, new_rate));
        let own = add(add(on_r.times(r), on_e.times(e)), on_rate.times(rate));
        s[17] = s[17].plus(m.times(dot(own, add(rate, new_rate))));
    }
    s.map(total)
}

/// Positions and velocities of nodes: x = c + R s, ẋ = v + R (Ω×s + ė).
#[derive(Clone, Copy)]
pub struct Pose {
    /// R
    pub turn: DMat3,
    /// c (m)
    pub center: DVec3,
    /// v (m/s)
    pub velocity: DVec3,
    /// Ω (rad/s), body axes.
    pub spin: DVec3,
}

/// Writes them; returns Σ ½ m ẋ² (J).
pub fn place(pose: &Pose, start: &Start, x: &mut [DVec3], v: &mut [DVec3]) -> f64 {
    let n = start.masses.len();
    let (x, v) = (Disjoint::new(x), Disjoint::new(v));
    sum(n, |range| {
        // SAFETY: ranges are disjoint.
        let (x, v) = unsafe { (x.slice(range.clone()), v.slice(range.clone())) };
        let part = |all| planes(all, n, &range);
        let inputs = [start.reference, start.displacement, start.rate].map(part);
        [place_range(pose, &start.masses[range.clone()], &inputs, x, v)]
    })[0]
}

wide!(place_range, place_by, (pose: &Pose, masses: &[f64], inputs: &[Planes; 3], x: &mut [DVec3], v: &mut [DVec3]) -> f64);

#[inline(always)]
fn place_by<L: Lanes>(
    pose: &Pose,
    masses: &[f64],
    [r, e, rate]: &[Planes; 3],
    x: &mut [DVec3],
    v: &mut [DVec3],
) -> f64 {
    let turn = Matrix::<L>::new(&pose.turn);
    let [center, velocity, spin] = [pose.center, pose.velocity, pose.spin].map(|a| a.to_array().map(L::splat));
    let mut kinetic = L::splat(0.0);
    for i in (0..masses.len()).step_by(WIDE) {
        let s = add(take3(r, i), take3(e, i));
        let u = add(crossed(spin, s), take3(rate, i));
        let (position, velocity) = (add(center, turn.times(s)), add(velocity, turn.times(u)));
        kinetic = kinetic.plus(L::times(take(masses, i), dot(velocity, velocity)));
        for (values, to) in [(position, &mut *x), (velocity, &mut *v)] {
            let mut four = [[0.0; WIDE]; 3];
            (0..3).for_each(|p| values[p].store(&mut four[p]));
            for (k, to) in to[i..].iter_mut().take(WIDE).enumerate() {
                *to = DVec3::new(four[0][k], four[1][k], four[2][k]);
            }
        }
    }
    0.5 * total(kinetic)
}

/// Largest square of a way between two sets of positions (m²), and the sum of all.
pub fn furthest(from: &[DVec3], to: &[DVec3]) -> (f64, f64) {
    let n = from.len();
    let both = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1] + b[1]];
    let work = |range: Range<usize>| furthest_range(&from[range.clone()], &to[range]);
    let [most, all] = if n < LARGE { work(0..n) } else { Chunks::new(n).fold([0.0; 2], |_, range| work(range), both) };
    (most, all)
}

wide!(furthest_range, furthest_by, (from: &[DVec3], to: &[DVec3]) -> [f64; 2]);

#[inline(always)]
fn furthest_by<L: Lanes>(from: &[DVec3], to: &[DVec3]) -> [f64; 2] {
    let (a, b): (&[f64], &[f64]) = (bytemuck::cast_slice(from), bytemuck::cast_slice(to));
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<12>(), b.as_chunks::<12>());
    let (mut most, mut all) = ([0.0f64; WIDE], L::splat(0.0));
    let mut padded = [[0.0; 12]; 2];
    padded[0][..rest_a.len()].copy_from_slice(rest_a);
    padded[1][..rest_b.len()].copy_from_slice(rest_b);
    for (a, b) in a.iter().zip(b).chain([(&padded[0], &padded[1])]) {
        let way = L::minus_vectors(L::load_vectors(b), L::load_vectors(a));
        let squares = L::dots(way, way);
        all = all.plus(squares);
        let mut four = [0.0; WIDE];
        squares.store(&mut four);
        most = std::array::from_fn(|k| if four[k] > most[k] { four[k] } else { most[k] });
    }
    [most.into_iter().fold(0.0, f64::max), total(all)]
}

/// A matrix by diagonals: entry (i, i + offset) is `values[d n + i]`.
#[derive(Debug)]
pub struct Bands {
    /// Ascending.
    pub offsets: Vec<isize>,
    /// By diagonal, then by row.
    pub values: Vec<f64>,
    /// Rows all of whose entries lie within.
    pub inner: Range<usize>,
}

/// Rows of K x for two vectors in each of some columns; inner rows only. Columns lie one after another in x, rows of `out` too.
pub fn band_rows(bands: &Bands, rows: Range<usize>, x: [&[f64]; 2], columns: &mut [[&mut [f64]; 2]]) {
    match columns {
        [a, b, c] => band_three(bands, rows, x, [a, b, c]),
        [a, b] => band_two(bands, rows, x, [a, b]),
        _ => {
            let n = x[0].len() / columns.len().max(1);
            for (k, column) in columns.iter_mut().enumerate() {
                band_one(bands, rows.clone(), x.map(|x| &x[k * n..(k + 1) * n]), [column]);
            }
        }
    }
}

wide!(band_one, band_by_one, (bands: &Bands, rows: Range<usize>, x: [&[f64]; 2], out: [&mut [&mut [f64]; 2]; 1]) -> ());
wide!(band_two, band_by_two, (bands: &Bands, rows: Range<usize>, x: [&[f64]; 2], out: [&mut [&mut [f64]; 2]; 2]) -> ());
wide!(band_three, band_by_three, (bands: &Bands, rows: Range<usize>, x: [&[f64]; 2], out: [&mut [&mut [f64]; 2]; 3]) -> ());

/// Two vectors in one column for the kernels of bands.
type Column<'a, 'b> = &'a mut [&'b mut [f64]; 2];

#[inline(always)]
fn band_by_one<L: Lanes>(bands: &Bands, rows: Range<usize>, x: [&[f64]; 2], out: [Column; 1]) {
    band_by::<L, 1>(bands, rows, x, out);
}

#[inline(always)]
fn band_by_two<L: Lanes>(bands: &Bands, rows: Range<usize>, x: [&[f64]; 2], out: [Column; 2]) {
    band_by::<L, 2>(bands, rows, x, out);
}

#[inline(always)]
fn band_by_three<L: Lanes>(bands: &Bands, rows: Range<usize>, x: [&[f64]; 2], out: [Column; 3]) {
    band_by::<L, 3>(bands, rows, x, out);
}

#[inline(always)]
fn band_by<L: Lanes, const C: usize>(bands: &Bands, rows: Range<usize>, [e, rate]: [&[f64]; 2], out: [Column; C]) {
    let n = e.len() / C;

    let (e, rate): ([&[f64]; C], [&[f64]; C]) =
        (std::array::from_fn(|k| &e[k * n..(k + 1) * n]), std::array::from_fn(|k| &rate[k * n..(k + 1) * n]));
    for i in (0..rows.len()).step_by(WIDE) {
        let row = rows.start + i;
        let mut sums = [[L::splat(0.0); 2]; C];
        for (d, &offset) in bands.offsets.iter().enumerate() {
            let at = row.wrapping_add_signed(offset);
            let value: L = take(&bands.values[d * n..(d + 1) * n], row);
            for k in 0..C {
                sums[k][0] = sums[k][0].plus(value.times(take(e[k], at)));
                sums[k][1] = sums[k][1].plus(value.times(take(rate[k], at)));
            }
        }
        for k in 0..C {
            give(sums[k][0], out[k][0], i);
            give(sums[k][1], out[k][1], i);
        }
    }
}

/// e·a, e·b, ė·b, old·a, old·b.
pub fn dots(e: &[f64], rate: &[f64], old: &[f64], a: &[f64], b: &[f64]) -> [f64; 5] {
    dots_range(e, rate, old, a, b)
}

wide!(dots_range, dots_by, (e: &[f64], rate: &[f64], old: &[f64], a: &[f64], b: &[f64]) -> [f64; 5]);

#[inline(always)]
fn dots_by<L: Lanes>(e: &[f64], rate: &[f64], old: &[f64], a: &[f64], b: &[f64]) -> [f64; 5] {
    let mut s = [L::splat(0.0); 5];
    for i in (0..e.len()).step_by(WIDE) {
        let (e, rate, old, a, b): (L, L, L, L, L) = (take(e, i), take(rate, i), take(old, i), take(a, i), take(b, i));
        let terms = [e.times(a), e.times(b), rate.times(b), old.times(a), old.times(b)];
        for k in 0..5 {
            s[k] = s[k].plus(terms[k]);
        }
    }
    s.map(total)
}
