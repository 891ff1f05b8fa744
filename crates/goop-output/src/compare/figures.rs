//! What is plotted: series for each figure, taken from the runs.

use super::axis::Scale;
use super::plot::Series;
use super::{Comparison, RunTrace};
use goop::ledger::Row;

/// Probes that get figures; a page with more would not be read.
const MOST_PROBES: usize = 12;

/// A plot before it is drawn.
pub struct Figure {
    /// Title with its unit.
    pub title: String,
    /// One series per run that has the data.
    pub series: Vec<Series>,
    /// How the vertical axis is divided.
    pub scale: Scale,
}

/// Height and path of every probe, and the sentence for probes left out.
pub fn probes(comparison: &Comparison) -> (Vec<Figure>, Option<String>) {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in comparison.runs.iter().flat_map(|run| &run.probes) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let left_out = names.len().saturating_sub(MOST_PROBES);
    names.truncate(MOST_PROBES);
    let mut figures = Vec::new();
    for name in names {
        figures.push(probe_figure(comparison, name, format!("Height of {name} (m)"), |_, now| now[1]));
        figures.push(probe_figure(comparison, name, format!("Distance of {name} from its start (m)"), distance));
    }
    let sentence =
        (left_out > 0).then(|| format!("{left_out} more probes are not plotted; see each run's probes.csv."));
    (figures, sentence)
}

fn probe_figure(
    comparison: &Comparison,
    probe: &str,
    title: String,
    value: impl Fn([f64; 3], [f64; 3]) -> f64,
) -> Figure {
    let series = collect(comparison, |run| {
        let (_, path) = run.probes.iter().find(|(name, _)| name == probe)?;
        let start = *path.first()?;
        Some(path.iter().map(|now| value(start, *now)).collect())
    });
    Figure { title, series, scale: Scale::Linear }
}

fn distance(from: [f64; 3], to: [f64; 3]) -> f64 {
    (0..3).map(|axis| (to[axis] - from[axis]).powi(2)).sum::<f64>().sqrt()
}

/// The energies that show how formulations differ.
pub fn energies(comparison: &Comparison) -> Vec<Figure> {
    let figure = |title: &str, value: fn(&Row) -> f64| Figure {
        title: title.into(),
        series: collect(comparison, |run| Some(run.rows.iter().map(value).collect())),
        scale: Scale::Linear,
    };
    vec![
        figure("Kinetic energy (J)", |row| row.kinetic),
        figure("Elastic energy (J)", |row| row.elastic),
        figure("Gravitational energy (J)", |row| row.gravitational),
        figure("Lost to the scheme so far (J)", |row| row.scheme),
    ]
}

/// How far each run is from the finest one.
pub fn distances(comparison: &Comparison) -> Figure {
    let series = collect(comparison, |run| run.distance.clone());
    Figure { title: "Distance from the finest run (m, logarithmic)".into(), series, scale: Scale::Log }
}

fn collect(comparison: &Comparison, values: impl Fn(&RunTrace) -> Option<Vec<f64>>) -> Vec<Series> {
    let series_of = |(run, trace): (usize, &RunTrace)| {
        let points = trace.times.iter().copied().zip(values(trace)?).collect();
        Some(Series { run, points, stopped: trace.failed.is_some() })
    };
    comparison.runs.iter().enumerate().filter_map(series_of).collect()
}
