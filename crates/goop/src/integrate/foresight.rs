//! Where the flesh of a character will be at the end of a step, about: the place to linearise the step at.
//!
//! ```text
//! v̂ = v₀ + Σ_b c_b (u_b(x₀) - w_b(x₀))       u_b, w_b: velocity of bone b's axes in this step and in the last, c_b shares
//! ```
//! Bones of captured motion change their velocity by metres a second from one step to the next, and so flesh is thought to change its
//! own with them. Where cells would still be crushed or blown up on the way from x₀ to x₀ + h v̂, because their nodes shake faster than
//! the step can see, these nodes are thought to go as those around them do. One linearisation at crushed
//! cells throws nodes metres away or, where there is damping, leaves them stuck there. What is solved stays the
//! same; only where it is linearised changes.

use crate::coordinates::nodal::Clock;
use crate::model::Body;
use crate::parallel::{Chunks, Disjoint};
use crate::shape::tetra::volume;
use crate::state::BodyState;
use glam::{DAffine3, DVec3, Vec3A};

/// Cells whose volume would change by more than this factor are looked after.
const CRUSHED: f64 = 2.0;
/// Times that nodes of such cells take the mean of those around them.
const PASSES: usize = 8;

/// Nodes that move by less than this part of the least height cannot crush a cell.
const SHORT: f64 = 0.25;

/// What is kept from step to step.
#[derive(Debug, Default)]
pub(crate) struct Foresight {
    /// v̂ (m/s); empty where there is nothing to foresee.
    pub velocities: Vec<DVec3>,
    /// Least height of a cell at rest (m).
    least: Option<f64>,
    /// Cells around every node: those of node i stand in `around` from `starts[i]` to `starts[i + 1]`.
    starts: Vec<u32>,
    around: Vec<u32>,
    /// Places now and then seen from the first node (m), in single precision: enough to see which cells are in danger.
    places: Vec<[Vec3A; 2]>,
    /// Whether a cell would be crushed.
    marks: Vec<bool>,
    crushed: Vec<u32>,
    /// Nodes of crushed cells with what they take from those around them.
    changes: Vec<(u32, DVec3)>,
}

impl Foresight {
    /// Finds v̂ for a step whose held nodes go where `held` says.
    pub fn look(&mut self, body: &Body, clock: Clock, before: &BodyState, held: &[(u32, DVec3)], free: &[bool]) {
        guess(body, clock, before, &mut self.velocities);
        let Some(tetrahedra) = body.shape.tetrahedra().filter(|_| !self.velocities.is_empty()) else { return };
        for &(node, target) in held {
            self.velocities[node as usize] = (target - before.positions[node as usize]) / clock.dt;
        }
        let (x, h, cells) = (&before.positions, clock.dt, &tetrahedra.cells);
        let rest = &body.shape.rest_positions;
        let least = *self.least.get_or_insert_with(|| {
            let all = cells.iter().map(|cell| least_height(cell.map(|n| rest[n as usize])));
            all.fold(f64::INFINITY, f64::min)
        });
        let velocities = &self.velocities;
        let square = Chunks::new(velocities.len()).fold(
            0.0,
            |_, range| velocities[range].iter().map(|v| v.length_squared()).fold(0.0, f64::max),
            f64::max,
        );
        // In a step so short nothing comes near another.
        if 2.0 * h * square.sqrt() < SHORT * least {
            return;
        }
        let crushed = |velocities: &[DVec3], cell: &[u32; 4]| {
            let now = volume(cell.map(|n| x[n as usize]));
            let then = volume(cell.map(|n| x[n as usize] + h * velocities[n as usize]));
            bursts(now, then)
        };
        self.places.resize(x.len(), [Vec3A::ZERO; 2]);
        let (velocities, places) = (&self.velocities, Disjoint::new(&mut self.places));
        Chunks::new(x.len()).each(|_, range| {
            // SAFETY: chunks are disjoint, here and below.
            let places = unsafe { places.slice(range.clone()) };
            for (place, i) in places.iter_mut().zip(range) {
                let now = x[i] - x[0];
                *place = [now, now + h * velocities[i]].map(|p| p.as_vec3a());
            }
        });
        self.marks.resize(cells.len(), false);
        let (places, marks) = (&self.places, Disjoint::new(&mut self.marks));
        Chunks::new(cells.len()).each(|_, range| {
            // SAFETY: as above.
            let marks = unsafe { marks.slice(range.clone()) };
            for (mark, cell) in marks.iter_mut().zip(&cells[range]) {
                let [a, b, c, d] = cell.map(|n| &places[n as usize]);
                let six = |k: usize| (b[k] - a[k]).cross(c[k] - a[k]).dot(d[k] - a[k]);
                *mark = bursts(f64::from(six(0)), f64::from(six(1)));
            }
        });
        self.crushed.clear();
        self.crushed.extend((0u32..).zip(&self.marks).filter(|(_, mark)| **mark).map(|(c, _)| c));
        if self.crushed.is_empty() {
            return;
        }
        if self.starts.len() != body.len() + 1 {
            (self.starts, self.around) = around(body.len(), cells);
        }
        let (starts, around) = (&self.starts, &self.around);
        let cells_of = |n: u32| &around[starts[n as usize] as usize..starts[n as usize + 1] as usize];
        for _ in 0..PASSES {
            // All cells around a node have a say.
            self.changes.clear();
            let nodes = self.crushed.iter().flat_map(|&c| cells[c as usize]).filter(|&n| free[n as usize]);
            self.changes.extend(nodes.map(|n| (n, DVec3::ZERO)));
            self.changes.sort_unstable_by_key(|&(n, _)| n);
            self.changes.dedup_by_key(|&mut (n, _)| n);
            for (n, mean) in &mut self.changes {
                let sum = |c: u32| cells[c as usize].iter().map(|&m| self.velocities[m as usize]).sum::<DVec3>();
                let own = self.velocities[*n as usize];
                let total: DVec3 = cells_of(*n).iter().map(|&c| sum(c) - own).sum();
                *mean = total / (3 * cells_of(*n).len()) as f64;
            }
            self.changes.iter().for_each(|&(n, mean)| self.velocities[n as usize] = mean);
            // Only cells around these nodes are others now.
            self.crushed.clear();
            let near = self.changes.iter().flat_map(|&(n, _)| cells_of(n));
            self.crushed.extend(near.filter(|&&c| crushed(&self.velocities, &cells[c as usize])));
            self.crushed.sort_unstable();
            self.crushed.dedup();
            if self.crushed.is_empty() {
                break;
            }
        }
    }
}

/// Whether a volume changes by too much; one that is inside out already counts only where it goes further.
fn bursts(now: f64, then: f64) -> bool {
    if now > 0.0 { then * CRUSHED < now || then > CRUSHED * now } else { then < CRUSHED * now }
}

/// The least height of a tetrahedron (m).
fn least_height(corners: [DVec3; 4]) -> f64 {
    let [a, b, c, d] = corners;
    let twice = |p: DVec3, q: DVec3, r: DVec3| (q - p).cross(r - p).length();
    let largest = twice(a, b, c).max(twice(a, b, d)).max(twice(a, c, d)).max(twice(b, c, d));
    6.0 * volume(corners) / largest.max(f64::MIN_POSITIVE)
}

/// Cells around every node: where each node's begin, and all of them.
fn around(nodes: usize, cells: &[[u32; 4]]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; nodes + 1];
    cells.iter().flatten().for_each(|&n| starts[n as usize + 1] += 1);
    (0..nodes).for_each(|i| starts[i + 1] += starts[i]);
    let (mut next, mut around) = (starts.clone(), vec![0; 4 * cells.len()]);
    for (c, cell) in (0u32..).zip(cells) {
        for &n in cell {
            around[next[n as usize] as usize] = c;
            next[n as usize] += 1;
        }
    }
    (starts, around)
}

/// Fills `out` with v̂, or empties it where there is nothing to foresee.
fn guess(body: &Body, clock: Clock, before: &BodyState, out: &mut Vec<DVec3>) {
    out.clear();
    let Some(sampled) = &body.sampled else { return };
    let (time, dt) = (clock.time, clock.dt);
    if sampled.bones.is_empty() || time < 0.5 * dt || sampled.parts.len() != body.len() {
        return;
    }
    let mut pins = body.pins.iter().filter(|pin| pin.stiffness.is_none());
    // Change of velocity as a function of place, for every bone.
    let mut any = false;
    let changes: Vec<Option<[DAffine3; 2]>> = (sampled.bone_nodes.iter())
        .map(|nodes| {
            let pin = if nodes.is_empty() { None } else { pins.next() };
            let motion = &pin.filter(|pin| pin.motion.moves() && pin.motion.block().is_none())?.motion;
            let at = |time: f64| {
                let pose = motion.at(time);
                DAffine3::from_rotation_translation(pose.rotation, pose.position)
            };
            let back = at(time).inverse();
            let (ahead, behind) = (at(time + dt) * back, at(time - dt) * back);
            any = true;
            Some([ahead, behind])
        })
        .collect();
    if !any {
        return;
    }
    out.resize(body.len(), DVec3::ZERO);
    let all = Disjoint::new(out);
    Chunks::new(body.len()).each(|_, range| {
        // SAFETY: chunks are disjoint.
        let out = unsafe { all.slice(range.clone()) };
        for (i, v) in range.zip(out) {
            let x = before.positions[i];
            *v = before.velocities[i];
            for &(bone, share) in sampled.parts.of(i) {
                if let Some([ahead, behind]) = &changes[bone as usize] {
                    *v += share / dt * (ahead.transform_point3(x) + behind.transform_point3(x) - 2.0 * x);
                }
            }
        }
    });
}
