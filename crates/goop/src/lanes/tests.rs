use super::*;

/// Everything a kernel does, from twelve numbers to twelve.
#[inline(always)]
fn all<L: Lanes>(input: &[f64; 12], out: &mut [f64; 12]) {
    let v = L::load_vectors(input);
    let length = L::dots(v, v).root();
    let unit = L::scale(v, length.inverse(1e-3));
    let sum = L::plus_vectors(unit, L::minus_vectors(v, L::scale(v, L::splat(0.3))));
    L::store_vectors(L::shift(v, sum), out);
    let (vectors, _) = out.as_chunks_mut();
    let last = L::load_vector(&vectors[2]).plus(L::splat(1.0)).larger(L::splat(0.2)).plus(length.across());
    L::choose(last, L::splat(1.0), last.over(length), last).store_vector(&mut vectors[3]);
}

#[target_feature(enable = "avx2")]
fn all_avx2(input: &[f64; 12], out: &mut [f64; 12]) {
    all::<avx2::Register>(input, out);
}

/// Catches a shuffle that mixes springs up, and results that depend on the processor.
#[test]
fn registers_and_plain_numbers_agree_to_the_bit() {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return;
    }
    let mut input: [f64; 12] = std::array::from_fn(|k| (k as f64 * 1.7).sin() * 3.0);
    for case in 0..3 {
        if case == 1 {
            input[3..6].fill(0.0);
        }
        if case == 2 {
            input[7] = f64::NAN;
        }
        let (mut plain, mut register) = ([0.0; 12], [0.0; 12]);
        all::<[f64; 4]>(&input, &mut plain);
        // SAFETY: the processor has AVX2.
        unsafe { all_avx2(&input, &mut register) };
        assert_eq!(plain.map(f64::to_bits), register.map(f64::to_bits));
        let v = &input[..3];
        let length = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
        assert!((plain[4] - (v[1] / length + 0.7 * v[1])).abs() < 1e-14);
        assert_eq!(plain[1], input[10]);
    }
}
