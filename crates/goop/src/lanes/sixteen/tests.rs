use super::super::Kind;
use super::*;
use glam::DVec3;

#[inline(always)]
fn all<S: Sixteen>(input: &[[f32; WIDEST]; 4], out: &mut [[f32; WIDEST]; 32], sums: &mut [[f64; WIDEST]; 6]) {
    let (a, b) = (S::load(&input[0]), S::load(&input[1]));
    let (c, d) = (S::load(&input[2]), S::load(&input[3]));
    a.fused(b, c).minus(d.times(S::single(0.3))).store(&mut out[0]);
    S::choose(a, b, a.over(b).plus(d), b.larger(d).larger(S::single(0.0)).root()).store(&mut out[1]);
    S::add_squares([a, b, c, d], sums);
    S::add_squares([d, c, b, a], sums);
    // Some of them twice, and with themselves.
    let mut alone = [[0.25; 8]; 20];
    let (from, to) = ([7, 3, 3, 9, 2, 4, 6, 5, 17, 12, 11, 11, 10, 16, 2, 13], std::array::from_fn(|l| 21 - l as u32));
    S::hand_squares([a, b, c, d], [&from, &to], 2, &mut alone);
    S::hand_squares([c, b, a, d], [&to], 2, &mut alone);
    for (l, alone) in alone.iter().enumerate() {
        assert!(alone[6..] == [0.25; 2]);
        for k in 0..6 {
            sums[k][l % WIDEST] += alone[k] * (1 + l / WIDEST) as f64;
        }
    }
    for by in 0..WIDEST {
        a.turned(by).store(&mut out[2 + by]);
    }
    let mut singles = [[1.0; 4]; WIDEST];
    S::separate([a, b, c], &mut singles);
    // Some of them twice.
    let at = [7, 3, 3, 9, 2, 4, 6, 5, 17, 12, 11, 11, 10, 16, 2, 13];
    // SAFETY: there are places 2 to 17.
    unsafe {
        S::add([b, c, d], &at, 2, &mut singles);
        let [x, y, z] = S::vectors(&singles, &at, 2);
        x.store(&mut out[18]);
        y.store(&mut out[19]);
        z.store(&mut out[20]);
        x.plus(y).root().store(&mut out[21]);
        let both: Vec<Both> =
            (0..18).map(|i| DVec3::new(f64::from(i), 0.3, 2.0)).map(|x| Both::new(x, x.cross(DVec3::X))).collect();
        let [d, e] = S::between(&both, &at, &at.map(|i| i / 2));
        let rows: Vec<Padded> = both.iter().map(|b| b.0[1]).collect();
        let f = S::difference(&rows, &at, &at.map(|i| i / 2));
        d[0].plus(e[1]).times(d[2].minus(e[2])).plus(f[1].minus(e[1])).store(&mut out[22]);
        let mut blocks = [0.5; 9 * 18 + 1];
        let entries = [a, b, c, d[0], a.minus(b), b.minus(c), x, y, z];
        S::add_blocks(entries, &at.map(|i| 9 * i), &mut blocks);
        // Some of them mirrored.
        let entries = S::blocks(&blocks, &at.map(|i| 2 * i + i % 2));
        for e in 0..9 {
            entries[e].store(&mut out[23 + e]);
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn all_avx2(input: &[[f32; WIDEST]; 4], out: &mut [[f32; WIDEST]; 32], sums: &mut [[f64; WIDEST]; 6]) {
    all::<avx2::Pair>(input, out, sums);
}

#[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
fn all_avx512(input: &[[f32; WIDEST]; 4], out: &mut [[f32; WIDEST]; 32], sums: &mut [[f64; WIDEST]; 6]) {
    all::<avx512::Whole>(input, out, sums);
}

/// Catches wrong shuffles, and results that depend on the processor.
#[test]
fn registers_and_plain_numbers_agree_to_the_bit() {
    let input: [[f32; WIDEST]; 4] = std::array::from_fn(|i| std::array::from_fn(|k| ((16 * i + k) as f32).sin() * 3.0));
    let (mut plain, mut plain_sums) = ([[0.0; WIDEST]; 32], [[0.1; WIDEST]; 6]);
    all::<[f32; WIDEST]>(&input, &mut plain, &mut plain_sums);
    let bits = |of: &[[f32; WIDEST]; 32]| of.map(|row| row.map(f32::to_bits));
    assert!(plain[2 + 5][7] == input[0][2] && plain[2 + 5][1] == input[0][12]);
    let mut register = [[0.0; WIDEST]; 32];
    let mut sums = [[0.1; WIDEST]; 6];
    if Kind::found() != Kind::Plain {
        // SAFETY: the processor has AVX2 and FMA.
        unsafe { all_avx2(&input, &mut register, &mut sums) };
        assert_eq!(bits(&plain), bits(&register));
        assert_eq!(plain_sums, sums);
    }
    if Kind::found() == Kind::Avx512 {
        sums = [[0.1; WIDEST]; 6];
        // SAFETY: the processor has all of them.
        unsafe { all_avx512(&input, &mut register, &mut sums) };
        assert_eq!(bits(&plain), bits(&register));
        assert_eq!(plain_sums, sums);
    }
}
