//! What leaves the studio, and drawings that come in.

use crate::session::Session;
use goop_output::export::Format;
use goop_scene::reader::number;
use goop_scene::scene::Plane;

/// Nodes of a drawn body.
const DRAWN_NODES: usize = 60;
/// Points that its curve goes through.
const DRAWN_POINTS: usize = 32;

/// Writes the recorded frames as a run and exports them; says where they are.
pub fn export(session: &Session, format: &str) -> Result<String, String> {
    let Some(format) = Format::from_name(format) else {
        let names: Vec<&str> = Format::ALL.iter().map(|f| f.name()).collect();
        return Err(format!("there is no such format; choose one of {}", names.join(", ")));
    };
    let (first, last) = session.ring.range().ok_or("nothing is recorded yet")?;
    let stem = session.name.trim_end_matches(".toml");
    let folder = session.folder.join("out").join(format!("{stem}-studio"));
    goop_output::whole::make_folder(&folder).map_err(|e| e.to_string())?;
    let mut sinks = (session.host.outputs)(&folder, &session.built, session.fps(), first)?;
    for frame in session.ring.frames() {
        sinks.iter_mut().try_for_each(|sink| sink.write(frame)).map_err(|e| e.to_string())?;
    }
    sinks.iter_mut().try_for_each(|sink| sink.finish()).map_err(|e| e.to_string())?;
    drop(sinks);
    let out = folder.join("export").join(format.name());
    let report = goop_output::export(&folder, format, &out).map_err(|e| e.to_string())?;
    let files = report.files.len();
    Ok(format!("wrote frames {first} to {last} as {files} {} files into {}", format.name(), out.display()))
}

/// The scene's text with a closed curve as another body. The curve is drawn with the plane's
/// third coordinate at nought.
pub fn drawn_body(session: &Session, points: &[[f64; 3]]) -> Result<String, String> {
    Session::check_points(points)?;
    if session.loaded.scene.world.plane != Some(Plane::Xy) {
        return Err("drawing needs a scene in the xy plane: choose flatland, or give [world] plane = \"xy\"".into());
    }
    let curve = resample(points, DRAWN_POINTS);
    let middle = |axis: usize| curve.iter().map(|p| p[axis]).sum::<f64>() / curve.len() as f64;
    let (x, y) = (middle(0), middle(1));
    let extent = |axis: usize| {
        let (low, high) = curve.iter().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p[axis]), h.max(p[axis])));
        high - low
    };
    let size = extent(0).max(extent(1));
    if size < 1e-3 || extent(0).min(extent(1)) < 0.02 * size {
        return Err("that curve encloses nothing; draw a rounder one".into());
    }
    let round = |v: f64| (v * 1e5).round() / 1e5;
    let list: Vec<String> =
        curve.iter().map(|p| format!("[{:?}, {:?}, 0.0]", round(p[0] - x), round(p[1] - y))).collect();
    let taken = |name: &str| session.loaded.scene.body.iter().any(|b| b.name == name);
    let name = (1..).map(|n| format!("drawn-{n}")).find(|name| !taken(name)).unwrap_or_default();
    let text = format!(
        "[[body]]\nname = \"{name}\"\nformulation = \"hybrid\"\nposition = [{:?}, {:?}, 0.0]\n\
         shape.spline = {{ points = [{}], closed = true, nodes = {DRAWN_NODES} }}\n\
         material = {{ density = 1000.0, young = 6e6, radius = {}, damping = 0.05, drag = 0.15, friction = 0.0 }}\n",
        round(x),
        round(y),
        list.join(", "),
        number(round((size / 30.0).max(1e-4))),
    );
    crate::document::add_body(&session.text, &text)
        .ok_or_else(|| "the scene's bodies are written on one line; write them as [[body]] tables".to_owned())
}

/// Points at equal distances along a closed curve.
fn resample(points: &[[f64; 3]], count: usize) -> Vec<[f64; 3]> {
    let n = points.len();
    let gap = |i: usize| {
        let (a, b) = (points[i], points[(i + 1) % n]);
        (b[0] - a[0]).hypot(b[1] - a[1])
    };
    let total: f64 = (0..n).map(gap).sum();
    let (mut i, mut passed) = (0, 0.0);
    (0..count)
        .map(|k| {
            let goal = total * k as f64 / count as f64;
            while i + 1 < n && passed + gap(i) < goal {
                passed += gap(i);
                i += 1;
            }
            let s = ((goal - passed) / gap(i).max(1e-300)).clamp(0.0, 1.0);
            let (a, b) = (points[i], points[(i + 1) % n]);
            [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), 0.0]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a drawn curve that is pulled to where the mouse was slow.
    #[test]
    fn points_of_a_drawing_are_spread_evenly() {
        let mut square: Vec<[f64; 3]> = (0..40).map(|k| [f64::from(k) / 40.0, 0.0, 0.0]).collect();
        square.extend([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]);
        let even = resample(&square, 16);
        for k in 0..16 {
            let (a, b) = (even[k], even[(k + 1) % 16]);
            assert!(((b[0] - a[0]).hypot(b[1] - a[1]) - 0.25).abs() < 1e-9, "{even:?}");
        }
    }
}
