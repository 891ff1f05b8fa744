//! A study as a page: notes, plots, table.

use super::{Found, Plot};
use std::fmt::Write;

const SIZE: (f64, f64) = (640.0, 400.0);
const MARGIN: [f64; 4] = [20.0, 20.0, 50.0, 70.0]; // top, right, bottom, left
const INK: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
/// Lines of more points have no dots.
const MARKED: usize = 40;
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

/// One axis: from nought in equal steps, or decades.
struct Scale {
    low: f64,
    high: f64,
    linear: bool,
    /// Values that get a line, with what is written at it.
    ticks: Vec<(f64, String)>,
}

impl Scale {
    /// Decades that hold all positive values; none where there are none.
    fn decades(values: impl Iterator<Item = f64>) -> Option<Scale> {
        let (low, high) = values
            .filter(|v| *v > 0.0 && v.is_finite())
            .fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
        (high > 0.0).then(|| {
            let low = low.log10().floor() as i32;
            let high = (high.log10().ceil() as i32).max(low + 1);
            let every = ((high - low) / 8 + 1) as usize;
            let ticks = (low..=high).step_by(every).map(|d| (10f64.powi(d), format!("1e{d}"))).collect();
            Scale { low: f64::from(low), high: f64::from(high), linear: false, ticks }
        })
    }

    /// From nought to the largest, in steps of 1, 2 or 5.
    fn linear(values: impl Iterator<Item = f64>) -> Option<Scale> {
        let high = values.filter(|v| v.is_finite()).fold(0.0, f64::max);
        (high > 0.0).then(|| {
            let decade = 10f64.powf((high / 5.0).log10().floor());
            let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * decade).into_iter().find(|s| high / s <= 6.0);
            let step = step.unwrap_or(10.0 * decade);
            let count = (high / step).floor() as u32;
            let ticks = (0..=count).map(|k| f64::from(k) * step).map(|v| (v, tidy(v))).collect();
            Scale { low: 0.0, high, linear: true, ticks }
        })
    }

    /// Share of the way along the axis; none for what is not on it.
    fn at(&self, value: f64) -> Option<f64> {
        let value = if self.linear { value } else { Some(value).filter(|v| *v > 0.0)?.log10() };
        value.is_finite().then_some((value - self.low) / (self.high - self.low))
    }
}

/// A number of few digits as it would be written.
fn tidy(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn draw(plot: &Plot) -> String {
    let points = || plot.lines.iter().flat_map(|line| &line.points);
    let scales = if plot.linear {
        (Scale::linear(points().map(|p| p.0)), Scale::linear(points().map(|p| p.1)))
    } else {
        (Scale::decades(points().map(|p| p.0)), Scale::decades(points().map(|p| p.1)))
    };
    let (Some(x), Some(y)) = scales else { return String::new() };
    let [top, right, bottom, left] = MARGIN;
    let (width, height) = (SIZE.0 - left - right, SIZE.1 - top - bottom);
    let across = |v: f64| x.at(v).map(|share| left + width * share);
    let up = |v: f64| y.at(v).map(|share| top + height * (1.0 - share));
    let mut svg =
        format!("<figure><h3>{}</h3><svg viewBox=\"0 0 {} {}\" role=img>", escape(&plot.title), SIZE.0, SIZE.1);
    for (at, text) in x.ticks.iter().filter_map(|(v, text)| Some((across(*v)?, text))) {
        let _ = write!(svg, "<line class=grid x1={at:.1} x2={at:.1} y1={top} y2={:.1} />", top + height);
        let _ = write!(svg, "<text x={at:.1} y={:.1} text-anchor=middle>{text}</text>", top + height + 18.0);
    }
    for (at, text) in y.ticks.iter().filter_map(|(v, text)| Some((up(*v)?, text))) {
        let _ = write!(svg, "<line class=grid x1={left} x2={:.1} y1={at:.1} y2={at:.1} />", left + width);
        let _ = write!(svg, "<text x={:.1} y={:.1} text-anchor=end>{text}</text>", left - 6.0, at + 4.0);
    }
    let (middle, low) = (left + 0.5 * width, top + height + 40.0);
    let _ = write!(svg, "<text x={middle:.1} y={low:.1} text-anchor=middle>{}</text>", escape(&plot.across));
    let _ = write!(svg, "<text x=4 y=14>{}</text>", escape(&plot.up));
    let mut legend = String::new();
    for (k, line) in plot.lines.iter().enumerate() {
        let (ink, dash) = (INK[k % INK.len()], DASH[k % DASH.len()]);
        let good = line.points.iter().filter_map(|p| Some((across(p.0)?, up(p.1)?)));
        let path: Vec<String> = good.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = write!(
            svg,
            "<polyline fill=none stroke=\"{ink}\" stroke-width=2 stroke-dasharray=\"{dash}\" points=\"{}\" />",
            path.join(" ")
        );
        for at in path.iter().filter(|_| path.len() <= MARKED) {
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
