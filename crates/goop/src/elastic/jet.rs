//! A number with its first and second derivatives by nine others (three vectors).
//!
//! For exact second derivatives of angles, which implicit steps do not use. The rule is
//! the chain rule: for y = f(a), y' = f' a', y'' = f' a'' + f'' a' a'ᵀ.

use glam::{DMat3, DVec3};

pub(super) const V: usize = 9;

/// Value, gradient, Hessian.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jet {
    pub v: f64,
    pub g: [f64; V],
    pub h: [[f64; V]; V],
}

impl Jet {
    pub fn constant(v: f64) -> Self {
        Self { v, g: [0.0; V], h: [[0.0; V]; V] }
    }

    /// Three vectors as variables.
    pub fn variables(vectors: [DVec3; 3]) -> [[Jet; 3]; 3] {
        std::array::from_fn(|p| {
            std::array::from_fn(|c| {
                let mut jet = Self::constant(vectors[p][c]);
                jet.g[3 * p + c] = 1.0;
                jet
            })
        })
    }

    /// f(self), from f, f' and f'' there.
    fn chain(&self, f: f64, first: f64, second: f64) -> Self {
        let mut out = Self::constant(f);
        for i in 0..V {
            out.g[i] = first * self.g[i];
            for j in 0..V {
                out.h[i][j] = first * self.h[i][j] + second * self.g[i] * self.g[j];
            }
        }
        out
    }

    pub fn sqrt(&self) -> Self {
        let root = self.v.sqrt();
        self.chain(root, 0.5 / root, -0.25 / (root * self.v))
    }

    pub fn inverse(&self) -> Self {
        let i = 1.0 / self.v;
        self.chain(i, -i * i, 2.0 * i * i * i)
    }

    /// The angle of (x, y) = (other, self), near `about` (rad).
    pub fn angle(&self, x: &Jet, about: f64) -> Self {
        let (y, r2) = (self, self.v * self.v + x.v * x.v);
        let mut out = Self::constant(near(y.v.atan2(x.v), about));
        let (fx, fy) = (-y.v / r2, x.v / r2);
        let (fxx, fxy) = (2.0 * x.v * y.v / (r2 * r2), (y.v * y.v - x.v * x.v) / (r2 * r2));
        for i in 0..V {
            out.g[i] = fx * x.g[i] + fy * y.g[i];
            for j in 0..V {
                out.h[i][j] = fx * x.h[i][j]
                    + fy * y.h[i][j]
                    + fxx * (x.g[i] * x.g[j] - y.g[i] * y.g[j])
                    + fxy * (x.g[i] * y.g[j] + y.g[i] * x.g[j]);
            }
        }
        out
    }

    /// ∂²/∂(vector p)∂(vector q)
    pub fn block(&self, p: usize, q: usize) -> DMat3 {
        DMat3::from_cols_array_2d(&std::array::from_fn(|c| std::array::from_fn(|r| self.h[3 * p + r][3 * q + c])))
    }
}

/// The same angle within half a turn of another (rad).
#[inline(always)]
pub(super) fn near(angle: f64, about: f64) -> f64 {
    use std::f64::consts::TAU;
    angle - TAU * ((angle - about) / TAU).round()
}

impl std::ops::Add for Jet {
    type Output = Jet;
    fn add(mut self, b: Jet) -> Jet {
        self.v += b.v;
        for i in 0..V {
            self.g[i] += b.g[i];
            for j in 0..V {
                self.h[i][j] += b.h[i][j];
            }
        }
        self
    }
}

impl std::ops::Sub for Jet {
    type Output = Jet;
    fn sub(self, b: Jet) -> Jet {
        self + b * Jet::constant(-1.0)
    }
}

impl std::ops::Mul for Jet {
    type Output = Jet;
    fn mul(self, b: Jet) -> Jet {
        let mut out = Jet::constant(self.v * b.v);
        for i in 0..V {
            out.g[i] = self.v * b.g[i] + b.v * self.g[i];
            for j in 0..V {
                out.h[i][j] = self.v * b.h[i][j] + b.v * self.h[i][j] + self.g[i] * b.g[j] + b.g[i] * self.g[j];
            }
        }
        out
    }
}

pub(super) fn dot(a: &[Jet; 3], b: &[Jet; 3]) -> Jet {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: &[Jet; 3], b: &[Jet; 3]) -> [Jet; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
