//! The material card as moduli of curves, sheets and solids.
//!
//! ```text
//! curve    EA, EI = E A r²/4, GJ = 2 G I, G = E/2(1+ν), circular section of radius r
//! membrane Et/(1-ν²) · [1 ν; ν 1], shear Et/2(1+ν)      plane stress
//! plate    D · [1 ν; ν 1], twist D(1-ν)/2,  D = Et³/12(1-ν²)
//! solid    λ + 2μ, λ, μ
//! ```
//! Published weights (of squares without ½, summed over all i, j) give the same without the cross
//! term: 8w¹ᵢᵢ and 4w¹ᵢⱼ on strain, 2w²ᵢᵢ and w²ᵢⱼ on curvature (twice the mixed one).

use crate::material::{Material, MaterialField};
use std::f64::consts::PI;

/// Moduli in the plane: 11, 22, 12, and shear.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    pub c11: f64,
    pub c22: f64,
    pub c12: f64,
    pub c66: f64,
}

impl Plane {
    fn isotropic(scale: f64, poisson: f64) -> Self {
        Self { c11: scale, c22: scale, c12: poisson * scale, c66: 0.5 * (1.0 - poisson) * scale }
    }

    pub fn matrix(&self) -> [[f64; 3]; 3] {
        [[self.c11, self.c12, 0.0], [self.c12, self.c22, 0.0], [0.0, 0.0, self.c66]]
    }

    /// Modulus along each axis where the other is free.
    pub fn along(&self) -> [f64; 2] {
        let cross = self.c12 * self.c12;
        [(self.c11 - safe(cross, self.c22)).max(0.0), (self.c22 - safe(cross, self.c11)).max(0.0)]
    }
}

fn safe(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// Moduli in space: normal and shear (12, 13, 23).
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    pub normal: [[f64; 3]; 3],
    pub shear: [f64; 3],
    /// Along each axis where the others are free.
    pub along: [f64; 3],
}

/// Largest Poisson's ratio of a solid that is computed with: at ½ it could not be compressed at all.
pub(super) const MOST_POISSON: f64 = 0.4999;

/// Moduli of a membrane (N/m) between some nodes.
pub(super) fn membrane(material: &MaterialField, nodes: &[u32]) -> Plane {
    if let Some(w) = &material.weights {
        let s = material.weight_scale.mean(nodes);
        return Plane { c11: 8.0 * s * w.first[0], c22: 8.0 * s * w.first[1], c12: 0.0, c66: 4.0 * s * w.shear[0] };
    }
    let (young, poisson) = (material.young.mean(nodes), material.card.poisson);
    Plane::isotropic(young * material.thickness.mean(nodes) / (1.0 - poisson * poisson), poisson)
}

/// Moduli of a plate (N m).
pub(super) fn plate(material: &MaterialField, nodes: &[u32]) -> Plane {
    if let Some(w) = &material.weights {
        let s = material.weight_scale.mean(nodes);
        return Plane { c11: 2.0 * s * w.second[0], c22: 2.0 * s * w.second[1], c12: 0.0, c66: s * w.mixed[0] };
    }
    let (young, poisson) = (material.young.mean(nodes), material.card.poisson);
    let thickness = material.thickness.mean(nodes);
    Plane::isotropic(young * thickness.powi(3) / (12.0 * (1.0 - poisson * poisson)), poisson)
}

/// Moduli of a solid (Pa).
pub(super) fn space(material: &MaterialField, nodes: &[u32]) -> Space {
    if let Some(w) = &material.weights {
        let s = material.weight_scale.mean(nodes);
        let along = w.first.map(|w| 8.0 * s * w);
        let normal = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { along[i] } else { 0.0 }));
        return Space { normal, shear: w.shear.map(|w| 4.0 * s * w), along };
    }
    let (young, poisson) = (material.young.mean(nodes), material.card.poisson.min(MOST_POISSON));
    let shear = young / (2.0 * (1.0 + poisson));
    let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    let normal = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { lambda + 2.0 * shear } else { lambda }));
    Space { normal, shear: [shear; 3], along: [young; 3] }
}

/// EA (N), EI and GJ (N m²) of a curve.
pub(super) fn curve(material: &MaterialField, nodes: &[u32]) -> [f64; 3] {
    if let Some(w) = &material.weights {
        let s = material.weight_scale.mean(nodes);
        return [2.0 * s * w.first[0], 2.0 * s * w.second[0], 2.0 * s * w.twist];
    }
    let (young, r2) = (material.young.mean(nodes), material.card.radius.powi(2));
    let inertia = 0.25 * PI * r2 * r2;
    [young * PI * r2, young * inertia, young * inertia / (1.0 + material.card.poisson)]
}

/// Time constant of damping (s) between some nodes, for a body of this size (m).
pub(super) fn damping_time(material: &MaterialField, nodes: &[u32], size: f64) -> f64 {
    let damping = material.damping.mean(nodes);
    if damping > 0.0 { Material { damping, ..material.card }.damping_time(size) } else { 0.0 }
}
