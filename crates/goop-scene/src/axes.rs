//! The three axes of a body, and which choices go together.
//!
//! ```text
//! coordinates  elasticity                  integrator
//! nodal        springs, metric, published, every one but momentum and semi-implicit
//!              finite
//! rigid        none                        momentum
//! framed       spline, springs, metric     semi-implicit
//! reduced      springs, metric, finite     explicit-taylor, symplectic-euler, backward-euler
//! ```

use crate::reader::Word;
use crate::scene::{Body, Coordinates, Elasticity, Formulation, Integrator};

/// A choice on each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    /// The energy of a shape.
    pub elasticity: Elasticity,
    /// What the unknowns are.
    pub coordinates: Coordinates,
    /// How time advances.
    pub integrator: Integrator,
}

/// Why a combination makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The key at fault.
    pub key: &'static str,
    /// The reason.
    pub sentence: String,
    /// The way out.
    pub hint: String,
}

/// The words of the published models, for hints.
pub fn available() -> String {
    Formulation::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
}

impl Formulation {
    /// The combination that a published model stands for.
    pub fn axes(self) -> Axes {
        let (elasticity, coordinates, integrator) = match self {
            Formulation::Primal => (Elasticity::Metric, Coordinates::Nodal, Integrator::BackwardEuler),
            Formulation::Hybrid => (Elasticity::Spline, Coordinates::Framed, Integrator::SemiImplicit),
            Formulation::Spring => (Elasticity::Springs, Coordinates::Nodal, Integrator::ExplicitDiagonal),
            Formulation::MassSpring => (Elasticity::Springs, Coordinates::Nodal, Integrator::ExplicitTaylor),
            Formulation::Reduced => (Elasticity::Springs, Coordinates::Reduced, Integrator::ExplicitTaylor),
            Formulation::Implicit => (Elasticity::Springs, Coordinates::Nodal, Integrator::BackwardEuler),
            Formulation::Rigid => (Elasticity::None, Coordinates::Rigid, Integrator::Momentum),
            Formulation::Jelly => (Elasticity::Finite, Coordinates::Nodal, Integrator::BackwardEuler),
        };
        Axes { elasticity, coordinates, integrator }
    }
}

impl Body {
    /// The axes, from the published model or from the three keys. `None` only for a
    /// body made by hand with neither.
    pub fn axes(&self) -> Option<Axes> {
        match self.formulation {
            Some(formulation) => {
                let axes = formulation.axes();
                Some(Axes {
                    elasticity: self.elasticity.unwrap_or(axes.elasticity),
                    integrator: self.integrator.unwrap_or(axes.integrator),
                    ..axes
                })
            }
            None => Some(Axes {
                elasticity: self.elasticity?,
                coordinates: self.coordinates?,
                integrator: self.integrator?,
            }),
        }
    }
}

impl Axes {
    /// Why the choices do not go together.
    pub fn refusal(&self) -> Option<Refusal> {
        let (energy, integrator) = (self.elasticity.word(), self.integrator.word());
        let (good_energy, energies, good_integrator, integrators) = match self.coordinates {
            Coordinates::Nodal => (
                matches!(
                    self.elasticity,
                    Elasticity::Springs | Elasticity::Metric | Elasticity::Published | Elasticity::Finite
                ),
                "springs, metric, published or finite",
                !matches!(self.integrator, Integrator::Momentum | Integrator::SemiImplicit),
                "explicit-diagonal, explicit-taylor, symplectic-euler, backward-euler, bdf2 or implicit-midpoint",
            ),
            Coordinates::Rigid => {
                (self.elasticity == Elasticity::None, "none", self.integrator == Integrator::Momentum, "momentum")
            }
            Coordinates::Framed => (
                matches!(self.elasticity, Elasticity::Spline | Elasticity::Springs | Elasticity::Metric),
                "spline, springs or metric",
                self.integrator == Integrator::SemiImplicit,
                "semi-implicit",
            ),
            Coordinates::Reduced => (
                matches!(self.elasticity, Elasticity::Springs | Elasticity::Metric | Elasticity::Finite),
                "springs, metric or finite",
                matches!(
                    self.integrator,
                    Integrator::ExplicitTaylor | Integrator::SymplecticEuler | Integrator::BackwardEuler
                ),
                "explicit-taylor, symplectic-euler or backward-euler",
            ),
        };
        let coordinates = self.coordinates.word();
        if !good_energy {
            let reason = match (self.coordinates, self.elasticity) {
                (Coordinates::Rigid, _) => "a rigid body does not deform and has no energy of shape",
                (_, Elasticity::None) => "without an energy nothing holds the nodes together",
                (_, Elasticity::Spline) => "the spline energy needs a displacement from a rigid frame",
                (_, Elasticity::Finite) => "finite elements are for nodal positions",
                (Coordinates::Framed, _) => "the printed form has no stiffness at rest",
                _ => "the printed form is for nodal positions",
            };
            let sentence = format!("elasticity \"{energy}\" does not go with {coordinates} coordinates: {reason}");
            let hint = format!("with {coordinates} coordinates take elasticity {energies}");
            return Some(Refusal { key: "elasticity", sentence, hint });
        }
        if !good_integrator {
            let reason = match (self.coordinates, self.integrator) {
                (Coordinates::Rigid, _) => "a rigid body carries momentum and angular momentum only",
                (_, Integrator::Momentum) => "the momentum form is for rigid bodies",
                (_, Integrator::SemiImplicit) => "a matrix factored once needs an energy with constant stiffness",
                (Coordinates::Framed, _) => "a rigid frame with displacement is advanced by its factored matrix",
                _ => "the modes of a part have no such step",
            };
            let sentence = format!("integrator \"{integrator}\" does not go with {coordinates} coordinates: {reason}");
            let hint = format!("with {coordinates} coordinates take integrator {integrators}");
            return Some(Refusal { key: "integrator", sentence, hint });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a published model whose own combination would be refused.
    #[test]
    fn every_published_model_is_a_combination_that_makes_sense() {
        for (word, formulation) in Formulation::WORDS {
            assert_eq!(formulation.axes().refusal(), None, "{word}");
            assert!(crate::build::axes(formulation.axes()).check().is_ok(), "{word}");
        }
    }
}
