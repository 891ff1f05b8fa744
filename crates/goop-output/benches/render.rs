//! Seconds a frame of the renderer: 1280 × 720, 20 000 triangles, shadows, eight samples.
//!
//! Prints wall and processor time, since a busy machine stretches only the first.
//! `cargo bench -p goop-output --bench render`
#![allow(clippy::print_stdout)]

use goop::frame::{BodyFrame, Frame};
use goop_output::Movie;
use goop_output::render::{BodyLook, Motion, Renderer, SceneLook, Settings, Style};
use std::time::Instant;

/// Nodes along each side: 2 · 100² triangles.
const SIDE: usize = 101;
const FRAMES: usize = 24;

/// A waving sheet.
fn sheet(index: usize) -> Frame {
    let time = index as f64 / 24.0;
    let at = |k: usize| {
        let (u, v) = ((k % SIDE) as f32 / (SIDE - 1) as f32, (k / SIDE) as f32 / (SIDE - 1) as f32);
        let wave = (9.0 * u + 4.0 * time as f32).sin() * (7.0 * v).cos();
        [2.0 * u - 1.0, 0.8 + 0.15 * wave, 2.0 * v - 1.0]
    };
    let positions: Vec<[f32; 3]> = (0..SIDE * SIDE).map(at).collect();
    let (velocities, stretch) = (vec![[0.0; 3]; positions.len()], vec![0.0; positions.len()]);
    let body = BodyFrame { positions, velocities, stretch, ..BodyFrame::default() };
    Frame { index, time, bodies: vec![body], ..Frame::default() }
}

fn look() -> SceneLook {
    let n = SIDE as u32;
    let quad = |i: u32| [[i, i + n, i + n + 1], [i, i + n + 1, i + 1]];
    let cells = (0..n - 1).flat_map(|row| (0..n - 1).map(move |column| row * n + column));
    let rest_positions = sheet(0).bodies[0].positions.clone();
    let body = BodyLook {
        name: "sheet".into(),
        rest_positions,
        triangles: cells.flat_map(quad).collect(),
        ..BodyLook::default()
    };
    SceneLook { bodies: vec![body], ..SceneLook::default() }
}

/// Processor time of this process so far (s), where the system tells.
fn processor_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks: f64 = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

fn time(what: &str, mut work: impl FnMut(usize)) {
    work(0);
    let (clock, before) = (Instant::now(), processor_time());
    for i in 0..FRAMES {
        work(i);
    }
    let each = |seconds: f64| seconds / FRAMES as f64;
    let processor =
        processor_time().zip(before).map_or("?".to_owned(), |(now, then)| format!("{:.4}", each(now - then)));
    println!("{what:32} {:.4} s/frame  ({processor} s of processor time)", each(clock.elapsed().as_secs_f64()));
}

fn main() {
    let frames: Vec<Frame> = (0..FRAMES).map(sheet).collect();
    let motion = Motion::of(&frames);
    println!("1280 x 720, 20 000 triangles, {} threads", rayon::current_num_threads());
    let styles = [
        ("shaded, shadows, 8 samples", Style::Shaded, 8),
        ("shaded, shadows, 4 samples", Style::Shaded, 4),
        ("wireframe, hidden lines", Style::Wireframe { hidden: true }, 8),
    ];
    for (name, style, samples) in styles {
        let settings = Settings { style, samples, ..Settings::default() };
        let Ok(mut renderer) = Renderer::new(&look(), &settings) else { continue };
        renderer.frame_camera(&motion);
        time(name, |i| assert!(renderer.draw(&frames[i]).is_ok()));
    }
    let path = std::env::temp_dir().join("goop-render-bench.mp4");
    let Ok(mut renderer) = Renderer::new(&look(), &Settings::default()) else { return };
    renderer.frame_camera(&motion);
    let pictures: Vec<_> = frames.iter().filter_map(|f| renderer.draw(f).ok()).collect();
    if let Ok(mut movie) = Movie::create(&path, 1280, 720, 24.0) {
        time("encoding a movie", |i| assert!(movie.add(&pictures[i]).is_ok()));
    }
}
