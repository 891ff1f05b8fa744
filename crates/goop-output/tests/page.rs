//! The comparison page as a text.

use goop::ledger::Row;
use goop_output::{Comparison, RunTrace, render};

fn run(label: &str, frames: usize) -> RunTrace {
    let time = |i: usize| i as f64 / 30.0;
    RunTrace {
        label: label.into(),
        times: (0..frames).map(time).collect(),
        probes: vec![("tip".into(), (0..frames).map(|i| [0.0, -time(i), 0.1]).collect())],
        rows: (0..frames).map(|i| Row { kinetic: time(i), exchanged: 4.0, ..Row::default() }).collect(),
        steps: 1234,
        wall_per_second: 0.5,
        distance: Some((0..frames).map(|i| 1e-6 * i as f64).collect()),
        ..RunTrace::default()
    }
}

fn comparison(runs: Vec<RunTrace>) -> Comparison {
    Comparison {
        scene: "flag".into(),
        runs,
        reference: "dt 0.1 ms".into(),
        notes: vec!["A remark.".into()],
        ..Comparison::default()
    }
}

/// Catches a run that is left off the page.
#[test]
fn every_run_is_on_the_page() {
    let page = render(&comparison(vec![run("primal", 30), run("hybrid", 30), run("spring", 3)]));
    for text in ["primal", "hybrid", "spring", "flag", "dt 0.1 ms", "A remark.", "1234", "Height of tip (m)"] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(page.matches("<figure>").count(), 8);
    assert_eq!(page.matches("<tr>").count(), 4);
}

/// Catches names from a scene file becoming markup.
#[test]
fn names_are_text_and_never_markup() {
    let mut bold = run("<b>bold</b> & \"more\"", 5);
    bold.probes[0].0 = "<b>tip</b>".into();
    bold.failed = Some("<b>gone</b>".into());
    let mut all = comparison(vec![bold]);
    all.scene = "<b>scene</b>".into();
    all.notes = vec!["<b>note</b>".into()];
    all.reference = "<b>finest</b>".into();
    let page = render(&all);
    assert!(!page.contains("<b>"));
    for text in ["&lt;b&gt;bold", "&lt;b&gt;tip", "&lt;b&gt;gone", "&lt;b&gt;scene", "&lt;b&gt;note", "&lt;b&gt;finest"]
    {
        assert!(page.contains(text), "{text}");
    }
}

/// Catches a page that asks the network for anything, or needs a script.
#[test]
fn the_page_stands_alone() {
    let page = render(&comparison(vec![run("a", 30), run("b", 30)]));
    let without_namespace = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http", "<script", "<link", "@import", "url(", "src="] {
        assert!(!without_namespace.contains(outside), "{outside}");
    }
}

/// Catches pages that break when runs lack data or did not start.
#[test]
fn runs_without_data_still_give_a_page() {
    assert!(render(&Comparison::default()).contains("no runs"));
    let empty = RunTrace { label: "none".into(), failed: Some("bad".into()), ..RunTrace::default() };
    let ragged = RunTrace { rows: vec![], wall_per_second: f64::NAN, ..run("ragged", 4) };
    let page = render(&comparison(vec![empty, ragged]));
    assert!(page.contains("did not start") && page.contains("ragged"));
}

/// Catches pictures that lie outside the page, and a movie without a link.
#[test]
fn pictures_are_in_the_page_and_the_movie_beside_it() {
    let mut with = comparison(vec![run("a", 30)]);
    let picture = goop_output::Image::new(6, 4, [9, 9, 9]).unwrap();
    with.pictures = vec![goop_output::compare::Instant { time: 0.25, picture }];
    with.movie = Some("flag-compare.mp4".into());
    let page = render(&with);
    assert!(page.contains("src=\"data:image/png;base64,iVBOR") && page.contains("After 0.25"), "{page}");
    assert!(page.contains("<video") && page.contains("href=\"flag-compare.mp4\""));
    assert_eq!(page.matches("src=").count(), 2);
}
