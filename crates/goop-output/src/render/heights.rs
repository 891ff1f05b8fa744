//! Greatest height over a grid: what both kinds of shadow start from.

use rayon::prelude::*;

/// Rows that one task fills.
const BAND: usize = 32;

/// A corner in the grid's coordinates (cells) and its height (m).
pub type Corner = [f32; 3];

/// For each cell, the greatest height of a triangle over its middle; -∞ where there is none.
/// The same whatever the number of threads: each cell has one owner, and greatest has no order.
pub fn heights(width: usize, height: usize, triangles: &[[Corner; 3]]) -> Vec<f32> {
    let mut bins: Vec<Vec<u32>> = vec![Vec::new(); height.div_ceil(BAND)];
    for (i, t) in triangles.iter().enumerate() {
        let low = t.iter().fold(f32::INFINITY, |m, c| m.min(c[1]));
        let high = t.iter().fold(f32::NEG_INFINITY, |m, c| m.max(c[1]));
        if !(high >= 0.0 && low < height as f32) {
            continue;
        }
        let last = (high as usize / BAND).min(bins.len() - 1);
        for bin in &mut bins[low.max(0.0) as usize / BAND..=last] {
            bin.push(i as u32);
        }
    }
    let mut cells = vec![f32::NEG_INFINITY; width * height];
    cells.par_chunks_mut(BAND * width).zip(&bins).enumerate().for_each(|(band, (rows, bin))| {
        for &i in bin {
            fill(rows, width, (band * BAND) as f32, &triangles[i as usize]);
        }
    });
    cells
}

fn fill(rows: &mut [f32], width: usize, top: f32, t: &[Corner; 3]) {
    let count = rows.len() / width;
    let [a, b, c] = t.map(|c| [c[0] - 0.5, c[1] - top - 0.5, c[2]]);
    let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if area.abs() <= 1e-9 || area.is_nan() {
        return;
    }
    // Height is a plane over the grid: h = a2 + p (x - ax) + q (y - ay).
    let p = ((b[2] - a[2]) * (c[1] - a[1]) - (c[2] - a[2]) * (b[1] - a[1])) / area;
    let q = ((c[2] - a[2]) * (b[0] - a[0]) - (b[2] - a[2]) * (c[0] - a[0])) / area;
    let (least, most) = (a[2].min(b[2]).min(c[2]), a[2].max(b[2]).max(c[2]));
    let low = a[1].min(b[1]).min(c[1]).ceil().max(0.0) as usize;
    let high = a[1].max(b[1]).max(c[1]).floor();
    if high < 0.0 {
        return;
    }
    for y in low..=(high as usize).min(count - 1) {
        // Where the row cuts the three sides.
        let (mut left, mut right) = (f32::INFINITY, f32::NEG_INFINITY);
        for (s, e) in [(a, b), (b, c), (c, a)] {
            let (dy, v) = (e[1] - s[1], y as f32 - s[1]);
            if dy == 0.0 {
                if v == 0.0 {
                    left = left.min(s[0]).min(e[0]);
                    right = right.max(s[0]).max(e[0]);
                }
                continue;
            }
            let f = v / dy;
            if (0.0..=1.0).contains(&f) {
                let x = s[0] + (e[0] - s[0]) * f;
                left = left.min(x);
                right = right.max(x);
            }
        }
        let (first, last) = (left.ceil().max(0.0), right.floor().min(width as f32 - 1.0));
        if first > last {
            continue;
        }
        let start = a[2] + q * (y as f32 - a[1]) - p * a[0];
        for x in first as usize..=last as usize {
            let cell = &mut rows[y * width + x];
            *cell = cell.max((start + p * x as f32).clamp(least, most));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches gaps between neighbours, bands that miss their triangles, and a wrong slope.
    #[test]
    fn two_triangles_fill_their_square_without_gaps_and_with_the_right_height() {
        let corner = |x: f32, y: f32| [x, y, 2.0 * x - y];
        let (a, b, c, d) = (corner(5.0, 3.0), corner(90.0, 3.0), corner(90.0, 77.0), corner(5.0, 77.0));
        let cells = heights(100, 80, &[[a, b, c], [a, d, c]]);
        for y in 0..80 {
            for x in 0..100 {
                let (fx, fy) = (x as f32 + 0.5, y as f32 + 0.5);
                let inside = (5.0..90.0).contains(&fx) && (3.0..77.0).contains(&fy);
                let found = cells[y * 100 + x];
                assert_eq!(found.is_finite(), inside, "{x} {y}");
                assert!(!inside || (found - (2.0 * fx - fy)).abs() < 1e-3);
            }
        }
    }
}
