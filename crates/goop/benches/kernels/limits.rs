//! What the machine allows: the bandwidth that serves a size, and roots and divisions.

use rayon::prelude::*;
use std::hint::black_box;
use std::time::Instant;

/// Bytes a second moved by a triad a = b + s c whose arrays are `bytes` large in all, in so many
/// chunks; best of many, for a bound has to be one.
pub fn bandwidth(bytes: usize, chunks: usize) -> f64 {
    // A gigabyte is as far from every cache as it gets.
    let len = (bytes.min(1 << 30) / 24).max(256);
    let (mut a, b, c) = (vec![0.0; len], vec![1.0; len], vec![2.0; len]);
    let part = len.div_ceil(chunks);
    let mut best = f64::INFINITY;
    let start = Instant::now();
    // Short runs are repeated inside the clock.
    let inner = (4_000_000 / (24 * len)).max(1);
    let mut rounds = 0;
    while rounds < 5 || (start.elapsed().as_secs_f64() < 0.25 && rounds < 1000) {
        let begin = Instant::now();
        for k in 0..inner {
            let s = black_box(3.0 + k as f64);
            if chunks == 1 {
                triad(&mut a, &b, &c, s);
            } else {
                (a.par_chunks_mut(part).with_max_len(1))
                    .zip(b.par_chunks(part).zip(c.par_chunks(part)))
                    .for_each(|(a, (b, c))| triad(a, b, c, s));
            }
            black_box(&mut a);
        }
        best = best.min(begin.elapsed().as_secs_f64() / inner as f64);
        rounds += 1;
    }
    (24 * len) as f64 / best
}

/// Seconds one core takes for a root and a division, as every spring needs, from the nearest cache.
pub fn root_and_division() -> f64 {
    let from = vec![2.0; 1024];
    let (mut roots, mut inverses) = (vec![0.0; 1024], vec![0.0; 1024]);
    let mut best = f64::INFINITY;
    for _ in 0..2000 {
        let begin = Instant::now();
        for _ in 0..10 {
            lengths(black_box(&from), &mut roots, &mut inverses);
            black_box((&mut roots, &mut inverses));
        }
        best = best.min(begin.elapsed().as_secs_f64() / 10240.0);
    }
    best
}

fn lengths(from: &[f64], roots: &mut [f64], inverses: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { lengths_avx2(from, roots, inverses) };
    }
    lengths_plain(from, roots, inverses);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn lengths_avx2(from: &[f64], roots: &mut [f64], inverses: &mut [f64]) {
    lengths_plain(from, roots, inverses);
}

#[inline(always)]
fn lengths_plain(from: &[f64], roots: &mut [f64], inverses: &mut [f64]) {
    for ((x, root), inverse) in from.iter().zip(roots).zip(inverses) {
        (*root, *inverse) = (x.sqrt(), 1.0 / x);
    }
}

fn triad(a: &mut [f64], b: &[f64], c: &[f64], s: f64) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { triad_avx2(a, b, c, s) };
    }
    triad_plain(a, b, c, s);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn triad_avx2(a: &mut [f64], b: &[f64], c: &[f64], s: f64) {
    triad_plain(a, b, c, s);
}

#[inline(always)]
fn triad_plain(a: &mut [f64], b: &[f64], c: &[f64], s: f64) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = b + s * c;
    }
}
