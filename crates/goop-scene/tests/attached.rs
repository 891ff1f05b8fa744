//! `[[attach]]`: what is fastened to what, from text to model and back.

use goop_scene::Scene;
use std::path::Path;

const BALL: &str = "
[[body]]
name = \"ball\"
formulation = \"rigid\"
position = [0, 0.3, 0]
shape.sphere = { radius = 0.1, nodes = [8, 5] }
";

fn text(more: &str) -> String {
    format!(
        "format = 1\n[[body]]\nname = \"cloth\"\nformulation = \"implicit\"\n\
         shape.rectangle = {{ size = [1, 1], nodes = [5, 5] }}\n{BALL}\n\
         [[obstacle]]\nname = \"arm\"\nposition = [0, -1, 0]\nshape.sphere = {{ radius = 0.2 }}\n\
         key = [{{ time = 0, position = [0, -1, 0] }}, {{ time = 1, position = [1, -1, 0], rotation = [0, 0, 90] }}]\n{more}"
    )
}

/// Catches a tie that is not what the text says, and one that is lost on saving.
#[test]
fn attachments_become_ties_and_pins_and_are_saved() {
    let scene = Scene::parse(
        &text(
            "[[attach]]\nbody = \"cloth\"\nat = \"center\"\nto = \"ball\"\n\
             [[attach]]\nbody = \"cloth\"\nat = \"corners\"\nobstacle = \"arm\"\n",
        ),
        "scene.toml",
    )
    .unwrap()
    .0;
    let built = scene.build(Path::new(".")).unwrap();
    let tie = &built.model.ties[0];
    assert_eq!((tie.bodies, tie.grips.len()), ([0, 1], 1));
    // From the lowest point of the ball, 0.2 up, to the cloth.
    assert!((tie.grips[0].offset.length() - 0.2).abs() < 1e-9, "{:?}", tie.grips[0]);
    let pin = &built.model.bodies[0].pins[0];
    let start = built.model.bodies[0].start_positions();
    for (k, &node) in pin.nodes.iter().enumerate() {
        assert!(pin.target(k, 0.0).distance(start[node as usize]) < 1e-12);
        // A metre along, and turned by a right angle about the arm.
        let x = start[node as usize];
        let expected = glam::DVec3::new(1.0 - (x.y + 1.0), -1.0 + x.x, x.z);
        assert!(pin.target(k, 1.0).distance(expected) < 1e-9, "{} {expected}", pin.target(k, 1.0));
    }
    let again = Scene::parse(&scene.to_toml(), "scene.toml").unwrap().0;
    assert_eq!(again.attach, scene.attach);
}

/// Catches a bone that is not there, and bodies that start in each other, found only when bodies are in place.
#[test]
fn what_only_the_bodies_tell_is_a_fault() {
    let of = |more: &str| {
        let scene = Scene::parse(&text(more), "scene.toml").unwrap().0;
        let faults = scene.build(Path::new(".")).err().unwrap_or_default();
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let bone = of("[[attach]]\nbody = \"cloth\"\nat = \"center\"\nto = \"ball\"\nbone = \"hand\"\n");
    assert!(bone.contains("there is no bone \"hand\"") && bone.contains("no bones"), "{bone}");
    let inside = of(&BALL.replace("ball", "second").replace("0.3", "0.35"));
    assert!(inside.contains("'ball' and 'second' are in each other"), "{inside}");
}
