//! What the energies of elasticity theory have in common: a few nodes, a few strains, a law.
//!
//! ```text
//! E    = E(s(x), s⁰)                    mostly ½ (s - s⁰)ᵀ H (s - s⁰)        [J]
//! f_a  = -Σ_k σ_k ∂s_k/∂x_a             σ = ∂E/∂s                            [N]
//! K_ab = Σ_kl ∂s_k/∂x_a H_kl ∂s_l/∂x_bᵀ + Σ_k σ_k ∂²s_k/∂x_a∂x_b             [N/m]
//! damping: f_a = -β Σ_kl ∂s_k/∂x_a H_kl ṡ_l      ṡ = Σ_a ∂s/∂x_a · v_a        [N]
//! ```
//! Strains do not see a rigid motion, so forces and damping push and turn nothing. The first part
//! of K (Gauss-Newton) is positive semi-definite; the second is clamped for implicit steps, or left out where
//! it is small beside the first (bending).
//!
//! A file for each kind has its mathematics; assembly is in `group`, once.

use glam::{DMat3, DVec3};
use std::fmt::Debug;

/// Derivatives of M strains by N positions.
pub(super) type Gradient<const N: usize, const M: usize> = [[DVec3; N]; M];
/// Blocks K_ab with a ≤ b.
pub(super) type Blocks<const N: usize> = [[DMat3; N]; N];

/// Which change of stress with strain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    /// ∂σ/∂s
    Exact,
    /// The same, positive semi-definite.
    Clamped,
    /// What damping is proportional to.
    Viscous,
}

/// Below this a length or area means nothing.
pub(super) const TINY: f64 = 1e-150;

/// One kind of element. Unused nodes repeat another and have no derivatives.
pub(super) trait Element<const N: usize, const M: usize>: Send + Sync + Debug {
    /// Whether damping is proportional to the clamped stiffness itself: it is where strains do not turn with the body.
    const PROPORTIONAL: bool = true;
    /// Whether `gradient` leaves out derivatives that another element of the kind writes.
    const SPARSE: bool = true;
    /// Its nodes.
    fn nodes(&self) -> &[u32; N];
    /// β (s).
    fn time(&self) -> f64;
    /// 2E at unit strain (J), the strain that yields and flows.
    fn unit(&self) -> f64;
    /// Grid edges that it needs, in the order of the bits of `broken`.
    fn links(&self) -> Vec<[u32; 2]>;
    /// s
    fn strains(&self, x: &[DVec3; N]) -> [f64; M];
    /// s and its derivatives; `out` comes as zeros.
    fn gradient(&self, x: &[DVec3; N], out: &mut Gradient<N, M>) -> [f64; M];
    /// H (s - s⁰), for laws that are linear.
    fn moduli_times(&self, over: &[f64; M], broken: u32) -> [f64; M];
    /// s - s⁰
    #[inline(always)]
    fn over(&self, s: &[f64; M], rest: &[f64; M]) -> [f64; M] {
        std::array::from_fn(|k| s[k] - rest[k])
    }
    /// E and σ.
    #[inline(always)]
    fn law(&self, s: &[f64; M], rest: &[f64; M], broken: u32) -> (f64, [f64; M]) {
        let over = self.over(s, rest);
        let stress = self.moduli_times(&over, broken);
        (0.5 * (0..M).map(|k| over[k] * stress[k]).sum::<f64>(), stress)
    }
    /// Change of stress with a change of strain.
    #[inline(always)]
    fn tangent_times(&self, _s: &[f64; M], _rest: &[f64; M], change: &[f64; M], broken: u32, _part: Part) -> [f64; M] {
        self.moduli_times(change, broken)
    }
    /// Σ_k σ_k ∂s_k/∂x_a
    #[inline(always)]
    fn pull(&self, j: &Gradient<N, M>, stress: &[f64; M], a: usize) -> DVec3 {
        (0..M).map(|k| stress[k] * j[k][a]).sum()
    }
    /// ṡ
    #[inline(always)]
    fn rates(&self, j: &Gradient<N, M>, v: &[DVec3; N]) -> [f64; M] {
        std::array::from_fn(|k| (0..N).map(|a| j[k][a].dot(v[a])).sum::<f64>())
    }
    /// Adds `factor` times the Gauss-Newton part to the blocks.
    #[inline(always)]
    fn gauss_newton(
        &self,
        j: &Gradient<N, M>,
        s: &[f64; M],
        rest: &[f64; M],
        broken: u32,
        part: Part,
        factor: f64,
        out: &mut Blocks<N>,
    ) {
        let h: [[f64; M]; M] = std::array::from_fn(|l| {
            let unit = std::array::from_fn(|k| if k == l { factor } else { 0.0 });
            self.tangent_times(s, rest, &unit, broken, part)
        });
        for b in 0..N {
            let hj: [DVec3; M] = std::array::from_fn(|k| (0..M).map(|l| h[l][k] * j[l][b]).sum());
            for a in 0..=b {
                for k in 0..M {
                    add_outer(&mut out[a][b], j[k][a], hj[k]);
                }
            }
        }
    }
    /// Adds `factor` times Σ σ ∂²s to the blocks, `exact` or clamped.
    fn geometric(&self, x: &[DVec3; N], stress: &[f64; M], exact: bool, factor: f64, out: &mut Blocks<N>);
}

/// to += a bᵀ
#[inline(always)]
pub(super) fn add_outer(to: &mut DMat3, a: DVec3, b: DVec3) {
    to.x_axis += a * b.x;
    to.y_axis += a * b.y;
    to.z_axis += a * b.z;
}

#[inline(always)]
pub(super) fn gather<const N: usize>(nodes: &[u32; N], x: &[DVec3]) -> [DVec3; N] {
    nodes.map(|i| x[i as usize])
}
