//! Finite elements: a stable neo-Hookean solid on tetrahedra or on the cells of a grid.
//!
//! ```text
//! E = Σ_cells V Ψ(F) + hourglass      F = Σ x_a B_aᵀ, mean gradient of the cell
//! f_a = -V P B_a                      K_ab = V B_aᵀ (∂²Ψ/∂F²) B_b
//! damping  P = τ F (2μ Ė + λ tr Ė),   Ė = sym(Fᵀ Ḟ)
//! ```
//! Ė is the rate of Green's strain, zero for every rigid motion, so damping brakes none;
//! τ is that of the material card. λ and μ are those of the card: small strain has its E and ν.
//!
//! A tetrahedron is the plain linear one: exact for uniform strain, too stiff in bending
//! (see `limits`). A hexahedron takes Ψ at its mean gradient, so that it does not lock in
//! volume, and gives its twelve hourglass motions the energy that bending, twisting and
//! warping of the rest cell would have, measured by Green's strain in the cell's axes:
//! ```text
//! E₁₁ = … + η f₁·β₁₂ + ζ f₁·β₁₃ + ηζ f₁·β₁₂₃,  f_i = F e_i / ℓ_i     normal strains
//! E₁₂ = … + ζ ½ (f₁·β₂₃ ℓ₁/ℓ₂ + f₂·β₁₃ ℓ₂/ℓ₁)                        shear
//! ½ V/3 (plane stress of the two normal strains that vary along one axis) + V/3 2μ E₁₂²
//! ```
//! The shears that bending would have without being bent (E₁₂ varying along 1 or 2) are left
//! out: that is shear locking. So one cell across a beam bends with the right stiffness.
//! For implicit steps an hourglass term k s² counts as k ∇s ∇sᵀ, exact at rest.

mod cell;
mod kernel;
mod law;
mod pack;
mod rough;
mod wide;

use super::pairs::{APART, Out, TOGETHER, WORK, Wanted};
use super::rooms::{Rooms, part};
use super::{Deformation, Elasticity, Weights};
use crate::material::MaterialField;
use crate::parallel::{Chunks, Disjoint};
use crate::shape::{Layout, Shape};
use crate::solve::BlockMatrix;
use glam::DVec3;
use kernel::At;
use pack::Packs;
use rough::Rough;
use std::sync::OnceLock;

/// The solid of a body.
#[derive(Debug)]
pub struct Finite {
    nodes: usize,
    chunks: Chunks,
    tetrahedra: Packs<4>,
    hexahedra: Packs<8>,
    positions: OnceLock<()>,
    /// In single precision, where it is wanted.
    rough: OnceLock<Rough>,
    rooms: Rooms,
    damped: bool,
    /// Edges and their rest lengths, for measures of deformation.
    edges: Vec<[u32; 2]>,
    rests: Vec<f64>,
    limits: Vec<String>,
}

impl Finite {
    /// Elements of a solid; none for curves and surfaces.
    pub fn new(shape: &Shape, material: &MaterialField) -> Self {
        let nodes = shape.len();
        let chunks = Chunks::new(nodes);
        let size = shape.size();
        let time = |nodes: &[u32]| {
            let ratio = material.damping.mean(nodes);
            crate::material::Material { damping: ratio, ..material.card }.damping_time(size)
        };
        let poisson = material.card.poisson.clamp(-0.9, MOST_POISSON);
        let moduli = |nodes: &[u32]| {
            let young = material.young.mean(nodes);
            [young / (2.0 * (1.0 + poisson)), young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))]
        };
        let (four, eight) = (cell::tetrahedra(shape), cell::hexahedra(shape));
        let damped = four.iter().any(|c| time(&c.nodes) > 0.0) || eight.iter().any(|c| time(&c.nodes) > 0.0);
        let edges = match &shape.layout {
            Layout::Grid(grid) => (0..grid.axes()).flat_map(|axis| grid.edges(axis)).collect(),
            Layout::Tetrahedra(t) => t.edges(),
            Layout::Mesh => Vec::new(),
        };
        let mut limits = Vec::new();
        if material.card.poisson > MOST_POISSON {
            limits.push(format!("Poisson's ratio {} is taken as {MOST_POISSON}", material.card.poisson));
        }
        if four.is_empty() && eight.is_empty() {
            limits.push("finite elements fill a solid: this shape has no volume and falls apart".into());
        }
        if material.raw.is_some() {
            limits.push("finite elements take young, poisson and damping from the card; raw spring constants give them no stiffness".into());
        }
        if !four.is_empty() {
            limits.push(format!(
                "linear tetrahedra bend too stiffly: a part with n of them across by about {} % / n²{}",
                if poisson > 0.4 { 150 } else { 100 },
                if poisson > 0.4 { "; near incompressibility more" } else { "" }
            ));
        }
        let rest = &shape.rest_positions;
        let tetrahedra = Packs::new(chunks, rest, four, moduli, time);
        Self {
            nodes,
            chunks,
            tetrahedra,
            hexahedra: Packs::new(chunks, rest, eight, moduli, time),
            positions: OnceLock::new(),
            rough: OnceLock::new(),
            rooms: Rooms::new(chunks, damped),
            damped,
            rests: edges.iter().map(|e: &[u32; 2]| rest[e[0] as usize].distance(rest[e[1] as usize])).collect(),
            edges,
            limits,
        }
    }

    /// Forces, or their sum, or the work of damping; with the energy.
    fn evaluate<const WANTED: Wanted>(
        &self,
        moving: [&[DVec3]; 3],
        elastic: &mut [DVec3],
        damping: &mut [DVec3],
    ) -> [f64; 2] {
        let (f_all, g_all) = (Disjoint::new(elastic), Disjoint::new(damping));
        self.rooms.sum(moving, |c, range, moving| {
            // SAFETY: chunks are disjoint.
            let f = unsafe { f_all.slice(part(WANTED != WORK, &range)) };
            // SAFETY: as above; empty where nothing is damped.
            let g = unsafe { g_all.slice(part(WANTED == APART && self.damped, &range)) };
            self.rooms.with(c, [f, g], |[elastic, damping]| {
                let mut out = Out { first: range.start, elastic, damping };
                let four = self.tetrahedra.forces::<WANTED>(c, moving, &mut out);
                let eight = self.hexahedra.forces::<WANTED>(c, moving, &mut out);
                [four[0] + eight[0], four[1] + eight[1]]
            })
        })
    }

    fn relative(&self, e: usize, x: &[DVec3]) -> f64 {
        let [i, j] = self.edges[e].map(|n| x[n as usize]);
        if self.rests[e] > 0.0 { i.distance(j) / self.rests[e] - 1.0 } else { 0.0 }
    }
}

/// Closer to ½ the elements lock.
const MOST_POISSON: f64 = 0.499;

impl Elasticity for Finite {
    fn memory(&self) -> Vec<f64> {
        Vec::new()
    }

    fn damped(&self) -> bool {
        self.damped
    }

    fn central(&self) -> bool {
        true
    }

    fn forces(&self, _: &[f64], x: &[DVec3], v: &[DVec3], elastic: &mut [DVec3], damping: &mut [DVec3]) -> f64 {
        self.evaluate::<APART>([x, v, &[]], elastic, damping)[0]
    }

    fn total(&self, _: &[f64], x: &[DVec3], v: &[DVec3], total: &mut [DVec3], _: &mut [DVec3]) -> f64 {
        self.evaluate::<TOGETHER>([x, v, &[]], total, &mut [])[0]
    }

    fn account(&self, _: &[f64], x: &[DVec3], v: &[DVec3], from: &[DVec3], _: [&mut [DVec3]; 2]) -> [f64; 2] {
        self.evaluate::<WORK>([x, v, from], &mut [], &mut [])
    }

    fn structure(&self) -> BlockMatrix {
        let matrix = BlockMatrix::new(self.nodes, |visit| {
            self.tetrahedra.each_cell(|nodes| visit(nodes));
            self.hexahedra.each_cell(|nodes| visit(nodes));
        });
        self.positions.get_or_init(|| {
            self.tetrahedra.locate(&matrix);
            self.hexahedra.locate(&matrix);
        });
        matrix
    }

    fn stiffness_under_tension(
        &self,
        _: &[f64],
        x: &[DVec3],
        tension_at: &[DVec3],
        weights: Weights,
        exact: bool,
        matrix: &mut BlockMatrix,
    ) {
        self.positions.get_or_init(|| {
            self.tetrahedra.locate(matrix);
            self.hexahedra.locate(matrix);
        });
        let at = At { x, tension_at: if exact { x } else { tension_at }, weights, exact };
        if !exact && matrix.may_be_single() && self.hexahedra.is_empty() {
            let rough = self.rough.get_or_init(|| Rough::new(&self.tetrahedra, matrix));
            let rows = matrix.singles_mut();
            self.rooms.sum([x, tension_at, &[]], |c, _, moving| {
                // SAFETY: every chunk is taken once.
                let mut rows = unsafe { rows.chunk(c) };
                rough.assemble(c, moving.both, weights, &mut rows);
                rows.close();
                []
            });
            return;
        }
        let rows = matrix.rows_mut();
        self.chunks.each(|c, range| {
            // SAFETY: every chunk is taken once.
            let mut rows = unsafe { rows.chunk(c) };
            self.tetrahedra.assemble(c, &range, at, &mut rows);
            self.hexahedra.assemble(c, &range, at, &mut rows);
        });
    }

    fn deformation(&self, _: &[f64], x: &[DVec3]) -> Deformation {
        let mut out = Deformation::default();
        for e in 0..self.edges.len() {
            let relative = self.relative(e, x).abs();
            out.total += relative * self.rests[e];
            out.worst = out.worst.max(relative);
        }
        out.mean = out.total / self.edges.len().max(1) as f64;
        out
    }

    fn stretch(&self, _: &[f64], x: &[DVec3], out: &mut [f32]) {
        out.fill(0.0);
        for e in 0..self.edges.len() {
            let change = self.relative(e, x) as f32;
            for node in self.edges[e] {
                let slot = &mut out[node as usize];
                if change.abs() > slot.abs() {
                    *slot = change;
                }
            }
        }
    }

    fn limits(&self) -> &[String] {
        &self.limits
    }

    fn elements(&self) -> usize {
        self.edges.len()
    }

    fn links(&self) -> &[[u32; 2]] {
        &self.edges
    }
}

#[cfg(test)]
mod tests;
