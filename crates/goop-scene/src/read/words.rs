//! The words of a scene file.

use crate::reader::Word;
use crate::scene::{
    CharacterLattice, Coordinates, DriveAxes, Elasticity, Formulation, InsideTest, Integrator, Linear, Plane,
    Preconditioner, ServoHolds, Side, SkeletonFrom, SkinWay, Term, Upward,
};

macro_rules! words {
    ($type:ident { $($word:literal => $choice:ident),* $(,)? }) => {
        impl Word for $type {
            const WORDS: &'static [(&'static str, $type)] = &[$(($word, $type::$choice)),*];
        }
    };
}

words!(Plane { "xy" => Xy, "yz" => Yz, "xz" => Xz });
words!(Formulation {
    "primal" => Primal,
    "hybrid" => Hybrid,
    "spring" => Spring,
    "mass-spring" => MassSpring,
    "reduced" => Reduced,
    "implicit" => Implicit,
    "rigid" => Rigid,
    "jelly" => Jelly,
});
words!(Elasticity {
    "springs" => Springs,
    "none" => None,
    "metric" => Metric,
    "published" => Published,
    "spline" => Spline,
    "finite" => Finite,
});
words!(CharacterLattice { "body-centred" => BodyCentred, "tetrahedra" => Tetrahedra, "relaxed" => Relaxed, "braced" => Braced });
words!(InsideTest { "winding" => Winding, "parity" => Parity });
words!(SkinWay { "embedded" => Embedded, "nodes" => Nodes, "fit" => Fit, "matrix" => Matrix });
words!(SkeletonFrom { "rig" => Rig, "auto" => Auto, "none" => None });
words!(Upward { "x" => X, "y" => Y, "z" => Z });
words!(Term { "centrifugal" => Centrifugal, "coriolis" => Coriolis, "transverse" => Transverse, "translational" => Translational });
words!(Coordinates { "nodal" => Nodal, "rigid" => Rigid, "framed" => Framed, "reduced" => Reduced });
words!(Integrator {
    "explicit-diagonal" => ExplicitDiagonal,
    "explicit-taylor" => ExplicitTaylor,
    "symplectic-euler" => SymplecticEuler,
    "backward-euler" => BackwardEuler,
    "implicit-midpoint" => ImplicitMidpoint,
    "bdf2" => Bdf2,
    "momentum" => Momentum,
    "semi-implicit" => SemiImplicit,
});
words!(Linear {
    "auto" => Auto,
    "conjugate-gradients" => ConjugateGradients,
    "cholesky" => Cholesky,
    "profile" => Profile,
    "sor" => Sor,
});
words!(Preconditioner {
    "jacobi" => Jacobi,
    "none" => None,
    "incomplete-cholesky" => IncompleteCholesky,
    "ssor" => Ssor,
});
words!(DriveAxes { "body" => Body, "world" => World });
words!(ServoHolds { "both" => Both, "position" => Position, "attitude" => Attitude });
words!(Side { "u0" => U0, "u1" => U1, "v0" => V0, "v1" => V1, "w0" => W0, "w1" => W1 });
