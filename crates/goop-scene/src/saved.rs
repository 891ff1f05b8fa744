//! A body as it was at one instant, to be the rest shape of another scene.
//!
//! ```text
//! { "goop-shape": 1, "name": "hoop", "center": [0, 0.2, 0],
//!   "grid": { "counts": [96, 1, 1], "periodic": [true, false, false], "down": false },
//!   "positions": [[x, y, z], …] }
//! ```
//! Positions (m) are relative to `center`, the mean of the nodes where the body was;
//! `position` in a scene puts it there again. A grid whose points share nodes (poles)
//! has `nodes`, the node of every point; a mesh has `triangles` instead of a grid. What
//! was torn is whole again: a shape is a rest shape and knows no broken edges.

use glam::DVec3;
use goop::shape::{Grid, Layout, MOST_NODES, Shape};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Version of the file.
const VERSION: u32 = 1;
/// Largest file that is read (bytes).
const MOST_BYTES: u64 = 2 << 30;

/// The file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SavedShape {
    /// Version of the file; 1.
    pub goop_shape: u32,
    /// Body it was.
    pub name: String,
    /// Mean of the nodes, in the world (m).
    pub center: [f64; 3],
    /// The grid; none for a mesh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<SavedGrid>,
    /// Triangles of a mesh.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triangles: Vec<[u32; 3]>,
    /// Tetrahedra of a solid without a grid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tetrahedra: Vec<[u32; 4]>,
    /// Pairs that springs join, where they are not the edges of the tetrahedra.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<[u32; 2]>,
    /// Texture coordinates of a mesh that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texture: Option<Vec<[f64; 2]>>,
    /// Named nodes of a mesh.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, Vec<u32>>,
    /// Nodes relative to the centre (m).
    #[serde(default)]
    pub positions: Vec<[f32; 3]>,
}

/// How nodes are joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SavedGrid {
    /// Points along each axis; 1 along those that are not there.
    pub counts: [usize; 3],
    /// Axes that close on themselves.
    pub periodic: [bool; 3],
    /// Triangles of a surface face the other way.
    pub down: bool,
    /// Node of every point, unless point i is node i.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<u32>>,
}

impl SavedShape {
    /// How a shape is joined, without positions.
    pub fn of(name: &str, shape: &Shape) -> Self {
        let grid = shape.grid().map(|grid| SavedGrid {
            counts: grid.counts,
            periodic: grid.periodic,
            down: shape.faces_down(),
            nodes: (!(0..).zip(&grid.node).all(|(i, &node)| i == node)).then(|| grid.node.clone()),
        });
        let mesh = matches!(shape.layout, Layout::Mesh);
        let given = shape.material_coordinates.iter().any(|u| u.x != 0.0 || u.y != 0.0);
        Self {
            goop_shape: VERSION,
            name: name.to_owned(),
            center: [0.0; 3],
            grid,
            triangles: if mesh { shape.triangles.clone() } else { Vec::new() },
            tetrahedra: shape.tetrahedra().map_or_else(Vec::new, |t| t.cells.clone()),
            links: shape.tetrahedra().map_or_else(Vec::new, |t| t.links.clone()),
            texture: (mesh && given).then(|| shape.material_coordinates.iter().map(|u| [u.x, u.y]).collect()),
            groups: shape.groups.clone(),
            positions: Vec::new(),
        }
    }

    /// The same with nodes at these places in the world (m).
    pub fn at(mut self, positions: &[[f32; 3]]) -> Self {
        let place = |p: &[f32; 3]| DVec3::from_array(p.map(f64::from));
        let center = positions.iter().map(place).sum::<DVec3>() / positions.len().max(1) as f64;
        self.center = center.to_array();
        self.positions = positions.iter().map(|p| (place(p) - center).as_vec3().to_array()).collect();
        self
    }

    /// Reads a file; the sentence says what is wrong with it.
    pub fn read(path: &Path) -> Result<Self, String> {
        let saved: Self = serde_json::from_slice(&bytes(path)?)
            .map_err(|fault| format!("{} is not a saved shape ({fault})", path.display()))?;
        match saved.goop_shape {
            VERSION => Ok(saved),
            other => Err(format!("{} has version {other}, and this goop reads {VERSION}", path.display())),
        }
    }

    /// Reads the shapes of all bodies that a run keeps beside its cache.
    pub fn read_all(path: &Path) -> Result<Vec<Self>, String> {
        serde_json::from_slice(&bytes(path)?).map_err(|fault| format!("{} lists no shapes ({fault})", path.display()))
    }

    /// The rest shape.
    pub fn shape(self) -> Result<Shape, String> {
        let positions: Vec<DVec3> = self.positions.iter().map(|p| DVec3::from_array(p.map(f64::from))).collect();
        let texture = self.texture.map(|list| list.iter().map(|[u, v]| DVec3::new(*u, *v, 0.0)).collect());
        match self.grid {
            None if !self.tetrahedra.is_empty() => {
                Shape::from_tetrahedra(positions, self.tetrahedra, self.links, self.groups)
            }
            None => Shape::from_triangles(positions, self.triangles, texture, self.groups),
            Some(grid) => {
                let points = grid.counts.iter().fold(1usize, |product, &count| product.saturating_mul(count));
                let node = grid.nodes.unwrap_or_else(|| (0..points.min(MOST_NODES) as u32).collect());
                Shape::from_grid(Grid { counts: grid.counts, periodic: grid.periodic, node }, positions, grid.down)
            }
        }
        .map_err(|error| error.to_string())
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let wrong = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
    let file = std::fs::File::open(path).map_err(wrong)?;
    let about = file.metadata().map_err(wrong)?;
    if !about.is_file() || about.len() > MOST_BYTES {
        return Err(format!("{} is not a file of at most {} GiB", path.display(), MOST_BYTES >> 30));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(wrong)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(shape: &Shape) -> Shape {
        let positions: Vec<[f32; 3]> = shape.rest_positions.iter().map(|p| p.as_vec3().to_array()).collect();
        let text = serde_json::to_string(&SavedShape::of("body", shape).at(&positions)).unwrap();
        serde_json::from_str::<SavedShape>(&text).unwrap().shape().unwrap()
    }

    /// Catches a grid, pole, group or direction that is lost on the way through the file.
    #[test]
    fn a_shape_comes_back_as_the_same_kind() {
        let groups = BTreeMap::from([("tip".to_owned(), vec![3])]);
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        for shape in [
            Shape::hoop(1.0, 7).unwrap(),
            Shape::disc(1.0, [6, 4]).unwrap(),
            Shape::sphere(1.0, [8, 5]).unwrap(),
            Shape::ball(1.0, [4, 4, 4]).unwrap(),
            Shape::from_triangles(corners, triangles, None, groups).unwrap(),
        ] {
            let back = round(&shape);
            let count = shape.len() as f64;
            let center = shape.rest_positions.iter().sum::<DVec3>() / count;
            for (p, q) in back.rest_positions.iter().zip(&shape.rest_positions) {
                assert!((*p + center).distance(*q) < 1e-6);
            }
            assert_eq!(Shape { rest_positions: shape.rest_positions.clone(), ..back }, shape);
        }
    }

    /// Catches a file of something else that is taken, or that takes the program down.
    #[test]
    fn files_that_are_no_shapes_are_refused_with_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let huge = r#"{"goop-shape":1,"name":"x","center":[0,0,0],"grid":{"counts":[99999999,99999999,1],"periodic":[false,false,false],"down":false},"positions":[]}"#;
        let two = r#"{"goop-shape":2,"name":"x","center":[0,0,0],"positions":[]}"#;
        let empty = r#"{"goop-shape":1,"name":"x","center":[0,0,0],"positions":[]}"#;
        for (text, word) in [
            ("", "not a saved shape"),
            ("[1]", "not a saved"),
            (two, "version 2"),
            (huge, "too many"),
            (empty, "no triangle"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = SavedShape::read(&path).and_then(SavedShape::shape).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
        assert!(SavedShape::read(folder.path()).is_err());
    }
}
