//! Scenes survive being written and read.

mod support;

use goop_scene::Scene;
use proptest::prelude::*;

/// Catches a key that is written but not read, or a number that loses digits.
#[test]
fn the_full_example_survives() {
    let (scene, _) = Scene::parse(include_str!("full.toml"), "full.toml").unwrap_or_else(|faults| panic!("{faults}"));
    let text = scene.to_toml();
    let (again, _) = Scene::parse(&text, "again").unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(scene, again);
    assert_eq!(text, again.to_toml());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Catches the same for every kind of table, and for numbers of every size.
    #[test]
    fn reading_what_was_written_gives_the_same_scene(scene in support::scene()) {
        let text = scene.to_toml();
        match Scene::parse(&text, "saved") {
            Ok((again, _)) => prop_assert_eq!(again, scene),
            Err(faults) => prop_assert!(false, "{}\n{}", faults, text),
        }
    }
}
