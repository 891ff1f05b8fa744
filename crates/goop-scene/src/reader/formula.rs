//! Numbers that follow from other numbers: `[parameters]` and `"= formula"`.
//!
//! ```text
//! [parameters]
//! gamma = 10.0
//! length = 0.5
//! bending = "= 9.81 * length^3 / gamma"       earlier parameters may be used
//! ...
//! young = "= 12 * bending / thickness^2"
//! ```
//! Formulas stand wherever a number is wanted, and every check applies to their values. Written here rather than taken from a library because a fault has to name the
//! column inside the scene file and because depth must be bounded.

use super::fault::Fault;
use super::source::{Sources, Span};
use super::tree::{Node, Value};
use super::words::suggestion;

/// Brackets inside brackets, signs before signs.
const MOST_DEPTH: usize = 64;

/// Known parameters in their order.
pub type Known = Vec<(String, f64)>;

/// Works out the parameters of a tree; a formula may use those before it.
pub fn parameters(tree: &Node, sources: &Sources) -> (Known, Vec<Fault>) {
    let (mut known, mut faults) = (Known::new(), Vec::new());
    let Value::Table(entries) = &tree.value else { return (known, faults) };
    let Some(entry) = entries.iter().find(|entry| entry.name == "parameters") else { return (known, faults) };
    let mut fault = |span: Span, path: String, message: String, hint: String| {
        faults.push(Fault { place: sources.place(span), path, message, hint });
    };
    let Value::Table(list) = &entry.node.value else {
        let message = format!("`parameters` must be a table, found {}", entry.node.kind());
        fault(entry.span, "parameters".into(), message, "begin it with a line [parameters]".into());
        return (known, faults);
    };
    for parameter in list {
        let (node, path) = (&parameter.node, format!("parameters.{}", parameter.name));
        let value = match (&node.value, evaluate(node, &known)) {
            (Value::Float(value), _) => *value,
            (Value::Integer(value), _) => *value as f64,
            (_, Some(Ok(value))) => value,
            (_, Some(Err((span, message, hint)))) => {
                fault(span, path, message, hint);
                continue;
            }
            _ => {
                let message = format!("`{path}` must be a number, found {}", node.kind());
                fault(node.span, path, message, "write a number or a formula such as \"= 2 * length\"".into());
                continue;
            }
        };
        known.push((parameter.name.clone(), value));
    }
    (known, faults)
}

/// The value of a formula, or what is wrong with it and where; `None` for anything else.
pub fn evaluate(node: &Node, known: &Known) -> Option<Result<f64, (Span, String, String)>> {
    let Value::Text(text) = &node.value else { return None };
    if !text.starts_with('=') {
        return None;
    }
    let mut formula = Formula { text, at: 1, depth: 0, known };
    Some(formula.whole().map_err(|problem| {
        // One more for the opening quote.
        let at = |offset: usize| (node.span.start + 1 + offset).min(node.span.end);
        (Span { start: at(problem.start), end: at(problem.end), ..node.span }, problem.message, problem.hint)
    }))
}

struct Problem {
    start: usize,
    end: usize,
    message: String,
    hint: String,
}

struct Formula<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    known: &'a Known,
}

type Function = (&'static str, fn(f64) -> f64);

const FUNCTIONS: [Function; 9] = [
    ("sqrt", f64::sqrt),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("exp", f64::exp),
    ("log", f64::ln),
    ("abs", f64::abs),
    ("round", f64::round),
    ("floor", f64::floor),
];

impl Formula<'_> {
    fn whole(&mut self) -> Result<f64, Problem> {
        let value = self.sum()?;
        if self.peek().is_some() {
            return Err(self.problem("the formula should end here", "join values with + - * / or ^"));
        }
        Ok(value)
    }

    fn sum(&mut self) -> Result<f64, Problem> {
        let mut value = self.product()?;
        loop {
            match self.peek() {
                Some('+') => value += self.after(Self::product)?,
                Some('-') => value -= self.after(Self::product)?,
                _ => return Ok(value),
            }
        }
    }

    fn product(&mut self) -> Result<f64, Problem> {
        let mut value = self.signed()?;
        loop {
            match self.peek() {
                Some('*') => value *= self.after(Self::signed)?,
                Some('/') => value /= self.after(Self::signed)?,
                _ => return Ok(value),
            }
        }
    }

    fn signed(&mut self) -> Result<f64, Problem> {
        self.deeper(|formula| match formula.peek() {
            Some('-') => Ok(-formula.after(Self::signed)?),
            Some('+') => formula.after(Self::signed),
            _ => {
                let value = formula.single()?;
                match formula.peek() {
                    // Binds to the right, and more than a sign before it: -2^2 = -4.
                    Some('^') => Ok(value.powf(formula.after(Self::signed)?)),
                    _ => Ok(value),
                }
            }
        })
    }

    fn single(&mut self) -> Result<f64, Problem> {
        match self.peek() {
            Some('(') => {
                let value = self.after(Self::sum)?;
                self.close()?;
                Ok(value)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.digits(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            Some(_) => Err(self.problem("this is not part of a formula", "use numbers, parameters, + - * / ^ and ( )")),
            None => Err(self.problem("the formula ends too early", "give a number or a parameter here")),
        }
    }

    fn digits(&mut self) -> Result<f64, Problem> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            let sign = matches!(byte, b'+' | b'-') && matches!(bytes[self.at - 1], b'e' | b'E') && self.at > start;
            if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'e' | b'E') || sign) {
                break;
            }
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        text.replace('_', "").parse().map_err(|_| Problem {
            start,
            end: self.at,
            message: format!("`{text}` is not a number"),
            hint: "write 0.5, 12 or 1e-3".into(),
        })
    }

    fn name(&mut self) -> Result<f64, Problem> {
        let start = self.at;
        let rest = &self.text[start..];
        self.at += rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let end = self.at;
        let name = &self.text[start..end];
        if let Some((_, value)) = self.known.iter().find(|(known, _)| known == name) {
            return Ok(*value);
        }
        if name == "pi" {
            return Ok(std::f64::consts::PI);
        }
        if let Some((_, function)) = FUNCTIONS.iter().find(|(function, _)| *function == name) {
            if self.peek() != Some('(') {
                return Err(self.problem("a function takes its value in brackets", "write sqrt(2), for example"));
            }
            let value = self.after(Self::sum)?;
            self.close()?;
            return Ok(function(value));
        }
        let names =
            self.known.iter().map(|(name, _)| name.as_str()).chain(["pi"]).chain(FUNCTIONS.map(|(name, _)| name));
        let hint = suggestion(name, "known here", names);
        Err(Problem { start, end, message: format!("`{name}` is neither a parameter above nor a function"), hint })
    }

    fn close(&mut self) -> Result<(), Problem> {
        if self.peek() != Some(')') {
            return Err(self.problem("a bracket is not closed", "add `)` here"));
        }
        self.at += 1;
        Ok(())
    }

    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    /// What follows the one-byte character just seen.
    fn after(&mut self, what: fn(&mut Self) -> Result<f64, Problem>) -> Result<f64, Problem> {
        self.at += 1;
        self.deeper(what)
    }

    fn deeper(&mut self, what: impl FnOnce(&mut Self) -> Result<f64, Problem>) -> Result<f64, Problem> {
        if self.depth > 3 * MOST_DEPTH {
            return Err(self.problem("the formula is nested too deeply", "compute a part of it as a parameter"));
        }
        self.depth += 1;
        let value = what(self);
        self.depth -= 1;
        value
    }

    fn problem(&self, message: &str, hint: &str) -> Problem {
        let next = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        Problem { start: self.at, end: self.at + next, message: message.into(), hint: hint.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, String> {
        let known = vec![("gamma".to_string(), 10.0), ("h".to_string(), 0.5)];
        let text = format!("={text}");
        Formula { text: &text, at: 1, depth: 0, known: &known }
            .whole()
            .map_err(|p| format!("{}: {}", p.start, p.message))
    }

    /// Catches wrong precedence, signs and associativity.
    #[test]
    fn formulas_follow_the_rules_of_arithmetic() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("2^3^2", 512.0),
            ("-2^2", -4.0),
            ("2 - 3 - 4", -5.0),
            ("8 / 4 / 2", 1.0),
            ("gamma * h ^ -1", 20.0),
            ("sqrt(16) + abs(-1.5e0)", 5.5),
            ("2 * pi", std::f64::consts::TAU),
            ("1e3 - 1e-3", 999.999),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    /// Catches a panic or a silent value where a formula is wrong, and a runaway recursion.
    #[test]
    fn wrong_formulas_are_refused_at_their_place() {
        for text in ["", "1 +", "(1", "1)", "gama", "sqrt 2", "1..2", "1 2", "é", "*", "2 ** 3", "sin"] {
            assert!(value(text).is_err(), "{text}");
        }
        assert!(value(&"(".repeat(100_000)).is_err());
        assert!(value(&"-".repeat(100_000)).is_err());
        assert!(value(&"2^".repeat(100_000)).is_err());
    }
}
