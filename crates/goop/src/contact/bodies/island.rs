//! Bodies that touch each other, directly or through others: nothing outside changes what they do in a step.
//!
//! An island has its own rows, its own tolerance and as many rounds as it needs; a pile that comes to rest does not wait for
//! one that is just being hit. Its rows are solved by sweeps where the response of every body is known between the nodes
//! touched, and by products with whole bodies where one is too large for that.

use super::respond::Touched;
use super::solve::{Bodies, Rows, Wish};
use super::{GIVE, MOST, MOST_LARGE, Meeting, NOTHING, Spot, WORTH};
use crate::coordinates::nodal::Scratch;
use crate::model::Model;
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// Share of what velocities lack that a solve may leave to the next round.
const ROUGH: f64 = 0.01;

/// Bodies of an island of which no part is solved by itself, at most.
const SMALL: usize = 4;
/// Rows that lack less than this share of what the worst lacks can wait.
pub const MOST_LACKING: f64 = 0.05;

/// One of them.
#[derive(Debug, Default)]
pub struct Island {
    /// Its bodies, the first of them first.
    pub bodies: Vec<usize>,
    /// Places of its meetings in the list of all.
    pub meetings: Vec<usize>,
    /// Those meetings, then the pins and obstacles of its bodies.
    pub rows: Rows,
    /// Of all rows; by place in the lists of the bodies once that is known.
    pub spots: Vec<[Spot; 2]>,
    /// What velocities lack, and what they may lack (m/s).
    pub lacking: f64,
    /// See `lacking`.
    pub tolerance: f64,
    /// Its impulses are to be found anew.
    pub solves: bool,
    /// Its bodies are asked anew how they give way.
    pub anew: bool,
}

/// The body that stands for an island; on the way there, bodies learn of it.
pub fn root(roots: &mut [usize], mut body: usize) -> usize {
    while roots[body] != body {
        roots[body] = roots[roots[body]];
        body = roots[body];
    }
    body
}

impl Island {
    /// Empties.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.meetings.clear();
        self.solves = false;
    }

    /// Rows of the meetings as they are after a step, and what they lack by themselves, their bodies giving way as a whole.
    /// `least`: what velocities may lack in any case (m/s); `share`: beside those with which places meet.
    pub fn measure(
        &mut self,
        model: &Model,
        least: f64,
        share: f64,
        found: &mut [Meeting],
        mut look: impl FnMut(&mut Meeting) -> (Wish, DVec3),
    ) {
        self.rows.clear();
        self.spots.clear();
        let mut fastest = 0.0f64;
        for &k in &self.meetings {
            let meeting = &mut found[k];
            let (wish, u) = look(meeting);
            let ease: f64 = meeting.spots.iter().map(|s| 1.0 / model.bodies[s.body as usize].mass()).sum();
            fastest = fastest.max(meeting.approach[0].abs()).max(meeting.rebound);
            self.rows.push(wish, ease, meeting.impulse, u);
            self.spots.push(meeting.spots);
        }
        (self.lacking, self.tolerance) = (self.rows.residual(), least.max(share * fastest));
    }

    /// Leaves out what is far from where most is lacking: bodies there keep the impulses and the step they have, and have
    /// their turn when what lacks most has been mended. Bodies next to those that lack something stay.
    pub fn narrow(&mut self, found: &[Meeting], near: &mut [[bool; 2]], share: f64) {
        if self.bodies.len() <= SMALL {
            return;
        }
        let pair = |k: usize| found[k].spots.map(|s| s.body as usize);
        let Self { bodies, meetings, rows, spots, .. } = self;
        let least = self.tolerance.max(share * self.lacking);
        bodies.iter().for_each(|&b| near[b] = [false; 2]);
        for (_, &k) in meetings.iter().enumerate().filter(|&(row, _)| rows.lacks(row, least)) {
            pair(k).into_iter().for_each(|b| near[b] = [true; 2]);
        }
        for &k in &*meetings {
            let [a, b] = pair(k);
            (near[a][1], near[b][1]) = (near[a][1] || near[b][0], near[b][1] || near[a][0]);
        }
        let stays = |k: usize| pair(k).into_iter().all(|b| near[b][1]);
        if bodies.iter().all(|&b| near[b][1]) || !meetings.iter().any(|&k| stays(k)) {
            return;
        }
        rows.keep(|row| stays(meetings[row]));
        let mut row = 0;
        spots.retain(|_| {
            row += 1;
            stays(meetings[row - 1])
        });
        meetings.retain(|&k| stays(k));
        bodies.retain(|&b| near[b][1]);
    }

    /// Puts spots into the lists of their bodies, and learns how far each row gives way by itself.
    pub fn learn(&mut self, model: &Model, touched: &[Touched], scratch: &[Scratch], found: &mut [Meeting]) {
        let swept = self.is_swept(touched);
        for (k, spots) in self.spots.iter_mut().enumerate() {
            for spot in spots.iter_mut().filter(|s| s.body != NOTHING) {
                let touched = &touched[spot.body as usize];
                for c in 0..3 {
                    spot.nodes[c] = if spot.weights[c] != 0.0 { touched.place(spot.nodes[c]) } else { 0 };
                }
            }
            let ease = match swept {
                true => block(spots, touched),
                false => own(spots, model, touched, scratch),
            };
            let trace = ease.x_axis.x + ease.y_axis.y + ease.z_axis.z;
            let (along, across) = match self.rows.wishes[k] {
                Wish::Apart { normal, .. } => {
                    let along = normal.dot(ease * normal);
                    let across = 0.5 * (trace - along);
                    // The larger of the two ways across, where both are known.
                    let (t, b) = normal.any_orthonormal_pair();
                    let (xx, yy, xy) = (t.dot(ease * t), b.dot(ease * b), t.dot(ease * b));
                    (along, if swept { across + (0.25 * (xx - yy).powi(2) + xy * xy).sqrt() } else { across })
                }
                Wish::Tied { .. } => (trace / 3.0, trace / 3.0),
            };
            if let (Wish::Tied { compliance, .. }, Some(&m)) = (&mut self.rows.wishes[k], self.meetings.get(k)) {
                found[m].give = GIVE * along;
                *compliance = found[m].give;
            }
            self.rows.ease[k] = [along, across].map(|d| d.max(1e-3 * trace).max(1e-30));
            self.rows.blocks.push(ease);
        }
    }

    /// Whether all responses are known between nodes.
    fn is_swept(&self, touched: &[Touched]) -> bool {
        self.bodies.iter().all(|&b| touched[b].is_known())
    }

    /// Finds the impulses; returns how many sweeps or products that took.
    pub fn solve(&mut self, touched: &mut [Touched], scratch: &mut [Scratch]) -> usize {
        let Self { rows, spots, bodies, .. } = self;
        // Bodies do not give way quite as they say: the next round finds more than what is left here. A body
        // that meets only itself is solved to the end: short cuts let a folding cloth come 6 mm too near instead of 1.5.
        let rough = if bodies.len() > 1 { ROUGH * self.lacking } else { 0.0 };
        let tolerance = (0.3 * self.tolerance).max(rough);
        if bodies.iter().all(|&b| touched[b].is_known()) {
            bodies.iter().for_each(|&b| touched[b].rest());
            return rows.sweep(tolerance, MOST, bodies.len() > 1, &mut Through { bodies, touched, spots }).iterations;
        }
        let product = |p: &[DVec3], u: &mut [DVec3]| product(bodies, touched, scratch, spots, p, u);
        rows.solve(tolerance, MOST_LARGE, product).iterations
    }
}

/// How a row gives way, by what its nodes do each by itself.
fn own(spots: &[Spot; 2], model: &Model, touched: &[Touched], scratch: &[Scratch]) -> DMat3 {
    let mut ease = DMat3::ZERO;
    for spot in spots.iter().filter(|s| s.body != NOTHING) {
        let b = spot.body as usize;
        for c in (0..3).filter(|&c| spot.weights[c] != 0.0) {
            let own = touched[b].ease(spot.nodes[c] as usize, &model.bodies[b], &scratch[b]);
            ease += own * (spot.weights[c] * spot.weights[c]);
        }
    }
    ease
}

/// J W Jᵀ of a row with itself.
fn block(spots: &[Spot; 2], touched: &[Touched]) -> DMat3 {
    let mut block = DMat3::ZERO;
    for (side, one) in spots.iter().enumerate().filter(|(_, s)| s.body != NOTHING) {
        for (other, two) in spots.iter().enumerate().filter(|(_, s)| s.body == one.body) {
            let sign = if side == other { 1.0 } else { -1.0 };
            for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                let weight = sign * one.weights[i] * two.weights[j];
                if weight != 0.0 {
                    block += touched[one.body as usize].between(one.nodes[i], two.nodes[j]) * weight;
                }
            }
        }
    }
    block
}

/// The bodies of an island, pushed row by row.
struct Through<'a> {
    bodies: &'a [usize],
    touched: &'a mut [Touched],
    spots: &'a [[Spot; 2]],
}

impl Bodies for Through<'_> {
    fn velocity(&self, row: usize) -> DVec3 {
        let mut u = DVec3::ZERO;
        for (side, spot) in self.spots[row].iter().enumerate().filter(|(_, s)| s.body != NOTHING) {
            let velocities = &self.touched[spot.body as usize].velocities;
            let sign = if side == 0 { 1.0 } else { -1.0 };
            for k in 0..3 {
                u += sign * spot.weights[k] * velocities[spot.nodes[k] as usize];
            }
        }
        u
    }

    fn push(&mut self, row: usize, impulse: DVec3) {
        for (side, spot) in self.spots[row].iter().enumerate().filter(|(_, s)| s.body != NOTHING) {
            let sign = if side == 0 { 1.0 } else { -1.0 };
            for k in (0..3).filter(|&k| spot.weights[k] != 0.0) {
                self.touched[spot.body as usize].push(spot.nodes[k], sign * spot.weights[k] * impulse);
            }
        }
    }

    fn mark(&mut self) {
        self.bodies.iter().for_each(|&b| self.touched[b].mark());
    }

    fn lean(&mut self, share: f64) {
        self.bodies.iter().for_each(|&b| self.touched[b].lean(share));
    }
}

/// u = J W Jᵀ p, spots by their places in the lists of the bodies in touch.
fn product(
    bodies: &[usize],
    touched: &mut [Touched],
    scratch: &mut [Scratch],
    spots: &[[Spot; 2]],
    p: &[DVec3],
    u: &mut [DVec3],
) {
    let mut cost = 0;
    for &b in bodies {
        touched[b].impulses.fill(DVec3::ZERO);
        cost += touched[b].cost();
    }
    for (pair, &p) in spots.iter().zip(p) {
        for (side, spot) in pair.iter().enumerate().filter(|(_, s)| s.body != NOTHING) {
            let impulses = &mut touched[spot.body as usize].impulses;
            let sign = if side == 0 { 1.0 } else { -1.0 };
            for k in 0..3 {
                impulses[spot.nodes[k] as usize] += sign * spot.weights[k] * p;
            }
        }
    }
    if bodies.len() > 1 && cost > WORTH {
        let apply = |(b, (touched, scratch)): (usize, (&mut Touched, &mut Scratch))| {
            if bodies.binary_search(&b).is_ok() {
                touched.apply(scratch);
            }
        };
        touched.par_iter_mut().zip(scratch).enumerate().for_each(apply);
    } else {
        bodies.iter().for_each(|&b| touched[b].apply(&mut scratch[b]));
    }
    for (pair, u) in spots.iter().zip(u) {
        *u = DVec3::ZERO;
        for (side, spot) in pair.iter().enumerate().filter(|(_, s)| s.body != NOTHING) {
            let velocities = &touched[spot.body as usize].velocities;
            let sign = if side == 0 { 1.0 } else { -1.0 };
            for k in 0..3 {
                *u += sign * spot.weights[k] * velocities[spot.nodes[k] as usize];
            }
        }
    }
}
