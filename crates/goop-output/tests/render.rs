//! Pictures: small golden images, and what must hold for every picture.
//!
//! `GOOP_GOLDEN=write cargo test -p goop-output --test render` draws the golden images
//! anew; look at them before they are committed.

use glam::{DQuat, DVec3};
use goop::contact::ObstacleShape;
use goop::frame::{BodyFrame, Frame};
use goop_output::Image;
use goop_output::render::{
    Background, BodyLook, CameraLook, ColorBy, Motion, ObstacleLook, Renderer, SceneLook, Settings, Show, Style,
    side_by_side,
};
use std::path::Path;

const SMALL: Settings = Settings {
    width: 192,
    height: 128,
    samples: 8,
    style: Style::Shaded,
    color_by: ColorBy::Body,
    color_top: None,
    show: Show {
        pins: true,
        contacts: false,
        velocities: false,
        forces: false,
        nodes: false,
        springs: false,
        bones: false,
        see_through: false,
        hud: false,
        captions: false,
        obstacles: true,
        ground: true,
    },
    background: Background::Studio,
    threads: None,
};

fn frame(positions: Vec<[f32; 3]>, pinned: Vec<u32>, obstacles: Vec<Option<(DVec3, DQuat)>>) -> Frame {
    let n = positions.len();
    let stretch = positions.iter().map(|p| 0.1 * (1.0 + (3.0 * p[0]).sin())).collect();
    let body = BodyFrame { positions, velocities: vec![[0.0, 1.0, 0.0]; n], stretch, pinned, ..BodyFrame::default() };
    Frame { bodies: vec![body], obstacles, ..Frame::default() }
}

fn grid(n: u32) -> Vec<[u32; 3]> {
    let cells = (0..n - 1).flat_map(move |row| (0..n - 1).map(move |column| row * n + column));
    cells.flat_map(|i| [[i, i + n, i + n + 1], [i, i + n + 1, i + 1]]).collect()
}

/// A hanging sheet.
fn surface() -> (SceneLook, Frame) {
    let n = 17;
    let at = |k: u32| {
        let (u, v) = ((k % n) as f32 / 8.0 - 1.0, (k / n) as f32 / 8.0 - 1.0);
        [u, -0.5 * (1.0 - u * u) * (1.0 - 0.5 * v * v) + 0.1 * (4.0 * v).sin(), v]
    };
    let body = BodyLook { name: "sheet".into(), triangles: grid(n), ..BodyLook::default() };
    let look = SceneLook { bodies: vec![body], ..SceneLook::default() };
    (look, frame((0..n * n).map(at).collect(), vec![0, n - 1, n * n - n, n * n - 1], Vec::new()))
}

/// A helix.
fn curve() -> (SceneLook, Frame) {
    let at = |k: u32| [(0.35 * k as f32).cos(), 0.03 * k as f32, (0.35 * k as f32).sin()];
    let segments = (0..59).map(|k| [k, k + 1]).collect();
    let body = BodyLook {
        name: "string".into(),
        segments,
        radius: 0.06,
        color: Some([0.85, 0.4, 0.1]),
        ..BodyLook::default()
    };
    (SceneLook { bodies: vec![body], ..SceneLook::default() }, frame((0..60).map(at).collect(), vec![0], Vec::new()))
}

/// A twisted block on a plane beside a ball.
fn solid() -> (SceneLook, Frame) {
    let n = 9;
    let (mut x, mut triangles) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        for (side, sign) in [-0.5_f32, 0.5].into_iter().enumerate() {
            let first = x.len() as u32;
            for k in 0..n * n {
                let mut p = [0.0; 3];
                p[axis] = sign;
                p[(axis + 1) % 3] = (k % n) as f32 / 8.0 - 0.5;
                p[(axis + 2) % 3] = (k / n) as f32 / 8.0 - 0.5;
                x.push(p);
            }
            let flip = |t: [u32; 3]| if side == 0 { t } else { [t[0], t[2], t[1]] };
            triangles.extend(grid(n).into_iter().map(|t| flip(t.map(|v| v + first))));
        }
    }
    let rest_positions = x.clone();
    let twist = |p: &[f32; 3]| {
        let (sin, cos) = (0.8 * p[1]).sin_cos();
        [cos * p[0] + sin * p[2], p[1] + 0.5, cos * p[2] - sin * p[0]]
    };
    let body = BodyLook { name: "block".into(), rest_positions, triangles, ..BodyLook::default() };
    let ball = ObstacleLook::of(&ObstacleShape::Sphere { radius: 0.4 }, false);
    let plane = ObstacleLook::of(&ObstacleShape::Plane, false);
    let poses = vec![Some((DVec3::new(1.1, 0.4, 0.0), DQuat::IDENTITY)), Some((DVec3::ZERO, DQuat::IDENTITY))];
    let look = SceneLook { bodies: vec![body], obstacles: vec![ball, plane], ..SceneLook::default() };
    (look, frame(x.iter().map(twist).collect(), Vec::new(), poses))
}

fn draw((look, frame): &(SceneLook, Frame), settings: &Settings) -> Image {
    let mut renderer = Renderer::new(look, settings).unwrap();
    renderer.frame_camera(&Motion::of([frame]));
    renderer.draw(frame).unwrap()
}

/// Mean difference of bytes, and share of pixels that differ visibly.
fn difference(a: &Image, b: &Image) -> (f64, f64) {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let far = |(p, q): (&[u8], &[u8])| p.iter().zip(q).map(|(&p, &q)| p.abs_diff(q)).max().unwrap_or(0) > 24;
    let sum: f64 = a.pixels.iter().zip(&b.pixels).map(|(&p, &q)| f64::from(p.abs_diff(q))).sum();
    let seen = a.pixels.chunks(3).zip(b.pixels.chunks(3)).filter(|&pair| far(pair)).count();
    (sum / a.pixels.len() as f64, 3.0 * seen as f64 / a.pixels.len() as f64)
}

fn compare(name: &str, image: &Image) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.png"));
    if std::env::var_os("GOOP_GOLDEN").is_some_and(|v| v == "write") {
        image.write_png(&golden).unwrap();
    }
    assert!(std::fs::metadata(&golden).unwrap().len() <= 20 * 1024, "{name} is larger than 20 KiB");
    let expected = Image::read_png(&golden).unwrap();
    let (mean, seen) = difference(image, &expected);
    if mean <= 1.5 && seen <= 0.01 {
        return;
    }
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut apart = image.clone();
    for (p, q) in apart.pixels.iter_mut().zip(&expected.pixels) {
        *p = 255 - p.abs_diff(*q).saturating_mul(4);
    }
    let page = side_by_side(&[(&expected, "golden"), (image, "drawn"), (&apart, "difference")]).unwrap();
    let report = place.join(format!("{name}-difference.png"));
    image.write_png(&place.join(format!("{name}.png"))).unwrap();
    page.write_png(&report).unwrap();
    panic!(
        "{name} differs from its golden image by {mean:.2} on average and visibly in {:.1} % of it: see {}",
        100.0 * seen,
        report.display()
    );
}

/// Catches what no number does: a lost light, a shadow that detached, a body inside out.
#[test]
fn a_surface_a_curve_a_solid_and_a_wireframe_look_as_they_did() {
    compare("surface", &draw(&surface(), &SMALL));
    compare("curve", &draw(&curve(), &SMALL));
    compare("solid", &draw(&solid(), &SMALL));
    compare("wireframe", &draw(&surface(), &Settings { style: Style::Wireframe { hidden: true }, ..SMALL }));
}

/// Catches colours summed in the order threads arrive.
#[test]
fn one_thread_and_three_draw_the_same_bytes_in_every_style() {
    for style in [Style::Shaded, Style::Wireframe { hidden: true }, Style::Wireframe { hidden: false }, Style::Lattice]
    {
        for scene in [surface(), curve(), solid()] {
            let show = Show { hud: true, captions: true, velocities: true, ..Show::default() };
            let settings = Settings { style, show, color_by: ColorBy::Stretch, ..SMALL };
            let one = draw(&scene, &Settings { threads: Some(1), ..settings.clone() });
            let three = draw(&scene, &Settings { threads: Some(3), ..settings });
            assert!(one == three, "{style:?}");
        }
    }
    let mut renderers = [1, 3].map(|n| Renderer::new(&solid().0, &Settings { threads: Some(n), ..SMALL }).unwrap());
    let [one, three] = &mut renderers;
    assert!(one.still(&solid().1, 4).unwrap() == three.still(&solid().1, 4).unwrap());
}

/// Catches a tracer whose camera, colours or shadows went another way than the rasteriser's.
#[test]
fn the_ray_tracer_agrees_with_the_rasteriser_up_to_finer_shadows() {
    for scene in [surface(), curve(), solid()] {
        let mut renderer = Renderer::new(&scene.0, &SMALL).unwrap();
        renderer.frame_camera(&Motion::of([&scene.1]));
        let (fast, fine) = (renderer.draw(&scene.1).unwrap(), renderer.still(&scene.1, 32).unwrap());
        let (mean, seen) = difference(&fast, &fine);
        assert!(mean < 4.0 && seen < 0.06, "{mean} {seen}");
    }
}

/// Catches shadow acne: a flat, slanting sheet in full light must not be speckled.
#[test]
fn a_flat_sheet_in_the_light_is_even() {
    let n = 33;
    for slant in [-0.9_f32, -0.3, 0.0, 0.3, 0.9] {
        let at =
            |k: u32| [(k % n) as f32 / 16.0 - 1.0, slant * ((k / n) as f32 / 16.0 - 1.0), (k / n) as f32 / 16.0 - 1.0];
        let body = BodyLook { triangles: grid(n), ..BodyLook::default() };
        let camera = CameraLook { position: [0.5, 4.0, 4.0], look_at: [0.0; 3], lens_mm: 120.0, orbit_deg_per_s: 0.0 };
        let look = SceneLook { bodies: vec![body], camera: Some(camera), ..SceneLook::default() };
        let image = draw(&(look, frame((0..n * n).map(at).collect(), Vec::new(), Vec::new())), &SMALL);
        // Neighbours in the middle of the picture, all of it sheet.
        for y in 60..68 {
            for x in 86..106 {
                let (a, b) = (image.pixel(x, y), image.pixel(x + 1, y));
                assert!((0..3).all(|c| a[c].abs_diff(b[c]) <= 2), "slant {slant} at {x} {y}: {a:?} {b:?}");
            }
        }
    }
}

/// Catches a wild frame that panics or takes all memory instead of being drawn as far as it can.
#[test]
fn frames_with_nodes_at_infinity_behind_the_eye_or_missing_do_no_harm() {
    let (look, mut wild) = surface();
    wild.bodies[0].positions[5] = [f32::NAN; 3];
    wild.bodies[0].positions[40] = [f32::INFINITY, 0.0, 0.0];
    wild.bodies[0].positions[80] = [1e30, -1e30, 1e30];
    for style in [Style::Shaded, Style::Wireframe { hidden: true }, Style::Lattice] {
        let image = draw(&(look.clone(), wild.clone()), &Settings { style, ..SMALL });
        assert_eq!(image.pixels.len(), 192 * 128 * 3);
    }
    let inside =
        CameraLook { position: [0.0, -0.4, 0.0], look_at: [1.0, -0.4, 0.2], lens_mm: 20.0, orbit_deg_per_s: 90.0 };
    let near = SceneLook { camera: Some(inside), ..look.clone() };
    draw(&(near, surface().1), &SMALL);
    let mut renderer = Renderer::new(&look, &SMALL).unwrap();
    let mut short = surface().1;
    short.bodies[0].positions.truncate(10);
    assert!(renderer.draw(&short).unwrap_err().to_string().contains("sheet"));
    assert!(renderer.draw(&Frame::default()).is_err());
    assert!(Renderer::new(&look, &Settings { width: 0, ..SMALL }).is_err());
    assert!(renderer.strobe(&[surface().1], &[]).is_err());
    assert!(renderer.strobe(&[surface().1, surface().1], &[0, 1, 7]).is_ok());
    draw(&(SceneLook::default(), Frame::default()), &SMALL);
}
