//! The page itself.

use super::figures::{self, Figure};
use super::number::{percent, short};
use super::{Comparison, Instant, RunTrace, palette, plot};
use crate::export::base64;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The whole page as text, ready to be written to a file.
pub fn render(comparison: &Comparison) -> String {
    let (probe_figures, probes_left_out) = figures::probes(comparison);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Comparison: " (comparison.scene) }
                style { (PreEscaped(include_str!("page.css"))) (PreEscaped(palette::css())) }
            }
            body {
                h1 { "Comparison: " (comparison.scene) }
                @if !comparison.reference.is_empty() { p { "Finest run: " (comparison.reference) } }
                @for note in &comparison.notes { p { (note) } }
                @if comparison.runs.is_empty() { p { "There are no runs to compare." } } @else {
                    h2 { "Summary" }
                    (summary(comparison))
                    (failures(comparison))
                    (pictures(comparison))
                    h2 { "Accuracy and cost" }
                    div.figures { (draw(comparison, &figures::distances(comparison))) (cost(comparison)) }
                    (section(comparison, "Motion of the probes", &probe_figures))
                    @if let Some(sentence) = probes_left_out { p.soft { (sentence) } }
                    (section(comparison, "Energy", &figures::energies(comparison)))
                    (meanings())
                }
            }
        }
    };
    page.into_string()
}

const COLUMNS: [&str; 9] = [
    "Run",
    "Status",
    "Steps",
    "Rejected",
    "Cost per simulated second (s)",
    "Largest stable explicit step (s)",
    "Final distance from the finest run (m)",
    "Energy residue / exchanged",
    "Numerical dissipation (J)",
];

fn summary(comparison: &Comparison) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { @for column in COLUMNS { th scope="col" { (column) } } } }
            tbody { @for (run, trace) in comparison.runs.iter().enumerate() { (summary_row(run, trace)) } }
        } }
    }
}

fn summary_row(run: usize, trace: &RunTrace) -> Markup {
    let last = trace.rows.last();
    let numbers = [
        trace.steps.to_string(),
        trace.rejected_steps.to_string(),
        short(trace.wall_per_second),
        or_dash(trace.largest_stable_step.map(short)),
        or_dash(trace.distance.as_ref().and_then(|distance| distance.last()).copied().map(short)),
        or_dash(last.map(|row| percent(row.residue(), row.exchanged))),
        or_dash(last.map(|row| short(row.scheme))),
    ];
    html! {
        tr {
            th scope="row" { (sign(run, &trace.label)) }
            td.words.bad[trace.failed.is_some()] data-label=(COLUMNS[1]) { (status(trace)) }
            @for (number, column) in numbers.iter().zip(&COLUMNS[2..]) { td data-label=(column) { (number) } }
        }
    }
}

fn status(trace: &RunTrace) -> String {
    match (&trace.failed, trace.times.last()) {
        (None, _) => "done".into(),
        (Some(_), Some(time)) => format!("stopped at {} s", short(*time)),
        (Some(_), None) => "did not start".into(),
    }
}

/// Pictures as part of the page; one that cannot be made into a PNG is left out.
fn pictures(comparison: &Comparison) -> Markup {
    let embedded = |instant: &Instant| {
        let mut text = Vec::from(b"data:image/png;base64,");
        base64::write(&mut text, &instant.picture.png().ok()?).ok()?;
        String::from_utf8(text).ok()
    };
    let names: Vec<&str> = comparison.runs.iter().map(|run| run.label.as_str()).collect();
    html! {
        @if !comparison.pictures.is_empty() || comparison.movie.is_some() { h2 { "Side by side" } }
        @if let Some(movie) = &comparison.movie {
            p { video.wide controls muted loop playsinline src=(movie) {} }
            p.soft { "The movie is the file " a href=(movie) { (movie) } " beside this page." }
        }
        @for instant in &comparison.pictures {
            @if let Some(data) = embedded(instant) {
                figure.still {
                    h3 { "After " (short(instant.time)) " s" }
                    img.wide src=(data) width=(instant.picture.width) height=(instant.picture.height)
                        alt=(format!("{} after {} s", names.join(", "), short(instant.time)));
                }
            }
        }
    }
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".into())
}

fn failures(comparison: &Comparison) -> Markup {
    html! {
        @for (run, trace) in comparison.runs.iter().enumerate() {
            @if let Some(reason) = &trace.failed { p { (sign(run, &trace.label)) " stopped: " (reason) } }
        }
    }
}

fn section(comparison: &Comparison, title: &str, figures: &[Figure]) -> Markup {
    html! {
        @if figures.iter().any(|figure| !figure.series.is_empty()) {
            h2 { (title) }
            div.figures { @for figure in figures { (draw(comparison, figure)) } }
        }
    }
}

fn draw(comparison: &Comparison, figure: &Figure) -> Markup {
    let labels = |runs: &[usize]| {
        let names: Vec<&str> = runs.iter().map(|run| comparison.runs[*run].label.as_str()).collect();
        names.join(", ")
    };
    html! {
        figure {
            h3 { (figure.title) }
            @if let Some(plot) = plot::plot(&figure.series, figure.scale) {
                div.plot role="img" aria-label=(format!("{} over time", figure.title)) { (PreEscaped(plot.svg)) }
                figcaption {
                    @for series in &figure.series { (sign(series.run, &comparison.runs[series.run].label)) }
                    @if !plot.leaving.is_empty() { span.soft { "Off the plot in part: " (labels(&plot.leaving)) "." } }
                }
            } @else {
                p.soft { "Nothing to plot." }
            }
        }
    }
}

/// A run's line and marker beside its label.
fn sign(run: usize, label: &str) -> Markup {
    html! { span.sign { span aria-hidden="true" { (PreEscaped(plot::swatch(run))) } span { (label) } } }
}

fn cost(comparison: &Comparison) -> Markup {
    let finite = |trace: &RunTrace| trace.wall_per_second.is_finite().then_some(trace.wall_per_second);
    let largest = comparison.runs.iter().filter_map(finite).fold(0.0, f64::max);
    let width = |trace: &RunTrace| match finite(trace) {
        Some(value) if largest > 0.0 => (100.0 * value / largest).max(0.0),
        _ => 0.0,
    };
    html! {
        figure {
            h3 { "Wall clock for one simulated second (s)" }
            div.bars { @for (run, trace) in comparison.runs.iter().enumerate() {
                div {
                    div.of { (sign(run, &trace.label)) span.value { (short(trace.wall_per_second)) " s" } }
                    div.bar style=(format!("width:{:.2}%;background:{}", width(trace), palette::css_color_of(run))) {}
                }
            } }
        }
    }
}

const MEANINGS: [(&str, &str); 5] = [
    ("Cost per simulated second", "Wall clock spent for each second of the clip; below 1 is faster than real time."),
    ("Largest stable explicit step", "The longest step an explicit scheme could take on this model, damping included."),
    ("Distance from the finest run", "How far the run is from the finest one at the same time."),
    (
        "Energy residue / exchanged",
        "What the account of energy leaves unexplained, beside all the energy that went in and out of motion.",
    ),
    (
        "Numerical dissipation",
        "Energy the integrator itself took away (or, negative, added), from its own identity, not as a remainder.",
    ),
];

fn meanings() -> Markup {
    html! {
        h2 { "What the numbers mean" }
        dl { @for (term, meaning) in MEANINGS { dt { (term) } dd { (meaning) } } }
    }
}
