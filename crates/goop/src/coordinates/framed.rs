//! Framed coordinates: a rigid frame (c, R) and the displacement e of every node from a
//! reference shape r in it.
//!
//! ```text
//! x = c + R (r + e)        ẋ = v + ω×q + R ė,   q = R (r + e)              [TW] eq 1-8
//! Σμ e = 0    Σμ r×e = 0   e holds no rigid motion
//! P = m v     L = I ω + R Σμ e×ė,   I = Σμ (q² - q qᵀ)
//! ```
//! P and L are the state; v and ω follow from them, so that both are conserved to
//! rounding. e and ė are kept in body axes, in planes: all x, all y, all z.
//!
//! Departs from the paper: its (v, ω, e) is redundant, and the terms that couple them,
//! taken as a lagged loop, are unstable; here e is kept free of rigid motion by the
//! solve itself, and body axes need no turning of old values.
//!
//! Where pins hold a body so that they tell where a rigid body would be (see [`leads`]), the frame follows them
//! instead, and e is the displacement from where they hold it: none at the pins themselves, unless they move against each other.
//! c is then the frame's origin and not the centre of mass, v and ω are the frame's, and P and L follow from the nodes.
//! Departs from the paper: its frame turns with the mean of the body even where it is held, and to a linear displacement a
//! clamped end then seems squeezed.
//!
//! A straight curve has no inertia about itself: about that axis its frame does not turn,
//! and e carries whatever turns. Led by pins, it turns about that axis as little as it can.

pub mod factored;
pub mod flow;
pub(crate) mod kernels;
pub mod respond;
pub mod work;

pub use work::Work;

use crate::elastic::Linear;
use crate::model::{Body, Pin};
use crate::parallel::Chunks;
use glam::{DMat3, DQuat, DVec3};
use std::sync::Arc;

/// Frame, displacement and momenta.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FramedState {
    /// c: centre of mass, or origin of a frame that pins lead (m).
    pub center: DVec3,
    /// R: world from body.
    pub rotation: DQuat,
    /// P: momentum (kg m/s).
    pub momentum: DVec3,
    /// L: angular momentum about the centre (kg m²/s), world axes.
    pub angular_momentum: DVec3,
    /// e (m), body axes, by planes.
    pub displacement: Vec<f64>,
    /// ė (m/s), body axes, by planes.
    pub rate: Vec<f64>,
    /// r (m), body axes, by planes; Σμ r = 0.
    pub reference: Arc<Vec<f64>>,
    /// I in body axes (kg m²).
    pub inertia: DMat3,
    /// Σμ e×ė in body axes (kg m²/s).
    pub internal: DVec3,
    /// ω in body axes (rad/s).
    pub spin: DVec3,
    /// Change of it in the last step (rad/s).
    pub spin_change: DVec3,
    /// Shape axes from body axes.
    pub axes: DQuat,
    /// Axis of a straight reference shape, in body axes.
    pub loose: Option<DVec3>,
    /// Axis about which alone a planar world lets it turn, in body axes.
    pub planar: Option<DVec3>,
    /// Velocity of a frame that pins lead (m/s).
    pub led: Option<DVec3>,
}

impl Clone for FramedState {
    fn clone(&self) -> Self {
        let mut out = self.without_nodes();
        (out.displacement, out.rate) = (self.displacement.clone(), self.rate.clone());
        out
    }

    /// Without allocating where the sizes agree.
    fn clone_from(&mut self, other: &Self) {
        let (mut e, mut rate) = (std::mem::take(&mut self.displacement), std::mem::take(&mut self.rate));
        e.clone_from(&other.displacement);
        rate.clone_from(&other.rate);
        *self = Self { displacement: e, rate, ..other.without_nodes() };
    }
}

impl FramedState {
    fn without_nodes(&self) -> Self {
        Self { displacement: Vec::new(), rate: Vec::new(), reference: self.reference.clone(), ..*self }
    }

    /// Hands the large arrays over to `before` and copies the rest to it; a step writes them anew.
    pub fn hand_over(&mut self, before: &mut Self) {
        std::mem::swap(&mut self.displacement, &mut before.displacement);
        std::mem::swap(&mut self.rate, &mut before.rate);
        let (e, rate) = (std::mem::take(&mut before.displacement), std::mem::take(&mut before.rate));
        *before = Self { displacement: e, rate, ..self.without_nodes() };
    }

    /// The frame that fits the nodes, and the rest as displacement. A reference shape that
    /// has flowed is kept.
    pub fn from_nodes(body: &Body, linear: &Linear, x: &[DVec3], v: &[DVec3], old: Option<&Self>) -> Self {
        let n = body.len();
        let turn = linear.axes.inverse();
        let reference = match old {
            Some(old) if old.reference.len() == 3 * n && old.axes == linear.axes => old.reference.clone(),
            Some(old) if old.reference.len() == 3 * n => {
                let mut planes = vec![0.0; 3 * n];
                (0..n).for_each(|i| put(&mut planes, n, i, turn * (old.axes * get(&old.reference, n, i))));
                Arc::new(planes)
            }
            _ => {
                let rest = &body.shape.rest_positions;
                let middle = (0..n).map(|i| body.masses[i] * rest[i]).sum::<DVec3>() / body.mass();
                let mut planes = vec![0.0; 3 * n];
                (0..n).for_each(|i| put(&mut planes, n, i, turn * (rest[i] - middle)));
                Arc::new(planes)
            }
        };
        let mut state = Self {
            center: DVec3::ZERO,
            rotation: old.map_or(body.start.rotation, |old| old.rotation * old.axes.inverse()) * linear.axes,
            momentum: DVec3::ZERO,
            angular_momentum: DVec3::ZERO,
            displacement: vec![0.0; 3 * n],
            rate: vec![0.0; 3 * n],
            axes: linear.axes,
            loose: None,
            planar: None,
            led: None,
            reference,
            inertia: DMat3::IDENTITY,
            internal: DVec3::ZERO,
            spin: DVec3::ZERO,
            spin_change: DVec3::ZERO,
        };
        state.refit(body, x, v);
        state.take_velocities(body, v);
        state
    }

    /// Fits the frame to nodes for the reference shape as it is now; P and L stay.
    pub fn refit(&mut self, body: &Body, x: &[DVec3], v: &[DVec3]) {
        let n = body.len();
        let shape = |i: usize| get(&self.reference, n, i);
        let (center, rotation) = match self.led {
            Some(_) => self.fit_pins(body, |pin, k| x[pin.nodes[k] as usize]),
            None => {
                let (center, rotation, _) = fit(&body.masses, shape, |i| x[i], self.rotation);
                (center, rotation)
            }
        };
        self.loose = loose_axis(&body.masses, shape);
        self.take_frame(center, rotation, x);
        self.take_rates(body, v);
    }

    /// e from node positions, in a frame.
    fn take_frame(&mut self, center: DVec3, rotation: DQuat, x: &[DVec3]) {
        let (n, back) = (x.len(), rotation.inverse());
        for i in 0..n {
            let r = get(&self.reference, n, i);
            put(&mut self.displacement, n, i, back * (x[i] - center) - r);
        }
        (self.center, self.rotation) = (center, rotation);
    }

    /// Lets the frame follow the pins from now on if they lead, and go by itself if not. Nodes stay where they are and
    /// go on as they do; the displacement, and with it the energy, is another where the frame is.
    pub fn follow_pins(&mut self, body: &Body, planar: bool, time: f64, x: &[DVec3], v: &[DVec3]) {
        if leads(body, &self.reference, planar) {
            let (center, rotation) = self.fit_pins(body, |pin, k| pin.target(k, time));
            self.take_frame(center, rotation, x);
            self.take_pin_rates(body, x, v);
        } else if self.led.take().is_some() {
            self.refit(body, x, v);
        } else {
            return;
        }
        self.take_velocities(body, v);
    }

    /// Velocity and spin of the frame, as held nodes have them.
    fn take_pin_rates(&mut self, body: &Body, x: &[DVec3], v: &[DVec3]) {
        let hard = body.pins.iter().filter(|p| p.stiffness.is_none());
        let held = hard.flat_map(|p| &p.nodes).map(|&i| (body.masses[i as usize], x[i as usize], v[i as usize]));
        let (mut mass, mut middle, mut mean) = (0.0, DVec3::ZERO, DVec3::ZERO);
        for (m, x, v) in held.clone() {
            (mass, middle, mean) = (mass + m, middle + m * x, mean + m * v);
        }
        let (middle, mean) = (middle / mass, mean / mass);
        let (mut arms, mut turned) = (DMat3::ZERO, DVec3::ZERO);
        for (m, x, v) in held {
            let arm = x - middle;
            turned += m * arm.cross(v - mean);
            arms += (DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - outer(arm)) * m;
        }
        // Pins in a line say nothing about turns around it, and there is then nothing to divide either.
        let trace = arms.x_axis.x + arms.y_axis.y + arms.z_axis.z;
        let spin = (arms + DMat3::from_diagonal(DVec3::splat(1e-9 * trace))).inverse() * turned;
        self.led = Some(mean - spin.cross(middle - self.center));
        self.spin = self.rotation.inverse() * spin;
    }

    /// Origin and rotation of the frame that fits the hard pins best.
    fn fit_pins(&self, body: &Body, at: impl Fn(&Pin, usize) -> DVec3) -> (DVec3, DQuat) {
        let n = body.len();
        let (mut free, mut held) = (vec![true; n], Vec::<(u32, DVec3)>::new());
        for pin in body.pins.iter().filter(|p| p.stiffness.is_none()) {
            for (k, &i) in pin.nodes.iter().enumerate() {
                // The first pin of a node holds it.
                if std::mem::take(&mut free[i as usize]) {
                    held.push((i, at(pin, k)));
                }
            }
        }
        let masses: Vec<f64> = held.iter().map(|h| body.masses[h.0 as usize]).collect();
        let rest = |k: usize| get(&self.reference, n, held[k].0 as usize);
        let (center, rotation, middle) = fit(&masses, rest, |k| held[k].1, self.rotation);
        (center - rotation * middle, rotation)
    }

    /// Momenta, spin and ė from node velocities.
    pub fn take_velocities(&mut self, body: &Body, v: &[DVec3]) {
        let (n, back) = (body.len(), self.rotation.inverse());
        let p: DVec3 = (0..n).map(|i| body.masses[i] * v[i]).sum();
        let mean = p / body.mass();
        let mut l = DVec3::ZERO;
        for i in 0..n {
            let s = get(&self.reference, n, i) + get(&self.displacement, n, i);
            l += body.masses[i] * s.cross(back * (v[i] - mean));
        }
        self.momentum = p;
        self.angular_momentum = self.rotation * l;
        self.spin_change = DVec3::ZERO;
        self.take_rates(body, v);
    }

    /// Spin and ė from node velocities.
    fn take_rates(&mut self, body: &Body, v: &[DVec3]) {
        let (n, back) = (body.len(), self.rotation.inverse());
        if let Some(velocity) = self.led {
            for i in 0..n {
                let s = get(&self.reference, n, i) + get(&self.displacement, n, i);
                put(&mut self.rate, n, i, back * (v[i] - velocity) - self.spin.cross(s));
            }
            self.measure(&body.masses);
            return;
        }
        let (mut arms, mut turned) = (DMat3::ZERO, DVec3::ZERO);
        let mean = (0..n).map(|i| body.masses[i] * v[i]).sum::<DVec3>() / body.mass();
        for i in 0..n {
            let (m, r) = (body.masses[i], get(&self.reference, n, i));
            let s = r + get(&self.displacement, n, i);
            let u = back * (v[i] - mean);
            // Σμ r×(u - Ω×s) = 0, so that ė turns nothing.
            turned += m * r.cross(u);
            arms += (DMat3::from_diagonal(DVec3::splat(r.dot(s))) - DMat3::from_cols(s * r.x, s * r.y, s * r.z)) * m;
        }
        let spin = self.posed_inverse(arms) * turned;
        for i in 0..n {
            let s = get(&self.reference, n, i) + get(&self.displacement, n, i);
            put(&mut self.rate, n, i, back * (v[i] - mean) - spin.cross(s));
        }
        self.measure(&body.masses);
    }

    /// Finds inertia and spin anew from everything else.
    pub fn measure(&mut self, masses: &[f64]) {
        let n = masses.len();
        let [xx, yy, zz, yz, zx, xy, hx, hy, hz] = Chunks::new(n).sum(|_, range| {
            let mut s = [0.0; 9];
            for i in range {
                let (m, e, rate) = (masses[i], get(&self.displacement, n, i), get(&self.rate, n, i));
                let q = get(&self.reference, n, i) + e;
                let h = m * e.cross(rate);
                let terms = [m * q.x * q.x, m * q.y * q.y, m * q.z * q.z, m * q.y * q.z, m * q.z * q.x, m * q.x * q.y];
                (0..6).for_each(|k| s[k] += terms[k]);
                (0..3).for_each(|k| s[6 + k] += h[k]);
            }
            s
        });
        self.inertia = inertia([xx, yy, zz, yz, zx, xy]);
        self.internal = DVec3::new(hx, hy, hz);
        self.settle_spin();
    }

    /// Ω from L; about a loose axis L follows e instead. A frame that pins lead has its spin from them.
    pub fn settle_spin(&mut self) {
        if self.led.is_some() {
            return;
        }
        let l = self.rotation.inverse() * self.angular_momentum;
        self.spin = self.posed_inverse(self.inertia) * (l - self.internal);
        if let Some(axis) = self.loose {
            let own = self.inertia * self.spin + self.internal;
            self.angular_momentum = self.rotation * (l + axis * axis.dot(own - l));
        }
    }

    /// Inverse on the axes about which the frame turns; zero about a loose one.
    pub fn posed_inverse(&self, matrix: DMat3) -> DMat3 {
        let trace = matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z;
        if let Some(axis) = self.planar {
            let about = axis.dot(matrix * axis);
            return if about > 0.0 { outer(axis) * about.recip() } else { DMat3::ZERO };
        }
        match self.loose {
            Some(a) if trace > 0.0 => {
                let across = DMat3::IDENTITY - outer(a);
                across * (across * matrix * across + outer(a) * trace).inverse() * across
            }
            Some(_) => DMat3::ZERO,
            None => matrix.inverse(),
        }
    }

    /// ½ ω·Iω + ω·Σμ e×ė (J).
    pub fn turning_energy(&self) -> f64 {
        self.spin.dot(0.5 * (self.inertia * self.spin) + self.internal)
    }

    /// Writes node positions and velocities; returns Σ ½ m ẋ² (J).
    pub fn place(&self, body: &Body, x: &mut [DVec3], v: &mut [DVec3]) -> f64 {
        let pose = kernels::Pose {
            turn: DMat3::from_quat(self.rotation),
            center: self.center,
            velocity: self.led.unwrap_or_else(|| self.momentum / body.mass()),
            spin: self.spin,
        };
        kernels::place(&pose, &self.start(&body.masses, [DMat3::ZERO; 3]), x, v)
    }

    /// The arrays for a pass.
    pub(crate) fn start<'a>(&'a self, masses: &'a [f64], inertial: [DMat3; 3]) -> kernels::Start<'a> {
        let (reference, displacement, rate) = (&self.reference[..], &self.displacement[..], &self.rate[..]);
        kernels::Start { masses, reference, displacement, rate, inertial }
    }

    /// Between two states of one step.
    pub fn between(&self, later: &Self, s: f64) -> Self {
        let mut out = later.clone();
        out.center = self.center.lerp(later.center, s);
        out.rotation = self.rotation.slerp(later.rotation, s);
        out.momentum = self.momentum.lerp(later.momentum, s);
        out.spin = self.spin.lerp(later.spin, s);
        out.led = later.led.map(|velocity| self.led.map_or(velocity, |from| from.lerp(velocity, s)));
        for k in 0..out.displacement.len() {
            // r may have flown in between: what is seen is r + e.
            let from = self.reference[k] - later.reference[k] + self.displacement[k];
            out.displacement[k] = from + s * (later.displacement[k] - from);
            out.rate[k] = self.rate[k] + s * (later.rate[k] - self.rate[k]);
        }
        out
    }

    /// The numbers that change, nodes apart.
    pub fn numbers(&self) -> [f64; 19] {
        let (c, q, p, l) = (self.center, self.rotation, self.momentum, self.angular_momentum);
        let (s, d) = (self.spin, self.spin_change);
        [c.x, c.y, c.z, q.x, q.y, q.z, q.w, p.x, p.y, p.z, l.x, l.y, l.z, s.x, s.y, s.z, d.x, d.y, d.z]
    }
}

/// Whether the hard pins of a body tell where a rigid body would be: three nodes that are not in a line; in a planar world,
/// and of a straight curve, two.
pub fn leads(body: &Body, reference: &[f64], planar: bool) -> bool {
    let n = body.len();
    let hard = body.pins.iter().filter(|p| p.stiffness.is_none());
    let mut held = hard.flat_map(|p| &p.nodes).map(|&i| get(reference, n, i as usize));
    let Some(first) = held.next() else { return false };
    let further = |a: DVec3, b: DVec3| if b.length_squared() > a.length_squared() { b } else { a };
    let along = held.clone().map(|r| r - first).fold(DVec3::ZERO, further);
    // Nearer than this to each other, or to a line, pins say nothing about a turn.
    let least = 1e-4 * body.extent();
    let axis = along.normalize_or_zero();
    along.length() > least
        && (planar
            || held.any(|r| axis.cross(r - first).length() > least)
            || loose_axis(&body.masses, |i| get(reference, n, i)).is_some())
}

/// Vector of a node in planes.
#[inline(always)]
pub(crate) fn get(planes: &[f64], n: usize, i: usize) -> DVec3 {
    DVec3::new(planes[i], planes[n + i], planes[2 * n + i])
}

/// Sets it.
#[inline(always)]
pub(crate) fn put(planes: &mut [f64], n: usize, i: usize, value: DVec3) {
    (planes[i], planes[n + i], planes[2 * n + i]) = (value.x, value.y, value.z);
}

/// a aᵀ
pub(crate) fn outer(a: DVec3) -> DMat3 {
    DMat3::from_cols(a * a.x, a * a.y, a * a.z)
}

/// [a]×
pub(crate) fn cross(a: DVec3) -> DMat3 {
    DMat3::from_cols(a.cross(DVec3::X), a.cross(DVec3::Y), a.cross(DVec3::Z))
}

/// Inertia from Σμ of xx, yy, zz, yz, zx, xy.
pub(crate) fn inertia([xx, yy, zz, yz, zx, xy]: [f64; 6]) -> DMat3 {
    DMat3::from_cols(DVec3::new(yy + zz, -xy, -zx), DVec3::new(-xy, xx + zz, -yz), DVec3::new(-zx, -yz, xx + yy))
}

/// The axis of a shape without inertia about it.
fn loose_axis(masses: &[f64], shape: impl Fn(usize) -> DVec3) -> Option<DVec3> {
    let all = || (0..masses.len()).map(&shape);
    let longest = all().fold(DVec3::ZERO, |a, b| if b.length() > a.length() { b } else { a });
    let axis = longest.normalize_or_zero();
    let (mut about, mut across) = (0.0, 0.0);
    for (m, r) in masses.iter().zip(all()) {
        about += m * axis.cross(r).length_squared();
        across += m * r.length_squared();
    }
    (about <= 1e-9 * across).then_some(axis)
}

/// Centre of the nodes, the rotation R with Σμ r×Rᵀ(x - c) = 0 nearest to a guess, and the centre of
/// the rest shape.
pub fn fit(
    masses: &[f64],
    rest: impl Fn(usize) -> DVec3,
    x: impl Fn(usize) -> DVec3,
    guess: DQuat,
) -> (DVec3, DQuat, DVec3) {
    let (n, mass) = (masses.len(), masses.iter().sum::<f64>());
    let center = (0..n).map(|i| masses[i] * x(i)).sum::<DVec3>() / mass;
    let middle = (0..n).map(|i| masses[i] * rest(i)).sum::<DVec3>() / mass;
    let mut moment = DMat3::ZERO;
    for i in 0..n {
        let (q, r) = (x(i) - center, masses[i] * (rest(i) - middle));
        moment += DMat3::from_cols(q * r.x, q * r.y, q * r.z);
    }
    // Columns of A = Σμ q rᵀ are where R's axes want to go: turn until their torques cancel.
    let mut rotation = guess;
    for _ in 0..200 {
        let r = DMat3::from_quat(rotation);
        let torque = r.x_axis.cross(moment.x_axis) + r.y_axis.cross(moment.y_axis) + r.z_axis.cross(moment.z_axis);
        // The Hessian of the fit: tr(S) - S with S = A Rᵀ, symmetric part.
        let s = moment * r.transpose();
        let s = (s + s.transpose()) * 0.5;
        let trace = s.x_axis.x + s.y_axis.y + s.z_axis.z;
        let size = moment.x_axis.length() + moment.y_axis.length() + moment.z_axis.length();
        if torque.length() <= 1e-15 * size || size == 0.0 {
            break;
        }
        let hessian = DMat3::from_diagonal(DVec3::splat(trace)) - s;
        let newton = (hessian + DMat3::from_diagonal(DVec3::splat(1e-12 * size))).inverse() * torque;
        let gradient = torque / size;
        let good = newton.is_finite() && newton.length() < 0.5 && newton.dot(torque) > 0.0;
        let by = if good { newton } else { gradient };
        rotation = (DQuat::from_scaled_axis(by) * rotation).normalize();
        if by.length() < 1e-16 {
            break;
        }
    }
    (center, rotation, middle)
}
