//! A study as a page: notes, plots, table.

use super::{Found, Plot};
use std::fmt::Write;

const SIZE: (f64, f64) = (640.0, 400.0);
const MARGIN: [f64; 4] = [20.0, 20.0, 50.0, 70.0]; // top, right, bottom, left
const INK: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const DASH: [&str; 6] = ["", "8 4", "2 4", "10 4 2 4", "4 4", "12 6"];

/// One HTML text that needs nothing from outside.
pub fn render(found: &Found) -> String {
    let mut out = format!(
        "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{0}</title><style>{STYLE}</style></head><body><h1>{0}</h1>",
        escape(&found.title)
    );
    found.notes.iter().for_each(|note| out += &format!("<p>{}</p>", escape(note)));
    out += "<div class=figures>";
    found.plots.iter().for_each(|plot| out += &draw(plot));
    out += "</div><table><thead><tr>";
    found.columns.iter().for_each(|column| out += &format!("<th>{}", escape(column)));
    out += "</tr></thead><tbody>";
    for row in &found.rows {
        out += "<tr>";
        row.iter().for_each(|cell| out += &format!("<td>{}", escape(cell)));
        out += "</tr>";
    }
    out + "</tbody></table></body></html>"
}

/// Decades that hold all positive values.
fn decades(values: impl Iterator<Item = f64>) -> Option<(i32, i32)> {
    let (low, high) = values
        .filter(|v| *v > 0.0 && v.is_finite())
        .fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
    (high > 0.0).then(|| {
        let (low, high) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        (low, high.max(low + 1))
    })
}

fn draw(plot: &Plot) -> String {
    let points = || plot.lines.iter().flat_map(|line| &line.points);
    let (Some(x), Some(y)) = (decades(points().map(|p| p.0)), decades(points().map(|p| p.1))) else {
        return String::new();
    };
    let [top, right, bottom, left] = MARGIN;
    let (width, height) = (SIZE.0 - left - right, SIZE.1 - top - bottom);
    let across = |v: f64| left + width * (v.log10() - f64::from(x.0)) / f64::from(x.1 - x.0);
    let up = |v: f64| top + height * (1.0 - (v.log10() - f64::from(y.0)) / f64::from(y.1 - y.0));
    let mut svg =
        format!("<figure><h3>{}</h3><svg viewBox=\"0 0 {} {}\" role=img>", escape(&plot.title), SIZE.0, SIZE.1);
    let every = |(low, high): (i32, i32)| ((high - low) / 8 + 1) as usize;
    for d in (x.0..=x.1).step_by(every(x)) {
        let at = across(10f64.powi(d));
        let _ = write!(svg, "<line class=grid x1={at:.1} x2={at:.1} y1={top} y2={:.1} />", top + height);
        let _ = write!(svg, "<text x={at:.1} y={:.1} text-anchor=middle>1e{d}</text>", top + height + 18.0);
    }
    for d in (y.0..=y.1).step_by(every(y)) {
        let at = up(10f64.powi(d));
        let _ = write!(svg, "<line class=grid x1={left} x2={:.1} y1={at:.1} y2={at:.1} />", left + width);
        let _ = write!(svg, "<text x={:.1} y={:.1} text-anchor=end>1e{d}</text>", left - 6.0, at + 4.0);
    }
    let (middle, low) = (left + 0.5 * width, top + height + 40.0);
    let _ = write!(svg, "<text x={middle:.1} y={low:.1} text-anchor=middle>{}</text>", escape(&plot.across));
    let _ = write!(svg, "<text x=4 y=14>{}</text>", escape(&plot.up));
    let mut legend = String::new();
    for (k, line) in plot.lines.iter().enumerate() {
        let (ink, dash) = (INK[k % INK.len()], DASH[k % DASH.len()]);
        let good = line.points.iter().filter(|p| p.0 > 0.0 && p.1 > 0.0 && p.1.is_finite());
        let path: Vec<String> = good.map(|p| format!("{:.1},{:.1}", across(p.0), up(p.1))).collect();
        let _ = write!(
            svg,
            "<polyline fill=none stroke=\"{ink}\" stroke-width=2 stroke-dasharray=\"{dash}\" points=\"{}\" />",
            path.join(" ")
        );
        for at in &path {
            if let Some((cx, cy)) = at.split_once(',') {
                let _ = write!(svg, "<circle cx={cx} cy={cy} r=3 fill=\"{ink}\" />");
            }
        }
        let _ = write!(
            legend,
            "<span><svg width=44 height=12><line x1=0 x2=44 y1=6 y2=6 stroke=\"{ink}\" stroke-width=2 stroke-dasharray=\"{dash}\" /></svg> {}</span>",
            escape(&line.label)
        );
    }
    format!("{svg}</svg><figcaption>{legend}</figcaption></figure>")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

const STYLE: &str = ":root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 90rem; margin: 2rem auto; padding: 0 1rem }
.figures { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 34rem), 1fr)) }
figure { margin: 0; padding: .8rem; border: 1px solid #8884; border-radius: .5rem }
figure h3 { margin: 0 } figcaption { display: flex; flex-wrap: wrap; gap: 0 1.2rem }
svg text { fill: currentColor; font-size: 13px } .grid { stroke: #8884 }
table { border-collapse: collapse; margin-top: 1.5rem }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid #8884; font-variant-numeric: tabular-nums }";
