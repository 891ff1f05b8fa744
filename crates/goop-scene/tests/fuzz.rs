//! Text that no one would write: the reader answers, and never falls over.

use goop_scene::Scene;
use proptest::collection::vec;
use proptest::prelude::*;

const FULL: &str = include_str!("full.toml");

/// Reads a text; every fault must have a place inside it, and something to say.
fn read(text: &str) -> Result<(), TestCaseError> {
    let faults = match Scene::parse(text, "fuzz") {
        Ok((scene, _)) => {
            let again = Scene::parse(&scene.to_toml(), "again").map(|(again, _)| again);
            prop_assert_eq!(again.as_ref(), Ok(&scene));
            return Ok(());
        }
        Err(faults) => faults,
    };
    prop_assert!(!faults.0.is_empty());
    let lines: Vec<&str> = text.split('\n').collect();
    for fault in faults.iter() {
        let place = &fault.place;
        prop_assert_eq!(place.file.as_str(), "fuzz");
        prop_assert!(place.span.start <= place.span.end && place.span.end <= text.len(), "{:?}", place);
        prop_assert!((1..=lines.len()).contains(&place.line), "{:?}", place);
        let line = lines[place.line - 1];
        prop_assert!((1..=line.chars().count() + 1).contains(&place.column), "{:?}", place);
        prop_assert!(!fault.message.is_empty() && !fault.hint.is_empty(), "{}", fault);
    }
    prop_assert!(faults.to_string().contains(" = help: "));
    Ok(())
}

/// One slip of the hand.
#[derive(Clone, Debug)]
enum Slip {
    Delete(usize),
    Double(usize),
    Move(usize, usize),
    /// The value of one line in another.
    Swap(usize, usize),
    Value(usize, &'static str),
    Key(usize, String),
    Cut(usize),
    Insert(usize, String),
}

const VALUES: &[&str] = &[
    "nan",
    "-inf",
    "1e400",
    "-1",
    "0",
    "0.0",
    "9223372036854775807",
    "-9223372036854775808",
    "4294967295",
    "true",
    "\"\"",
    "\"all\"",
    "\"xy\"",
    "[]",
    "[[]]",
    "{}",
    "[1, 2, 3]",
    "[1, \"a\"]",
    "[[0, 0], [1, 1]]",
    "{ uv = [] }",
    "{ corner = [0] }",
    "{ index = [4294967295] }",
    "{ box = [[0,0,0],[1,1,1]] }",
    "[{}]",
    "[{ time = 1 }]",
    "2024-01-01",
    "'''x'''",
    "\"\"\"\n\"\"\"",
    "[2000000, 2000000, 2000000]",
    "1e-320",
    "\"\\u0000\"",
    "{ at = 1 }",
];

fn slip() -> impl Strategy<Value = Slip> {
    let line = || 0usize..400;
    prop_oneof![
        line().prop_map(Slip::Delete),
        line().prop_map(Slip::Double),
        (line(), line()).prop_map(|(from, to)| Slip::Move(from, to)),
        (line(), line()).prop_map(|(from, to)| Slip::Swap(from, to)),
        (line(), proptest::sample::select(VALUES)).prop_map(|(line, value)| Slip::Value(line, value)),
        (line(), "[a-z-]{1,8}").prop_map(|(line, key)| Slip::Key(line, key)),
        line().prop_map(Slip::Cut),
        (line(), "[ -~é\t\\[\\]\"]{0,20}").prop_map(|(line, text)| Slip::Insert(line, text)),
    ]
}

fn apply(lines: &mut Vec<String>, slip: Slip) {
    if lines.is_empty() {
        return;
    }
    let at = |line: usize| line % lines.len();
    let value = |line: &str| line.split_once('=').map(|(key, value)| (key.to_string(), value.to_string()));
    match slip {
        Slip::Delete(line) => {
            lines.remove(at(line));
        }
        Slip::Double(line) => lines.insert(at(line), lines[at(line)].clone()),
        Slip::Move(from, to) => {
            let (from, to) = (at(from), at(to));
            let line = lines.remove(from);
            lines.insert(to.min(lines.len()), line);
        }
        Slip::Swap(from, to) => {
            let (from, to) = (at(from), at(to));
            if let (Some((_, value)), Some((key, _))) = (value(&lines[from]), value(&lines[to])) {
                lines[to] = format!("{key}={value}");
            }
        }
        Slip::Value(line, text) => {
            let line = at(line);
            if let Some((key, _)) = value(&lines[line]) {
                lines[line] = format!("{key}= {text}");
            }
        }
        Slip::Key(line, text) => {
            let line = at(line);
            if let Some((_, value)) = value(&lines[line]) {
                lines[line] = format!("{text} ={value}");
            }
        }
        Slip::Cut(line) => {
            let line = at(line);
            let half = lines[line].chars().count() / 2;
            lines[line] = lines[line].chars().take(half).collect();
        }
        Slip::Insert(line, text) => lines.insert(at(line), text),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    /// Catches slices off a character, and indices past the end.
    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}|[ -~\n\t\r]{0,300}|(\\[|\\]|\\{|\\}|=|\"|\n|a|1|,|\\.){0,60}") {
        read(&text)?;
    }

    /// Catches panics behind the syntax: wrong kinds, lengths, references, order.
    #[test]
    fn a_scene_with_slips_is_answered(slips in vec(slip(), 1..6)) {
        let mut lines: Vec<String> = FULL.lines().map(str::to_string).collect();
        slips.into_iter().for_each(|slip| apply(&mut lines, slip));
        read(&(lines.join("\n") + "\n"))?;
    }

    /// Catches a `--set` that panics or is blamed on the file.
    #[test]
    fn any_set_is_answered(
        path in "(body|clip|world|step|probe)?[.\\[](sheet|0|1|seconds|gravity|pin)?\\]?[.](material|young|at|é)?|\\PC{0,20}",
        value in "\\PC{0,20}|[-0-9.e\\[\\], ]{0,10}",
    ) {
        let set = format!("{path}={value}");
        if let Err(faults) = Scene::parse_with(FULL, "full", std::slice::from_ref(&set)) {
            prop_assert!(!faults.0.is_empty());
            for fault in faults.iter().filter(|fault| fault.place.file.starts_with("--set")) {
                prop_assert!(fault.place.span.end <= set.len());
            }
            prop_assert!(!faults.to_string().is_empty());
        }
    }
}
