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

/// Catches hashes that are left out, two inputs of one name taken for one, and a saved
/// scene that looks for its mesh in the wrong folder.
#[test]
fn the_saved_scene_names_every_input_with_its_hash_and_finds_its_meshes_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("scenes/a")).unwrap();
    std::fs::create_dir_all(at("scenes/b")).unwrap();
    let body = |name: &str, file: &str, x: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nformulation = \"implicit\"\nposition = [{x}, 0, 0]\n\
             [body.shape.mesh]\nfile = \"{file}\"\n"
        )
    };
    let scene =
        "format = 1\n[clip]\nseconds = 0.2\n".to_owned() + &body("one", "a/m.obj", 0.0) + &body("two", "b/m.obj", 3.0);
    std::fs::write(at("scenes/s.toml"), scene).unwrap();
    std::fs::write(at("scenes/a/m.obj"), "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n").unwrap();
    std::fs::write(at("scenes/b/m.obj"), "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n").unwrap();
    let first = run(folder.path(), &["scenes/s.toml", "-o", "deep/er/run"]);
    let saved = std::fs::read_to_string(at("deep/er/run/scene.toml")).unwrap();
    let manifest: Value = serde_json::from_slice(&std::fs::read(at("deep/er/run/manifest.json")).unwrap()).unwrap();
    let hashes = manifest["input_hashes"].as_object().unwrap();
    assert_eq!(hashes.keys().collect::<Vec<_>>(), ["a/m.obj", "b/m.obj", "s.toml"]);
    for (name, hash) in hashes {
        let hash = hash.as_str().unwrap();
        assert!(hash.len() == 32 && saved.contains(&format!("#   {hash}  {name}\n")), "{saved}");
    }
    let again = run(folder.path(), &["deep/er/run/scene.toml", "-o", "again"]);
    assert_eq!(first["state_hash"], again["state_hash"]);
    let resumed = run(folder.path(), &["scenes/s.toml", "-o", "deep/er/run", "--resume"]);
    assert_eq!(first["state_hash"], resumed["state_hash"]);
    std::fs::write(at("scenes/b/m.obj"), "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 2 0\nf 1 2 3\nf 1 3 4\n").unwrap();
    let changed = goop(folder.path(), &["run", "scenes/s.toml", "-o", "deep/er/run", "--resume"]);
    let message = String::from_utf8_lossy(&changed.stderr);
    assert!(changed.status.code() == Some(2) && message.contains("b/m.obj has changed"), "{message}");
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
    for word in ["spring", "implicit", "rigid", "<svg", "src=\"data:image/png;base64,", "src=\"page.mp4\""] {
        assert!(page.contains(word), "{word}");
    }
    assert_eq!(&std::fs::read(folder.path().join("page.mp4")).unwrap()[4..8], b"ftyp");
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

/// Where a scene is held and touched, as pictures are asked to show it.
const MARKED: &str = r#"format = 1
[clip]
seconds = 0.5
[[body]]
name = "sheet"
formulation = "implicit"
position = [0, 0.05, 0]
[body.shape.rectangle]
size = [1, 1]
nodes = [6, 6]
[body.material]
preset = "rubber"
[[body.pin]]
at = { corner = [0, 0] }
[[body.load]]
force = { at = "all", newtons = [0, 0.1, 0] }
[[event]]
time = 0.25
unpin = { body = "sheet", at = { corner = [0, 0] } }
[[event]]
time = 0.3
grab = { body = "sheet", at = { corner = [1, 1] }, to = [0.5, 0.4, 0.5], stiffness = 20 }
[[obstacle]]
name = "ground"
[obstacle.shape.plane]
"#;

/// Catches a flag that draws nothing, and marks that stay when a pin is let go.
#[test]
fn a_run_folder_keeps_what_pictures_show() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.toml"), MARKED).unwrap();
    run(folder.path(), &["s.toml", "-o", "run"]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join("run").join(name)).unwrap();
    let marks = read("marks.csv");
    assert!(marks.contains("0,0.0,sheet,pin,0\n"), "{marks}");
    assert!(marks.contains(",sheet,pin,\n") && marks.contains(",sheet,spring,35\n"), "{marks}");
    assert!(marks.contains(",sheet,contact,"), "{marks}");
    let forces = read("forces.csv");
    for kind in [",load,", ",spring,", ",contact,"] {
        assert!(forces.contains(kind), "{kind}");
    }
    let lift: f64 = (forces.lines().filter(|l| l.starts_with("0,") && l.contains(",load,")))
        .map(|l| l.split(',').nth(6).unwrap().parse::<f64>().unwrap())
        .sum();
    assert!((lift - 0.1).abs() < 1e-6, "{lift}");
    let springs = std::fs::read(folder.path().join("run/rest/sheet.springs.ply")).unwrap();
    assert!(springs.starts_with(b"ply\nformat binary_little_endian 1.0\n"));

    let picture = |flags: &[&str]| {
        let mut args = vec!["render", "run", "--still", "10", "--size", "320x180", "-o", "p"];
        args.extend(flags);
        let output = goop(folder.path(), &args);
        assert!(output.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&output.stderr));
        std::fs::read(folder.path().join("p/frame-0010.png")).unwrap()
    };
    let plain = picture(&["--show", "none"]);
    std::fs::write(folder.path().join("back.png"), &plain).unwrap();
    let flags: [&[&str]; 13] = [
        &["--show", "pins"],
        &["--show", "contacts"],
        &["--show", "velocities"],
        &["--show", "forces"],
        &["--show", "nodes"],
        &["--show", "springs"],
        &["--show", "pins,contacts,velocities,forces,nodes,springs"],
        &["--show", "none", "--look", "lattice"],
        &["--show", "none", "--background", "#102030"],
        &["--show", "none", "--background", "back.png"],
        &["--show", "none", "--lens", "90"],
        &["--show", "none", "--orbit", "-40"],
        &["--show", "none", "--camera", "-1,2,3", "--look-at", "0,0,0"],
    ];
    let mut seen = vec![plain];
    for flags in flags {
        let picture = picture(flags);
        assert!(!seen.contains(&picture), "{flags:?} changes nothing");
        seen.push(picture);
    }
    let wrong: [&[&str]; 6] = [
        &["--show", "pin"],
        &["--background", "mauve"],
        &["--background", "#12345"],
        &["--background", "nowhere.png"],
        &["--camera", "1,2"],
        &["--camera", "1,2,3", "--look-at", "1,2,3"],
    ];
    for flags in wrong {
        let mut args = vec!["render", "run", "--still", "0", "-o", "p"];
        args.extend(flags);
        let output = goop(folder.path(), &args);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && !message.is_empty(), "{flags:?}: {message}");
    }
}

/// Catches a path of the mean of the nodes in place of the centre of mass: here half the
/// body is ten times as heavy, and on its way it falls like a stone.
#[test]
fn centers_csv_has_the_centre_of_mass() {
    let folder = tempfile::tempdir().unwrap();
    let scene = r#"format = 1
[clip]
seconds = 0.2
[[body]]
name = "bar"
formulation = "implicit"
position = [0, 3, 0]
velocity = [1, 0, 0]
[body.shape.line]
size = 1
nodes = 21
[[body.material.region]]
at = { uv = [[0.5], [1]] }
density = 11000
"#;
    std::fs::write(folder.path().join("s.toml"), scene).unwrap();
    run(folder.path(), &["s.toml", "-o", "run", "--set", "body.bar.material.density=1100"]);
    let text = std::fs::read_to_string(folder.path().join("run/centers.csv")).unwrap();
    let rows: Vec<Vec<f64>> =
        text.lines().skip(1).map(|l| l.split(',').map(|f| f.parse().unwrap_or(f64::NAN)).collect()).collect();
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    assert!(first[3] > 0.15, "the heavy half draws the centre to it: {first:?}");
    let t = last[1];
    assert!((last[3] - first[3] - t).abs() < 1e-9, "{last:?}");
    assert!((last[7] + 9.81 * t).abs() < 1e-9 && (last[6] - 1.0).abs() < 1e-9, "{last:?}");
}

/// Catches a run that dies without a word when a file may not grow, frames that are lost
/// with it, and one that cannot go on when there is room again.
#[test]
#[cfg(unix)]
fn without_room_a_run_says_so_keeps_its_frames_and_goes_on_later() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["run", "jelly-cube", "--no-movie", "--quiet", "--set", "clip.seconds=1"];
    let whole = goop(folder.path(), &[&args[..], &["-o", "whole"]].concat());
    assert!(whole.status.success());
    // The first stops the checkpoint, the second the cache.
    for blocks in [128, 256] {
        let _ = std::fs::remove_dir_all(folder.path().join("full"));
        let shell = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let full = Command::new("sh")
            .current_dir(folder.path())
            .args(["-c", &shell, env!("CARGO_BIN_EXE_goop")])
            .args(args)
            .args(["-o", "full", "--json"])
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&full.stderr);
        assert_eq!(full.status.code(), Some(1), "{message}");
        assert!(message.contains("cannot ") && message.contains("full/c") && message.contains("ulimit"), "{message}");
        assert!(message.contains("make room") && message.contains("--resume"), "{message}");
        assert!(!message.contains("bug"), "{message}");
        let object = json(&full);
        let frames = object["frames"].as_u64().unwrap();
        assert!(object["status"] == "failed" && (1..25).contains(&frames), "{object}");

        let last = (frames - 1).to_string();
        for command in [
            &["render", "full", "--still", &last, "--size", "160x90", "-o", "stills"][..],
            &["render", "full", "--size", "160x90", "-o", "movie.mp4", "--quiet"],
            &["export", "full", "--to", "usda", "-o", "usd"],
        ] {
            let output = goop(folder.path(), command);
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let on = goop(folder.path(), &[&args[..], &["-o", "full", "--resume"]].concat());
        assert!(on.status.success(), "{}", String::from_utf8_lossy(&on.stderr));
        for file in ["cache/cube.pc2", "cache/cube.nodes", "stats.csv", "marks.csv", "forces.csv", "centers.csv"] {
            let read = |run: &str| std::fs::read(folder.path().join(run).join(file)).unwrap();
            assert!(read("whole") == read("full"), "{file} differs");
        }
        let manifest = std::fs::read_to_string(folder.path().join("full/manifest.json")).unwrap();
        assert_eq!(manifest, std::fs::read_to_string(folder.path().join("whole/manifest.json")).unwrap());
    }
}
