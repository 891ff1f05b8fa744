//! A place where two bodies meet, and what it is called.

use super::solve::Wish;
use crate::state::State;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Share of what two places are too near that is made good in a step, and in a second (1/s): the speed stays.
const PART: f64 = 0.2;
const RATE: f64 = 5.0;

/// A point of a body: a mean of up to three nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Which body; [`NOTHING`] where there is none.
    pub body: u32,
    /// Its nodes.
    pub nodes: [u32; 3],
    /// Their weights; sum one.
    pub weights: [f64; 3],
}

/// The body of a spot that is fixed in the world.
pub const NOTHING: u32 = u32::MAX;

impl Spot {
    pub(super) fn of(&self, list: &[DVec3]) -> DVec3 {
        (0..3).map(|k| self.weights[k] * list[self.nodes[k] as usize]).sum()
    }

    pub(super) fn node(body: usize, node: u32) -> Self {
        Self { body: body as u32, nodes: [node; 3], weights: [1.0, 0.0, 0.0] }
    }
}

/// Names a meeting from step to step: which bodies, and which node and element, or which edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// 0: node and element, 1: two edges, 2: a node and what it is tied to.
    pub kind: u32,
    /// Of the first feature, of the second.
    pub bodies: [u32; 2],
    /// Their numbers in the surfaces.
    pub features: [u32; 2],
}

/// What a meeting leaves to the next step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Which.
    pub key: Key,
    /// Force on the first body (N).
    pub force: DVec3,
    /// Speed with which they are to part in the next step (m/s); 0: none.
    pub rebound: f64,
}

/// A place where two surfaces are near.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// Its name.
    pub key: Key,
    /// On the first body, and on the second.
    pub spots: [Spot; 2],
    /// From the second to the first.
    pub normal: DVec3,
    /// How much further than the distance kept they are apart at the start, along the normal (m).
    pub gap: f64,
    /// The distance kept (m).
    pub kept: f64,
    pub(super) friction: f64,
    pub(super) restitution: f64,
    pub(super) rebound: f64,
    /// Speed of approach at the start, and at the end were there no impulse (m/s).
    pub(super) approach: [f64; 2],
    pub(super) impulse: DVec3,
    /// Of a tie: the velocity with which its places are to part (m/s), and how far it gives way (1/kg).
    pub(super) tied: Option<DVec3>,
    pub(super) give: f64,
    /// It was found by a crossing in this round, or at all.
    pub(super) crossed: bool,
    pub(super) fresh: bool,
}

impl Meeting {
    pub(super) fn new(key: Key, first: Spot, second: Spot, normal: DVec3, gap: f64, kept: f64) -> Self {
        Self {
            key,
            spots: [first, second],
            normal,
            gap,
            kept,
            friction: 0.0,
            restitution: 0.0,
            rebound: 0.0,
            approach: [0.0; 2],
            impulse: DVec3::ZERO,
            tied: None,
            give: 0.0,
            crossed: false,
            fresh: false,
        }
    }

    pub(super) fn wish(&self, dt: f64) -> Wish {
        match self.tied {
            Some(velocity) => Wish::Tied { velocity, compliance: self.give },
            None => {
                Wish::Apart { normal: self.normal, speed: self.speed(dt), friction: self.friction, slide: DVec3::ZERO }
            }
        }
    }

    /// Speed at which they are to part at least (m/s).
    pub(super) fn speed(&self, dt: f64) -> f64 {
        if self.rebound > 0.0 {
            self.rebound
        } else if self.gap >= 0.0 {
            -self.gap / dt
        } else {
            // What is too near is parted gently.
            -self.gap * (PART / dt).min(RATE)
        }
    }

    /// How much nearer than the distance kept the two spots are (m). Where they are still on their own sides that is told by how far
    /// apart they are: the normal is that of a moment within the step, and may lead past them.
    pub(super) fn too_near(&self, state: &State) -> f64 {
        let [a, b] = self.spots.each_ref().map(|s| s.of(&state.bodies[s.body as usize].positions));
        let along = (a - b).dot(self.normal);
        self.kept - if along > 0.0 { a.distance(b) } else { along }
    }
}

/// The velocity over a step with which two spots part (m/s).
pub(super) fn measured(spots: &[Spot; 2], dt: f64, before: &State, state: &State) -> DVec3 {
    let moved = |s: &Spot| {
        let (from, to) = (&before.bodies[s.body as usize].positions, &state.bodies[s.body as usize].positions);
        s.of(to) - s.of(from)
    };
    (moved(&spots[0]) - moved(&spots[1])) / dt
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axes, Body, Material, Model, Shape, World};

    /// Catches spots that count as too near because they stand askew to the normal, and such as are not seen on the wrong side.
    #[test]
    fn spots_are_as_near_as_they_are() {
        let body = Body::new("string", Shape::line(1.0, 2).unwrap(), Material::default(), Axes::SPRING);
        let world = World::new(Model { bodies: vec![body], ..Model::default() });
        let (mut state, key) = (world.state().clone(), Key { kind: 0, bodies: [0, 0], features: [0, 1] });
        let mut near = |apart: DVec3| {
            let positions = &mut state.bodies[0].positions;
            (positions[0], positions[1]) = (DVec3::ONE + apart, DVec3::ONE);
            let spots = [0, 1].map(|node| Spot::node(0, node));
            Meeting::new(key, spots[0], spots[1], DVec3::Z, 0.0, 0.006).too_near(&state)
        };
        assert!((near(DVec3::new(0.0, 0.0, 0.004)) - 0.002).abs() < 1e-12);
        assert!((near(DVec3::new(0.0, 0.008, 0.006)) + 0.004).abs() < 1e-12);
        assert!((near(DVec3::new(0.0, 0.0, -0.001)) - 0.007).abs() < 1e-12);
    }
}
