//! `goop bench`: figures that are there and add up.

use serde_json::Value;
use std::process::Command;

fn bench(args: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_goop")).arg("bench").args(args).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Stages of a row are parts of its steps.
fn adds_up(row: &Value) {
    let ms = row["ms"].as_object().unwrap();
    let sum: f64 = ms.values().map(|v| v.as_f64().unwrap()).sum();
    let whole = row["ms_per_step"].as_f64().unwrap();
    assert!(whole > 0.0 && (sum / whole - 1.0).abs() < 1e-6, "{row}");
    assert!(row["cpu_per_second"].as_f64().unwrap() > 0.0);
}

/// Catches a character that is smaller than asked for or solved less well than it says, and times that are
/// booked twice.
#[test]
fn a_character_is_measured_as_asked_for() {
    let out = bench(&["character", "--n", "900"]);
    assert!(out["nodes"].as_u64().unwrap() >= 900 && out["skin_vertices"].as_u64().unwrap() > 100);
    let rows = out["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    assert!(
        rows[..3].iter().all(|row| row["model"] == "implicit") && rows[3..].iter().all(|row| row["model"] == "jelly")
    );
    assert!((rows[1]["young"].as_f64().unwrap() / rows[0]["young"].as_f64().unwrap() - 10.0).abs() < 1e-9);
    assert_eq!(rows[2]["dt"], 0.00025);
    for row in rows {
        adds_up(row);
        assert!(row["ms"]["assembly"].as_f64().unwrap() > 0.0 && row["ms"]["solve"].as_f64().unwrap() > 0.0);
        assert!(row["worst_residual"].as_f64().unwrap() <= 1e-3, "{row}");
    }
    assert!(out["quality"]["worst_residue_of_exchanged"].as_f64().unwrap() < 0.02, "{}", out["quality"]);
    assert!(out["times_faster_than_thesis"].as_f64().unwrap() > 0.0);
}

/// Catches a model that is left out, and a cost by iteration that is not one.
#[test]
fn the_cube_is_measured_by_three_models() {
    let out = bench(&["cube", "--n", "7"]);
    let row = &out["rows"][0];
    for model in ["mass spring", "reduced", "implicit"] {
        adds_up(&row[model]);
        assert!(row[model]["thesis_seconds"].as_f64().unwrap() > 1.0, "{model}");
    }
    let implicit = &row["implicit"];
    let step = implicit["ns_per_node_and_step"].as_f64().unwrap();
    let each = implicit["ns_per_node_and_iteration"].as_f64().unwrap();
    assert!(each > 0.0 && each * implicit["iterations_per_step"].as_f64().unwrap() <= step, "{implicit}");
}

/// Catches a workload that says nothing of its quality, its cost or its memory.
#[test]
fn every_workload_has_its_figures() {
    for args in [
        &["w1", "--n", "6", "--quick"][..],
        &["w2", "--n", "4", "--quick"],
        &["w3", "--n", "6", "--quick"],
        &["pile", "--n", "3"],
        &["hybrid", "--n", "12"],
    ] {
        let out = bench(args);
        assert!(out["quality"].as_object().is_some_and(|quality| !quality.is_empty()), "{args:?}");
        assert!(out["cpu_per_second"].as_f64().is_some() && out["wall_per_second"].as_f64().is_some(), "{args:?}");
        assert!(out["rows"][0]["ms"].is_object() && out["rows"][0].get("bytes_per_node").is_some(), "{args:?}");
    }
}
