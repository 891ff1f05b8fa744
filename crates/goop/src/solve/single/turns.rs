//! What is done with each bundle when it has its turn in a sweep, see `single`.

use super::super::BlockMatrix;
use super::super::bundle::{NONE, Pattern};
use super::super::sweep::{Backward, Bundle, Corner, Dot, Each, Forward, Full, Multiply};
use super::super::sweep::{ask, fused, load, minus, narrowed, plus, restored, scaled, shrunk, store, widened};
use super::{LEFT, RELAXED};
use crate::lanes::sixteen::{Sixteen, WIDEST};
use crate::parallel::Disjoint;
use glam::DVec3;

/// Slots of any blocks.
pub(super) struct Copied<'a> {
    pub pattern: &'a Pattern,
    pub matrix: &'a BlockMatrix,
    pub first: usize,
    pub slots: &'a mut [Full],
}

impl Each for Copied<'_> {
    #[inline(always)]
    fn visit<S: Sixteen>(&mut self, slot: usize) {
        let (sources, Full(out)) = (&self.pattern.sources[self.first + slot], &mut self.slots[slot]);
        let mut which = [0; WIDEST];
        for lane in 0..WIDEST {
            // Spare ones are made nothing of below.
            which[lane] = if sources[lane] == NONE { 0 } else { sources[lane] };
        }
        match self.matrix.singles() {
            Some(singles) => {
                assert!(which.iter().all(|source| 9 * (*source as usize / 2) + 9 <= singles.len()));
                // SAFETY: checked above.
                let entries = unsafe { S::blocks(singles, &which) };
                for e in 0..9 {
                    S::single(0.0).minus(entries[e]).store(&mut out[e]);
                }
            }
            None => {
                for lane in 0..WIDEST {
                    let entries = self.matrix.single(which[lane] as usize / 2);
                    for e in 0..9 {
                        out[e][lane] = -entries[if which[lane] % 2 == 1 { 3 * (e % 3) + e / 3 } else { e }];
                    }
                }
            }
        }
        if sources.contains(&NONE) {
            for lane in (0..WIDEST).filter(|&lane| sources[lane] == NONE) {
                out.iter_mut().for_each(|row| row[lane] = 0.0);
            }
        }
    }
}

/// r = C⁻¹ Sᵀ r
pub(super) struct SetOut<'a> {
    pub r: &'a mut [Bundle],
    pub rr: Dot,
}

impl Forward for SetOut<'_> {
    #[inline(always)]
    fn value<S: Sixteen>(&mut self, k: usize, scale: &Corner, sum: [S; 3]) -> [S; 3] {
        let own = scaled(plus(narrowed(scale, load(&self.r[k])), sum), S::single(RELAXED));
        store(own, &mut self.r[k]);
        self.rr.add(own, own);
        own
    }
}

/// A guess beside what is right: g = S⁻¹ x, b = Sᵀ b, (L + I + Lᵀ) g, and the sums g·(…) g, g·b, |g|²
pub(super) struct Weigh<'a> {
    /// x
    pub found: &'a [Bundle],
    pub guess: &'a mut [Bundle],
    pub right: &'a mut [Bundle],
    pub product: &'a mut [Bundle],
    pub sums: [Dot; 3],
}

impl Multiply for Weigh<'_> {
    #[inline(always)]
    fn value<S: Sixteen>(&mut self, k: usize, scale: &Corner, sum: [S; 3]) {
        let guess = shrunk(scale, load::<S>(&self.found[k]));
        let (right, product) = (narrowed(scale, load::<S>(&self.right[k])), minus(guess, sum));
        store(guess, &mut self.guess[k]);
        store(right, &mut self.right[k]);
        store(product, &mut self.product[k]);
        let [energy, along, length2] = &mut self.sums;
        energy.add(guess, product);
        along.add(guess, right);
        length2.add(guess, guess);
    }
}

/// r = C⁻¹ (b - share of the product with a guess), and the square of what that is in the system's own measure
pub(super) struct SetOff<'a> {
    pub r: &'a mut [Bundle],
    pub q: &'a mut [Bundle],
    pub share: f32,
    pub left2: Dot,
    pub rr: Dot,
}

impl Forward for SetOff<'_> {
    #[inline(always)]
    fn value<S: Sixteen>(&mut self, k: usize, scale: &Corner, sum: [S; 3]) -> [S; 3] {
        let right = fused(S::single(-self.share), load(&self.q[k]), load(&self.r[k]));
        let left = restored(scale, right);
        self.left2.add(left, left);
        let own = scaled(plus(right, sum), S::single(RELAXED));
        store(own, &mut self.r[k]);
        self.q[k] = Bundle::default();
        self.rr.add(own, own);
        own
    }
}

/// x += α t and r -= α q of the step before, p = r + β p, t = C⁻ᵀ p
pub(super) struct Turn<'a> {
    pub r: &'a mut [Bundle],
    pub q: &'a [Bundle],
    pub x: &'a mut [Bundle],
    pub p: &'a mut [Bundle],
    pub t: &'a mut [Bundle],
    pub alpha: f32,
    pub beta: f32,
    pub gamma: f32,
    pub rr: Dot,
}

impl Backward for Turn<'_> {
    #[inline(always)]
    fn value<S: Sixteen>(&mut self, k: usize, sum: [S; 3]) -> [S; 3] {
        store(fused(S::single(self.alpha), load(&self.t[k]), load(&self.x[k])), &mut self.x[k]);
        let r = fused(S::single(-self.gamma), load(&self.q[k]), load(&self.r[k]));
        store(r, &mut self.r[k]);
        self.rr.add(r, r);
        let p = fused(S::single(self.beta), load(&self.p[k]), r);
        store(p, &mut self.p[k]);
        let t = scaled(plus(p, sum), S::single(RELAXED));
        store(t, &mut self.t[k]);
        t
    }

    #[inline(always)]
    fn ask(&self, k: usize) {
        [&*self.r, self.q, self.x, self.p, self.t].into_iter().for_each(|list| ask(&list[k..k + 1]));
    }
}

/// q = t + C⁻¹ (p - κ t)
pub(super) struct Return<'a> {
    pub t: &'a [Bundle],
    pub p: &'a [Bundle],
    pub q: &'a mut [Bundle],
    pub pq: Dot,
    pub qq: Dot,
}

impl Forward for Return<'_> {
    #[inline(always)]
    fn value<S: Sixteen>(&mut self, k: usize, _: &Corner, sum: [S; 3]) -> [S; 3] {
        let (t, p) = (load(&self.t[k]), load(&self.p[k]));
        let right = fused(S::single(-LEFT), t, p);
        let own = scaled(plus(right, sum), S::single(RELAXED));
        let q = plus(own, t);
        store(q, &mut self.q[k]);
        self.pq.add(q, p);
        self.qq.add(q, q);
        own
    }

    #[inline(always)]
    fn ask(&self, k: usize) {
        [self.t, self.p, &*self.q].into_iter().for_each(|list| ask(&list[k..k + 1]));
    }
}

/// r -= α q
pub(super) struct Advance<'a> {
    pub r: &'a mut [Bundle],
    pub q: &'a [Bundle],
    pub alpha: f32,
    pub rr: Dot,
}

impl Each for Advance<'_> {
    #[inline(always)]
    fn visit<S: Sixteen>(&mut self, k: usize) {
        let r = fused(S::single(-self.alpha), load(&self.q[k]), load(&self.r[k]));
        store(r, &mut self.r[k]);
        self.rr.add(r, r);
    }
}

/// S⁻ᵀ C r, with the step that r is still without
pub(super) struct Trace<'a> {
    pub r: &'a [Bundle],
    pub q: &'a [Bundle],
    pub gamma: f32,
    pub nodes: &'a [[u32; WIDEST]],
    pub size: f64,
    pub out: &'a Disjoint<'a, DVec3>,
    pub left2: Dot,
}

impl Forward for Trace<'_> {
    #[inline(always)]
    fn value<S: Sixteen>(&mut self, k: usize, scale: &Corner, sum: [S; 3]) -> [S; 3] {
        let r = fused(S::single(-self.gamma), load(&self.q[k]), load(&self.r[k]));
        let left = restored(scale, minus(scaled(r, S::single(1.0 / RELAXED)), sum));
        self.left2.add(left, left);
        let mut parts = Bundle::default();
        store(left, &mut parts);
        // SAFETY: a node has one place.
        unsafe { hand_out(&parts, &self.nodes[k], self.out, |to, found| *to = self.size * found) };
        r
    }
}

/// Adds S (x + α t) to nodes, and makes x zero
pub(super) struct Give<'a> {
    pub x: &'a mut [Bundle],
    pub t: &'a [Bundle],
    pub scales: &'a [Corner],
    pub nodes: &'a [[u32; WIDEST]],
    pub alpha: f32,
    pub size: f64,
    pub out: &'a Disjoint<'a, DVec3>,
    pub length2: Dot,
}

impl Each for Give<'_> {
    #[inline(always)]
    fn visit<S: Sixteen>(&mut self, k: usize) {
        let x = fused(S::single(self.alpha), load(&self.t[k]), load(&self.x[k]));
        self.length2.add(x, x);
        self.x[k] = Bundle::default();
        let mut parts = Bundle::default();
        store(widened(&self.scales[k], x), &mut parts);
        // SAFETY: a node has one place.
        unsafe { hand_out(&parts, &self.nodes[k], self.out, |to, found| *to += self.size * found) };
    }
}

/// Vectors of a bundle's nodes, divided.
#[inline(always)]
pub(super) fn take_in(Bundle([x, y, z]): &mut Bundle, nodes: &[u32; WIDEST], from: &[DVec3], by: f64) {
    let factor = 1.0 / by;
    for (lane, &node) in nodes.iter().enumerate() {
        let v = from.get(node as usize).map_or(DVec3::ZERO, |v| *v * factor);
        (x[lane], y[lane], z[lane]) = (v.x as f32, v.y as f32, v.z as f32);
    }
}

/// Gives every node of a bundle its vector.
///
/// # Safety
/// No node may be given two at the same time.
#[inline(always)]
unsafe fn hand_out(
    Bundle([x, y, z]): &Bundle,
    nodes: &[u32; WIDEST],
    out: &Disjoint<DVec3>,
    give: impl Fn(&mut DVec3, DVec3),
) {
    for (lane, &node) in nodes.iter().enumerate() {
        if node != NONE {
            let found = DVec3::new(f64::from(x[lane]), f64::from(y[lane]), f64::from(z[lane]));
            // SAFETY: by the caller.
            give(unsafe { &mut out.slice(node as usize..node as usize + 1)[0] }, found);
        }
    }
}
