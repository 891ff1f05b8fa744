//! The heavy cantilever: a rod or strip held level at one end, bent by its own weight.
//!
//! ```text
//! θ'' = -Γ (1 - s) cos θ      θ(0) = 0, θ'(1) = 0         s along the rod, θ downwards
//! H = ∫ sin θ ds   W = ∫ cos θ ds
//! ```

use super::problem::{Problem, set, world};
use glam::DVec3;

/// Rods and strips for every Γ.
pub fn problems(gammas: &[f64]) -> Vec<Problem> {
    let mut list = Vec::new();
    for &gamma in gammas {
        let reference = drop_over_reach(gamma);
        // Γ/8 is what a displacement linear in the load comes to.
        let linear = (gamma / 8.0 > 1.009 * reference)
            .then_some("its displacement is linear in the load: this far the rod would lengthen as it bends");
        for (formulation, scene, what, levels, cannot) in [
            ("primal", "known-heavy-cantilever", "curve", [41, 81], None),
            ("primal", "known-heavy-strip", "surface strip", [31, 61], None),
            ("implicit", "known-heavy-cantilever", "curve", [41, 81], None),
            ("hybrid", "known-heavy-cantilever", "curve", [41, 81], linear),
        ] {
            let body = if what == "curve" { "rod" } else { "strip" };
            list.push(Problem {
                name: format!("heavy cantilever, gamma {gamma}"),
                model: format!("{formulation} {what}"),
                reference,
                tolerance: 0.01,
                levels: levels.to_vec(),
                cannot,
                decades: false,
                measure: Box::new(move |nodes| {
                    let formulation = set(&format!("body.{body}.formulation"), formulation);
                    measure(scene, &[formulation, set("gamma", gamma), set("nodes", nodes)], nodes)
                }),
            });
        }
    }
    list
}

/// H / W of the settled scene.
fn measure(scene: &str, sets: &[String], nodes: u32) -> Result<f64, String> {
    let world = world(scene, sets)?;
    let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
    let last: Vec<usize> = (0..body.len()).filter(|&i| body.shape.material_coordinates[i].x > 1.0 - 1e-9).collect();
    let tip = last.iter().map(|&i| state.positions[i]).sum::<DVec3>() / last.len() as f64;
    let start = body.start_positions();
    let left = start.iter().map(|x| x.x).fold(f64::INFINITY, f64::min);
    let right = start.iter().map(|x| x.x).fold(f64::NEG_INFINITY, f64::max);
    // The clamp is half a spacing from the first node.
    let clamp = left + 0.5 * (right - left) / f64::from(nodes - 1);
    Ok((start[0].y - tip.y) / (tip.x - clamp))
}

/// The answer for any Γ: Runge-Kutta shots from the clamp, the slope there by bisection.
pub fn drop_over_reach(gamma: f64) -> f64 {
    const STEPS: usize = 4000;
    let shoot = |slope: f64| {
        let h = 1.0 / STEPS as f64;
        // θ, θ', H, W
        let mut y = [0.0, slope, 0.0, 0.0];
        let rate = |s: f64, y: [f64; 4]| [y[1], -gamma * (1.0 - s) * y[0].cos(), y[0].sin(), y[0].cos()];
        for k in 0..STEPS {
            let s = k as f64 * h;
            let ahead = |y: [f64; 4], d: [f64; 4], h: f64| std::array::from_fn(|i| y[i] + h * d[i]);
            let a = rate(s, y);
            let b = rate(s + 0.5 * h, ahead(y, a, 0.5 * h));
            let c = rate(s + 0.5 * h, ahead(y, b, 0.5 * h));
            let d = rate(s + h, ahead(y, c, h));
            y = std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
        }
        y
    };
    // θ' at the free end grows with the slope at the clamp.
    let (mut low, mut high) = (0.0, gamma.max(1.0));
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if shoot(middle)[1] < 0.0 { low = middle } else { high = middle }
    }
    let end = shoot(0.5 * (low + high));
    end[2] / end[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a wrong reference, against which everything would be measured.
    #[test]
    fn the_shooting_method_gives_the_tabled_answers() {
        for (gamma, known) in [(1.0, 0.124562), (10.0, 1.066802), (100.0, 5.888105)] {
            let found = drop_over_reach(gamma);
            assert!((found / known - 1.0).abs() < 2e-6, "{gamma}: {found}");
        }
    }
}
