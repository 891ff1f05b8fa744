//! Room in which forces are found: how nodes move, in the form in which elements read it, and the forces of a chunk's nodes
//! as they are added up.

use crate::lanes::eight::{Both, Padded};
use crate::parallel::{Chunks, Disjoint};
use glam::DVec3;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Places and velocities of all nodes, and how far they have come.
#[derive(Debug, Default)]
struct Motion {
    both: Vec<Both>,
    moved: Vec<Padded>,
}

/// By chunk: rows for elastic forces, and as many for damping forces.
#[derive(Debug)]
pub(super) struct Rooms {
    chunks: Chunks,
    motion: Mutex<Motion>,
    rows: Vec<Mutex<[Vec<Padded>; 2]>>,
}

/// What elements read.
#[derive(Clone, Copy)]
pub(super) struct Moving<'a> {
    /// Where nodes are, and their velocities.
    pub both: &'a [Both],
    /// How far they have come from where dampers began to work; empty where that is not asked for.
    pub moved: &'a [Padded],
}

impl Rooms {
    /// `apart`: damping forces may be wanted by themselves.
    pub fn new(chunks: Chunks, apart: bool) -> Self {
        let room = |c: usize| {
            let rows = chunks.range(c).len() + 1;
            Mutex::new([rows, if apart { rows } else { 0 }].map(|rows| vec![[0.0; 4]; rows]))
        };
        Self { chunks, motion: Mutex::default(), rows: (0..chunks.count()).map(room).collect() }
    }

    /// Does something chunk by chunk, side by side, and adds up what that returns.
    pub fn sum<const N: usize>(
        &self,
        [x, v, from]: [&[DVec3]; 3],
        work: impl Fn(usize, Range<usize>, Moving) -> [f64; N] + Sync,
    ) -> [f64; N] {
        let mut motion = self.motion.lock().unwrap_or_else(PoisonError::into_inner);
        let Motion { both, moved } = &mut *motion;
        both.resize(x.len(), Both::default());
        if !from.is_empty() {
            moved.resize(x.len(), [0.0; 4]);
        }
        let (to, there) = (Disjoint::new(both), Disjoint::new(moved));
        self.chunks.each(|_, range| {
            // SAFETY: chunks are disjoint, here and below.
            let to = unsafe { to.slice(range.clone()) };
            for (to, i) in to.iter_mut().zip(range.clone()) {
                *to = Both::new(x[i], v[i]);
            }
            if !from.is_empty() {
                // SAFETY: as above.
                let there = unsafe { there.slice(range.clone()) };
                for (there, i) in there.iter_mut().zip(range) {
                    let d = x[i] - from[i];
                    *there = [d.x, d.y, d.z, 0.0];
                }
            }
        });
        let moved = if from.is_empty() { &[][..] } else { &moved[..] };
        let moving = Moving { both, moved };
        self.chunks.sum(|c, range| work(c, range, moving))
    }

    /// Does something with the rows of a chunk, which are zero; of those for damping there are none where they are not wanted. Each has
    /// one more at the end, for what belongs to other chunks. Then they are the forces of its nodes.
    pub fn with<R>(
        &self,
        chunk: usize,
        [elastic, damping]: [&mut [DVec3]; 2],
        work: impl FnOnce([&mut [Padded]; 2]) -> R,
    ) -> R {
        let mut room = self.rows[chunk].lock().unwrap_or_else(PoisonError::into_inner);
        let [first, second] = &mut *room;
        let rows = |list: &mut [DVec3]| if list.is_empty() { 0..0 } else { 0..list.len() + 1 };
        let (first, second) = (&mut first[rows(elastic)], &mut second[rows(damping)]);
        first.fill([0.0; 4]);
        second.fill([0.0; 4]);
        let out = work([&mut *first, &mut *second]);
        for (forces, rows) in [(elastic, first), (damping, second)] {
            for (force, &[x, y, z, _]) in forces.iter_mut().zip(&*rows) {
                *force = DVec3::new(x, y, z);
            }
        }
        out
    }
}

/// The part of a list of forces that belongs to a chunk; none where they are not wanted.
pub(super) fn part(wanted: bool, range: &Range<usize>) -> Range<usize> {
    if wanted { range.clone() } else { 0..0 }
}
