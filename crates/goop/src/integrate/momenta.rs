//! Momenta of a free body after an implicit solve.
//!
//! Central springs push and turn nothing, so a step of length h from v₀ to w has
//! ```text
//! Σ m (w - v₀) = h Σ F        Σ a × m (w - v₀) = h Σ a × F
//! ```
//! with F the weight, loads and drag, and the arms a = x₀ for backward Euler, a = x₀ + h w for
//! the midpoint rule: the arms for which the left sides are the changes of momentum
//! and angular momentum. A solve misses them by its tolerance and by what the
//! linearisation leaves; backward Euler itself misses the second, because its springs
//! pull along x₁: it brakes a spin ω at the rate dt ω². The rigid motion that makes up for all this
//! is added to w. It deforms nothing, and its work is part of the scheme's own.
//!
//! A scheme that looks back further says itself what angular momentum comes from the past.
//!
//! A body that is held or touches something gets its momenta there and is left alone.

use super::implicit::Start;
use crate::coordinates::nodal::{Scratch, elasticity};
use crate::model::{Body, Model};
use crate::parallel::{Chunks, Disjoint};
use glam::{DMat3, DVec3};

/// Drag and moving arms couple the correction to itself; each pass shrinks what is left by about hω.
const PASSES: usize = 5;

/// Adds the correction δ to `w`; returns Σ m δ·w (J). `carried`: the angular momentum about the first node that there would
/// be without any force, if it is not Σ a × m v₀ (kg m²/s).
pub(crate) fn keep(
    model: &Model,
    body: &Body,
    h: f64,
    arm_time: f64,
    start: Start<'_>,
    carried: Option<DVec3>,
    w: &mut [DVec3],
    scratch: &mut Scratch,
) -> f64 {
    if scratch.now.touches.iter().any(|t| !t.released) || body.pins.iter().any(|p| !p.nodes.is_empty()) {
        return 0.0;
    }
    let (x, v) = (start.positions, start.velocities);
    let (chunks, from) = (Chunks::new(body.len()), x[0]);
    let mut solved = std::mem::take(&mut scratch.delta);
    solved.copy_from_slice(w);
    for _ in 0..PASSES {
        let velocities = &*w;
        let sums: [f64; 15] = chunks.sum(|_, range| {
            let (mut first, mut push, mut turn) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
            let (mut square, mut mixed) = (DVec3::ZERO, DVec3::ZERO);
            for i in range {
                let (m, u) = (body.masses[i], velocities[i]);
                let arm = x[i] + arm_time * u - from;
                let mut force = m * model.gravity + scratch.loads.get(i).copied().unwrap_or(DVec3::ZERO);
                if body.drag[i] != 0.0 {
                    force -= scratch.drag(body, i) * (u - model.wind);
                }
                let lacking = m * (v[i] - u) + h * force;
                first += m * arm;
                square += m * arm * arm;
                mixed += m * DVec3::new(arm.y * arm.z, arm.z * arm.x, arm.x * arm.y);
                push += lacking;
                turn += arm.cross(if carried.is_some() { lacking - m * v[i] } else { lacking });
            }
            let mut out = [0.0; 15];
            for (k, part) in [first, square, mixed, push, turn].into_iter().enumerate() {
                part.write_to_slice(&mut out[3 * k..]);
            }
            out
        });
        let [first, square, mixed, push, turn] = std::array::from_fn(|k| DVec3::from_slice(&sums[3 * k..]));
        let turn = turn + carried.unwrap_or(DVec3::ZERO);
        let mass = body.mass();
        let center = first / mass;
        let lift = push / mass;
        let spin = if elasticity(body).central() {
            solve_spin(mass, center, square, mixed, turn - center.cross(push))
        } else {
            DVec3::ZERO
        };
        let out = Disjoint::new(w);
        chunks.each(|_, range| {
            // SAFETY: chunks are disjoint.
            let w = unsafe { out.slice(range.clone()) };
            for (k, i) in range.enumerate() {
                w[k] += lift + spin.cross(x[i] + arm_time * w[k] - from - center);
            }
        });
        let reach = (square.element_sum() / mass).sqrt();
        if lift.length() + spin.length() * reach <= f64::EPSILON * (push.length() / mass + w[0].length()) {
            break;
        }
    }
    let (w, solved_at) = (&*w, &solved);
    let [work] = chunks.sum(|_, range| [range.map(|i| body.masses[i] * (w[i] - solved_at[i]).dot(w[i])).sum::<f64>()]);
    scratch.delta = solved;
    work
}

/// The spin that takes up an angular momentum, from second moments about another point; none where
/// the body has no inertia about some axis.
fn solve_spin(mass: f64, center: DVec3, square: DVec3, mixed: DVec3, turn: DVec3) -> DVec3 {
    let square = square - mass * center * center;
    let mixed = mixed - mass * DVec3::new(center.y * center.z, center.z * center.x, center.x * center.y);
    let trace = square.element_sum();
    let inertia = DMat3::from_cols(
        DVec3::new(trace - square.x, -mixed.z, -mixed.y),
        DVec3::new(-mixed.z, trace - square.y, -mixed.x),
        DVec3::new(-mixed.y, -mixed.x, trace - square.z),
    );
    if inertia.determinant() > 1e-9 * trace.powi(3) { inertia.inverse() * turn } else { DVec3::ZERO }
}
