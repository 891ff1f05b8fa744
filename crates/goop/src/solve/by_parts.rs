//! A matrix solved part by part: blocks that join two parts are left out.
//!
//! ```text
//! A_pp x_p = b_p        for every part p                                   [Chang] 5.3.3
//! ```
//! Each part sees its neighbours where the step's prediction has them, so what happens in one part is felt by the next
//! a step later. Parts are solved side by side, each for as long as it needs; the results do not depend on how many
//! threads there are.
//!
//! Of a spring's two ends each would then yield as if the other were fixed. That is not enough: with a = h²K/A_pp of a
//! mode, p' = (1 - a) p - a x and x' = x + p' are stable for a < 4/3, and parts that turn against one another have a = 2.
//! So what was cut counts twice on the diagonal ([`FIRMER`]), a ≤ 1. Departs from the thesis, whose parts are cut only.

use super::{BlockMatrix, Report, Settings, Solver};
use glam::DVec3;
use rayon::prelude::*;

/// Share of the blocks left out that a part's own ends are stiffer by.
pub const FIRMER: f64 = 1.0;

/// Matrix and vectors of one part.
#[derive(Debug)]
struct Part {
    /// Ascending.
    nodes: Vec<u32>,
    matrix: BlockMatrix,
    solver: Solver,
    free: Vec<bool>,
    right: Vec<DVec3>,
    delta: Vec<DVec3>,
    left: u32,
    report: Report,
}

/// The parts of one matrix.
#[derive(Debug)]
pub struct ByParts {
    part_of: Vec<u32>,
    parts: Vec<Part>,
}

impl ByParts {
    /// For a matrix whose nodes belong to these parts.
    pub fn new(matrix: &BlockMatrix, part_of: Vec<u32>) -> Self {
        let count = part_of.iter().max().map_or(0, |p| *p as usize + 1);
        let mut nodes = vec![Vec::new(); count];
        let mut local = vec![0u32; part_of.len()];
        for (i, &part) in part_of.iter().enumerate() {
            local[i] = nodes[part as usize].len() as u32;
            nodes[part as usize].push(i as u32);
        }
        let part = |nodes: Vec<u32>| {
            let n = nodes.len();
            let matrix = BlockMatrix::new(n, |visit| {
                for &i in &nodes {
                    for (j, _) in matrix.row(i as usize) {
                        if part_of[j] == part_of[i as usize] && j != i as usize {
                            visit(&[local[i as usize], local[j]]);
                        }
                    }
                }
            });
            Part {
                matrix,
                solver: Solver::default(),
                free: vec![true; n],
                right: vec![DVec3::ZERO; n],
                delta: vec![DVec3::ZERO; n],
                left: 0,
                report: Report::default(),
                nodes,
            }
        };
        let parts = nodes.into_iter().filter(|n: &Vec<u32>| !n.is_empty()).map(part).collect();
        Self { part_of, parts }
    }

    /// Which part each node belongs to.
    pub fn part_of(&self) -> &[u32] {
        &self.part_of
    }

    /// Solves as [`Solver::solve`] does, every part for itself.
    pub fn solve(
        &mut self,
        settings: &Settings,
        matrix: &BlockMatrix,
        free: &[bool],
        right: &[DVec3],
        delta: &mut [DVec3],
        direct_left: &mut u32,
    ) -> Report {
        let left = *direct_left;
        self.parts.par_iter_mut().for_each(|part| {
            let Part { nodes, matrix: own, .. } = part;
            own.fill_by(|r, c| matrix.get(nodes[r] as usize, nodes[c] as usize));
            for (k, &i) in nodes.iter().enumerate() {
                (part.free[k], part.right[k]) = (free[i as usize], right[i as usize]);
            }
            part.left = left;
            part.report = part.solver.solve(settings, own, &part.free, &part.right, &mut part.delta, &mut part.left);
        });
        let mut report: Option<Report> = None;
        *direct_left = 0;
        for part in &self.parts {
            for (k, &i) in part.nodes.iter().enumerate() {
                delta[i as usize] = part.delta[k];
            }
            *direct_left = part.left.max(*direct_left);
            report = Some(part.report.after(report));
        }
        report.unwrap_or(Report { converged: true, ..Report::default() })
    }
}
