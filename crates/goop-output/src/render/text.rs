//! Letters: the font Hack, so that columns of numbers stand still.

use crate::image::Image;
use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use std::sync::LazyLock;

// The bytes are part of the program; were they no font, pictures would merely have no letters.
static FONT: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| FontRef::try_from_slice(epaint_default_fonts::HACK_REGULAR).ok());

/// Width of a line of text at this size (px).
pub fn width(text: &str, size: f32) -> f32 {
    let Some(font) = &*FONT else { return 0.0 };
    let font = font.as_scaled(PxScale::from(size));
    text.chars().map(|c| font.h_advance(font.glyph_id(c))).sum()
}

/// Writes a line with its left end and baseline here (px).
pub fn write(image: &mut Image, text: &str, left: f32, baseline: f32, size: f32, color: [u8; 3]) {
    let Some(font) = &*FONT else { return };
    let scaled = font.as_scaled(PxScale::from(size));
    let mut x = left;
    for c in text.chars() {
        let id = scaled.glyph_id(c);
        let glyph = id.with_scale_and_position(PxScale::from(size), point(x, baseline));
        if let Some(outline) = font.outline_glyph(glyph) {
            let corner = outline.px_bounds().min;
            outline.draw(|dx, dy, cover| {
                blend(image, corner.x as i64 + i64::from(dx), corner.y as i64 + i64::from(dy), color, cover)
            });
        }
        x += scaled.h_advance(id);
    }
}

/// A pane with round corners that lets some of the picture through.
pub fn pane(image: &mut Image, left: f32, top: f32, wide: f32, high: f32, color: [u8; 3], alpha: f32) {
    let round = 8.0_f32.min(0.5 * wide.min(high));
    for y in top as i64 - 1..=(top + high) as i64 + 1 {
        for x in left as i64 - 1..=(left + wide) as i64 + 1 {
            let dx = (x as f32 + 0.5 - left - 0.5 * wide).abs() - 0.5 * wide + round;
            let dy = (y as f32 + 0.5 - top - 0.5 * high).abs() - 0.5 * high + round;
            let outside = dx.max(0.0).hypot(dy.max(0.0)) + dx.max(dy).min(0.0) - round;
            blend(image, x, y, color, alpha * (0.5 - outside).clamp(0.0, 1.0));
        }
    }
}

/// Mixes a colour into a pixel, if there is one.
pub fn blend(image: &mut Image, x: i64, y: i64, color: [u8; 3], cover: f32) {
    if x < 0 || y < 0 || x >= i64::from(image.width) || y >= i64::from(image.height) {
        return;
    }
    let start = 3 * (y as usize * image.width as usize + x as usize);
    for (old, new) in image.pixels[start..start + 3].iter_mut().zip(color) {
        let (a, b) = (f32::from(*old), f32::from(new));
        *old = (a + (b - a) * cover.clamp(0.0, 1.0)).round() as u8;
    }
}
