//! Readers meet bytes that nobody wrote: they may refuse, never panic, never make a
//! mesh that breaks the promises of `MeshFile`.

use super::super::*;
use super::{FACETS, SQUARE, TRIANGLE_PLY, binary_stl, gltf};
use proptest::prelude::*;

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let ply = TRIANGLE_PLY.split_once("end_header\n").unwrap().0.replace("ascii", "binary_big_endian") + "end_header\n";
    let mut binary_ply = ply.into_bytes();
    binary_ply.extend([0f32, 0., 0., 1., 0., 0., 0., 1., 0.].iter().flat_map(|x| x.to_be_bytes()));
    binary_ply.extend([3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2]);
    let stl = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n";
    let nodes = r#"{"children":[1],"scale":[1,2,3]},{"mesh":0,"name":"n"}"#;
    vec![
        ("obj", format!("o x\n{SQUARE}vt 0 0\nvt 1 1\ng a b\nusemtl m\nf 1/1 2/2 3/1 4/2\nf -1 -2 -3\n").into_bytes()),
        ("ply", TRIANGLE_PLY.into()),
        ("ply", binary_ply),
        ("stl", stl.into()),
        ("stl", binary_stl("x", &FACETS)),
        ("gltf", gltf::embedded(nodes, gltf::INDEXED).into_bytes()),
        ("glb", gltf::binary()),
    ]
}

fn check(extension: &str, bytes: &[u8]) {
    for weld in [false, true] {
        let Ok(mesh) = parse(bytes, extension, Path::new("/nowhere"), weld) else { continue };
        let count = mesh.positions.len() as u32;
        assert!(mesh.positions.iter().all(|p| p.is_finite()));
        assert!(mesh.triangles.iter().all(|&[a, b, c]| a != b && b != c && c != a && a.max(b).max(c) < count));
        assert!(mesh.welded_from.iter().all(|&node| node < count || node == LOOSE));
        assert!(mesh.groups.values().flatten().all(|&node| node < count));
        assert!(mesh.texture_coordinates.is_none_or(|t| t.len() as u32 == count));
        let skin = &mesh.original;
        let (vertices, uvs) = (skin.positions.len(), skin.uvs.len());
        assert!(skin.nodes.len() == vertices && skin.nodes.iter().all(|&node| node < count));
        assert!(skin.triangles.iter().all(|t| different(t) && t.iter().all(|&v| (v as usize) < vertices)));
        assert!(skin.triangles.len() >= mesh.triangles.len());
        match skin.triangle_uvs.is_empty() {
            true => assert!(uvs == 0 || uvs == vertices),
            false => assert_eq!(skin.triangle_uvs.len(), skin.triangles.len()),
        }
        assert!(skin.triangle_uvs.iter().flatten().all(|&uv| (uv as usize) < uvs));
        assert!(skin.uvs.iter().flatten().all(|t| t.is_finite()));
        assert_eq!(skin.triangle_paints.len(), if skin.paints.is_empty() { 0 } else { skin.triangles.len() });
        assert!(skin.triangle_paints.iter().all(|&paint| (paint as usize) < skin.paints.len()));
    }
}

/// Catches a sample that is refused, so that mutations of it would test nothing.
#[test]
fn the_samples_are_sound() {
    for (extension, bytes) in samples() {
        assert!(parse(&bytes, extension, Path::new("."), true).is_ok(), "{extension}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), start in 0..8usize) {
        let starts: [&[u8]; 8] = [b"", b"ply\n", b"glTF\x02\0\0\0", b"solid facet\n", b"{", b"v 0 0 0\nf ", b"ply\r\nformat ascii 1.0\r\n", b"{\"asset\":{\"version\":\"2.0\"},"];
        let library = [b"newmtl a\nKd ", &bytes[..]].concat();
        mtl::read(&library, "m", &mut BTreeMap::new(), &mut Warnings::default());
        let bytes = [starts[start], &bytes].concat();
        for extension in ["obj", "ply", "stl", "glb"] {
            check(extension, &bytes);
        }
    }

    #[test]
    fn mutated_files_never_panic(
        sample in 0..7usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 0..6),
        end in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let (extension, mut bytes) = samples().swap_remove(sample);
        for (place, value, how) in changes {
            let at = place.index(bytes.len());
            match how {
                0 => bytes[at] = value,
                1 => bytes[at] = b'0' + value % 10,
                2 => bytes.insert(at, b"0987654321-+.e/ \n#"[usize::from(value) % 18]),
                _ => drop(bytes.remove(at)),
            }
        }
        if cut {
            bytes.truncate(end.index(bytes.len() + 1));
        }
        check(extension, &bytes);
    }
}
