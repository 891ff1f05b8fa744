//! A session without a server: what it records, takes back and refuses.

use super::*;
use goop_scene::Scene;
use std::path::Path;

const TEXT: &str = r#"# mine
format = 1
[clip]
fps = 30
[[body]]
name = "sheet"
formulation = "implicit"
shape.rectangle = { size = [1, 1], nodes = [6, 6] }
material = { young = 2e5 }   # soft
[[body.pin]]
at = "corners"
"#;

fn session(folder: &Path) -> Session {
    std::fs::write(folder.join("mine.toml"), TEXT).unwrap();
    let host = Host {
        scenes: vec![("built-in", String::new(), TEXT)],
        check: |_| Vec::new(),
        outputs: |_, _, _, _| Err("none here".into()),
    };
    let options = Options { scene: "mine.toml".into(), folder: folder.to_path_buf(), ..Options::default() };
    Session::open(&options, host).unwrap()
}

fn play(session: &mut Session, seconds: f64) {
    let goal = session.time() + seconds;
    while session.time() < goal {
        session.step();
    }
}

fn done(session: &mut Session, json: &str) {
    let command: Command = serde_json::from_str(json).unwrap();
    session.command(command).unwrap_or_else(|sentence| panic!("{json}: {sentence}"));
}

fn replayed(session: &Session) -> u128 {
    let text = session.whole_text().unwrap();
    let (scene, _) = Scene::parse(&text, "saved").unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    let mut world = World::new(scene.build(Path::new("")).unwrap().model);
    world.frame_at(scene.clip.seconds).unwrap();
    world.do_due_events();
    world.state().hash()
}

/// Catches an edit that is not recorded as it was done, or is done at another place in the step.
#[test]
fn a_saved_session_replays_to_the_same_hash() {
    let folder = tempfile::tempdir().unwrap();
    let mut s = session(folder.path());
    done(&mut s, r#"{"do":"pin","body":0,"nodes":[14]}"#);
    done(&mut s, r#"{"do":"unpin","body":0,"nodes":[0]}"#);
    assert!(s.at_start() && s.recorded.is_empty(), "at the start the text changes");
    play(&mut s, 0.2);
    for k in 0..10 {
        done(
            &mut s,
            &format!(
                r#"{{"do":"grab","body":0,"node":21,"to":[0.1,{},0],"gesture":1,"strength":1}}"#,
                0.05 * f64::from(k)
            ),
        );
        play(&mut s, 0.02);
    }
    done(&mut s, r#"{"do":"release","body":0}"#);
    done(&mut s, r#"{"do":"material","body":0,"key":"young","value":500000}"#);
    play(&mut s, 0.05);
    done(&mut s, r#"{"do":"material","body":0,"key":"damping","value":0.3}"#);
    done(&mut s, r#"{"do":"add-obstacle","kind":"sphere","position":[0,-0.5,0],"size":0.5}"#);
    play(&mut s, 0.1);
    done(&mut s, r#"{"do":"move-obstacle","name":"sphere-1","position":[0.1,-0.4,0]}"#);
    done(&mut s, r#"{"do":"formulation","body":0,"to":"spring","integrator":"symplectic-euler"}"#);
    done(&mut s, r#"{"do":"thrust","body":0,"nodes":[35],"newtons":[0,3,0]}"#);
    play(&mut s, 0.2);
    done(&mut s, r#"{"do":"remove-obstacle","name":"sphere-1"}"#);
    done(&mut s, r#"{"do":"pin","body":0,"nodes":[0]}"#);
    done(&mut s, r#"{"do":"world","gravity":[0,-3,0],"wind":null}"#);
    play(&mut s, 0.03);
    let time = s.time();
    done(&mut s, r#"{"do":"step-length","dt":0.0031}"#);
    assert_eq!((s.time(), s.panes[0].world.model().step.dt), (time, 0.0031), "another step, the same time");
    assert!(s.failure().is_none(), "{:?}", s.failure());
    let hash = s.panes[0].world.state().hash();
    assert_eq!(replayed(&s), hash, "an edit after the last step");
    play(&mut s, 0.15);
    assert_eq!(replayed(&s), s.panes[0].world.state().hash());
    assert!(s.whole_text().unwrap().contains("# soft"));
}

/// Catches an undo that leaves something of what it takes back, and a branch that goes another way.
#[test]
fn undo_and_going_on_from_a_frame_lead_to_the_same_states() {
    let folder = tempfile::tempdir().unwrap();
    let mut s = session(folder.path());
    play(&mut s, 0.5);
    let (before, time) = (s.panes[0].world.state().hash(), s.time());
    done(&mut s, r#"{"do":"material","body":0,"key":"young","value":9e5}"#);
    play(&mut s, 0.3);
    done(&mut s, r#"{"do":"formulation","body":0,"to":"primal","integrator":null}"#);
    play(&mut s, 0.2);
    let (after, end) = (s.panes[0].world.state().hash(), s.time());
    done(&mut s, r#"{"do":"undo"}"#);
    done(&mut s, r#"{"do":"undo"}"#);
    assert_eq!((s.panes[0].world.state().hash(), s.time()), (before, time));
    let refused = Command::Material { body: 0, key: "young".into(), value: -1.0 };
    assert!(
        s.command(refused).is_err() && s.redo_label() == Some("change of young"),
        "what is refused changes nothing"
    );
    done(&mut s, r#"{"do":"redo"}"#);
    done(&mut s, r#"{"do":"redo"}"#);
    assert_eq!((s.panes[0].world.state().hash(), s.time()), (after, end));
    assert!(s.command(Command::Redo).is_err() && replayed(&s) == after);
    done(&mut s, r#"{"do":"undo"}"#);
    done(&mut s, r#"{"do":"undo"}"#);
    assert_eq!((s.panes[0].world.state().hash(), s.time()), (before, time));
    play(&mut s, 0.7);
    let frame = s.frame();
    let end = s.panes[0].world.state().hash();
    let later = s.time();
    done(&mut s, r#"{"do":"scrub","frame":17}"#);
    done(&mut s, r#"{"do":"branch"}"#);
    let (first, last) = s.ring.range().unwrap();
    assert_eq!((s.frame(), last), (17, 17));
    assert!(first <= 16, "the record goes on from where the undo led: {first}");
    while s.time() < later {
        s.step();
    }
    assert_eq!((s.panes[0].world.state().hash(), s.frame()), (end, frame));
    done(&mut s, r#"{"do":"reset"}"#);
    assert!(s.time() == 0.0 && s.at_start());
    done(&mut s, r#"{"do":"undo"}"#);
    assert_eq!(s.panes[0].world.state().hash(), end);
}

/// Catches a page that reads or writes outside its folder.
#[test]
fn no_name_leads_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut s = session(folder.path());
    for name in ["../mine.toml", "/etc/passwd", "", "sub/mine.toml", "mine.toml/..", "..\\mine.toml"] {
        let scene = Command::Scene { name: name.to_owned() };
        assert!(s.command(scene).is_err(), "{name}");
        let file = if name == "mine.toml" { "x/y" } else { name };
        assert!(s.command(Command::Save { file: file.to_owned(), overwrite: true }).is_err(), "{name}");
    }
    assert!(s.command(Command::Save { file: "mine".into(), overwrite: false }).is_err(), "it is there already");
    assert!(s.command(Command::Save { file: "new".into(), overwrite: false }).is_ok());
    assert!(folder.path().join("new.toml").is_file());
}

/// Catches a second pane that is driven otherwise, or ends up the same.
#[test]
fn two_formulations_feel_the_same_edits() {
    let folder = tempfile::tempdir().unwrap();
    let mut s = session(folder.path());
    done(&mut s, r#"{"do":"compare","formulation":"hybrid"}"#);
    play(&mut s, 0.2);
    done(&mut s, r#"{"do":"grab","body":0,"node":21,"to":[0,0.4,0],"gesture":1,"strength":1}"#);
    play(&mut s, 0.4);
    let times: Vec<f64> = s.panes.iter().map(|p| p.world.time()).collect();
    assert!((times[0] - times[1]).abs() < 1e-9, "{times:?}");
    let height = |k: usize| s.panes[k].world.state().bodies[0].positions[21].y;
    assert!(height(0) > 0.02 && height(1) > 0.02 && height(0) != height(1), "{} {}", height(0), height(1));
    assert_eq!(replayed(&s), s.panes[0].world.state().hash());
}

/// Catches a drawing that keeps what belonged to the old shape, or takes more than its place.
#[test]
fn a_drawn_curve_joins_the_bodies_or_takes_the_place_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut s = session(folder.path());
    let turn = |k: u32| std::f64::consts::TAU * f64::from(k) / 24.0;
    let draw = |height: f64, instead| {
        let points = (0..24).map(|k| [0.3 * turn(k).cos(), height + 0.2 * turn(k).sin(), 0.0]).collect();
        Command::Draw { points, instead }
    };
    assert!(s.command(draw(3.0, None)).is_err_and(|sentence| sentence.contains("plane")));
    done(&mut s, r#"{"do":"unpin","body":0,"nodes":[0]}"#);
    let flat = s.text.replace("format = 1", "format = 1\nworld.plane = \"xy\"");
    std::fs::write(folder.path().join("flat.toml"), flat).unwrap();
    done(&mut s, r#"{"do":"scene","name":"flat.toml"}"#);
    assert!(s.command(draw(0.0, None)).is_err_and(|sentence| sentence.contains("in each other")));
    s.command(draw(3.0, None)).unwrap_or_else(|sentence| panic!("{sentence}"));
    let names = |s: &Session| s.panes[0].world.model().bodies.iter().map(|b| b.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&s), ["sheet", "drawn-1"]);
    s.command(draw(1.0, Some(0))).unwrap_or_else(|sentence| panic!("{sentence}"));
    assert_eq!(names(&s), ["sheet", "drawn-1"]);
    let sheet = &s.panes[0].world.model().bodies[0];
    assert!(sheet.len() == 60 && sheet.pins.is_empty() && sheet.material.card.young == 2e5, "{}", s.text);
    assert!(s.text.contains("# soft") && s.command(draw(5.0, Some(2))).is_err());
}
