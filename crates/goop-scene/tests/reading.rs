//! Reading whole scenes: defaults, short forms, includes, `--set`.

use goop_scene::Scene;
use goop_scene::scene::*;

const FULL: &str = include_str!("full.toml");

fn with(sets: &[&str]) -> Result<Scene, String> {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    Scene::parse_with(FULL, "full.toml", &sets).map(|(scene, _)| scene).map_err(|faults| faults.to_string())
}

/// Catches a table that is read past, and short forms that are not spread out.
#[test]
fn a_scene_with_everything_is_read_in_full() {
    let (scene, warnings) = Scene::parse(FULL, "full.toml").unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(warnings, []);
    assert_eq!((scene.body.len(), scene.obstacle.len(), scene.probe.len(), scene.event.len()), (5, 3, 2, 10));
    let sheet = &scene.body[0];
    assert_eq!(sheet.scale, [2.0; 3]);
    assert_eq!(sheet.shape, Shape::Rectangle { size: [1.0, 1.5], nodes: [20, 20] });
    assert_eq!((sheet.material.young, sheet.material.density), (1e5, 400.0));
    assert_eq!(sheet.pin[1].key.len(), 2);
    assert_eq!(scene.body[1].material.raw.as_ref().and_then(|raw| raw.rest.clone()), Some(vec![0.05; 2]));
    assert_eq!(scene.obstacle[1].key[0].position, [0.0, 0.5, 0.0]);
}

/// Catches a `--set` that misses its table, or values that are not read as TOML.
#[test]
fn set_changes_values_by_name_and_by_number() {
    let scene = with(&[
        "body.sheet.material.young=3e5",
        "body[1].position=[1, 2, 3]",
        "body.2.shape.box.nodes=4",
        "world.plane=xy",
        "step.settle=true",
        "world.gravity[1]=-1.62",
        "body.sheet.pin.1.stiffness=12",
        "body.sheet.solver.max-iterations=7",
    ])
    .unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(scene.body[0].material.young, 3e5);
    assert_eq!(scene.body[1].position, [1.0, 2.0, 3.0]);
    assert_eq!(scene.body[2].shape, Shape::Box { size: [0.2, 0.03, 0.3], nodes: [4; 3], tetrahedra: false });
    assert_eq!((scene.world.plane, scene.step.settle), (Some(Plane::Xy), true));
    assert_eq!(scene.world.gravity, [0.0, -1.62, 0.0]);
    assert_eq!(scene.body[0].pin[1].stiffness, Some(12.0));
    assert_eq!(scene.body[0].solver.max_iterations, 7);
}

/// Catches a bad `--set` that is blamed on the file, or not at all.
#[test]
fn a_bad_set_names_the_argument_and_suggests() {
    for (set, message, hint) in [
        ("body.sheet.material.yuong=1", "unknown key `yuong`", "did you mean `young`?"),
        ("body.sheep.material.young=1", "no item `sheep`", "did you mean `sheet`?"),
        ("body.7.material.young=1", "no item `7`", "sheet, balloon, book"),
        ("clip.seconds=-1", "must be above 0", "length of the clip"),
        ("clip.seconds", "no `=`", "path=value"),
        ("clip..seconds=1", "not complete", "keys with dots"),
        ("clip.seconds.x=1", "leads nowhere", "leave this part"),
        ("clip.seconds=[1", "is not a value", "quote it"),
        ("include=x", "cannot be set", "include"),
        ("body.sheet.pin[9].stiffness=1", "no item `9`", "numbered from 0"),
    ] {
        let text = with(&[set]).expect_err(set);
        assert!(text.contains(&format!("--> --set {set}\n")), "{text}");
        assert!(text.contains(message) && text.contains(hint), "{text}");
        assert_eq!(text.matches("error:").count(), 1, "{text}");
    }
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for the test");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for the file");
        std::fs::write(path, text).expect("a file for the test");
    }
    folder
}

const BODY: &str = "formulation = \"implicit\"\nshape.line = { size = 1, nodes = 5 }\n";

/// Catches an include that wins over its includer, or that loses bodies.
#[test]
fn included_tables_are_merged_and_lists_joined() {
    let part = format!("include = [\"../base.toml\"]\n[[body]]\nname = \"a\"\n{BODY}[clip]\nseconds = 7\nfps = 50\n");
    let main = format!("include = [\"parts/part.toml\"]\n[[body]]\nname = \"b\"\n{BODY}[clip]\nseconds = 2\n");
    let base = "format = 1\n[world]\ngravity = [0, -1, 0]\n[clip]\nfps = 10\n";
    let folder = folder(&[("main.toml", &main), ("parts/part.toml", &part), ("base.toml", base)]);
    let loaded = Scene::load(folder.path().join("main.toml")).unwrap_or_else(|faults| panic!("{faults}"));
    let scene = loaded.scene;
    assert_eq!(scene.body.iter().map(|body| body.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((scene.clip.seconds, scene.clip.fps), (2.0, 50.0));
    assert_eq!(scene.world.gravity, [0.0, -1.0, 0.0]);
    let names: Vec<_> = loaded.inputs.iter().map(|(path, _)| path.file_name().expect("a name").to_owned()).collect();
    assert_eq!(names, ["main.toml", "part.toml", "base.toml"]);
    assert!(loaded.inputs.iter().all(|(_, hash)| hash.len() == 32));
}

/// Catches a mesh that is looked for beside the wrong file, and inputs without a hash.
#[test]
fn a_mesh_is_found_beside_the_file_that_names_it() {
    let part = "[[body]]\nname = \"a\"\nformulation = \"implicit\"\nshape.mesh = { file = \"../meshes/a.obj\" }\n";
    let main = "include = [\"parts/part.toml\"]\nformat = 1\n";
    let folder = folder(&[("main.toml", main), ("parts/part.toml", part), ("meshes/a.obj", "v 0 0 0\n")]);
    let loaded = Scene::load(folder.path().join("main.toml")).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(loaded.scene.body[0].shape, Shape::Mesh { file: "meshes/a.obj".into(), weld: true });
    assert_eq!(loaded.folder, folder.path());
    let (path, hash) = &loaded.inputs[2];
    assert!(path.ends_with("meshes/a.obj"));
    assert_eq!(*hash, format!("{:032x}", xxhash_rust::xxh3::xxh3_128(b"v 0 0 0\n")));
}

/// Catches a crash, or silence, when the scene itself cannot be read.
#[test]
fn a_scene_that_is_not_there_or_not_text_is_a_fault() {
    let folder = folder(&[]);
    let faults = Scene::load(folder.path().join("none.toml")).expect_err("no such file");
    assert!(faults.to_string().contains("there is no such file"), "{faults}");
    let faults = Scene::load(folder.path()).expect_err("a folder");
    assert!(faults.to_string().contains("not a file"), "{faults}");
    let path = folder.path().join("bytes.toml");
    std::fs::write(&path, b"format = 1\n\xff\n").expect("a file for the test");
    let faults = Scene::load(&path).expect_err("not text");
    assert!(faults.to_string().contains("byte 11 is not UTF-8"), "{faults}");
}

/// Catches a fault where a warning is enough, and the other way round.
#[test]
fn what_comes_after_the_clip_is_a_warning() {
    let text = format!(
        "format = 1\n[clip]\nseconds = 1\n[[body]]\nname = \"a\"\n{BODY}[[body.pin]]\nat = \"rim\"\n\
         key = [{{ time = 0 }}, {{ time = 2 }}, {{ time = 3 }}]\n[[event]]\ntime = 1.5\nstop = {{ body = \"a\" }}\n"
    );
    let (_, warnings) = Scene::parse(&text, "late").unwrap_or_else(|faults| panic!("{faults}"));
    let places: Vec<_> = warnings.iter().map(|warning| (warning.place.line, warning.place.column)).collect();
    assert_eq!(places, [(10, 31), (12, 8)]);
    assert!(warnings[1].block("warning").starts_with("warning: `event[0].time` (1.5 s) is after the end"));
}

/// Catches a preset outside the ranges that the reader allows.
#[test]
fn every_preset_can_be_written_out_by_hand() {
    for preset in goop_scene::presets::presets() {
        let text = format!("format = 1\n[[body]]\nname = \"a\"\n{BODY}[body.material]\npreset = \"{}\"\n", preset.name);
        let (scene, _) = Scene::parse(&text, preset.name).unwrap_or_else(|faults| panic!("{faults}"));
        assert_eq!(scene.body[0].material.young, preset.young);
        let (again, _) = Scene::parse(&scene.to_toml(), preset.name).unwrap_or_else(|faults| panic!("{faults}"));
        assert_eq!(again, scene);
    }
}

/// Catches a word that is read and then means another solver, and a preconditioner that goes
/// nowhere without a word.
#[test]
fn words_of_solvers_mean_the_solvers_of_that_name() {
    use goop::solve::{Method, Preconditioner as P};
    let read = |linear: &str, preconditioner: &str| {
        let text = format!(
            "format = 1\n[[body]]\nname = \"a\"\n{BODY}[body.solver]\nlinear = \"{linear}\"\npreconditioner = \"{preconditioner}\"\n"
        );
        let (scene, warnings) = Scene::parse(&text, "solver").unwrap_or_else(|faults| panic!("{faults}"));
        let built = scene.build(std::path::Path::new(".")).unwrap_or_else(|faults| panic!("{faults:?}"));
        let settings = built.model.bodies[0].solver;
        (settings.method, settings.preconditioner, warnings.len())
    };
    assert_eq!(read("auto", "jacobi"), (Method::Auto, P::Jacobi, 0));
    assert_eq!(read("conjugate-gradients", "none"), (Method::ConjugateGradients, P::None, 0));
    assert_eq!(read("cholesky", "jacobi"), (Method::Cholesky, P::Jacobi, 0));
    assert_eq!(read("profile", "incomplete-cholesky"), (Method::Profile, P::IncompleteCholesky, 1));
    assert_eq!(read("sor", "ssor"), (Method::Sor, P::Ssor, 1));
}

/// Catches an event that brings back a value which an earlier one changed, and obstacles
/// numbered in another order than they come.
#[test]
fn events_build_on_one_another() {
    let text = r#"
format = 1
[[body]]
name = "sheet"
formulation = "implicit"
shape.rectangle = { size = [1, 1], nodes = [4, 4] }
[[obstacle]]
name = "floor"
shape.plane = {}
[[event]]
time = 3
obstacle = { name = "early", position = [0, 5, 0] }
[[event]]
time = 2
add = { name = "late", shape.sphere = { radius = 0.2 } }
[[event]]
time = 1
add = { name = "early", shape.sphere = { radius = 0.1 } }
[[event]]
time = 2
parameter = { body = "sheet", key = "damping", value = 0.5 }
[[event]]
time = 1
parameter = { body = "sheet", key = "young", value = 3e5 }
"#;
    let (scene, _) = Scene::parse(text, "events").unwrap();
    let model = scene.build(std::path::Path::new("")).unwrap().model;
    let moved = model.events.iter().find_map(|(_, edit)| match edit {
        goop::Edit::MoveObstacle { obstacle, .. } => Some(*obstacle),
        _ => None,
    });
    assert_eq!(moved, Some(1), "the floor is 0, the one that comes first 1");
    let materials: Vec<_> = (model.events.iter())
        .filter_map(|(_, edit)| match edit {
            goop::Edit::Material { material, .. } => Some((material.card.young, material.card.damping)),
            _ => None,
        })
        .collect();
    assert_eq!(materials[0].0, 3e5);
    assert_eq!(materials[1], (3e5, 0.5));
}
