//! T5: for a very stretchy sheet the hybrid result is unrealistic, primal is the better choice.

use super::{Found, Line, Plot, short};
use goop::material::{MaterialField, Weights};
use goop::{Axes, Body, Material, Model, Shape, World};

/// Sag of a sheet held at its corners, from soft to stiff: primal, hybrid by card, hybrid by
/// published weights.
pub fn study() -> Result<Found, String> {
    let columns = [
        "young (Pa)",
        "primal sag (m)",
        "hybrid sag, card (m)",
        "hybrid sag, published (m)",
        "primal stretch",
        "published / primal",
    ];
    let mut found = Found {
        title: "T5: a sheet of 1 m, 2 mm thick, held at four corners".into(),
        notes: vec![
            "Sag of the middle at rest. The card form has no stiffness across a flat sheet but bending, and sinks without limit where a real sheet hangs by its tension; the published form resists the first millimetre like a tension Eh.".into(),
        ],
        columns: columns.map(str::to_owned).to_vec(),
        rows: Vec::new(),
        plots: Vec::new(),
    };
    let labels = ["primal", "hybrid, card", "hybrid, published weights"];
    let mut lines = labels.map(|label| Line { label: label.into(), points: Vec::new() });
    for decade in [4, 5, 6, 7, 8, 9] {
        let young = 10f64.powi(decade);
        let card = Material { young, poisson: 0.3, thickness: 2e-3, ..Material::default() };
        let mut published = MaterialField::uniform(card);
        let stretch = young * card.thickness;
        published.weights = Some(Weights { first: [stretch, stretch, 0.0], ..Weights::default() });
        let (primal, strain) = sag(card.into(), Axes::PRIMAL)?;
        let (by_card, _) = sag(card.into(), Axes::HYBRID)?;
        let (by_weights, _) = sag(published, Axes::HYBRID)?;
        for (line, value) in lines.iter_mut().zip([primal, by_card, by_weights]) {
            line.points.push((young, value));
        }
        found.rows.push(vec![
            format!("{young:.0e}"),
            short(primal),
            short(by_card),
            short(by_weights),
            short(strain),
            short(by_weights / primal),
        ]);
    }
    let title = "Sag of the middle".to_owned();
    found.plots.push(Plot { title, across: "young (Pa)".into(), up: "m".into(), lines: lines.into(), linear: false });
    Ok(found)
}

fn sag(material: MaterialField, axes: Axes) -> Result<(f64, f64), String> {
    let shape = Shape::rectangle([1.0, 1.0], [17, 17]).map_err(|e| e.to_string())?;
    let (corners, middle) = (shape.corners(), shape.center_node() as usize);
    let body = Body::new("sheet", shape, material, axes).pin(&corners);
    let mut world = World::new(Model { bodies: vec![body], ..Model::default() });
    world.settle().map_err(|failure| failure.to_string())?;
    Ok((-world.state().bodies[0].positions[middle].y, world.row(0).worst_stretch))
}
