//! The cube experiments of Chang's thesis (figures 6.1 to 6.20, claims C8 to C13), from the scenes in
//! `papers/chang-2000`: a table for each, with the largest stable step that is predicted before the run, and
//! the curves of total deformation as pictures.
//!
//! ```text
//! cargo run --release -p goop-scene --example chang-cubes               tables
//! cargo run --release -p goop-scene --example chang-cubes -- curves     curves as SVG too, in that folder
//! ```
#![allow(clippy::print_stdout)] // its output is its purpose

use goop::{Model, World, preflight};
use goop_scene::Scene;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Figure, scene, what is set.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CASES: &[(&str, &[Case])] = &[
    (
        "C8, dt 0.0005",
        &[
            ("6.1", "fig6-1", &[]),
            ("6.2", "fig6-2", &[]),
            ("6.3", "fig6-3", &["clip.seconds=1"]),
            ("6.4", "fig6-4", &["clip.seconds=1"]),
        ],
    ),
    (
        "C9, dt 0.005, k 100",
        &[
            ("6.5, 6.9", "fig6-1", &["step.dt=0.005", "clip.seconds=2"]),
            ("6.7, 6.10", "fig6-3", &["step.dt=0.005", "clip.seconds=2"]),
        ],
    ),
    (
        "C10, dt 0.005, k 225",
        &[
            ("6.6, 6.11", "fig6-2", &["step.dt=0.005", "clip.seconds=2"]),
            ("6.8, 6.12", "fig6-4", &["step.dt=0.005", "clip.seconds=2"]),
        ],
    ),
    (
        "C11, dt 0.01",
        &[
            ("6.13", "fig6-1", &["step.dt=0.01", "clip.seconds=2"]),
            ("6.14", "fig6-2", &["step.dt=0.01", "clip.seconds=2"]),
            ("6.15", "fig6-3", &["step.dt=0.01", "clip.seconds=2"]),
            ("6.16", "fig6-4", &["step.dt=0.01", "clip.seconds=2"]),
        ],
    ),
    (
        "C12, 4000 N",
        &[
            ("as 6.1", "fig6-1", &["force=4000"]),
            ("as 6.5", "fig6-1", &["force=4000", "step.dt=0.005", "clip.seconds=2"]),
        ],
    ),
    (
        "C13, underdamped",
        &[
            ("6.17", "fig6-17", &[]),
            ("6.18", "fig6-17", &["k=500"]),
            ("6.19", "fig6-17", &["k=1000"]),
            ("6.20", "fig6-17", &["k=5000"]),
        ],
    ),
];

const TIMES: [f64; 6] = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0];

/// Time (s) and total deformation (m), until the end or until it diverged.
struct Curve {
    name: String,
    limit: f64,
    implicit: bool,
    points: Vec<[f64; 2]>,
    diverged: bool,
}

fn run(model: &Model, body: usize, seconds: f64) -> Curve {
    let mut model = model.clone();
    let body = model.bodies.swap_remove(body);
    model.bodies = vec![body];
    model.probes.clear();
    let body = &model.bodies[0];
    let (name, implicit) = (body.name.clone(), body.axes.integrator.implicit());
    let limit = preflight::inspect(&Model { gravity: glam::DVec3::ZERO, ..model.clone() }, 0).stable_step;
    let dt = model.step.dt;
    let (mut world, mut points, mut diverged) = (World::new(model), vec![[0.0, 0.0]], false);
    while world.time() < seconds - 0.5 * dt {
        let failed = world.step().is_err();
        let total = world.row(0).deformation;
        // Springs of some centimetres, thousands of them: this is hundreds of metres each.
        diverged = failed || !total.is_finite() || total > 1e6;
        if diverged {
            break;
        }
        points.push([world.time(), total]);
    }
    Curve { name, limit, implicit, points, diverged }
}

impl Curve {
    fn at(&self, time: f64, dt: f64) -> Option<f64> {
        self.points.iter().find(|p| (p[0] - time).abs() < 0.51 * dt).map(|p| p[1])
    }

    /// Ups and downs after the skeleton has stopped, over the largest total.
    fn swings(&self) -> f64 {
        let after: Vec<f64> = self.points.iter().filter(|p| p[0] > 0.05).map(|p| p[1]).collect();
        let way: f64 = after.windows(2).map(|w| (w[1] - w[0]).abs()).sum();
        let largest = after.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        (way - (after.last().unwrap_or(&0.0) - after.first().unwrap_or(&0.0)).abs()) / largest
    }

    fn row(&self, figure: &str, dt: f64) -> String {
        let mut line = format!("| {figure} | {} | {dt} | ", self.name);
        let _ = match self.implicit {
            true => write!(line, "any"),
            false => write!(line, "{:.4}", self.limit),
        };
        for time in TIMES {
            let _ = match self.at(time, dt) {
                Some(total) if total < 1e4 => write!(line, " | {total:.1}"),
                Some(total) => write!(line, " | {total:.0e}"),
                None => write!(line, " | "),
            };
        }
        let end = self.points.last().map_or(0.0, |p| p[0]);
        let _ = match self.diverged {
            true => write!(line, " | | diverged at {end:.2} s |"),
            false => write!(line, " | {:.1} | stable |", self.swings()),
        };
        line
    }
}

/// The curves of one figure.
fn picture(title: &str, curves: &[Curve]) -> String {
    let (width, height) = (640.0, 360.0);
    let last = curves.iter().flat_map(|c| c.points.last()).map(|p| p[0]).fold(0.0, f64::max);
    // What diverges leaves the picture at the top.
    let tame = curves.iter().filter(|c| !c.diverged).flat_map(|c| &c.points).map(|p| p[1]).fold(1e-9, f64::max);
    let top = 1.15 * tame;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"50\" y=\"18\">{title}: total deformation (m) over time (s)</text>\n\
         <path d=\"M50 25V330H630\" fill=\"none\" stroke=\"#888\"/>\n\
         <text x=\"4\" y=\"35\">{top:.0}</text><text x=\"4\" y=\"334\">0</text><text x=\"600\" y=\"348\">{last:.2}</text>\n"
    );
    for (k, (curve, colour)) in curves.iter().zip(["#c0392b", "#2471a3", "#1e8449"]).enumerate() {
        let mut points = String::new();
        let every = (curve.points.len() / 1000).max(1);
        for p in curve.points.iter().step_by(every).take_while(|p| p[1] < 1.5 * top) {
            let _ = write!(points, "{:.1},{:.1} ", 50.0 + 580.0 * p[0] / last, (330.0 - 300.0 * p[1] / top).max(0.0));
        }
        let _ = writeln!(
            out,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\"/><text x=\"60\" y=\"{}\" fill=\"{colour}\">{}</text>",
            42 + 16 * k,
            curve.name
        );
    }
    out + "</svg>\n"
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/chang-2000");
    let folder = std::env::args().nth(1).map(PathBuf::from);
    if let Some(folder) = &folder {
        std::fs::create_dir_all(folder)?;
    }
    for (title, cases) in CASES {
        println!("\n## {title}\n");
        println!("| figure | model | dt (s) | limit (s) | 0.05 s | 0.1 s | 0.2 s | 0.5 s | 1 s | 2 s | swings | |");
        println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
        for (figure, scene, sets) in *cases {
            let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
            let loaded = Scene::load_with(papers.join(format!("{scene}.toml")), &sets).map_err(|f| format!("{f:?}"))?;
            let built = loaded.scene.build(&papers).map_err(|f| format!("{f:?}"))?;
            let model = built.model;
            let curves: Vec<Curve> =
                (0..model.bodies.len()).map(|b| run(&model, b, loaded.scene.clip.seconds)).collect();
            for curve in &curves {
                println!("{}", curve.row(figure, model.step.dt));
            }
            if let Some(folder) = &folder {
                let name = format!("{}-{scene}-{}.svg", figure.replace([' ', ','], "-"), model.step.dt);
                std::fs::write(folder.join(name), picture(&format!("Figure {figure}"), &curves))?;
            }
        }
    }
    Ok(())
}
