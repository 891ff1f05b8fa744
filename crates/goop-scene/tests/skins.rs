//! What a built scene hands on for drawing.

use glam::DVec3;
use goop_scene::{Built, Scene, Skin};
use std::path::Path;

fn build(folder: &Path, mesh: &str, scale: &str) -> Built {
    std::fs::write(folder.join("m.obj"), mesh).unwrap();
    let text = format!(
        "format = 1\n[clip]\nseconds = 1\nfps = 24\n\
         [[body]]\nname = \"sheet\"\ncontact = false\nformulation = \"spring\"\n[body.shape.rectangle]\nsize = [1, 1]\nnodes = [3, 3]\n\
         [[body]]\nname = \"m\"\nformulation = \"spring\"\nscale = {scale}\n[body.shape.mesh]\nfile = \"m.obj\"\n"
    );
    let loaded = Scene::load_text(&text, "scene.toml", &[], folder).unwrap_or_else(|faults| panic!("{faults}"));
    loaded.scene.build(folder).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn volume(skin: &Skin) -> f64 {
    let corners = |t: &[u32; 3]| t.map(|v| skin.positions[v as usize]);
    skin.triangles.iter().map(corners).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
}

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 0 0\nvt 0 0\nvt 1 0\nvt 0 1\n\
    f 1/1 3/3 2/2\nf 5/1 2/2 4/3\nf 1/1 4/2 3/3\nf 2/1 3/2 4/3\n";

/// Catches a skin of another size than its body, one inside out after a mirror, and
/// texture coordinates that do not turn with their corners.
#[test]
fn a_skin_is_scaled_and_turned_with_its_body() {
    let folder = tempfile::tempdir().unwrap();
    let inwards: String = TETRAHEDRON
        .lines()
        .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            ["f", a, b, c] => format!("f {a} {c} {b}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    for (mesh, scale) in [
        (TETRAHEDRON, "[2, 3, 1]"),
        (TETRAHEDRON, "[-2, 3, 1]"),
        (inwards.as_str(), "[2, 3, 1]"),
        (inwards.as_str(), "[2, 3, -1]"),
    ] {
        let built = build(folder.path(), mesh, scale);
        assert_eq!((built.skins.len(), built.skins[0].is_none()), (2, true));
        let (skin, shape) = (built.skins[1].as_ref().unwrap(), &built.model.bodies[1].shape);
        assert!((volume(skin) - 1.0).abs() < 1e-12, "{scale}");
        assert_eq!((skin.positions.len(), shape.len(), &skin.nodes[..]), (5, 4, &[0, 1, 2, 3, 0][..]));
        for (position, &node) in skin.positions.iter().zip(&skin.nodes) {
            assert_eq!(*position, shape.rest_positions[node as usize]);
        }
        let corner_of = |skin: &Skin, t: usize| {
            let mut pairs: Vec<_> = skin.triangles[t].into_iter().zip(skin.triangle_uvs[t]).collect();
            pairs.sort_unstable();
            pairs
        };
        assert_eq!(corner_of(skin, 1), [(1, 1), (3, 2), (4, 0)]);
        let said = built.warnings.iter().any(|warning| warning.contains("faces inwards"));
        assert_eq!(said, mesh == inwards, "{scale}");
    }
}

/// Catches a vertex of nothing, far off all measure, that spoils the files of a run.
#[test]
fn a_loose_vertex_beyond_all_measure_lies_at_its_node() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "v 1e12 0 0\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 2 3 4\nv 7 7 7\n";
    let built = build(folder.path(), mesh, "[2, 2, 2]");
    let skin = built.skins[1].as_ref().unwrap();
    assert_eq!((skin.nodes[0], skin.positions[0]), (1, DVec3::new(2.0, 0.0, 0.0)));
    assert_eq!(skin.positions[4], DVec3::splat(14.0));
    assert!(built.warnings[0].contains("2 vertices belong to no triangle"), "{:?}", built.warnings);
}
