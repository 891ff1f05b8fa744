//! `goop jelly --preview`: the reduced model instead of the implicit one, and how far it is from it.
//!
//! The reduced model gives every body part thirty unknowns, whatever the number of nodes, so that constants can be
//! chosen about as fast as the motion plays. What that costs is measured, not promised: on a few frames where the bones
//! accelerate most (or from the start, where there are none) both models run on the same lattice, from
//! the same settled start, and the distances of their skins are given as a share of the character's size.

use crate::jelly::Played;
use goop::World;
use goop_scene::scene::{Coordinates, Elasticity, Integrator, Scene};
use std::path::Path;
use std::time::Instant;

/// Nodes of a preview that is not told how many.
pub const NODES: u32 = 1500;
/// Frames on which both models run.
const FRAMES: usize = 12;
/// The same without bones: enough to fall on the ground and wobble.
const FALLING: usize = 30;

/// Turns a scene of jelly into one of reduced coordinates, with the same energy on the same lattice.
pub fn reduce(scene: &mut Scene) {
    for body in &mut scene.body {
        (body.formulation, body.elasticity) = (None, Some(Elasticity::Finite));
        (body.coordinates, body.integrator) = (Some(Coordinates::Reduced), Some(Integrator::BackwardEuler));
    }
}

/// How far the reduced model is from the implicit one.
pub struct Measured {
    /// First and last frame, of the clip.
    frames: [usize; 2],
    fps: f64,
    /// Where the bones accelerate most, rather than from the start.
    liveliest: bool,
    /// Distances of skins, over the size (-).
    mean: f64,
    worst: f64,
    /// Longest side of the character (m).
    size: f64,
    /// Time that each took for these frames (s).
    implicit_seconds: f64,
    reduced_seconds: f64,
}

impl Measured {
    /// Runs both models of a scene of jelly.
    pub fn of(scene: &Scene, folder: &Path, played: Option<&Played>) -> Result<Measured, String> {
        let fps = scene.clip.fps;
        let all = (scene.clip.seconds * fps).floor() as usize;
        let count = all.clamp(1, if played.is_some() { FRAMES } else { FALLING });
        let first = played.map_or(0, |played| liveliest(played, all, count, fps));
        let mut scene = scene.clone();
        scene.clip.seconds = count as f64 / fps;
        if let Some(motion) = scene.body.first_mut().and_then(|body| body.motion.as_mut()) {
            motion.start += motion.speed * first as f64 / fps;
        }
        let (implicit, implicit_seconds, size) = skins(&scene, folder, count)?;
        reduce(&mut scene);
        let (reduced, reduced_seconds, _) = skins(&scene, folder, count)?;
        let (mut sum, mut points, mut worst) = (0.0, 0usize, 0.0f64);
        for (a, b) in implicit.iter().flatten().zip(reduced.iter().flatten()) {
            let far = a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt();
            (sum, points, worst) = (sum + far, points + 1, worst.max(far));
        }
        Ok(Measured {
            frames: [first + 1, first + count],
            fps,
            liveliest: played.is_some(),
            mean: sum / points.max(1) as f64 / size,
            worst: worst / size,
            size,
            implicit_seconds,
            reduced_seconds,
        })
    }

    /// For people.
    pub fn sentence(&self) -> String {
        let [first, last] = self.frames;
        let at = |frame: usize| frame as f64 / self.fps;
        let what = if self.liveliest { ", where the bones accelerate most" } else { "" };
        format!(
            "preview: the reduced skin is {:.2} % of the size ({:.3} m) from the implicit one in the mean, {:.1} % at worst,\n\
             \x20 on frames {first} to {last} ({:.2} to {:.2} s{what}), both started settled {}; they took {:.2} s and {:.2} s.",
            100.0 * self.mean,
            self.size,
            100.0 * self.worst,
            at(first),
            at(last),
            if self.liveliest { "there" } else { "at the start" },
            self.reduced_seconds,
            self.implicit_seconds,
        )
    }

    /// For programs.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "frames": self.frames, "mean": self.mean, "worst": self.worst, "size": self.size,
            "implicit_seconds": self.implicit_seconds, "reduced_seconds": self.reduced_seconds,
        })
    }
}

/// Drawn vertices of the first body.
type Skin = Vec<[f32; 3]>;

/// The skin at frames 1 to `count`, the time that took and the size of the character (m).
fn skins(scene: &Scene, folder: &Path, count: usize) -> Result<(Vec<Skin>, f64, f64), String> {
    let built = scene.build(folder).map_err(|faults| {
        let sentences = faults.iter().map(|fault| fault.message.clone());
        sentences.collect::<Vec<_>>().join("; ")
    })?;
    let rest = built.model.bodies[0].shape.rest_positions.iter();
    let (low, high) =
        rest.fold((glam::DVec3::INFINITY, glam::DVec3::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)));
    let mut world = World::new(built.model);
    if scene.step.settle {
        world.settle().map_err(|failure| failure.to_string())?;
    }
    let clock = Instant::now();
    let mut frames = Vec::with_capacity(count);
    for k in 1..=count {
        let frame = world.frame_at(k as f64 / scene.clip.fps).map_err(|failure| failure.to_string())?;
        let body = frame.bodies.into_iter().next().unwrap_or_default();
        frames.push(body.drawn.unwrap_or(body.positions));
    }
    Ok((frames, clock.elapsed().as_secs_f64(), (high - low).max_element()))
}

/// The frame from which joints accelerate most over the next `count`.
fn liveliest(played: &Played, all: usize, count: usize, fps: f64) -> usize {
    let places: Vec<Vec<glam::DVec3>> =
        (0..=all).map(|k| played.pose(k as f64 / fps).iter().map(|joint| joint.translation).collect()).collect();
    // A motion that begins again has a jump there, which is none of its liveliness.
    let whole = (played.seconds().min(played.motion.duration / played.speed) * fps).floor() as usize;
    let change: Vec<f64> = places
        .windows(3)
        .map(|w| (0..w[0].len()).map(|j| (w[2][j] - 2.0 * w[1][j] + w[0][j]).length()).sum())
        .take(whole.saturating_sub(1))
        .collect();
    let sum = |first: usize| change[first..first + count].iter().sum::<f64>();
    let last = change.len().saturating_sub(count);
    (0..=last).filter(|first| first + count <= change.len()).max_by(|&a, &b| sum(a).total_cmp(&sum(b))).unwrap_or(0)
}
