//! Where the time of a step goes, for benchmarks.
//!
//! Physics has no clock. A caller that wants to know gives one; until then nothing is measured. Times of
//! all worlds of the process are added up.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a step spends time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Elastic and damping forces, and the energy.
    Forces,
    /// Filling the matrix of an implicit step.
    Assembly,
    /// Solving it.
    Solve,
    /// Finding touches, and putting nodes back.
    Contact,
    /// Iterations of the solver in single precision: a part of [`Solve`](Stage::Solve).
    Sweeps,
}

/// Names in the order of [`Stage`].
pub const NAMES: [&str; 5] = ["forces", "assembly", "solve", "contact", "sweeps"];

static CLOCK: OnceLock<fn() -> f64> = OnceLock::new();
static NANOSECONDS: [AtomicU64; 5] = [const { AtomicU64::new(0) }; 5];

/// Measures by this clock (s) from now on.
pub fn watch(clock: fn() -> f64) {
    CLOCK.get_or_init(|| clock);
}

/// Seconds of each stage since the last call.
pub fn take() -> [f64; 5] {
    [0, 1, 2, 3, 4].map(|k| NANOSECONDS[k].swap(0, Ordering::Relaxed) as f64 * 1e-9)
}

/// Does the work, and measures it where there is a clock.
#[inline]
pub(crate) fn timed<T>(stage: Stage, work: impl FnOnce() -> T) -> T {
    let Some(clock) = CLOCK.get() else { return work() };
    let start = clock();
    let result = work();
    let nanoseconds = ((clock() - start).max(0.0) * 1e9) as u64;
    NANOSECONDS[stage as usize].fetch_add(nanoseconds, Ordering::Relaxed);
    result
}
