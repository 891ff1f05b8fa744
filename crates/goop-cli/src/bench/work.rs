//! The workloads on which other programs are timed too: cloth from two corners, a block that sinks, cloth over a ball.
//!
//! Each is a built-in scene at any resolution. Quality is the distance from the converged run: the same scene with a
//! tenth of the step, three Newton iterations and a tight solve. A cloth that snaps about is chaotic: runs that start a ten-millionth of
//! a metre apart tell how much of the distance is chance.

use super::clock::{self, Cost};
use crate::args::{Bench, Workload};
use crate::open::{self, Opened};
use crate::{End, library};
use anyhow::{Result, anyhow};
use glam::DVec3;
use goop::shape::{Layout, tetra};
use goop::{World, contact::ObstacleShape};
use goop_scene::Scene;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// Frames at which quality is looked at, a second.
const FPS: f64 = 60.0;
/// Times at which energies are compared (s).
const TIMES: [f64; 3] = [0.25, 0.5, 1.0];
/// How far apart runs start (m).
const APART: f64 = 1e-7;
/// The converged run has so many times as many steps.
const FINER: f64 = 10.0;

/// What one run was like.
#[derive(Clone, Debug, Default)]
struct Quality {
    /// Largest stretch of an edge along the grid: at the end, at its worst, and the mean of the last quarter of a second. The
    /// edge at a held corner snaps to and fro late in the fall, so that an instant says little.
    stretch: [f64; 3],
    /// The largest stretch at every frame.
    course: Vec<f64>,
    /// Kinetic, elastic and gravitational energy at the times above (J), and what was exchanged by then.
    energy: [f64; 3],
    exchanged: [f64; 3],
    /// Mean fall of the top layer over the second half (m).
    drop: f64,
    /// Change of volume over the second half; cells inside out at the end.
    volume: f64,
    inverted: usize,
    /// Deepest a node and the middle of a cell were in the obstacle (m).
    depth: [f64; 2],
    rejected: u64,
}

struct Run {
    cost: Cost,
    quality: Quality,
    nodes: usize,
    dt: f64,
    bytes: Option<f64>,
}

/// `goop bench w1`, `w2` and `w3`
pub fn run(args: &Bench) -> Result<End> {
    let (name, sizes): (_, &[usize]) = match args.workload {
        Workload::W2 => ("w2", &[13, 21, 31]),
        Workload::W3 => ("w3", &[64]),
        _ => ("w1", &[64, 128]),
    };
    let sizes = args.n.map_or(sizes.to_vec(), |n| vec![n.clamp(4, 1000)]);
    let mut rows = Vec::new();
    for n in sizes {
        let coarse = play(args, name, n, false, 0)?;
        let fine = if args.quick { None } else { Some(play(args, name, n, true, 0)?) };
        if !args.json {
            print(name, n, &coarse, fine.as_ref());
        }
        let mut row = json_of(n, &coarse, fine.as_ref());
        if name != "w2" && args.spread > 0 {
            let others = |fine: bool, first: &Run| -> Result<Vec<[f64; 3]>> {
                let more = (1..=args.spread).map(|k| Ok(play(args, name, n, fine, k)?.quality.stretch));
                std::iter::once(Ok(first.quality.stretch)).chain(more).collect()
            };
            let own = Spread::of(&others(false, &coarse)?);
            let converged = fine.as_ref().map(|fine| others(true, fine).map(|all| Spread::of(&all))).transpose()?;
            if !args.json {
                print_spread(1 + args.spread, &own, converged.as_ref());
            }
            row["quality"]["spread"] = json!({ "own": own.json(), "converged": converged.map(|c| c.json()) });
        }
        rows.push(row);
    }
    if args.json {
        let mut object = rows[0].clone();
        object["workload"] = name.into();
        object["threads"] = rayon::current_num_threads().into();
        object["load"] = clock::load().into();
        object["rows"] = rows.into();
        println!("{object}");
    }
    Ok(End::Done)
}

/// The built-in scene at a resolution.
pub(super) fn open_work(name: &str, n: usize, dt: Option<f64>, fine: bool, more: &[&str]) -> Result<Opened> {
    let entry = library::find(name).ok_or_else(|| anyhow!("there is no scene '{name}'"))?;
    let mut sets = match name {
        "w2" => vec![format!("body.block.shape.box.nodes=[{n},{n},{n}]")],
        // An edge is critically damped at τ = 2 √(½ m / k) with m = 0.2 kg / n², k = 1000 N/m.
        _ => vec![
            format!("body.sheet.shape.rectangle.nodes=[{n},{n}]"),
            format!("body.sheet.material.damping={:?}", 0.02 / n as f64 * std::f64::consts::PI * 5e3f64.sqrt() / 2.0),
        ],
    };
    if name == "w1" {
        sets.push(format!("body.sheet.pin.0.at={{ index = [0, {}] }}", n - 1));
    }
    if name == "w3" {
        // A coarse sheet may have no node where the scene looks for its middle.
        sets.push(format!("probe.0.at={{ index = [{}] }}", n / 2 * n + n / 2));
    }
    if let Some(dt) = dt {
        sets.push(format!("step.dt={dt:?}"));
    }
    sets.extend(more.iter().map(|set| (*set).to_owned()));
    if fine {
        let body = if name == "w2" { "block" } else { "sheet" };
        sets.push(format!("body.{body}.solver={{ newton = 3, tolerance = 1e-7 }}"));
    }
    let loaded = Scene::load_text(entry.text, &format!("{name}.toml"), &sets, Path::new(""));
    let loaded = loaded.map_err(|f| anyhow!("{f}"))?;
    let built = loaded.build().map_err(|f| anyhow!("{f}"))?;
    Ok(Opened { loaded, built, name: name.to_owned() })
}

/// One run, the so-many-eth from where it starts.
fn play(args: &Bench, name: &str, n: usize, fine: bool, which: u8) -> Result<Run> {
    let more: Vec<&str> = args.set.iter().map(String::as_str).collect();
    let mut opened = open_work(name, n, args.dt, fine, &more)?;
    opened.built.model.bodies[0].start.position.y += APART * f64::from(which);
    let step = &mut opened.built.model.step;
    if fine {
        step.dt /= FINER;
    }
    let (dt, seconds) = (step.dt, opened.loaded.scene.clip.seconds);
    let before = clock::resident();
    let mut world = open::world(&opened)?;
    let mut quality = Quality::default();
    let mut cost = Cost::default();
    let frames = (seconds * FPS).round() as usize;
    let view = View::new(&world);
    for frame in 1..=frames {
        let end = frame as f64 / FPS - 0.25 * dt;
        while world.time() < end {
            cost.add(&clock::measure(&mut world, 1, f64::INFINITY, |_| ())?);
        }
        view.look(&world, frame, frames, &mut quality);
        if fine && !args.json && frame % 10 == 0 {
            eprint!("\r{name}, {n}: converged run {:3} %", 100 * frame / frames);
            std::io::stderr().flush()?;
        }
    }
    if fine && !args.json {
        eprint!("\r{:40}\r", "");
    }
    quality.rejected = world.state().rejected;
    let nodes = world.model().bodies[0].len();
    let bytes = before.zip(clock::resident()).map(|(a, b)| (b - a).max(0.0) / nodes as f64);
    Ok(Run { cost, quality, nodes, dt, bytes })
}

/// What to look at.
struct View {
    edges: Vec<[u32; 2]>,
    rest: Vec<f64>,
    cells: Vec<[u32; 8]>,
    /// Where the body is made of them.
    tetrahedra: Vec<[u32; 4]>,
    top: Vec<usize>,
    rest_volume: f64,
}

impl View {
    fn new(world: &World) -> Self {
        let shape = &world.model().bodies[0].shape;
        let x = &world.state().bodies[0].positions;
        let (edges, cells) = match &shape.layout {
            Layout::Grid(grid) => {
                let edges: Vec<[u32; 2]> = (0..grid.axes()).flat_map(|axis| grid.edges(axis)).collect();
                (edges, grid.cells().collect())
            }
            _ => (Vec::new(), Vec::new()),
        };
        let tetrahedra = shape.tetrahedra().map_or(Vec::new(), |t| t.cells.clone());
        let rest_at = &shape.rest_positions;
        let rest = edges.iter().map(|e| rest_at[e[0] as usize].distance(rest_at[e[1] as usize])).collect();
        let high = x.iter().map(|p| p.y).fold(f64::NEG_INFINITY, f64::max);
        let top = (0..x.len()).filter(|&i| x[i].y > high - 1e-6).collect();
        let mut view = Self { edges, rest, cells, tetrahedra, top, rest_volume: 0.0 };
        view.rest_volume = view.volume(x).0;
        view
    }

    /// Volume of the tetrahedra, and how many of them are inside out.
    fn volume(&self, x: &[DVec3]) -> (f64, usize) {
        let volumes = self.tetrahedra.iter().map(|t| tetra::volume(t.map(|n| x[n as usize])));
        volumes.fold((0.0, 0), |(sum, inside_out), v| (sum + v, inside_out + usize::from(v <= 0.0)))
    }

    fn look(&self, world: &World, frame: usize, frames: usize, quality: &mut Quality) {
        let x = &world.state().bodies[0].positions;
        let stretch = |k: usize| {
            let [i, j] = self.edges[k].map(|n| x[n as usize]);
            i.distance(j) / self.rest[k] - 1.0
        };
        quality.stretch[0] = (0..self.edges.len()).map(stretch).fold(0.0, f64::max);
        quality.stretch[1] = quality.stretch[1].max(quality.stretch[0]);
        quality.course.push(quality.stretch[0]);
        let late = (0.25 * FPS).round() as usize;
        if frame + late > frames {
            quality.stretch[2] += quality.stretch[0] / late as f64;
        }
        for (k, t) in TIMES.iter().enumerate() {
            if frame == (t * FPS).round() as usize {
                let row = world.row(0);
                quality.energy[k] = row.kinetic + row.elastic + row.gravitational;
                quality.exchanged[k] = row.exchanged;
            }
        }
        if 2 * frame > frames {
            let share = 1.0 / (frames / 2) as f64;
            let start = &world.model().bodies[0].start_positions();
            let fall = self.top.iter().map(|&i| start[i].y - x[i].y).sum::<f64>() / self.top.len() as f64;
            quality.drop += share * fall;
            let (volume, inverted) = self.volume(x);
            if self.rest_volume > 0.0 {
                quality.volume += share * (volume / self.rest_volume - 1.0);
                quality.inverted = inverted;
            }
        }
        let obstacles = &world.model().obstacles;
        if let Some(ball) = obstacles.iter().find(|o| matches!(o.shape, ObstacleShape::Sphere { .. })) {
            let pose = ball.motion.at(world.time());
            let depth = |p: DVec3| (-ball.gap(p, &pose).distance).max(0.0);
            quality.depth[0] = x.iter().map(|&p| depth(p)).fold(quality.depth[0], f64::max);
            let middles = self.cells.iter().map(|c| c[..4].iter().map(|&n| x[n as usize]).sum::<DVec3>() / 4.0);
            quality.depth[1] = middles.map(depth).fold(quality.depth[1], f64::max);
        }
    }
}

/// Stretches of several runs: at the end, at their worst and late, each their mean, least and largest.
struct Spread([[f64; 3]; 3]);

impl Spread {
    fn of(runs: &[[f64; 3]]) -> Self {
        Self([0, 1, 2].map(|k| {
            let values = || runs.iter().map(|stretch| stretch[k]);
            let mean = values().sum::<f64>() / runs.len() as f64;
            [mean, values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)]
        }))
    }

    fn json(&self) -> Value {
        let [end, worst, late] =
            self.0.map(|[mean, least, most]| json!({ "mean": mean, "least": least, "most": most }));
        json!({ "end_stretch": end, "worst_stretch": worst, "late_stretch": late })
    }
}

fn print_spread(runs: u8, own: &Spread, converged: Option<&Spread>) {
    let text = |spread: &Spread, k: usize| {
        let [mean, least, most] = spread.0[k].map(|v| 100.0 * v);
        format!("{mean:.2} % ({least:.2} to {most:.2})")
    };
    for (k, what) in [(0, "at the end"), (2, "late"), (1, "at worst")] {
        let beside = converged.map_or(String::new(), |c| format!(", converged {}", text(c, k)));
        println!("  stretch {what} of {runs} runs {:.0e} m apart: {}{beside}", APART, text(own, k));
    }
}

/// Energies against the converged ones, as a share of the energy exchanged.
fn energy_errors(own: &Quality, fine: &Quality) -> [f64; 3] {
    std::array::from_fn(|k| (own.energy[k] - fine.energy[k]) / fine.exchanged[k].max(f64::MIN_POSITIVE))
}

fn print(name: &str, n: usize, own: &Run, fine: Option<&Run>) {
    let ms = own.cost.ms();
    println!(
        "{name} {n}: {} nodes, dt {:.5} s, {} threads, load {:.1}",
        own.nodes,
        own.dt,
        rayon::current_num_threads(),
        clock::load().unwrap_or(f64::NAN)
    );
    println!(
        "  cpu {:.3} s and wall {:.3} s for a simulated second; {:.1} iterations a step (at most {}), {} steps by a factor, {} rejected",
        own.cost.cpu_per_second(),
        own.cost.wall_per_second(),
        own.cost.iterations_per_step(),
        own.cost.most_iterations,
        own.cost.direct,
        own.quality.rejected
    );
    println!(
        "  ms a step: forces {:.2}, assembly {:.2}, solve {:.2}, contact {:.2}, rest {:.2}; {:.0} bytes a node",
        ms[0],
        ms[1],
        ms[2],
        ms[3],
        ms[5],
        own.bytes.unwrap_or(f64::NAN)
    );
    let q = &own.quality;
    let beside = |pick: fn(&Quality) -> f64, unit: f64| {
        let converged = fine.map_or(String::new(), |f| format!(" ({:.4})", unit * pick(&f.quality)));
        format!("{:.4}{converged}", unit * pick(q))
    };
    if name == "w2" {
        println!(
            "  mean drop {} m, volume {} %, {} cells inside out; converged in brackets",
            beside(|q| q.drop, 1.0),
            beside(|q| q.volume, 100.0),
            q.inverted
        );
    } else {
        println!(
            "  stretch at the end {} %, over the last 0.25 s {} %, at worst {} %; converged in brackets",
            beside(|q| q.stretch[0], 100.0),
            beside(|q| q.stretch[2], 100.0),
            beside(|q| q.stretch[1], 100.0)
        );
    }
    if name == "w3" {
        println!(
            "  nodes at most {} mm deep, middles of cells {} mm",
            beside(|q| q.depth[0], 1e3),
            beside(|q| q.depth[1], 1e3)
        );
    }
    if let Some(fine) = fine {
        let errors = energy_errors(q, &fine.quality).map(|e| format!("{:+.1} %", 100.0 * e));
        println!("  energy off by {} of that exchanged after 0.25, 0.5, 1 s", errors.join(", "));
    }
}

fn json_of(n: usize, own: &Run, fine: Option<&Run>) -> Value {
    let mut object = own.cost.json();
    object["n"] = n.into();
    object["nodes"] = own.nodes.into();
    object["dt"] = own.dt.into();
    object["bytes_per_node"] = own.bytes.into();
    let q = &own.quality;
    let figures = |q: &Quality| {
        json!({
            "end_stretch": q.stretch[0], "worst_stretch": q.stretch[1], "late_stretch": q.stretch[2], "mean_drop": q.drop, "volume_change": q.volume,
            "inverted": q.inverted, "node_depth": q.depth[0], "cell_depth": q.depth[1], "energies": q.energy, "exchanged": q.exchanged,
            "rejected_steps": q.rejected, "course": q.course,
        })
    };
    object["quality"] = figures(q);
    if let Some(fine) = fine {
        let f = &fine.quality;
        object["quality"]["converged"] = figures(f);
        object["quality"]["end_stretch_error"] = (q.stretch[0] - f.stretch[0]).into();
        object["quality"]["late_stretch_error"] = (q.stretch[2] - f.stretch[2]).into();
        object["quality"]["worst_stretch_error"] = (q.stretch[1] - f.stretch[1]).into();
        object["quality"]["drop_error"] = (if f.drop == 0.0 { 0.0 } else { q.drop / f.drop - 1.0 }).into();
        object["quality"]["volume_error"] = (q.volume - f.volume).into();
        object["quality"]["energy_errors"] = json!(energy_errors(q, f));
    }
    object
}
