//! The drawn mesh of a shape: its nodes, with material coordinates as texture coordinates.
//!
//! Along an axis that wraps, the triangles between the last nodes and the first take
//! coordinates beyond 1 at the first, so that a texture does not run back over them.

use super::RestMesh;
use goop::shape::{Dimension, Layout, Shape};
use std::collections::HashMap;

impl RestMesh {
    /// What is drawn of a shape whose curves have this radius (m). Surfaces have texture
    /// coordinates, unless they are meshes that came without.
    pub fn of_shape(name: &str, shape: &Shape, radius: f64) -> RestMesh {
        let mut mesh = RestMesh {
            name: name.into(),
            positions: shape.rest_positions.iter().map(|position| position.as_vec3().to_array()).collect(),
            triangles: shape.triangles.clone(),
            segments: shape.segments.clone(),
            radius: radius as f32,
            ..RestMesh::default()
        };
        let coordinates = &shape.material_coordinates;
        let given = coordinates.len() == mesh.positions.len() && coordinates.iter().any(|u| u.x != 0.0 || u.y != 0.0);
        if shape.dimension == Dimension::Surface && given {
            mesh.uvs = coordinates.iter().map(|u| [u.x as f32, u.y as f32]).collect();
            if let Layout::Grid(grid) = &shape.layout {
                mesh.unwrap([grid.periodic[0], grid.periodic[1]]);
            }
        }
        mesh
    }

    /// Gives triangles across a seam texture coordinates of their own.
    fn unwrap(&mut self, periodic: [bool; 2]) {
        let mut further = HashMap::new();
        let mut corners = self.triangles.clone();
        for triangle in &mut corners {
            let uvs = triangle.map(|vertex| self.uvs[vertex as usize]);
            let wraps = [0, 1].map(|axis| {
                let along = uvs.map(|uv| uv[axis]);
                let (least, most) =
                    (along.iter().copied().fold(1.0, f32::min), along.iter().copied().fold(0.0, f32::max));
                periodic[axis] && most - least > 0.5
            });
            for (corner, uv) in triangle.iter_mut().zip(uvs) {
                let beyond = [0, 1].map(|axis| wraps[axis] && uv[axis] < 0.5);
                if beyond != [false; 2] {
                    *corner = *further.entry((*corner, beyond)).or_insert_with(|| {
                        self.uvs.push([0, 1].map(|axis| uv[axis] + f32::from(u8::from(beyond[axis]))));
                        self.uvs.len() as u32 - 1
                    });
                }
            }
        }
        if !further.is_empty() {
            self.triangle_uvs = corners;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a texture that runs backwards over the seam of a tube.
    #[test]
    fn no_triangle_of_a_closed_surface_spans_half_the_texture() {
        for shape in [Shape::cylinder(0.5, 1.0, [8, 4]).unwrap(), Shape::torus(1.0, 0.3, [9, 7]).unwrap()] {
            let mesh = RestMesh::of_shape("tube", &shape, 0.0);
            mesh.check().unwrap();
            for t in 0..mesh.triangles.len() {
                let uvs = mesh.corner_uvs(t).unwrap().map(|uv| mesh.uvs[uv as usize]);
                for axis in 0..2 {
                    let along = uvs.map(|uv| uv[axis]);
                    let spread = along.iter().fold(0f32, |most, a| along.iter().fold(most, |m, b| m.max(a - b)));
                    assert!(spread < 0.5, "triangle {t}: {uvs:?}");
                }
            }
        }
    }

    /// Catches texture coordinates invented for shapes that have none.
    #[test]
    fn only_surfaces_have_texture_coordinates() {
        let sheet = RestMesh::of_shape("sheet", &Shape::rectangle([1.0, 2.0], [3, 3]).unwrap(), 0.0);
        assert_eq!((sheet.uvs.len(), sheet.triangle_uvs.len()), (9, 0));
        assert!(RestMesh::of_shape("line", &Shape::line(1.0, 3).unwrap(), 0.1).uvs.is_empty());
        assert!(RestMesh::of_shape("ball", &Shape::ball(1.0, [3, 3, 3]).unwrap(), 0.0).uvs.is_empty());
    }
}
