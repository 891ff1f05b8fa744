//! `goop bench`: what a second of animation costs, and where the time goes.

mod character;
mod clock;
pub mod cube;
mod hybrid;
mod pile;
mod scaling;
mod work;

use crate::End;
use crate::args::{Bench, Workload};
use anyhow::Result;

/// `goop bench`
pub fn bench(args: &Bench) -> Result<End> {
    if let Some(threads) = args.threads {
        // A pool that exists already keeps its size: results do not depend on it.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build_global();
    }
    match args.workload {
        Workload::Character => character::run(args),
        Workload::Cube => cube::run(args),
        Workload::Hybrid => hybrid::run(args),
        Workload::W1 | Workload::W2 | Workload::W3 => work::run(args),
        Workload::Pile | Workload::Cloth => pile::run(args),
        Workload::Scaling => scaling::run(args),
    }
}
