//! C8 to C13: the cube experiments of Chang's thesis (figures 6.1 to 6.20), from the scenes in `papers/chang-2000`.
//!
//! Every body of a scene runs by itself. Beside what happened stands the largest stable step that
//! [`preflight`] predicts before the run.

use super::{Found, Line, Plot};
use crate::library;
use goop::{Model, World, preflight};
use goop_scene::Scene;
use std::path::Path;

/// Figure, scene, what is set.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CASES: &[(&str, &[Case])] = &[
    (
        "C8",
        &[
            ("6.1", "fig6-1", &[]),
            ("6.2", "fig6-2", &[]),
            ("6.3", "fig6-3", &["clip.seconds=1"]),
            ("6.4", "fig6-4", &["clip.seconds=1"]),
        ],
    ),
    (
        "C9",
        &[
            ("6.5, 6.9", "fig6-1", &["step.dt=0.005", "clip.seconds=2"]),
            ("6.7, 6.10", "fig6-3", &["step.dt=0.005", "clip.seconds=2"]),
        ],
    ),
    (
        "C10",
        &[
            ("6.6, 6.11", "fig6-2", &["step.dt=0.005", "clip.seconds=2"]),
            ("6.8, 6.12", "fig6-4", &["step.dt=0.005", "clip.seconds=2"]),
        ],
    ),
    (
        "C11",
        &[
            ("6.13", "fig6-1", &["step.dt=0.01", "clip.seconds=2"]),
            ("6.14", "fig6-2", &["step.dt=0.01", "clip.seconds=2"]),
            ("6.15", "fig6-3", &["step.dt=0.01", "clip.seconds=2"]),
            ("6.16", "fig6-4", &["step.dt=0.01", "clip.seconds=2"]),
        ],
    ),
    (
        "C12",
        &[
            ("6.1, 4000 N", "fig6-1", &["force=4000"]),
            ("6.5, 4000 N", "fig6-1", &["force=4000", "step.dt=0.005", "clip.seconds=2"]),
        ],
    ),
    (
        "C13",
        &[
            ("6.17", "fig6-17", &[]),
            ("6.18", "fig6-17", &["k=500"]),
            ("6.19", "fig6-17", &["k=1000"]),
            ("6.20", "fig6-17", &["k=5000"]),
        ],
    ),
];

/// When the table says the total (s).
const TIMES: [f64; 6] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0];
/// Points of a drawn curve, about.
const DRAWN: usize = 300;
/// Springs of some centimetres, thousands of them: this total is hundreds of metres each (m).
const DIVERGED: f64 = 1e6;

/// Time (s) and total deformation (m), until the end or until it diverged.
struct Curve {
    name: String,
    /// Largest stable step (s); none where every step is.
    limit: Option<f64>,
    points: Vec<(f64, f64)>,
    diverged: bool,
}

/// One body of a model, by itself.
fn run(model: &Model, body: usize, seconds: f64) -> Curve {
    let mut model = model.clone();
    model.bodies = vec![model.bodies.swap_remove(body)];
    model.probes.clear();
    let body = &model.bodies[0];
    let name = body.name.clone();
    // Sagging under the weight is not what the limit is about.
    let weightless = Model { gravity: glam::DVec3::ZERO, ..model.clone() };
    let limit = (!body.axes.integrator.implicit()).then(|| preflight::inspect(&weightless, 0).stable_step);
    let dt = model.step.dt;
    let (mut world, mut points, mut diverged) = (World::new(model), vec![(0.0, 0.0)], false);
    while world.time() < seconds - 0.5 * dt && !diverged {
        let failed = world.step().is_err();
        let total = world.row(0).deformation;
        diverged = failed || !total.is_finite() || total > DIVERGED;
        if !diverged {
            points.push((world.time(), total));
        }
    }
    Curve { name, limit, points, diverged }
}

impl Curve {
    fn row(&self, claim: &str, figure: &str, dt: f64) -> Vec<String> {
        let mut row = vec![claim.to_owned(), figure.to_owned(), self.name.clone(), dt.to_string()];
        row.push(self.limit.map_or("any".into(), |limit| format!("{limit:.4}")));
        row.push(if self.limit.is_none_or(|limit| dt <= limit) { "stable" } else { "diverges" }.into());
        let end = self.points.last().map_or(0.0, |p| p.0);
        row.push(if self.diverged { format!("diverged at {end:.2} s") } else { "stable".into() });
        for time in TIMES {
            let at = self.points.iter().find(|p| (p.0 - time).abs() < 0.51 * dt);
            row.push(at.map_or(String::new(), |(_, total)| match total {
                total if *total < 1e4 => format!("{total:.1}"),
                total => format!("{total:.0e}"),
            }));
        }
        row
    }

    /// Few enough points to be drawn; what diverges leaves the plot at the top.
    fn line(&self, top: f64) -> Line {
        let every = (self.points.len() / DRAWN).max(1);
        let points = self.points.iter().step_by(every).copied().take_while(|p| p.1 < top).collect();
        let label = if self.diverged { format!("{} (diverges)", self.name) } else { self.name.clone() };
        Line { label, points }
    }
}

/// All of them.
pub fn study() -> Result<Found, String> {
    let columns = ["claim", "figure", "model", "dt (s)", "limit (s)", "predicted", "happened"];
    let times = TIMES.map(|time| format!("{time} s"));
    let mut found = Found {
        title: "C8 to C13: total deformation of a cube on a skeleton".into(),
        notes: vec![
            "The columns of times: the sum of |rest length − length| over all springs (m).".into(),
            "Limit: the largest stable step that `goop check` predicts, at rest and without weight; implicit steps have none.".into(),
        ],
        columns: columns.into_iter().map(str::to_owned).chain(times).collect(),
        rows: Vec::new(),
        plots: Vec::new(),
    };
    for (claim, cases) in CASES {
        for (figure, scene, sets) in *cases {
            let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
            let name = format!("chang-2000-{scene}");
            let text = library::find(&name).ok_or_else(|| format!("there is no scene {name}"))?.text;
            let loaded = Scene::load_text(text, &name, &sets, Path::new("")).map_err(|faults| faults.to_string())?;
            let built = loaded.scene.build(&loaded.folder).map_err(|faults| format!("{name}: {faults:?}"))?;
            let (model, seconds) = (built.model, loaded.scene.clip.seconds);
            let curves: Vec<Curve> = (0..model.bodies.len()).map(|b| run(&model, b, seconds)).collect();
            let dt = model.step.dt;
            found.rows.extend(curves.iter().map(|curve| curve.row(claim, figure, dt)));
            let tame = curves.iter().filter(|c| !c.diverged).flat_map(|c| &c.points).map(|p| p.1);
            let top = match tame.fold(0.0, f64::max) {
                0.0 => DIVERGED,
                tame => 1.6 * tame,
            };
            found.plots.push(Plot {
                title: format!("{claim}, figure {figure}, dt {dt} s"),
                across: "s".into(),
                up: "total deformation (m)".into(),
                lines: curves.iter().map(|curve| curve.line(top)).collect(),
                linear: true,
            });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a limit that says nothing about what happens: below it a cube must hold, well above it not.
    #[test]
    fn a_cube_holds_below_the_predicted_step_and_diverges_above_it() {
        let text = library::find("chang-2000-fig6-1").unwrap().text;
        let at = |dt: f64| {
            let sets = [format!("step.dt={dt}"), "clip.seconds=1".into()];
            let loaded = Scene::load_text(text, "fig6-1", &sets, Path::new("")).unwrap();
            let model = loaded.scene.build(Path::new("")).unwrap().model;
            let body = model.bodies.iter().position(|b| b.name == "mass-spring").unwrap();
            run(&model, body, 1.0)
        };
        let limit = at(0.0005).limit.unwrap();
        assert!((0.001..0.02).contains(&limit), "{limit}");
        assert!(!at(0.9 * limit).diverged, "{limit}");
        assert!(at(1.5 * limit).diverged, "{limit}");
    }
}
