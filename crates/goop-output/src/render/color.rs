//! Colours: linear light inside, sRGB at the edges.
//!
//! Bodies take the colours of Okabe and Ito, a little less harsh, which colour-blind eyes tell apart;
//! scales run from pale over orange to dark purple, ever darker, which leaves shading
//! visible at rest and survives a grey printer.

use glam::Vec3;
use std::sync::LazyLock;

/// Colours of bodies (sRGB).
const BODIES: [[u8; 3]; 7] = [
    [0x2B, 0x7C, 0xBE],
    [0xE2, 0x70, 0x1C],
    [0x1C, 0x9C, 0x78],
    [0xC8, 0x70, 0x9F],
    [0xE3, 0xA6, 0x1A],
    [0x5C, 0xB4, 0xE4],
    [0x86, 0x86, 0x8E],
];

/// The scale at equal distances (sRGB).
const SCALE: [[u8; 3]; 9] = [
    [0xEF, 0xEC, 0xE2],
    [0xFA, 0xE1, 0xA4],
    [0xFD, 0xC4, 0x6C],
    [0xFA, 0x99, 0x52],
    [0xEC, 0x6A, 0x40],
    [0xD0, 0x3F, 0x3A],
    [0xA4, 0x21, 0x4A],
    [0x70, 0x14, 0x52],
    [0x3F, 0x0E, 0x48],
];

/// Steps of the table from linear light to bytes.
const STEPS: usize = 8192;

static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    (0..=STEPS)
        .map(|i| {
            let l = i as f64 / STEPS as f64;
            let s = if l <= 0.003_130_8 { 12.92 * l } else { 1.055 * l.powf(1.0 / 2.4) - 0.055 };
            (255.0 * s).round() as u8
        })
        .collect()
});

/// Linear light from sRGB, both 0 to 1.
pub fn linear(srgb: [f32; 3]) -> Vec3 {
    Vec3::from(srgb.map(|s| {
        let s = f64::from(s.clamp(0.0, 1.0));
        (if s <= 0.040_45 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }) as f32
    }))
}

/// sRGB from linear light, both 0 to 1.
pub fn srgb(linear: [f32; 3]) -> [f32; 3] {
    linear.map(|l| {
        let l = f64::from(l.clamp(0.0, 1.0));
        (if l <= 0.003_130_8 { 12.92 * l } else { 1.055 * l.powf(1.0 / 2.4) - 0.055 }) as f32
    })
}

/// Linear light from sRGB bytes.
pub fn linear_bytes(srgb: [u8; 3]) -> Vec3 {
    linear(srgb.map(|b| f32::from(b) / 255.0))
}

/// sRGB bytes from linear light; too bright is white.
pub fn bytes(color: Vec3) -> [u8; 3] {
    let table = &*BYTES;
    color.to_array().map(|l| table[(l.clamp(0.0, 1.0) * STEPS as f32 + 0.5) as usize])
}

/// The colour of the n-th body.
pub fn of_body(n: usize) -> Vec3 {
    linear_bytes(BODIES[n % BODIES.len()])
}

/// The colour of the n-th part of a character (sRGB, 0 to 1): hues a golden section apart, so that any few in
/// a row differ, and every other a little darker.
pub fn of_part_srgb(n: usize) -> [f32; 3] {
    let hue = (0.58 + n as f32 * 0.618_034).fract() * 6.0;
    let (light, deep) = if n.is_multiple_of(2) { (0.93, 0.42) } else { (0.76, 0.24) };
    [5.0, 3.0, 1.0].map(|shift: f32| {
        let k = (shift + hue) % 6.0;
        light - (light - deep) * k.min(4.0 - k).clamp(0.0, 1.0)
    })
}

/// The same as linear light.
pub fn of_part(n: usize) -> Vec3 {
    linear(of_part_srgb(n))
}

/// The colour scale at 0 to 1, as sRGB bytes.
pub fn scale_bytes(t: f32) -> [u8; 3] {
    let t = if t.is_finite() { t.clamp(0.0, 1.0) } else { 1.0 } * (SCALE.len() - 1) as f32;
    let i = (t as usize).min(SCALE.len() - 2);
    let f = t - i as f32;
    [0, 1, 2].map(|c| (f32::from(SCALE[i][c]) * (1.0 - f) + f32::from(SCALE[i + 1][c]) * f).round() as u8)
}

/// The colour scale at 0 to 1, as linear light.
pub fn scale(t: f32) -> Vec3 {
    linear_bytes(scale_bytes(t))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a table that is off by one step or a curve that does not invert.
    #[test]
    fn every_byte_survives_the_way_to_linear_light_and_back() {
        for b in 0..=255_u8 {
            assert_eq!(bytes(linear_bytes([b, 255 - b, b])), [b, 255 - b, b]);
        }
    }

    /// Catches a colour that comes back from sRGB as another.
    #[test]
    fn linear_and_srgb_undo_each_other() {
        for value in [0.0, 0.001, 0.0031, 0.0032, 0.2, 0.5, 1.0f32] {
            assert!((linear(srgb([value; 3])).x - value).abs() < 1e-6, "{value}");
        }
    }
}
