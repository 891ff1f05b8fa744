//! Drawing: series to SVG text.
//!
//! The SVG backend places points on whole units, so plots are drawn four times too
//! large and scaled by their view box. Colours are the light set; the page's style
//! sheet exchanges them in the dark and adds the dashes, by their hexadecimal value.

use super::axis::{Axis, Scale};
use super::palette::{AXIS, GRID, TEXT, color_of, marker_of};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;

const ZOOM: i32 = 4;
const SIZE: (u32, u32) = (480 * ZOOM as u32, 290 * ZOOM as u32);
const SWATCH: (u32, u32) = (44 * ZOOM as u32, 14 * ZOOM as u32);
/// Text height (px before zoom); the backend divides by 1.24.
const TEXT_SIZE: f64 = 15.0 * 1.24 * ZOOM as f64;
/// A longer series is thinned to the extremes of this many stretches.
const STRETCHES: usize = 400;
/// Markers along a series.
const MARKERS: usize = 5;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One run's line in a plot.
pub struct Series {
    /// Number of the run, for its colour, dash and marker.
    pub run: usize,
    /// (time (s), value).
    pub points: Vec<(f64, f64)>,
    /// The run stopped early: its end gets a cross, and it does not stretch the axes.
    pub stopped: bool,
}

/// A finished plot.
pub struct Plot {
    /// The drawing.
    pub svg: String,
    /// Runs whose values leave it.
    pub leaving: Vec<usize>,
}

/// Draws the series over time; `None` if there is nothing to draw.
pub fn plot(series: &[Series], scale: Scale) -> Option<Plot> {
    let time = Axis::new(Scale::Linear, series.iter().flat_map(|s| &s.points).map(|p| p.0), 0.0)?;
    let values = |stopped_too: bool| {
        let counted = series.iter().filter(move |s| stopped_too || !s.stopped);
        Axis::new(scale, counted.flat_map(|s| &s.points).map(|p| p.1), 0.05)
    };
    let value = values(false).or_else(|| values(true))?;
    let leaves = |s: &&Series| s.points.iter().any(|p| value.leaves(p.1));
    let leaving = series.iter().filter(leaves).map(|s| s.run).collect();
    let mut svg = String::new();
    draw(&mut svg, series, &time, &value).ok()?; // writing to a text does not fail
    Some(Plot { svg, leaving })
}

fn draw(svg: &mut String, series: &[Series], time: &Axis, value: &Axis) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&root)
        .margin_top(8 * ZOOM)
        .margin_right(18 * ZOOM)
        .margin_left(2 * ZOOM)
        .x_label_area_size(46 * ZOOM)
        .y_label_area_size(80 * ZOOM)
        .build_cartesian_2d(time.low..time.high, value.low..value.high)?;
    let text = ("sans-serif", TEXT_SIZE).into_font().color(&TEXT);
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(line(GRID, 1))
        .axis_style(line(AXIS, 1))
        .set_all_tick_mark_size(4 * ZOOM)
        .label_style(text.clone())
        .axis_desc_style(text)
        .x_labels(time.labels)
        .y_labels(value.labels)
        .x_label_formatter(&|x| time.label(*x))
        .y_label_formatter(&|y| value.label(*y))
        .x_desc("time (s)")
        .draw()?;
    for s in series {
        let color = color_of(s.run);
        let pieces = pieces(&s.points, time, value);
        for piece in &pieces {
            chart.draw_series(LineSeries::new(piece.iter().copied(), line(color, 2)))?;
        }
        let shown: Vec<(f64, f64)> = pieces.into_iter().flatten().collect();
        for point in marked(&shown, s.run) {
            draw_marker(&root, chart.backend_coord(&point), s.run)?;
        }
        if let (true, Some(end)) = (s.stopped, shown.last()) {
            chart.draw_series([Cross::new(*end, 6 * ZOOM, line(color, 2))])?;
        }
    }
    drop(chart);
    root.present()?;
    Ok(())
}

/// The sign of a run for legends and tables: a bit of its line with its marker.
pub fn swatch(run: usize) -> String {
    let mut svg = String::new();
    let drawn = || -> Result<(), Box<dyn Error>> {
        let root = SVGBackend::with_string(&mut svg, SWATCH).into_drawing_area();
        let (width, middle) = (SWATCH.0 as i32, SWATCH.1 as i32 / 2);
        root.draw(&PathElement::new(vec![(0, middle), (width, middle)], line(color_of(run), 2)))?;
        draw_marker(&root, (width / 2, middle), run)?;
        root.present()?;
        Ok(())
    }();
    if drawn.is_ok() { svg } else { String::new() }
}

fn line(color: RGBColor, width: i32) -> ShapeStyle {
    ShapeStyle { color: color.into(), filled: false, stroke_width: (width * ZOOM) as u32 }
}

fn draw_marker(area: &Area, at: (i32, i32), run: usize) -> Result<(), Box<dyn Error>> {
    let style = ShapeStyle { filled: true, ..line(color_of(run), 1) };
    let corners: Vec<(i32, i32)> = marker_of(run).iter().map(|(x, y)| (at.0 + x * ZOOM, at.1 + y * ZOOM)).collect();
    if corners.is_empty() {
        area.draw(&Circle::new(at, 4 * ZOOM, style))?;
    } else {
        area.draw(&Polygon::new(corners, style))?;
    }
    Ok(())
}

/// A few points of the series, at other places for every run so that markers do not pile up.
fn marked(shown: &[(f64, f64)], run: usize) -> Vec<(f64, f64)> {
    let offset = (0.15 + 0.382 * run as f64).fract();
    let index = |k: usize| ((k as f64 + offset) / MARKERS as f64 * shown.len() as f64) as usize;
    (0..MARKERS).filter_map(|k| shown.get(index(k)).copied()).collect()
}

/// The stretches of a series that lie on the plot, in plotted units, thinned.
fn pieces(points: &[(f64, f64)], time: &Axis, value: &Axis) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for (t, v) in points {
        match (time.place(*t), value.place(*v), pieces.last_mut()) {
            (Some(x), Some(y), Some(piece)) => piece.push((x, y)),
            (_, _, Some(piece)) if !piece.is_empty() => pieces.push(Vec::new()),
            _ => {}
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    let stretch = points.len().div_ceil(STRETCHES);
    pieces.into_iter().map(|piece| thin(piece, stretch)).collect()
}

/// Keeps the lowest and the highest point of every stretch, and both ends: no peak is lost.
fn thin(piece: Vec<(f64, f64)>, stretch: usize) -> Vec<(f64, f64)> {
    if stretch <= 2 {
        return piece;
    }
    let mut kept = vec![piece[0]];
    for part in piece.chunks(stretch) {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        if let (Some(low), Some(high)) = (part.iter().min_by(by_value), part.iter().max_by(by_value)) {
            let (first, second) = if low.0 <= high.0 { (low, high) } else { (high, low) };
            kept.extend([*first, *second]);
        }
    }
    kept.extend(piece.last());
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(run: usize, values: impl IntoIterator<Item = f64>) -> Series {
        let points = values.into_iter().enumerate().map(|(i, v)| (i as f64 * 0.01, v)).collect();
        Series { run, points, stopped: false }
    }

    /// Catches the plotting library looping or panicking on odd numbers.
    #[test]
    fn odd_values_neither_hang_nor_panic() {
        let odd = [0.0, -0.0, 1e-320, 1e-30, 1e300, -1e300, f64::NAN, f64::INFINITY, 1.0, 1.0 + 1e-15, 1e-18];
        for a in odd {
            for b in odd {
                for scale in [Scale::Linear, Scale::Log] {
                    plot(&[series(0, [a, b]), series(1, [a])], scale);
                }
            }
        }
        assert!(plot(&[], Scale::Linear).is_none());
        assert!(plot(&[series(0, [])], Scale::Log).is_none());
    }

    /// Catches one run that blew up flattening all others, without a word about it.
    #[test]
    fn a_stopped_run_leaves_the_plot_and_is_named() {
        let mut wild = series(1, [0.0, 1.0, 1e9]);
        wild.stopped = true;
        let plot = plot(&[series(0, [0.0, 1.0, 2.0]), wild], Scale::Linear).unwrap();
        assert_eq!(plot.leaving, [1]);
        assert!(!plot.svg.contains("×10"));
    }

    /// Catches thinning that drops a short peak, and pages of megabytes.
    #[test]
    fn a_long_series_is_thinned_but_keeps_its_peak() {
        let peak = 51_234;
        let long = series(0, (0..100_000).map(|i| if i == peak { 1.0 } else { 0.0 }));
        let thinned = thin(long.points.clone(), 250);
        assert!(thinned.len() < 1000 && thinned.contains(&(peak as f64 * 0.01, 1.0)));
        assert!(plot(&[long], Scale::Linear).unwrap().svg.len() < 40_000);
    }
}
