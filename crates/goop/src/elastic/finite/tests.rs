//! Derivatives, invariances and definiteness of the elements.

use super::*;
use crate::lanes::eight::Both;
use crate::material::Material;
use glam::{DMat3, DQuat};
use std::collections::BTreeMap;

const CARD: Material = Material {
    density: 1000.0,
    young: 3.0e4,
    poisson: 0.4,
    thickness: 1e-3,
    radius: 1e-3,
    damping: 0.1,
    drag: 0.0,
    friction: 0.0,
    restitution: 0.0,
    yield_strain: f64::INFINITY,
    flow: 0.0,
    flow_limit: f64::INFINITY,
    tear: f64::INFINITY,
};

struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

/// Tetrahedra, a block, a ball with curved cells; moduli that vary.
fn solids() -> Vec<(&'static str, Shape)> {
    let mut random = Random(3);
    let corners = (0..8).map(|c| {
        let corner = DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2) as f64);
        0.2 * corner + 0.05 * random.vector()
    });
    let cells = vec![[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];
    let tetrahedra = Shape::from_tetrahedra(corners.collect(), cells, Vec::new(), BTreeMap::new()).unwrap();
    let block = Shape::block(DVec3::new(0.3, 0.2, 0.1), [3, 2, 2]).unwrap();
    vec![("tetrahedra", tetrahedra), ("block", block), ("ball", Shape::ball(0.2, [3, 3, 3]).unwrap())]
}

fn made(shape: &Shape) -> Finite {
    let mut material = MaterialField::uniform(CARD);
    material.young.set(&[1, 3], 5.0e4, shape.len());
    Finite::new(shape, &material)
}

/// Moved nodes: a little, much, and so much that cells are inside out.
fn bent(shape: &Shape, height: f64, seed: u64) -> Vec<DVec3> {
    let mut random = Random(seed);
    shape.rest_positions.iter().map(|&r| r + height * random.vector()).collect()
}

fn dense(finite: &Finite, x: &[DVec3], weights: Weights, exact: bool) -> Vec<Vec<f64>> {
    let n = x.len();
    let mut matrix = finite.structure();
    finite.stiffness(&[], x, weights, exact, &mut matrix);
    let mut out = vec![vec![0.0; 3 * n]; 3 * n];
    for row in 0..n {
        for (column, block) in matrix.row(row) {
            for r in 0..3 {
                for c in 0..3 {
                    let value = block.col(c)[r];
                    out[3 * row + r][3 * column + c] = value;
                    out[3 * column + c][3 * row + r] = value;
                }
            }
        }
    }
    out
}

fn forces(finite: &Finite, x: &[DVec3], v: &[DVec3]) -> (f64, Vec<DVec3>, Vec<DVec3>) {
    let mut f = vec![DVec3::ZERO; x.len()];
    let mut g = f.clone();
    let energy = finite.forces(&[], x, v, &mut f, &mut g);
    (energy, f, g)
}

const ELASTIC: Weights = Weights { position: 1.0, velocity: 0.0 };

/// Catches a force that is not the gradient of the energy, and a stiffness that is not its
/// second derivative, near rest and far from it.
#[test]
fn forces_and_stiffness_agree_with_differences() {
    for (name, shape) in solids() {
        let finite = made(&shape);
        for height in [0.02, 0.1, 0.4] {
            let mut x = bent(&shape, height, 11);
            let v = vec![DVec3::ZERO; x.len()];
            let (_, f, _) = forces(&finite, &x, &v);
            let k = dense(&finite, &x, ELASTIC, true);
            let scale = f.iter().map(|f| f.length()).fold(0.0, f64::max);
            let stiff = k.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
            let h = 1e-6;
            for node in 0..shape.len() {
                for axis in 0..3 {
                    let start = x[node][axis];
                    x[node][axis] = start + h;
                    let (up, f_up, _) = forces(&finite, &x, &v);
                    x[node][axis] = start - h;
                    let (down, f_down, _) = forces(&finite, &x, &v);
                    x[node][axis] = start;
                    let slope = -(up - down) / (2.0 * h);
                    assert!((slope - f[node][axis]).abs() < 1e-6 * scale, "{name} {height}: {slope} {}", f[node][axis]);
                    for other in 0..shape.len() {
                        for c in 0..3 {
                            let found = -(f_up[other][c] - f_down[other][c]) / (2.0 * h);
                            let given = k[3 * other + c][3 * node + axis];
                            assert!((found - given).abs() < 1e-6 * stiff, "{name} {height}: {found} {given}");
                        }
                    }
                }
            }
        }
    }
}

/// Catches damping that is not the derivative of its force, is not symmetric or drives.
#[test]
fn damping_agrees_with_differences_and_dissipates() {
    for (name, shape) in solids() {
        let finite = made(&shape);
        let x = bent(&shape, 0.1, 5);
        let d = dense(&finite, &x, Weights { position: 0.0, velocity: 1.0 }, false);
        let v = bent(&shape, 1.0, 6);
        let (_, _, g) = forces(&finite, &x, &v);
        let scale = g.iter().map(|g| g.length()).fold(0.0, f64::max);
        for row in 0..3 * x.len() {
            let sum: f64 = (0..3 * x.len()).map(|c| d[row][c] * v[c / 3][c % 3]).sum();
            assert!((sum + g[row / 3][row % 3]).abs() < 1e-12 * scale, "{name}");
        }
        assert!(g.iter().zip(&v).map(|(g, v)| g.dot(*v)).sum::<f64>() < 0.0, "{name}");
    }
}

/// Catches a projection that leaves a negative direction, and one that bends a stiffness that
/// needed none. Of hexahedra the second holds at rest: their hourglass terms are clamped by form.
#[test]
fn the_clamped_stiffness_is_positive_and_exact_where_it_can_be() {
    for (name, shape) in solids() {
        let finite = made(&shape);
        for height in [0.0, 0.05, 0.2, 0.6] {
            let x = bent(&shape, height, 17);
            let k = dense(&finite, &x, ELASTIC, false);
            let top = k.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
            let least = smallest(k.clone(), 1e-9 * top);
            assert!(least > -1e-9 * top, "{name} {height}: {least:e} of {top:e}");
            if height == 0.0 {
                let exact = dense(&finite, &x, ELASTIC, true);
                let off = k.iter().flatten().zip(exact.iter().flatten()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
                assert!(off < 1e-9 * top, "{name}: {off:e}");
            }
        }
        if name == "tetrahedra" {
            // Pulled a little in all directions every mode has a positive stiffness.
            let x: Vec<DVec3> = shape.rest_positions.iter().map(|&r| 1.02 * r).collect();
            let (k, exact) = (dense(&finite, &x, ELASTIC, false), dense(&finite, &x, ELASTIC, true));
            let top = k.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
            assert!(smallest(exact.clone(), 1e-9 * top) > -1e-9 * top);
            assert!(k.iter().flatten().zip(exact.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-9 * top));
        }
    }
}

/// Bound on the smallest eigenvalue: -shift where A + shift is positive definite.
fn smallest(mut a: Vec<Vec<f64>>, shift: f64) -> f64 {
    let n = a.len();
    for k in 0..n {
        a[k][k] += shift;
    }
    for k in 0..n {
        if a[k][k] <= 0.0 {
            return a[k][k] - 10.0 * shift;
        }
        for i in k + 1..n {
            let by = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= by * a[k][j];
            }
        }
    }
    -shift * 0.5
}

/// Catches energy or force at rest, and rigid motion that strains or is braked.
#[test]
fn rigid_motion_costs_nothing() {
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 2.1);
    let spin = DVec3::new(3.0, -1.0, 2.0);
    for (name, shape) in solids() {
        let finite = made(&shape);
        let x: Vec<DVec3> = shape.rest_positions.iter().map(|&r| turn * r + DVec3::new(5.0, -3.0, 1.0)).collect();
        let v: Vec<DVec3> = x.iter().map(|&x| spin.cross(x) + DVec3::ONE).collect();
        let (energy, f, g) = forces(&finite, &x, &v);
        let scale = CARD.young * 0.04;
        assert!(energy.abs() < 1e-12 * scale, "{name}: {energy:e}");
        assert!(f.iter().all(|f| f.length() < 1e-12 * scale), "{name}");
        assert!(g.iter().all(|g| g.length() < 1e-11 * scale), "{name}: {:e}", g[0].length());
        assert!(finite.deformation(&[], &x).worst < 1e-12);
        // Deformed and turned, energies are the same.
        let bent = bent(&shape, 0.1, 9);
        let turned: Vec<DVec3> = bent.iter().map(|&x| turn * x).collect();
        let still = vec![DVec3::ZERO; x.len()];
        let (a, b) = (forces(&finite, &bent, &still), forces(&finite, &turned, &still));
        assert!((a.0 - b.0).abs() < 1e-12 * a.0, "{name}");
        // Momentum and angular momentum are not changed.
        let v = self::bent(&shape, 1.0, 4);
        let (_, f, g) = forces(&finite, &bent, &v);
        for f in [f, g] {
            let whole: f64 = f.iter().map(|f| f.length()).sum();
            assert!(f.iter().sum::<DVec3>().length() < 1e-13 * whole, "{name}");
            let torque: DVec3 = f.iter().zip(&bent).map(|(f, x)| x.cross(*f)).sum();
            assert!(torque.length() < 1e-13 * whole, "{name}: {:e}", torque.length() / whole);
        }
    }
}

/// Catches constants that are not the card's: the energy of uniform small strain, of any kind, on
/// every kind of cell (the patch test), and equal stress everywhere.
#[test]
fn uniform_strain_has_the_cards_energy_and_inner_nodes_feel_nothing() {
    let mut random = Random(21);
    for (name, shape) in solids() {
        let finite = Finite::new(&shape, &CARD.into());
        let e = 1e-5;
        let a = DMat3::from_cols(random.vector(), random.vector(), random.vector()) * e;
        let x: Vec<DVec3> = shape.rest_positions.iter().map(|&r| r + a * r).collect();
        let (energy, f, _) = forces(&finite, &x, &vec![DVec3::ZERO; x.len()]);
        let strain = (a + a.transpose()) * 0.5;
        let columns = [strain.x_axis, strain.y_axis, strain.z_axis];
        let trace = strain.x_axis.x + strain.y_axis.y + strain.z_axis.z;
        let square: f64 = columns.iter().map(|c| c.length_squared()).sum();
        let mu = CARD.young / (2.0 * (1.0 + CARD.poisson));
        let lambda = CARD.young * CARD.poisson / ((1.0 + CARD.poisson) * (1.0 - 2.0 * CARD.poisson));
        let volume = shape.enclosed_volume(&shape.rest_positions);
        let exact = (mu * square + 0.5 * lambda * trace * trace) * volume;
        let slack = if name == "ball" { 0.02 } else { 1e-4 };
        assert!((energy / exact - 1.0).abs() < slack, "{name}: {energy:e} {exact:e}");
        let surface = shape.boundary_nodes();
        let scale = f.iter().map(|f| f.length()).fold(0.0, f64::max);
        for node in (0..x.len()).filter(|&n| surface.binary_search(&(n as u32)).is_err()) {
            assert!(f[node].length() < 1e-9 * scale, "{name}");
        }
    }
}

/// Catches vector code that rounds otherwise than plain code, and chunks that lose a cell.
#[test]
fn chunks_and_registers_change_nothing() {
    let shape = Shape::block(DVec3::new(0.5, 0.3, 0.2), [25, 15, 12]).unwrap();
    let finite = made(&shape);
    assert!(finite.chunks.count() > 1);
    let x = bent(&shape, 0.01, 2);
    let v = bent(&shape, 1.0, 3);
    let (energy, f, g) = forces(&finite, &x, &v);
    let mut plain = (vec![DVec3::ZERO; x.len()], vec![DVec3::ZERO; x.len()], 0.0);
    let (e_all, d_all) = (Disjoint::new(&mut plain.0), Disjoint::new(&mut plain.1));
    let [sum] = finite.rooms.sum([&x, &v, &[]], |c, range, moving| {
        // SAFETY: chunks are disjoint.
        let (e, d) = unsafe { (e_all.slice(range.clone()), d_all.slice(range.clone())) };
        finite.rooms.with(c, [e, d], |[elastic, damping]| {
            let mut out = Out { first: range.start, elastic, damping };
            let [energy, _] = finite.hexahedra.forces_plain(c, moving, &mut out);
            [energy]
        })
    });
    plain.2 = sum;
    assert_eq!(energy.to_bits(), plain.2.to_bits());
    assert!(f == plain.0 && g == plain.1);
    assert!(f.iter().sum::<DVec3>().length() < 1e-9 * f.iter().map(|f| f.length()).sum::<f64>());
    let k = {
        let mut matrix = finite.structure();
        finite.stiffness(&[], &x, Weights { position: 1.0, velocity: 0.0 }, true, &mut matrix);
        matrix
    };
    // K times a small motion is the change of force.
    let motion = bent(&shape, 1.0, 8);
    let mut image = vec![DVec3::ZERO; x.len()];
    k.product(&vec![true; x.len()], &motion, &mut image);
    let h = 1e-7;
    let moved = |s: f64| x.iter().zip(&motion).map(|(x, m)| *x + s * *m).collect::<Vec<_>>();
    let (up, down) = (forces(&finite, &moved(h), &v).1, forces(&finite, &moved(-h), &v).1);
    let scale = image.iter().map(|f| f.length()).fold(0.0, f64::max);
    for i in 0..x.len() {
        assert!(((down[i] - up[i]) / (2.0 * h) - image[i]).length() < 1e-5 * scale);
    }
}

/// Catches single precision that loses more than it must, diagonals that do not balance their rows, blocks of the
/// wrong lane or chunk, and bytes that depend on the processor. The body is so long that it has several chunks.
#[test]
fn the_rough_stiffness_is_the_clamped_one_to_six_digits() {
    let block = Shape::block(DVec3::new(4.0, 0.2, 0.2), [1000, 3, 3]).unwrap();
    let Layout::Grid(grid) = &block.layout else { panic!("a grid") };
    let cells: Vec<[u32; 4]> = (grid.cells())
        .flat_map(|c| {
            [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]]
                .map(|t| t.map(|k| c[k]))
        })
        .collect();
    let shape = Shape::from_tetrahedra(block.rest_positions.clone(), cells, Vec::new(), BTreeMap::new()).unwrap();
    let finite = made(&shape);
    assert!(finite.chunks.count() > 1);
    let mut random = Random(5);
    let x: Vec<DVec3> = shape.rest_positions.iter().map(|&r| r + 0.0015 * random.vector()).collect();
    let before: Vec<DVec3> = x.iter().map(|&x| x + 0.0015 * random.vector()).collect();
    let weights = Weights { position: 1e-4, velocity: 1e-2 };
    let (mut clamped, mut rough) = (finite.structure(), finite.structure());
    finite.stiffness_under_tension(&[], &x, &before, weights, false, &mut clamped);
    rough.clear_for(true, false);
    finite.stiffness_under_tension(&[], &x, &before, weights, false, &mut rough);
    let (top, mut off) = (clamped.diagonal(4000).x_axis.x, 0.0f64);
    for row in 0..shape.len() {
        for ((i, a), (j, b)) in clamped.row(row).zip(rough.row(row)) {
            assert_eq!(i, j);
            off = off.max((a - b).to_cols_array().iter().fold(0.0, |m: f64, v| m.max(v.abs())));
        }
    }
    assert!(off < 1e-5 * top && off > 0.0, "{off:e} of {top:e}");
    // A shift of the whole body meets no force.
    let (shift, mut force) = (vec![DVec3::ONE; shape.len()], vec![DVec3::ZERO; shape.len()]);
    rough.product(&vec![true; shape.len()], &shift, &mut force);
    assert!(force.iter().all(|f| f.length() < 1e-13 * top), "the rows do not balance");

    let mut plain = finite.structure();
    plain.clear_for(true, false);
    let (rows, own) = (plain.singles_mut(), finite.rough.get().unwrap());
    let places: Vec<Both> = x.iter().zip(&before).map(|(&x, &before)| Both::new(x, before)).collect();
    for c in 0..finite.chunks.count() {
        // SAFETY: one after the other.
        let mut rows = unsafe { rows.chunk(c) };
        own.assemble_plain(c, &places, weights, &mut rows);
        rows.close();
    }
    for row in 0..shape.len() {
        assert!(plain.row(row).eq(rough.row(row)), "{row}");
    }
}
