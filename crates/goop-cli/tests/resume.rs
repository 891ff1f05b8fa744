//! Killed at random moments, resumed, and the same bytes in the end.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const SCENE: &str = r#"format = 1
[clip]
seconds = 2
fps = 60
[[body]]
name = "sheet"
formulation = "implicit"
position = [0, 0.6, 0]
[body.shape.rectangle]
size = [1, 1]
nodes = [20, 20]
[body.material]
preset = "rubber"
[[body.pin]]
at = { corner = [0, 0] }
[[body]]
name = "book"
formulation = "rigid"
position = [0, 1.5, 1.5]
spin = [3, 1, 0.2]
[body.shape.box]
size = [0.2, 0.05, 0.15]
nodes = [3, 2, 3]
[[obstacle]]
name = "ground"
[obstacle.shape.plane]
[[probe]]
name = "tip"
body = "sheet"
at = { corner = [1, 1] }
[[event]]
time = 0.7
pin = { body = "sheet", at = { corner = [1, 0] } }
[[event]]
time = 1.1
unpin = { body = "sheet", at = { corner = [0, 0] } }
[[event]]
time = 1.6
parameter = { key = "gravity", value = [0, -3, 1] }
"#;

fn goop(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_goop")).current_dir(folder).args(args).output().expect("goop starts")
}

/// Every file below a folder with its bytes; what depends on the clock left out.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_path_buf()]);
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(&inner).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|n| n != "timing.json") {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

fn summary(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(String::from_utf8_lossy(&output.stdout).lines().last().unwrap()).unwrap()
}

/// Catches anything that a run remembers and its folder does not, and files that a
/// kill leaves torn. `GOOP_KILLS` says how often; ten times by default.
#[test]
fn a_run_killed_at_any_moment_ends_with_the_same_bytes() {
    let kills: usize = std::env::var("GOOP_KILLS").ok().and_then(|k| k.parse().ok()).unwrap_or(10);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("scene.toml"), SCENE).unwrap();
    let whole = goop(folder.path(), &["run", "scene.toml", "-o", "whole", "--json", "--quiet", "--no-movie"]);
    let (expected, hash) = (files(&folder.path().join("whole")), summary(&whole)["state_hash"].clone());
    let seconds = summary(&whole)["wall_seconds"].as_f64().unwrap();

    let (mut seed, mut resumed, mut hit) = (0x2545_f491_4f6c_dd1du64, 0, 0);
    let mut fresh = true;
    for _ in 0..kills {
        if fresh {
            let _ = std::fs::remove_dir_all(folder.path().join("torn"));
        }
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let wait = seconds * 0.9 * (seed % 1000) as f64 / 1000.0;
        let mut child = Command::new(env!("CARGO_BIN_EXE_goop"))
            .current_dir(folder.path())
            .args(["run", "scene.toml", "-o", "torn", "--resume", "--quiet", "--no-movie"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_secs_f64(wait));
        hit += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        // Every other time it is killed again on its way.
        fresh = seed & 1 == 0;
        if !fresh {
            continue;
        }
        let last =
            goop(folder.path(), &["run", "scene.toml", "-o", "torn", "--resume", "--json", "--quiet", "--no-movie"]);
        let last = summary(&last);
        resumed += usize::from(last["resumed_from_frame"].is_u64());
        assert_eq!(last["state_hash"], hash);
        let found = files(&folder.path().join("torn"));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, bytes) in &found {
            assert!(expected[name] == *bytes, "{name} differs after a kill at {wait:.2} s");
        }
    }
    println!("{kills} kills, {hit} in the middle of a run, {resumed} runs resumed from a checkpoint");
    assert!(hit > 0 && resumed > 0);
}

/// Catches going on with the results of another scene without a word.
#[test]
fn another_scene_is_refused_and_the_difference_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("scene.toml"), SCENE).unwrap();
    let short = ["--set", "clip.seconds=0.2"];
    let args = |extra: &[&'static str]| {
        let mut all = vec!["run", "scene.toml", "-o", "out", "--quiet", "--resume", "--no-movie"];
        all.extend(short);
        all.extend(extra);
        all
    };
    assert!(goop(folder.path(), &args(&[])).status.success());
    let before = files(&folder.path().join("out"));
    let refused = goop(folder.path(), &args(&["--set", "body.sheet.material.young=12345.0"]));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{message}");
    assert!(message.contains("body[0].material.young") && message.contains("12345"), "{message}");
    assert_eq!(before, files(&folder.path().join("out")));
}
