//! Bending of a triangle mesh, by the angles at its edges.
//!
//! The curvature of a triangle of area A is the sum over its edges, half of each being its own:
//! ```text
//! B = Σ_k θ_k |e_k|/(2A) n_k n_kᵀ        n_k in the plane across edge k                [1/m]
//! E = ½ A (B - B⁰) : C : (B - B⁰) = ½ (θ - θ⁰)ᵀ H (θ - θ⁰)                              [J]
//! ```
//! C is the isotropic plate's. At an edge of the border the angle is free: it is the one that makes E least.
//! The angle and its derivatives: see `hinge`.

use super::element::{Blocks, Element, Gradient};
use super::hinge;
use super::jet::near;
use glam::{DMat3, DVec3};

/// A triangle 0, 1, 2 and the tips 3, 4, 5 beyond the edges 01, 12, 20. A missing tip repeats a node and has no stiffness.
#[derive(Clone, Debug)]
pub(super) struct TriangleBend {
    pub nodes: [u32; 6],
    pub moduli: [[f64; 3]; 3],
    pub rest: [f64; 3],
    pub known: [bool; 3],
    pub unit: f64,
    pub time: f64,
}

/// Hinge of edge k: its ends, the tip inside, the tip beyond.
const HINGES: [[usize; 4]; 3] = [[0, 1, 2, 3], [1, 2, 0, 4], [2, 0, 1, 5]];

impl TriangleBend {
    /// From rest positions; `plate` is D (N m) with Poisson's ratio. None without an area.
    pub fn new(
        nodes: [u32; 6],
        known: [bool; 3],
        x: [DVec3; 6],
        plate: f64,
        poisson: f64,
        time: f64,
        fibre: f64,
    ) -> Option<Self> {
        let normal = (x[1] - x[0]).cross(x[2] - x[0]);
        let area = 0.5 * normal.length();
        let edges = HINGES.map(|[a, b, ..]| x[b] - x[a]);
        let longest = edges.iter().map(|e| e.length_squared()).fold(0.0, f64::max);
        if !(area > 1e-9 * longest) {
            return None;
        }
        let across = edges.map(|e| normal.cross(e).normalize());
        let mut h = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                let share = edges[i].length() * edges[j].length() / (4.0 * area * area);
                h[i][j] = area * plate * share * ((1.0 - poisson) * across[i].dot(across[j]).powi(2) + poisson);
            }
        }
        for k in (0..3).filter(|&k| !known[k]) {
            let row = h[k];
            for i in 0..3 {
                for j in 0..3 {
                    h[i][j] -= if row[k] > 0.0 { row[i] * row[j] / row[k] } else { 0.0 };
                }
            }
            for i in 0..3 {
                (h[i][k], h[k][i]) = (0.0, 0.0);
            }
        }
        let rest = [0, 1, 2].map(|k| if known[k] { hinge::angle(HINGES[k].map(|a| x[a])) } else { 0.0 });
        let unit = area * plate * (1.0 - poisson * poisson) / (fibre * fibre);
        Some(Self { nodes, moduli: h, rest, known, unit, time })
    }
}

impl Element<6, 3> for TriangleBend {
    fn nodes(&self) -> &[u32; 6] {
        &self.nodes
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn unit(&self) -> f64 {
        self.unit
    }

    fn links(&self) -> Vec<[u32; 2]> {
        Vec::new()
    }

    #[inline(always)]
    fn strains(&self, x: &[DVec3; 6]) -> [f64; 3] {
        std::array::from_fn(
            |k| {
                if self.known[k] { hinge::angle_near(HINGES[k].map(|a| x[a]), self.rest[k]) } else { 0.0 }
            },
        )
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 6], out: &mut Gradient<6, 3>) -> [f64; 3] {
        let mut s = [0.0; 3];
        for k in (0..3).filter(|&k| self.known[k]) {
            let (angle, slopes) = hinge::gradient(HINGES[k].map(|a| x[a]));
            s[k] = near(angle, self.rest[k]);
            (0..4).for_each(|a| out[k][HINGES[k][a]] = slopes[a]);
        }
        s
    }

    #[inline(always)]
    fn moduli_times(&self, over: &[f64; 3], _broken: u32) -> [f64; 3] {
        std::array::from_fn(|k| (0..3).map(|l| self.moduli[k][l] * over[l]).sum())
    }

    #[inline(never)]
    fn geometric(&self, x: &[DVec3; 6], stress: &[f64; 3], exact: bool, factor: f64, out: &mut Blocks<6>) {
        if !exact {
            return;
        }
        for k in (0..3).filter(|&k| self.known[k]) {
            bend_second(&HINGES[k], &HINGES[k].map(|a| x[a]), self.rest[k], factor * stress[k], out);
        }
    }
}

/// Adds `factor` times the second derivatives of a hinge's angle.
fn bend_second<const N: usize>(hinge: &[usize; 4], x: &[DVec3; 4], about: f64, factor: f64, out: &mut Blocks<N>) {
    let Some(jet) = hinge::jet([x[1] - x[0], x[2] - x[0], x[3] - x[0]], about) else { return };
    let mut blocks = [[DMat3::ZERO; 4]; 4];
    for p in 0..3 {
        for q in 0..3 {
            let h = jet.block(p, q) * factor;
            blocks[p + 1][q + 1] += h;
            blocks[p + 1][0] -= h;
            blocks[0][q + 1] -= h;
            blocks[0][0] += h;
        }
    }
    for a in 0..4 {
        for b in 0..4 {
            if hinge[a] <= hinge[b] {
                out[hinge[a]][hinge[b]] += blocks[a][b];
            }
        }
    }
}

/// A single hinge: the fan around a pole of a grid.
#[derive(Clone, Debug)]
pub(super) struct PoleBend {
    /// Ends of the edge, tips of the wings.
    pub nodes: [u32; 4],
    pub stiffness: f64,
    pub rest: f64,
    pub unit: f64,
    pub time: f64,
}

impl Element<4, 1> for PoleBend {
    fn nodes(&self) -> &[u32; 4] {
        &self.nodes
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn unit(&self) -> f64 {
        self.unit
    }

    fn links(&self) -> Vec<[u32; 2]> {
        let [a, b, c, d] = self.nodes;
        vec![[a, b], [a, c], [a, d]]
    }

    #[inline(always)]
    fn strains(&self, x: &[DVec3; 4]) -> [f64; 1] {
        [hinge::angle_near(*x, self.rest)]
    }

    #[inline(always)]
    fn gradient(&self, x: &[DVec3; 4], out: &mut Gradient<4, 1>) -> [f64; 1] {
        let (angle, slopes) = hinge::gradient(*x);
        out[0] = slopes;
        [near(angle, self.rest)]
    }

    #[inline(always)]
    fn moduli_times(&self, over: &[f64; 1], broken: u32) -> [f64; 1] {
        [if broken == 0 { self.stiffness * over[0] } else { 0.0 }]
    }

    #[inline(never)]
    fn geometric(&self, x: &[DVec3; 4], stress: &[f64; 1], exact: bool, factor: f64, out: &mut Blocks<4>) {
        if exact {
            bend_second(&[0, 1, 2, 3], x, self.rest, factor * stress[0], out);
        }
    }
}
