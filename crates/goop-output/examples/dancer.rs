//! Draws the built-in character, skinned by its bones alone: at rest from three sides, and
//! its dance as sheets of pictures from the front and from the side; with `--movie` as a movie
//! too. For judging shape and motion without any physics.
//!
//! `cargo run --release -p goop-output --example dancer -- FOLDER [--movie] [--beats 0,0.5,1]`

#![allow(clippy::print_stdout)]

use anyhow::{Context, Result};
use goop::frame::{BodyFrame, Frame};
use goop_output::render::{BodyLook, CameraLook, ObstacleLook, Renderer, SceneLook, Settings};
use goop_output::{Image, Movie};
use goop_scene::dancer;
use goop_scene::mesh::Skin;
use goop_scene::rig::Rig;
use std::path::PathBuf;
use std::time::Instant;

/// Seconds to a beat.
const BEAT: f64 = 0.5;

/// Red, green and blue as screens have them.
fn on_screen(linear: [f32; 4]) -> [f32; 3] {
    let part = |v: f32| if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
    [part(linear[0]), part(linear[1]), part(linear[2])]
}

/// Borders between materials are welded, so that light does not show them.
fn look(skin: &Skin, camera: CameraLook) -> SceneLook {
    let mut rest_positions = vec![[0.0; 3]; skin.nodes.iter().max().map_or(0, |last| *last as usize + 1)];
    for (position, &node) in skin.positions.iter().zip(&skin.nodes) {
        rest_positions[node as usize] = position.as_vec3().to_array();
    }
    let body = BodyLook {
        name: dancer::NAME.into(),
        rest_positions,
        triangles: skin.triangles.iter().map(|t| t.map(|corner| skin.nodes[corner as usize])).collect(),
        paints: skin.paints.iter().map(|paint| paint.colour.map(on_screen)).collect(),
        triangle_paints: skin.triangle_paints.clone(),
        ..BodyLook::default()
    };
    let floor = ObstacleLook { plane: true, ..ObstacleLook::default() };
    SceneLook { bodies: vec![body], obstacles: vec![floor], camera: Some(camera), ..SceneLook::default() }
}

/// A camera without a turn of its own.
fn camera(from: [f64; 3], at: [f64; 3], lens_mm: f64) -> CameraLook {
    CameraLook { position: from, look_at: at, lens_mm, orbit_deg_per_s: 0.0 }
}

/// The skin at a time (s); at rest where there is none.
fn frame(rig: &Rig, skin: &Skin, time: Option<f64>) -> Frame {
    let mut moved = Vec::new();
    match time {
        Some(time) => rig.skinned(&rig.motions[0].pose(time), &mut moved),
        None => moved.clone_from(&rig.positions),
    }
    let mut positions = vec![[0.0; 3]; skin.nodes.iter().max().map_or(0, |last| *last as usize + 1)];
    for (position, &node) in moved.iter().zip(&skin.nodes) {
        positions[node as usize] = position.as_vec3().to_array();
    }
    let count = positions.len();
    let body =
        BodyFrame { positions, velocities: vec![[0.0; 3]; count], stretch: vec![0.0; count], ..BodyFrame::default() };
    let floor = Some((glam::DVec3::ZERO, glam::DQuat::IDENTITY));
    Frame { time: time.unwrap_or(0.0), bodies: vec![body], obstacles: vec![floor], ..Frame::default() }
}

/// Pictures in rows of six.
fn sheet(pictures: &[Image]) -> Result<Image> {
    let first = pictures.first().context("no pictures")?;
    let (columns, wide, high) = (6.min(pictures.len()), first.width as usize, first.height as usize);
    let rows = pictures.len().div_ceil(columns);
    let mut sheet = Image::new((columns * wide) as u32, (rows * high) as u32, [255; 3])?;
    for (i, picture) in pictures.iter().enumerate() {
        for y in 0..high {
            let start = 3 * ((i / columns * high + y) * columns * wide + i % columns * wide);
            sheet.pixels[start..start + 3 * wide].copy_from_slice(&picture.pixels[3 * y * wide..3 * (y + 1) * wide]);
        }
    }
    Ok(sheet)
}

fn main() -> Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let movie = args.iter().position(|arg| arg == "--movie").map(|i| args.remove(i)).is_some();
    let beats = args.iter().position(|arg| arg == "--beats").map(|i| args.drain(i..i + 2).next_back());
    let folder = PathBuf::from(args.first().map_or("out/dancer", String::as_str));
    std::fs::create_dir_all(&folder)?;
    let start = Instant::now();
    let (rig, skin) = (dancer::rig(), dancer::skin());
    let nodes = skin.nodes.iter().max().map_or(0, |last| last + 1);
    let (vertices, triangles) = (skin.positions.len(), skin.triangles.len());
    println!("{nodes} vertices ({vertices} in a file), {triangles} triangles, {:.2?}", start.elapsed());
    let seconds = rig.motions[0].duration;
    let small = Settings { width: 240, height: 270, samples: 4, ..Settings::default() };
    let large = Settings { width: 640, height: 720, ..Settings::default() };
    let views = [
        ("rest-front", camera([0.0, 1.0, 5.2], [0.0, 0.78, 0.0], 90.0)),
        ("rest-three-quarter", camera([3.4, 1.3, 3.9], [0.0, 0.78, 0.0], 90.0)),
        ("rest-side", camera([5.2, 1.0, 0.0], [0.0, 0.78, 0.0], 90.0)),
        ("rest-face", camera([0.35, 1.2, 3.0], [0.0, 1.17, 0.0], 130.0)),
    ];
    let rest = frame(&rig, &skin, None);
    let mut pictures = Vec::new();
    for (_, view) in views {
        pictures.push(Renderer::new(&look(&skin, view), &large)?.draw(&rest)?);
    }
    sheet(&pictures)?.write_png(&folder.join("rest.png"))?;
    let times: Vec<f64> = match beats.flatten() {
        Some(list) => {
            list.split(',').filter_map(|beat| beat.trim().parse().ok()).map(|beat: f64| beat * BEAT).collect()
        }
        None => (0..32).map(|i| seconds * f64::from(i) / 32.0).collect(),
    };
    let views = [
        ("front", camera([0.0, 1.15, 6.4], [0.0, 0.86, 0.0], 112.0)),
        ("side", camera([6.4, 1.15, 0.0], [0.0, 0.86, 0.0], 112.0)),
    ];
    for (name, view) in views {
        let mut renderer = Renderer::new(&look(&skin, view), &small)?;
        let pictures: Result<Vec<Image>, _> =
            times.iter().map(|&time| renderer.draw(&frame(&rig, &skin, Some(time)))).collect();
        sheet(&pictures?)?.write_png(&folder.join(format!("dance-{name}.png")))?;
    }
    if movie {
        let mut renderer = Renderer::new(&look(&skin, views[0].1), &large)?;
        let mut movie = Movie::create(&folder.join("dance.mp4"), large.width, large.height, 30.0)?;
        for i in 0..(seconds * 30.0).round() as usize {
            movie.add(&renderer.draw(&frame(&rig, &skin, Some(i as f64 / 30.0)))?)?;
        }
        movie.finish()?;
    }
    Ok(())
}
