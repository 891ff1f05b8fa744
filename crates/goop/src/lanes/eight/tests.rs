use super::super::Kind;
use super::*;
use glam::swizzles::Vec3Swizzles;

const PLACES: [u32; EIGHT] = [1, 2, 3, 4, 5, 6, 7, 8];

#[inline(always)]
fn all<D: Doubles>(from: &[DVec3], at: &[u32; EIGHT], out: &mut [[f64; EIGHT]; 10], to: &mut [Padded]) {
    let both: Vec<Both> = from.iter().map(|&x| Both::new(x, x.zxy() * x.y)).collect();
    // SAFETY: all have one.
    let [d, e] = unsafe { D::between(&both, at, &PLACES) };
    for c in 0..3 {
        d[c].store(&mut out[3 + c]);
        e[c].store(&mut out[6 + c]);
    }
    let padded: Vec<Padded> = both.iter().map(|b| b.0[1]).collect();
    // SAFETY: as above.
    let f = unsafe { D::difference(&padded, at, &PLACES) };
    f[0].minus(e[0]).plus(f[1].minus(e[1])).plus(f[2].minus(e[2])).store(&mut out[9]);
    let [x, y, z] = [d[0], e[1], d[2]];
    D::scatter([x, z, y.times(z)], at, 1, &mut to[..6]);
    D::scatter([y, y.taken(x, z), x], at, 1, &mut to[..6]);
    let length = z.fused(z, y.fused(y, x.times(x))).root();
    let chosen = D::choose(x, y, x.over(length.larger(D::splat(1e-3))), z.minus(y.plus(x)));
    chosen.store(&mut out[0]);
    let (few, weights) = ([*at, PLACES, [0; 8]], [[0.3; 8], [0.1, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0, 8.0], [1.0; 8]]);
    // SAFETY: as above.
    let ([d, e], f) = unsafe { (D::weigh(&both, &few, &weights), D::weigh_one(&padded, &few, &weights)) };
    d[0].plus(d[1].times(d[2])).store(&mut out[1]);
    f[0].minus(e[0]).plus(f[1].minus(e[1])).plus(f[2].minus(e[2])).store(&mut out[2]);
    // SAFETY: they are among fourteen.
    unsafe {
        D::hand_out(d, &few, &weights, 0, to);
        D::add([z, x, y], &at.map(|i| i + 5), 3, to);
        D::exchange([y, x, z], &at.map(|i| i + 3), &[13, 4, 4, 3, 9, 8, 3, 5], 3, to);
    }
    if chosen.all_below(D::splat(0.5)) {
        out[0] = [7.0; EIGHT];
    }
}

#[target_feature(enable = "avx2,fma")]
fn all_avx2(from: &[DVec3], at: &[u32; EIGHT], out: &mut [[f64; EIGHT]; 10], to: &mut [Padded]) {
    all::<avx2::Twice>(from, at, out, to);
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn all_avx512(from: &[DVec3], at: &[u32; EIGHT], out: &mut [[f64; EIGHT]; 10], to: &mut [Padded]) {
    all::<avx512::Whole>(from, at, out, to);
}

/// Catches wrong shuffles, vectors taken from or put to the wrong place, the last one read beyond the end, and results that
/// depend on the processor.
#[test]
fn registers_and_plain_numbers_agree_to_the_bit() {
    let from: Vec<DVec3> = (0..9).map(|i| DVec3::new((3 * i) as f64, (i as f64).sin(), 0.1 - i as f64)).collect();
    for at in [[5, 0, 3, 8, 3, 7, 1, 2], [8, 8, 8, 8, 0, 0, 4, 4]] {
        let (mut plain, mut places) = ([[0.0; EIGHT]; 10], vec![[0.0; 4]; 14]);
        all::<[f64; EIGHT]>(&from, &at, &mut plain, &mut places);
        let bits = |of: &[[f64; EIGHT]; 10]| of.map(|row| row.map(f64::to_bits));
        assert!(plain[9] == [0.0; EIGHT] && plain[2] == [0.0; EIGHT]);
        let turned = |i: usize| from[i].zxy() * from[i].y;
        assert!((0..EIGHT).all(|l| plain[7][l] == turned(l + 1).y - turned(at[l] as usize).y));
        let (mut register, mut found) = ([[0.0; EIGHT]; 10], vec![[0.0; 4]; 14]);
        if Kind::found() != Kind::Plain {
            // SAFETY: the processor has AVX2 and FMA.
            unsafe { all_avx2(&from, &at, &mut register, &mut found) };
            assert_eq!((bits(&plain), &places), (bits(&register), &found));
        }
        if Kind::found() == Kind::Avx512 {
            let mut found = vec![[0.0; 4]; 14];
            // SAFETY: the processor has all of them.
            unsafe { all_avx512(&from, &at, &mut register, &mut found) };
            assert_eq!((bits(&plain), places), (bits(&register), found));
        }
    }
}
