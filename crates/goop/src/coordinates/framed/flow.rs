//! Inelastic behaviour of a framed body: displacement that flows into the reference shape, and edges
//! that break.
//!
//! ```text
//! φ = (1 - exp(-h·flow)) (1 - yield/|Δe/l|)₊        of an edge; rows take the mean of theirs
//! K Δr = Σ Dᵀ W φ D e        r += Δr,  e -= Δr       viscoelastic, yield = 0: Δr = φ e
//! ```
//! World positions and velocities stay; the frame is fitted anew, so that Σμ r = 0 and Σμ r×e = 0 hold for
//! the new r. The energy that goes is in the account as flow. An edge longer than 1 + tear times its
//! reference length breaks: every row of D that holds it becomes zero, and the matrix is factored again.
//!
//! Departs from the paper: what lies beyond the yield value is taken row by row and the reference
//! shape found that fits it best, because a part of the displacement itself, taken node by node, would
//! bend what is not strained: the far end of a bent strip has moved most and is strained least.

use super::factored::Factored;
use super::{FramedState, Work, get};
use crate::elastic::Spline;
use crate::ledger::Row;
use crate::model::Body;
use crate::state::BodyState;
use glam::DVec3;
use std::sync::Arc;

/// Rounds of the solve for Δr, and the residual that ends them.
const ROUNDS: usize = 400;
const TOLERANCE: f64 = 1e-10;

/// Lets the body flow and break at the end of a step.
pub fn inelastic(
    body: &Body,
    state: &mut BodyState,
    framed: &mut FramedState,
    work: &mut Work,
    factor: &mut Factored,
    row: &mut Row,
) {
    let (card, Some(spline)) = (&body.material.card, body.elastic.as_deref().and_then(|e| e.spline())) else {
        return;
    };
    if card.flows() && flow(body, spline, state, framed, work, factor) {
        let before = work.valid.unwrap_or(0.0);
        framed.refit(body, &state.positions, &state.velocities);
        framed.place(body, &mut state.positions, &mut state.velocities);
        let after = work.evaluate(framed);
        row.flow += before - after;
        row.elastic += after - before;
    }
    if card.tears() && tear(spline, card.tear, state, framed) {
        let before = work.valid.unwrap_or(0.0);
        work.follow(body, &state.memory, framed.led.is_some());
        let after = work.evaluate(framed);
        row.fracture += before - after;
        row.elastic += after - before;
    }
}

/// Moves r and e; whether anything moved.
fn flow(
    body: &Body,
    spline: &Spline,
    state: &BodyState,
    framed: &mut FramedState,
    work: &mut Work,
    factor: &mut Factored,
) -> bool {
    let (card, n) = (&body.material.card, body.len());
    let share = -(-factor.dt * card.flow).exp_m1();
    let (edges, lengths) = spline.grid_edges();
    let rest = |i: u32| spline.rest_in_body_axes(i as usize);
    let mut fractions = std::mem::take(&mut work.fractions);
    fractions.clear();
    let mut any = false;
    for (k, &[i, j]) in edges.iter().enumerate() {
        let (a, b) = (i as usize, j as usize);
        let strain = (get(&framed.displacement, n, b) - get(&framed.displacement, n, a)).length() / lengths[k];
        let mut fraction = if strain.is_finite() && strain > card.yield_strain {
            share * (1.0 - card.yield_strain / strain)
        } else {
            0.0
        };
        if fraction > 0.0 && card.flow_limit.is_finite() {
            let flown = get(&framed.reference, n, b) - get(&framed.reference, n, a) - (rest(j) - rest(i));
            let room = (card.flow_limit - flown.length() / lengths[k]).max(0.0);
            fraction = fraction.min(room / strain);
        }
        let holds = state.memory.get(k).is_none_or(|&holds| holds > 0.0);
        fractions.push(if holds { fraction } else { share });
        any |= holds && fraction > 0.0;
    }
    if any {
        let delta = &mut work.delta;
        if fractions.iter().all(|f| *f == share) {
            delta.iter_mut().zip(&framed.displacement).for_each(|(d, e)| *d = share * e);
        } else {
            spline.flow_force(&state.memory, work.rim_held(), &fractions, &framed.displacement, &mut work.delta);
            solve(work, factor);
        }
        let reference = Arc::make_mut(&mut framed.reference);
        reference.iter_mut().zip(&work.delta).for_each(|(r, d)| *r += d);
        let middle = (0..n).map(|i| body.masses[i] * get(reference, n, i)).sum::<DVec3>() / body.mass();
        for (p, plane) in reference.chunks_exact_mut(n).enumerate() {
            plane.iter_mut().for_each(|r| *r -= middle[p]);
        }
    }
    work.fractions = fractions;
    any
}

/// K Δr = g for g in `work.delta`, by conjugate gradients behind the factor of the step.
fn solve(work: &mut Work, factor: &mut Factored) {
    let size = work.delta.len();
    let [mut x, mut p, mut z, mut q, mut spare] = std::mem::take(&mut work.vectors);
    for v in [&mut x, &mut p, &mut z, &mut q, &mut spare] {
        v.clear();
        v.resize(size, 0.0);
    }
    let r = &mut work.delta;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (first, mut rz) = (dot(r, r), 0.0);
    for round in 0..ROUNDS {
        if dot(r, r) <= TOLERANCE * TOLERANCE * first {
            break;
        }
        z.copy_from_slice(r);
        factor.solve(&mut z);
        let old = rz;
        rz = dot(r, &z);
        let beta = if round > 0 { rz / old } else { 0.0 };
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
        let curve = work.linear.products([&p, &p], &p, &mut q, &mut spare)[0];
        if curve <= 0.0 || curve.is_nan() {
            break;
        }
        let alpha = rz / curve;
        for k in 0..size {
            x[k] += alpha * p[k];
            r[k] -= alpha * q[k];
        }
    }
    r.copy_from_slice(&x);
    work.vectors = [x, p, z, q, spare];
}

/// Breaks edges that are stretched too far; whether any broke.
fn tear(spline: &Spline, limit: f64, state: &mut BodyState, framed: &FramedState) -> bool {
    let n = framed.rate.len() / 3;
    let (edges, _) = spline.grid_edges();
    let stretched = |&[i, j]: &[u32; 2]| {
        let r = get(&framed.reference, n, j as usize) - get(&framed.reference, n, i as usize);
        let x = state.positions[j as usize] - state.positions[i as usize];
        r.length() > 0.0 && x.length() > (1.0 + limit) * r.length()
    };
    if !edges.iter().zip(state.memory.iter()).any(|(edge, &holds)| holds > 0.0 && stretched(edge)) {
        return false;
    }
    let broken: Vec<usize> = (0..edges.len()).filter(|&k| stretched(&edges[k])).collect();
    let memory = Arc::make_mut(&mut state.memory);
    broken.into_iter().for_each(|k| memory[k] = 0.0);
    true
}
