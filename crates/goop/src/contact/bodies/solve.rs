//! The impulses of all meetings of a step together.
//!
//! Every row is a place where two bodies meet, with an impulse p on the one and -p on the other, and the velocity u with
//! which they part, which depends on all impulses through the bodies, u = u₀ + J W Jᵀ (p - p₀):
//! ```text
//! meeting      0 ≤ p_n  ⊥  u_n - t ≥ 0        |p_t| ≤ μ p_n, against u_t, and u_t = 0 where it is less
//! tie          u = t
//! p ← Π(y - (u(y) - t)/(L d))                  d: how far the row alone gives way, along the normal and across it,
//!                                              L: what the others add
//! y = p + β (p - p_old)                        Nesterov's sequence, begun anew where it leads uphill
//! ```
//! L is raised until a step is no longer than the curvature along it allows. Π puts the normal part above zero and then
//! the rest into the disc that friction allows.
//!
//! Where bodies can be pushed row by row, sweeps over the rows take fewer goes: each row in turn gets
//! what it lacks now, through its own block of J W Jᵀ. Where they lead from one sweep to the next is followed as conjugate
//! gradients do, with the squares of two changes for β, begun anew where changes grow:
//! ```text
//! q = sweep(p)     d' = q - p     β = |d'|²/|d|²      p' = q + β s,  s' = β s + d'
//! ```

use glam::{DMat3, DVec3};

/// Sweeps after which less than this share has to be left of what velocities lack.
const PATIENCE: usize = 15;
const WORTHWHILE: f64 = 0.7;

/// What a row wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish {
    /// Part at least so fast along the normal (m/s); Coulomb friction.
    Apart {
        /// From the second body to the first.
        normal: DVec3,
        /// t (m/s).
        speed: f64,
        /// Coulomb's coefficient.
        friction: f64,
        /// Velocity with which the surface slides by itself (m/s).
        slide: DVec3,
    },
    /// Part exactly so (m/s), all directions, giving way by so much (1/kg) for what it has to hold.
    Tied {
        /// t (m/s).
        velocity: DVec3,
        /// c (1/kg).
        compliance: f64,
    },
}

impl Wish {
    /// The velocity that is wrong.
    fn lacks(&self, u: DVec3, p: DVec3) -> DVec3 {
        match *self {
            Wish::Apart { normal, speed, slide, .. } => u - slide - (speed - slide.dot(normal)) * normal,
            Wish::Tied { velocity, compliance } => u - velocity + compliance * p,
        }
    }

    /// A vector along the normal and across it, each divided by its own number.
    fn divided(&self, v: DVec3, [along, across]: [f64; 2]) -> DVec3 {
        match *self {
            Wish::Apart { normal, .. } => v / across + (1.0 / along - 1.0 / across) * v.dot(normal) * normal,
            Wish::Tied { .. } => v / along,
        }
    }

    /// Its square, measured with these numbers.
    fn square(&self, v: DVec3, [along, across]: [f64; 2]) -> f64 {
        self.product(v, v, [along, across])
    }

    fn product(&self, v: DVec3, w: DVec3, [along, across]: [f64; 2]) -> f64 {
        match *self {
            Wish::Apart { normal, .. } => across * v.dot(w) + (along - across) * v.dot(normal) * w.dot(normal),
            Wish::Tied { .. } => along * v.dot(w),
        }
    }

    /// What the impulse of a row by itself is to be where it lacks a velocity and gives way by a block.
    fn follow(&self, p: DVec3, lacks: DVec3, block: &DMat3, ease: [f64; 2]) -> DVec3 {
        let even = |d: f64| DMat3::from_diagonal(DVec3::splat(d));
        match *self {
            Wish::Apart { .. } => self.allowed(p - self.divided(lacks, ease)),
            Wish::Tied { compliance, .. } => p - (*block + even(compliance + 1e-6 * ease[0])).inverse() * lacks,
        }
    }

    /// The nearest impulse that is allowed.
    pub fn allowed(&self, p: DVec3) -> DVec3 {
        match *self {
            Wish::Apart { normal, friction, .. } => {
                let push = p.dot(normal);
                let pushed = push.max(0.0);
                pushed * normal + (p - push * normal).clamp_length_max(friction * pushed)
            }
            Wish::Tied { .. } => p,
        }
    }
}

/// What rows act on, one at a time.
pub trait Bodies {
    /// What impulses so far have changed of the velocity of a row (m/s).
    fn velocity(&self, row: usize) -> DVec3;
    /// Gives an impulse (N s) at a row.
    fn push(&mut self, row: usize, impulse: DVec3);
    /// A sweep begins.
    fn mark(&mut self);
    /// After a sweep: goes on by a share of where those before it have led.
    fn lean(&mut self, share: f64);
}

/// Rows and what the iteration keeps of them.
#[derive(Debug, Default)]
pub struct Rows {
    /// What each wants.
    pub wishes: Vec<Wish>,
    /// d: velocity that a unit of impulse gives the row by itself, along its normal and across it (1/kg).
    pub ease: Vec<[f64; 2]>,
    /// The same with all directions (1/kg), for sweeps.
    pub blocks: Vec<DMat3>,
    /// p (N s).
    pub impulses: Vec<DVec3>,
    /// u at p (m/s).
    pub velocities: Vec<DVec3>,
    old: [Vec<DVec3>; 2],
    ahead: [Vec<DVec3>; 2],
    next: [Vec<DVec3>; 2],
    best: [Vec<DVec3>; 2],
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Solved {
    /// Products with W.
    pub iterations: usize,
    /// Largest velocity that is wrong (m/s).
    pub residual: f64,
}

impl Rows {
    /// Empties.
    pub fn clear(&mut self) {
        self.wishes.clear();
        self.ease.clear();
        self.blocks.clear();
        self.impulses.clear();
        self.velocities.clear();
    }

    /// Adds a row.
    pub fn push(&mut self, wish: Wish, ease: f64, impulse: DVec3, velocity: DVec3) {
        self.wishes.push(wish);
        self.ease.push([ease.max(f64::MIN_POSITIVE); 2]);
        self.impulses.push(impulse);
        self.velocities.push(velocity);
    }

    /// Largest velocity that is wrong (m/s): how far a row by itself would still move.
    pub fn residual(&self) -> f64 {
        self.wrong(&self.impulses, &self.velocities)
    }

    fn wrong(&self, p: &[DVec3], u: &[DVec3]) -> f64 {
        (0..self.wishes.len()).map(|k| self.square(k, p[k], u[k])).fold(0.0, f64::max).sqrt()
    }

    /// The square of the velocity by which a row by itself would still move ((m/s)²).
    fn square(&self, row: usize, p: DVec3, u: DVec3) -> f64 {
        let (wish, d) = (self.wishes[row], self.ease[row]);
        let next = wish.allowed(p - wish.divided(wish.lacks(u, p), d));
        wish.square(next - p, [d[0] * d[0], d[1] * d[1]])
    }

    /// Whether a row would still move by more than a velocity (m/s).
    pub fn lacks(&self, row: usize, tolerance: f64) -> bool {
        self.square(row, self.impulses[row], self.velocities[row]) > tolerance * tolerance
    }

    /// Keeps some rows, before their blocks are known.
    pub fn keep(&mut self, mut kept: impl FnMut(usize) -> bool) {
        let mut row = 0;
        for k in 0..self.wishes.len() {
            if kept(k) {
                self.wishes[row] = self.wishes[k];
                self.ease[row] = self.ease[k];
                self.impulses[row] = self.impulses[k];
                self.velocities[row] = self.velocities[k];
                row += 1;
            }
        }
        self.wishes.truncate(row);
        self.ease.truncate(row);
        self.impulses.truncate(row);
        self.velocities.truncate(row);
    }

    /// Improves p by sweeps until none of them changes the velocity of a row by more than `tolerance` (m/s).
    /// `brief`: only as long as that leads anywhere.
    pub fn sweep(&mut self, tolerance: f64, most: usize, brief: bool, bodies: &mut impl Bodies) -> Solved {
        let n = self.wishes.len();
        let Self { wishes, ease, blocks, impulses: p, velocities, old, next, best, .. } = self;
        for list in old.iter_mut().chain(&mut *next).chain(&mut *best) {
            list.clear();
            list.resize(n, DVec3::ZERO);
        }
        // What a sweep changes, where all of them lead, and the best so far.
        let ([change, _], [leads, _], [p_best, _]) = (old, next, best);
        let (mut iterations, mut least, mut before) = (0, f64::INFINITY, f64::INFINITY);
        // What was left when it was last looked at whether sweeps still lead anywhere.
        let mut seen = f64::INFINITY;
        while iterations < most {
            bodies.mark();
            let (mut worst, mut square) = (0.0f64, 0.0);
            for k in 0..n {
                let lacks = wishes[k].lacks(velocities[k] + bodies.velocity(k), p[k]);
                let next = wishes[k].follow(p[k], lacks, &blocks[k], ease[k]);
                change[k] = next - p[k];
                if change[k] != DVec3::ZERO {
                    bodies.push(k, change[k]);
                    p[k] = next;
                    worst = worst.max((blocks[k] * change[k]).length_squared());
                    square += wishes[k].square(change[k], ease[k]);
                }
            }
            iterations += 1;
            if worst < least {
                least = worst;
                p_best.copy_from_slice(p);
            }
            if worst.sqrt() <= tolerance || !square.is_finite() {
                break;
            }
            if brief && iterations.is_multiple_of(PATIENCE) {
                // Rows that say nearly the same hand an impulse to each other for ever.
                if least > WORTHWHILE * WORTHWHILE * seen {
                    break;
                }
                seen = least;
            }
            let share = if square < before && before.is_finite() { square / before } else { 0.0 };
            before = square;
            bodies.lean(share);
            for k in 0..n {
                leads[k] *= share;
                p[k] += leads[k];
                leads[k] += change[k];
            }
        }
        p.copy_from_slice(p_best);
        Solved { iterations, residual: least.sqrt() }
    }

    /// Improves p until no row lacks more than `tolerance` (m/s). `product` writes J W Jᵀ of its first list into the second.
    pub fn solve(&mut self, tolerance: f64, most: usize, mut product: impl FnMut(&[DVec3], &mut [DVec3])) -> Solved {
        let n = self.wishes.len();
        for list in self.old.iter_mut().chain(&mut self.ahead).chain(&mut self.next).chain(&mut self.best) {
            list.clear();
            list.resize(n, DVec3::ZERO);
        }
        let (mut p, mut u) = (std::mem::take(&mut self.impulses), std::mem::take(&mut self.velocities));
        let [mut p_old, mut u_old] = std::mem::take(&mut self.old);
        let [mut y, mut u_y] = std::mem::take(&mut self.ahead);
        let [mut p_new, mut u_new] = std::mem::take(&mut self.next);
        let [mut p_best, mut u_best] = std::mem::take(&mut self.best);
        p_old.copy_from_slice(&p);
        u_old.copy_from_slice(&u);
        let mut best = self.wrong(&p, &u);
        p_best.copy_from_slice(&p);
        u_best.copy_from_slice(&u);
        let (mut iterations, mut curvature, mut theta) = (0, 1.0f64, 1.0f64);
        while best > tolerance && iterations < most {
            let theta_next = 0.5 * (1.0 + (1.0 + 4.0 * theta * theta).sqrt());
            let beta = (theta - 1.0) / theta_next;
            for k in 0..n {
                y[k] = p[k] + beta * (p[k] - p_old[k]);
                u_y[k] = u[k] + beta * (u[k] - u_old[k]);
            }
            loop {
                for k in 0..n {
                    let (wish, d) = (&self.wishes[k], self.ease[k]);
                    p_new[k] = wish.allowed(y[k] - wish.divided(wish.lacks(u_y[k], y[k]), d) / curvature);
                }
                // u is affine: only the change goes through the bodies.
                for k in 0..n {
                    p_old[k] = p_new[k] - p[k];
                }
                product(&p_old, &mut u_new);
                iterations += 1;
                let (mut bend, mut length) = (0.0, 0.0);
                for k in 0..n {
                    u_new[k] += u[k];
                    let step = p_new[k] - y[k];
                    bend += step.dot(u_new[k] - u_y[k]);
                    if let Wish::Tied { compliance, .. } = self.wishes[k] {
                        bend += compliance * step.length_squared();
                    }
                    length += self.wishes[k].square(step, self.ease[k]);
                }
                if bend <= curvature * length * (1.0 + 1e-9) || !(bend > 0.0 && length > 0.0) || iterations >= most {
                    break;
                }
                curvature = (1.1 * bend / length).max(1.2 * curvature);
            }
            let mut uphill = 0.0;
            for k in 0..n {
                uphill += self.wishes[k].product(y[k] - p_new[k], p_new[k] - p[k], self.ease[k]);
            }
            std::mem::swap(&mut p_old, &mut p);
            std::mem::swap(&mut u_old, &mut u);
            std::mem::swap(&mut p, &mut p_new);
            std::mem::swap(&mut u, &mut u_new);
            theta = if uphill > 0.0 { 1.0 } else { theta_next };
            curvature *= 0.98;
            let now = self.wrong(&p, &u);
            if now < best {
                best = now;
                p_best.copy_from_slice(&p);
                u_best.copy_from_slice(&u);
            }
        }
        std::mem::swap(&mut p, &mut p_best);
        std::mem::swap(&mut u, &mut u_best);
        (self.impulses, self.velocities) = (p, u);
        (self.old, self.ahead, self.next, self.best) = ([p_old, u_old], [y, u_y], [p_new, u_new], [p_best, u_best]);
        Solved { iterations, residual: best }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows on one mass of 2 kg that falls on a slope: it slides where the slope is steeper than friction holds, and
    /// what it lacks is then μ p_n. Catches a projection in the wrong order and a sign of friction.
    #[test]
    fn a_mass_on_a_slope_sticks_or_slides() {
        for (slope, sticks) in [(0.29f64, true), (0.31, false)] {
            let angle = slope.atan();
            let normal = DVec3::new(angle.sin(), angle.cos(), 0.0);
            let mut rows = Rows::default();
            let wish = Wish::Apart { normal, speed: 0.0, friction: 0.3, slide: DVec3::ZERO };
            for _ in 0..2 {
                rows.push(wish, 0.5, DVec3::ZERO, DVec3::new(0.0, -1.0, 0.0));
            }
            let solved = rows.solve(1e-12, 2000, |p, u| u.fill((p[0] + p[1]) / 2.0));
            assert!(solved.residual < 1e-12, "{solved:?}");
            let (u, p) = (rows.velocities[0], rows.impulses[0] + rows.impulses[1]);
            let along = DVec3::new(angle.cos(), -angle.sin(), 0.0);
            let expected = if sticks { 0.0 } else { angle.sin() - 0.3 * angle.cos() };
            assert!((u.dot(along) - expected).abs() < 1e-10 && u.dot(normal).abs() < 1e-10, "{u} {expected}");
            assert!((p.dot(normal) - 2.0 * angle.cos()).abs() < 1e-10);
        }
    }
}
