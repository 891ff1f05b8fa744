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
    assert_eq!((scene.body.len(), scene.obstacle.len(), scene.probe.len(), scene.event.len()), (3, 3, 2, 7));
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
    assert_eq!(scene.body[2].shape, Shape::Box { size: [0.2, 0.03, 0.3], nodes: [4; 3] });
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
