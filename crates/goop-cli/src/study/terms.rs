//! T6: "the centrifugal term may be neglected unless angular velocities are large, the
//! Coriolis term unless ė is". The transverse term is there for comparison: without it the
//! angular momentum is wrong.

use super::{Found, Line, Plot, play, short};
use glam::DVec3;
use goop::model::Terms;
use goop::{Axes, Body, Material, Model, Shape, World};

/// A soft spinning slab with each term left out in turn.
pub fn study() -> Result<Found, String> {
    let full = Terms::default();
    let without = [
        ("centrifugal", Terms { centrifugal: false, ..full }),
        ("coriolis", Terms { coriolis: false, ..full }),
        ("transverse", Terms { transverse: false, ..full }),
        ("translational", Terms { translational: false, ..full }),
    ];
    let columns = ["spin (rad/s)", "without", "furthest node off (m)", "drift of angular momentum", "end"];
    let mut found = Found {
        title: "T6: a soft spinning slab (1e5 Pa, 0.3 m) with one inertial term left out, 1 s".into(),
        notes: vec![
            "Off: distance from the run with all terms. Drift: of the angular momentum that the nodes have, relative to its start.".into(),
        ],
        columns: columns.map(str::to_owned).to_vec(),
        rows: Vec::new(),
        plots: Vec::new(),
    };
    let mut lines: Vec<Line> =
        without.iter().map(|(name, _)| Line { label: format!("without {name}"), points: Vec::new() }).collect();
    for spin in [0.3, 1.0, 3.0, 10.0, 30.0] {
        let mut whole = slab(full, spin)?;
        play(&mut whole, 1.0)?;
        for (k, (name, terms)) in without.into_iter().enumerate() {
            let mut world = slab(terms, spin)?;
            let start = world.row(0).angular_momentum;
            let end = play(&mut world, 1.0).err().unwrap_or("done".into());
            let (x, y) = (&world.state().bodies[0].positions, &whole.state().bodies[0].positions);
            let off = x.iter().zip(y).map(|(x, y)| x.distance(*y)).fold(0.0, f64::max);
            let arm = |w: &World| {
                let row = w.row(0);
                let body = &w.model().bodies[0];
                let x = &w.state().bodies[0].positions;
                let center = x.iter().zip(&body.masses).map(|(&x, &m)| m * x).sum::<DVec3>() / body.mass();
                row.angular_momentum - center.cross(row.momentum)
            };
            let drift = (arm(&world) - start).length() / start.length();
            lines[k].points.push((spin, off));
            found.rows.push(vec![short(spin), name.into(), short(off), short(drift), end]);
        }
    }
    let title = "How far off without a term".to_owned();
    found.plots.push(Plot { title, across: "spin (rad/s)".into(), up: "m".into(), lines, linear: false });
    Ok(found)
}

fn slab(terms: Terms, spin: f64) -> Result<World, String> {
    let shape = Shape::block(DVec3::new(0.3, 0.06, 0.2), [7, 3, 5]).map_err(|e| e.to_string())?;
    let card = Material { young: 1e5, damping: 0.0, ..Material::default() };
    let mut body = Body::new("slab", shape, card, Axes::HYBRID);
    body.terms = terms;
    body.start.spin = DVec3::new(0.3, 0.2, 1.0).normalize() * spin;
    let mut model = Model { bodies: vec![body], ..Model::default() };
    model.step.adaptive = false;
    Ok(World::new(model))
}
