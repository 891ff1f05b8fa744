//! The command as a user meets it: exit codes, what is written and what is not,
//! one JSON object, the same bytes.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn goop(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_goop")).current_dir(folder).args(args).output().expect("goop starts")
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_else(|| panic!("no output: {}", String::from_utf8_lossy(&output.stderr)));
    serde_json::from_str(last).unwrap_or_else(|e| panic!("{e}: {last}"))
}

fn run(folder: &Path, args: &[&str]) -> Value {
    let mut all = vec!["run"];
    all.extend(args);
    all.extend(["--json", "--no-movie"]);
    let output = goop(folder, &all);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    json(&output)
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// Catches a fault that is found only after something was written, a wrong exit
/// code, and a message without place or remedy.
#[test]
fn every_bad_scene_exits_with_2_says_where_and_how_and_writes_nothing() {
    let bad = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/bad-scenes");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&bad)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 40, "{}", files.len());
    for file in files {
        let folder = tempfile::tempdir().unwrap();
        for command in ["run", "check"] {
            let output = goop(folder.path(), &[command, file.to_str().unwrap()]);
            let message = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{command} {}: {message}", file.display());
            let place = message.lines().any(|l| l.trim_start().starts_with("-->"));
            assert!(place && message.contains("help:"), "{}: {message}", file.display());
            assert!(!message.contains("panicked"), "{message}");
        }
        assert!(is_empty(folder.path()), "{} left something", file.display());
    }
}

/// Catches faults of the second stage (what the text alone cannot tell) that lose their place.
#[test]
fn what_cannot_be_built_is_placed_in_the_text_too() {
    let folder = tempfile::tempdir().unwrap();
    let scene = r#"format = 1
[[body]]
name = "a"
formulation = "implicit"
[body.shape.rectangle]
size = [1, 1]
nodes = [4, 4]
[[body.pin]]
at = { box = [[5, 5, 5], [6, 6, 6]] }
[[body]]
name = "b"
formulation = "implicit"
[body.shape.mesh]
file = "flat.obj"
"#;
    std::fs::write(folder.path().join("s.toml"), scene).unwrap();
    std::fs::write(folder.path().join("flat.obj"), "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n").unwrap();
    let output = goop(folder.path(), &["run", "s.toml", "--json"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("s.toml:9:1") && message.contains("finds no node"), "{message}");
    assert!(message.contains("s.toml:14:1"), "{message}");
    assert_eq!(json(&output)["status"], "wrong-input");
    assert!(!folder.path().join("out").exists());
}

/// Catches keys that tools rely on going missing.
#[test]
fn run_ends_with_one_object_that_has_every_promised_key() {
    let folder = tempfile::tempdir().unwrap();
    let object = run(folder.path(), &["swinging-string", "--set", "clip.seconds=0.5", "--format", "ply", "-o", "here"]);
    for key in [
        "status",
        "frames",
        "steps",
        "rejected_steps",
        "sim_seconds",
        "wall_seconds",
        "seconds_per_second",
        "energy",
        "worst_stretch",
        "worst_penetration",
        "probes",
        "bodies",
        "state_hash",
    ] {
        assert!(!object[key].is_null(), "{key} is missing: {object}");
    }
    for key in ["first", "last", "residue", "numerical_dissipation"] {
        assert!(object["energy"][key].is_number(), "{key}");
    }
    for key in ["position", "min", "max", "mean"] {
        assert_eq!(object["probes"]["tip"][key].as_array().map(Vec::len), Some(3), "{key}");
    }
    assert_eq!(object["status"], "done");
    assert_eq!(object["frames"], 13);
    assert_eq!(object["state_hash"].as_str().map(str::len), Some(32));
    for file in ["manifest.json", "timing.json", "scene.toml", "stats.csv", "probes.csv"] {
        assert!(folder.path().join("here").join(file).is_file(), "{file}");
    }
    assert_eq!(std::fs::read_dir(folder.path().join("here/frames/string")).unwrap().count(), 13);
}

/// Catches results that depend on threads or frames a second, and a hash that does
/// not depend on the scene.
#[test]
fn the_hash_follows_the_scene_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let hash = |extra: &[&str]| {
        let nodes = "body.sheet.shape.rectangle.nodes=[110,110]";
        let mut args = vec!["four-corners", "--set", "clip.seconds=0.5", "--set", nodes];
        args.extend(extra);
        args.extend(["--format", "none"]);
        run(folder.path(), &args)["state_hash"].as_str().unwrap().to_owned()
    };
    let plain = hash(&["--threads", "1"]);
    assert_eq!(plain, hash(&["--threads", "2"]));
    assert_eq!(plain, hash(&["--set", "clip.fps=60"]));
    assert_eq!(plain, hash(&["--set", "clip.fps=30"]));
    assert_ne!(plain, hash(&["--set", "body.sheet.material.young=200001.0"]));
}

/// Catches a resaved scene that is another scene.
#[test]
fn the_scene_written_into_the_folder_gives_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    let first = run(folder.path(), &["four-corners", "--set", "clip.seconds=0.25", "-o", "one"]);
    let again = run(folder.path(), &["one/scene.toml", "-o", "two"]);
    assert_eq!(first["state_hash"], again["state_hash"]);
}

/// Catches a diverging run that loses its frames, hides its reason or ends with 0.
#[test]
fn a_diverging_run_exits_with_1_names_body_time_and_remedy_and_keeps_its_frames() {
    let folder = tempfile::tempdir().unwrap();
    let mut args = vec!["run", "four-corners", "--format", "ply", "--no-movie", "--json", "-o", "out"];
    for set in ["body.sheet.formulation=spring", "step.adaptive=false", "step.dt=0.02", "clip.fps=50"] {
        args.extend(["--set", set]);
    }
    let output = goop(folder.path(), &args);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("'sheet'") && message.contains("t = ") && message.contains("step.dt"), "{message}");
    let object = json(&output);
    assert_eq!(object["status"], "failed");
    let frames = object["frames"].as_u64().unwrap();
    assert!(frames > 0);
    assert_eq!(std::fs::read_dir(folder.path().join("out/frames/sheet")).unwrap().count() as u64, frames);
}

/// Catches an interrupt that loses the frame in hand or ends with another code.
#[test]
#[cfg(unix)]
fn an_interrupt_finishes_the_frame_and_exits_with_130() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_goop"))
        .current_dir(folder.path())
        .args([
            "run",
            "four-corners",
            "--set",
            "clip.seconds=3000",
            "--format",
            "ply",
            "--no-movie",
            "--json",
            "-o",
            "out",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let frames = folder.path().join("out/frames/sheet");
    for _ in 0..400 {
        if std::fs::read_dir(&frames).is_ok_and(|d| d.count() > 3) {
            break;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    let mut text = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut text).unwrap();
    let object: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(object["status"], "interrupted");
    assert_eq!(std::fs::read_dir(&frames).unwrap().count() as u64, object["frames"].as_u64().unwrap());
}

/// Catches a run that overwrites a folder that is not its own.
#[test]
fn a_foreign_folder_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("thesis.txt"), "mine").unwrap();
    let output = goop(folder.path(), &["run", "swinging-string", "-o", "."]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Catches listings and starters that do not work out of the box.
#[test]
fn scenes_new_schema_check_and_compare_work_together() {
    let folder = tempfile::tempdir().unwrap();
    let listing = goop(folder.path(), &["scenes"]);
    let text = String::from_utf8_lossy(&listing.stdout).into_owned();
    assert!(text.lines().count() >= 10 && text.lines().all(|l| l.split_whitespace().count() > 2), "{text}");
    let printed = goop(folder.path(), &["scenes", "four-corners"]);
    assert!(String::from_utf8_lossy(&printed.stdout).contains("format = 1"));
    assert_eq!(goop(folder.path(), &["scenes", "fuor-corners"]).status.code(), Some(2));
    assert!(goop(folder.path(), &["new", "mine.toml"]).status.success());
    assert_eq!(goop(folder.path(), &["new", "mine.toml"]).status.code(), Some(2));
    let schema: Value = serde_json::from_slice(&goop(folder.path(), &["schema"]).stdout).unwrap();
    assert!(schema["properties"]["body"].is_object());
    let check = goop(folder.path(), &["check", "mine.toml", "--json"]);
    let object = json(&check);
    assert_eq!(object["status"], "good");
    assert!(object["bodies"][0]["stable_step"].as_f64().unwrap() > 0.0);
    assert_eq!(object["selections"][0]["nodes"], serde_json::json!([0]));
    let words = "spring,implicit,rigid";
    let args = ["compare", "mine.toml", "--set", "clip.seconds=0.2", "--formulations", words, "-o", "page.html"];
    let compare = goop(folder.path(), &args);
    assert!(compare.status.success(), "{}", String::from_utf8_lossy(&compare.stderr));
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    for word in ["spring", "implicit", "rigid", "<svg"] {
        assert!(page.contains(word), "{word}");
    }
    assert_eq!(goop(folder.path(), &["compare", "mine.toml", "--formulations", "magic"]).status.code(), Some(2));
}

/// Catches a movie or an export that needs the simulation again, or that differs from
/// one time to the next.
#[test]
fn a_run_folder_alone_gives_movie_stills_and_exports() {
    let folder = tempfile::tempdir().unwrap();
    let short = ["--set", "clip.seconds=0.25"];
    let mut args = vec!["run", "jelly-cube", "-o", "run", "--quiet"];
    args.extend(short);
    assert!(goop(folder.path(), &args).status.success());
    let movie = std::fs::read(folder.path().join("run/movie.mp4")).unwrap();
    assert_eq!(&movie[4..8], b"ftyp");
    let again = goop(folder.path(), &["render", "run", "-o", "again.mp4", "--quiet"]);
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    assert!(movie == std::fs::read(folder.path().join("again.mp4")).unwrap(), "the movie differs");
    let still = goop(folder.path(), &["render", "run", "--still", "0,3", "--size", "160x90", "-o", "stills"]);
    assert!(still.status.success(), "{}", String::from_utf8_lossy(&still.stderr));
    assert_eq!(std::fs::read_dir(folder.path().join("stills")).unwrap().count(), 2);
    for format in ["pc2", "mdd", "obj", "ply", "glb", "usda", "usdc", "vtu"] {
        let out = goop(folder.path(), &["export", "run", "--to", format, "-o", format]);
        assert!(out.status.success(), "{format}: {}", String::from_utf8_lossy(&out.stderr));
        assert!(std::fs::read_dir(folder.path().join(format)).unwrap().count() > 0);
    }
    assert_eq!(goop(folder.path(), &["export", "run", "--to", "max"]).status.code(), Some(2));
    assert_eq!(goop(folder.path(), &["render", "nowhere"]).status.code(), Some(2));
}
