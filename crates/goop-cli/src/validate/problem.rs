//! One row: a known answer, how it is computed, and how it came out.

use crate::library;
use goop::World;
use goop_scene::Scene;
use std::path::Path;

/// Computes the value at a resolution.
pub type Measure = Box<dyn Fn(u32) -> Result<f64, String>>;

/// A known answer and a model that is held to it.
pub struct Problem {
    /// What is known: "heavy cantilever, gamma 10".
    pub name: String,
    /// What is held to it: "primal curve".
    pub model: String,
    /// The answer.
    pub reference: f64,
    /// Largest relative error (absolute where the reference is 0).
    pub tolerance: f64,
    /// Resolutions, ascending, such as nodes; the last is reported, the order comes from all.
    pub levels: Vec<u32>,
    /// Why the model cannot be held to it; its value is shown all the same.
    pub cannot: Option<&'static str>,
    /// Levels are powers of ten rather than counts of nodes.
    pub decades: bool,
    /// Computes it.
    pub measure: Measure,
}

/// How it came out.
pub struct Row {
    /// Name and model.
    pub name: String,
    /// At the finest level.
    pub value: Result<f64, String>,
    /// The answer.
    pub reference: f64,
    /// Relative error, absolute where the reference is 0.
    pub error: f64,
    /// Largest allowed.
    pub tolerance: f64,
    /// Observed order of convergence.
    pub order: Option<f64>,
    /// Why the model is not held to it.
    pub cannot: Option<&'static str>,
    /// Wall clock (s).
    pub seconds: f64,
}

impl Problem {
    /// Name and model together.
    pub fn title(&self) -> String {
        format!("{}: {}", self.name, self.model)
    }

    fn error(&self, value: f64) -> f64 {
        let scale = if self.reference == 0.0 { 1.0 } else { self.reference.abs() };
        (value - self.reference).abs() / scale
    }

    /// Computes every level.
    pub fn run(&self) -> Row {
        let values: Vec<Result<f64, String>> = self.levels.iter().map(|&level| (self.measure)(level)).collect();
        let known: Vec<f64> = values.iter().filter_map(|value| value.as_ref().ok().copied()).collect();
        let value = values.last().cloned().unwrap_or(Err("no resolution was asked for".into()));
        Row {
            name: self.title(),
            error: value.as_ref().map_or(f64::INFINITY, |&value| self.error(value)),
            value,
            reference: self.reference,
            tolerance: self.tolerance,
            order: if known.len() == self.levels.len() { self.order(&known) } else { None },
            cannot: self.cannot,
            seconds: 0.0,
        }
    }

    /// From the errors of the last two levels; where they are at rounding there is none to see.
    fn order(&self, values: &[f64]) -> Option<f64> {
        let [.., coarse, fine] = values else { return None };
        let [.., n_coarse, n_fine] = self.levels[..] else { return None };
        let (e, f) = (self.error(*coarse), self.error(*fine));
        let finer = match self.decades {
            true => f64::from(n_fine - n_coarse) * std::f64::consts::LN_10,
            false => (f64::from(n_fine - 1) / f64::from(n_coarse - 1)).ln(),
        };
        (f > 1e-12 && e > 1e-12).then(|| (e / f).ln() / finer)
    }
}

impl Row {
    /// Held to the reference and not met.
    pub fn failed(&self) -> bool {
        self.cannot.is_none() && (self.error.is_nan() || self.error > self.tolerance)
    }

    /// For the terminal.
    pub fn line(&self) -> String {
        let order = self.order.map_or("     ".into(), |order| format!("{order:5.2}"));
        let verdict = match (&self.value, self.cannot) {
            (_, Some(why)) => format!("not held to it: {why}"),
            (Err(sentence), _) => format!("FAILED: {sentence}"),
            (Ok(_), _) if self.failed() => format!("FAILED, allowed {:.1e}", self.tolerance),
            _ => "ok".to_owned(),
        };
        let value = self.value.as_ref().map_or("            ".into(), |value| format!("{value:12.6}"));
        let (name, reference, error) = (&self.name, self.reference, self.error);
        format!("{name:60} {value}  reference {reference:12.6}  error {error:8.1e}  order {order}  {verdict}")
    }

    /// For programs.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "name": self.name,
            "value": self.value.as_ref().ok(),
            "reference": self.reference,
            "error": if self.error.is_finite() { Some(self.error) } else { None },
            "tolerance": self.tolerance,
            "order": self.order,
            "passed": self.cannot.is_none() && !self.failed(),
            "cannot": self.cannot,
            "failure": self.value.as_ref().err(),
            "seconds": self.seconds,
        })
    }
}

/// A built-in scene with changes, at rest where it asks for it.
pub fn world(scene: &str, sets: &[String]) -> Result<World, String> {
    let entry = library::find(scene).ok_or_else(|| format!("there is no scene '{scene}'"))?;
    let loaded = Scene::load_text(entry.text, scene, sets, Path::new("")).map_err(|faults| faults.to_string())?;
    let built = loaded
        .scene
        .build(&loaded.folder)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let mut world = World::new(built.model);
    if loaded.scene.step.settle {
        let left = world.settle().map_err(|failure| failure.to_string())?;
        if left > 1e-3 {
            return Err(format!("it did not come to rest: a force of {left:.1e} of the weight is left"));
        }
    }
    Ok(world)
}

/// `name=value` for a scene.
pub fn set(name: &str, value: impl std::fmt::Display) -> String {
    format!("{name}={value}")
}
