//! What is written over a picture: time and energies, the colour scale, names.

use super::camera::Camera;
use super::color;
use super::look::ColorBy;
use super::motion::Bounds;
use super::text;
use crate::error::OutputError;
use crate::image::Image;
use glam::Vec3;
use goop::frame::Frame;

const INK: [u8; 3] = [0x20, 0x26, 0x2C];
const PAPER: [u8; 3] = [0xFF, 0xFF, 0xFF];

/// Size of letters in a picture (px).
fn letter(image: &Image) -> f32 {
    (f32::from(image.height.min(u32::from(u16::MAX)) as u16) * 0.026).clamp(9.0, 40.0)
}

/// Time and energies, top left.
pub fn account(image: &mut Image, frame: &Frame) {
    let row = &frame.ledger;
    let joules = |name: &str, value: f64| format!("{name:9}{}", measure(value, "J"));
    let lines = [
        format!("{:9}{:>8.3} s", "time", frame.time),
        joules("kinetic", row.kinetic),
        joules("elastic", row.elastic),
        joules("gravity", row.gravitational),
        joules("stored", row.stored()),
    ];
    let size = letter(image);
    let wide = lines.iter().map(|l| text::width(l, size)).fold(0.0, f32::max);
    let (gap, step) = (0.7 * size, 1.3 * size);
    text::pane(image, gap, gap, wide + 2.0 * gap, step * lines.len() as f32 + gap, PAPER, 0.72);
    for (i, line) in lines.iter().enumerate() {
        text::write(image, line, 2.0 * gap, gap + step * (i as f32 + 1.0), size, INK);
    }
}

/// Three digits with the prefix that suits, always as wide.
fn measure(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 7] =
        [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")];
    if !value.is_finite() {
        return format!("{value:>8} {unit}");
    }
    if value.abs() < 1e-12 {
        return format!("{:>8} {unit}", "0");
    }
    let (scale, prefix) = PREFIXES.iter().find(|(s, _)| value.abs() >= 0.9995 * s).unwrap_or(&PREFIXES[6]);
    let digits = match (value / scale).abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{:>8.digits$} {prefix}{unit}", value / scale)
}

/// The colour scale, bottom right.
pub fn legend(image: &mut Image, by: ColorBy, top: f32) {
    let (name, last) = match by {
        ColorBy::Body | ColorBy::Part => return,
        ColorBy::Stretch => ("stretch", format!("{} %", short(100.0 * top))),
        ColorBy::Speed => ("speed", format!("{} m/s", short(top))),
    };
    let size = letter(image);
    let gap = 0.7 * size;
    let (wide, high) = (14.0 * size, 0.8 * size);
    let (width, height) = (image.width as f32, image.height as f32);
    let (left, pane_high) = (width - wide - 2.0 * gap, high + 1.6 * size + 1.6 * gap);
    text::pane(image, left - gap, height - gap - pane_high, wide + 2.0 * gap, pane_high, PAPER, 0.72);
    let bar = height - gap - pane_high + gap;
    for x in 0..wide as i64 {
        for y in 0..high as i64 {
            text::blend(image, left as i64 + x, bar as i64 + y, color::scale_bytes((x as f32 + 0.5) / wide), 1.0);
        }
    }
    let line = bar + high + 1.25 * size;
    text::write(image, "0", left, line, size, INK);
    text::write(image, name, left + 0.5 * (wide - text::width(name, size)), line, size, INK);
    text::write(image, &last, left + wide - text::width(&last, size), line, size, INK);
}

/// What arrows mean, bottom left: name, ink, value of a full one, unit.
pub fn arrows(image: &mut Image, entries: &[(&str, [u8; 3], f64, &str)]) {
    let size = letter(image);
    let (gap, step) = (0.7 * size, 1.3 * size);
    let lines: Vec<String> = (entries.iter())
        .map(|(name, _, full, unit)| format!("{name}, full length {}", measure(*full, unit).trim_start()))
        .collect();
    let Some(wide) = lines.iter().map(|l| text::width(l, size)).reduce(f32::max) else { return };
    let high = step * lines.len() as f32 + gap;
    let top = image.height as f32 - gap - high;
    text::pane(image, gap, top, wide + 2.0 * gap + 2.2 * size, high, PAPER, 0.72);
    for (i, (line, (_, ink, ..))) in lines.iter().zip(entries).enumerate() {
        let base = top + step * (i as f32 + 1.0);
        let dash = (0.16 * size).max(1.0);
        let (left, middle) = (2.0 * gap, base - 0.38 * size);
        text::pane(image, left - 1.0, middle - 1.0, 1.6 * size + 2.0, dash + 2.0, INK, 1.0);
        text::pane(image, left, middle, 1.6 * size, dash, *ink, 1.0);
        text::write(image, line, 2.0 * gap + 2.2 * size, base, size, INK);
    }
}

/// Three digits, no more.
fn short(value: f32) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 => format!("{value:.2}"),
        v if v >= 0.001 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}

/// Names under the bodies, kept inside the picture.
pub fn captions<'a>(image: &mut Image, camera: &Camera, frame: &Frame, names: impl Iterator<Item = &'a str>) {
    let size = letter(image);
    for (body, name) in frame.bodies.iter().zip(names) {
        let seen = body.positions.iter().map(|&p| camera.project(Vec3::from(p))).filter(|s| s.z > 0.0);
        let bounds = Bounds::of(seen);
        if bounds.is_empty() || name.is_empty() {
            continue;
        }
        let wide = text::width(name, size);
        let (width, height) = (image.width as f32, image.height as f32);
        let left = (0.5 * (bounds.low.x + bounds.high.x - wide)).clamp(size, (width - wide - size).max(size));
        let line = (bounds.high.y + 1.6 * size).clamp(2.0 * size, height - size);
        text::pane(image, left - 0.5 * size, line - 1.05 * size, wide + size, 1.5 * size, PAPER, 0.72);
        text::write(image, name, left, line, size, INK);
    }
}

/// Pictures next to each other, at most three in a row and four as a square, each with its caption below.
pub fn side_by_side(panels: &[(&Image, &str)]) -> Result<Image, OutputError> {
    let columns = if panels.len() == 4 { 2 } else { panels.len().clamp(1, 3) };
    let rows = panels.len().div_ceil(columns).max(1);
    let (wide, high) = panels.iter().fold((1, 1), |(w, h), (image, _)| (image.width.max(w), image.height.max(h)));
    let size = (0.06 * high as f32).clamp(12.0, 44.0);
    let (gap, strip) = ((0.4 * size) as u32, (2.0 * size) as u32);
    let total = |count: usize, each: u32| (count as u32).saturating_mul(each.saturating_add(gap)).saturating_sub(gap);
    let mut page = Image::new(total(columns, wide), total(rows, high.saturating_add(strip)), PAPER)?;
    for (k, (image, caption)) in panels.iter().enumerate() {
        let left = (k % columns) as u32 * (wide + gap);
        let top = (k / columns) as u32 * (high + strip + gap);
        page.place(image, left + (wide - image.width) / 2, top + (high - image.height) / 2);
        let mut caption = (*caption).to_owned();
        while text::width(&caption, size) > wide as f32 - size && caption.pop().is_some() {}
        let start = left as f32 + 0.5 * (wide as f32 - text::width(&caption, size));
        text::write(&mut page, &caption, start, (top + high) as f32 + 1.35 * size, size, INK);
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches numbers that change their width and so make the column dance, and wrong prefixes.
    #[test]
    fn measures_have_three_digits_and_one_width() {
        let written: Vec<String> =
            [0.0, 1.0, 0.9999, -12.345, 999.6, 1234.5, 1e-3, 4.56e-7, 3e12].map(|v| measure(v, "J")).into();
        assert_eq!(
            written[1..7],
            ["    1.00 J", "    1.00 J", "   -12.3 J", "    1.00 kJ", "    1.23 kJ", "    1.00 mJ"]
        );
        assert_eq!(written[7], "     456 nJ");
    }

    /// Catches panels that overlap or fall off the page.
    #[test]
    fn panels_stand_side_by_side_with_room_for_their_captions() {
        let red = Image::new(60, 40, [255, 0, 0]).unwrap();
        let blue = Image::new(60, 40, [0, 0, 255]).unwrap();
        let page = side_by_side(&[(&red, "one"), (&blue, "two")]).unwrap();
        assert!(page.width >= 120 && page.height > 40);
        assert_eq!([page.pixel(0, 0), page.pixel(page.width - 1, 39)], [[255, 0, 0], [0, 0, 255]]);
        assert!((40..page.height).any(|y| (0..60).any(|x| page.pixel(x, y) != [255; 3])));
    }
}
