//! Makes GLB files: a post of two bones in a z-up file, with whatever else a test needs.

/// Which variant of the post.
#[derive(Clone, Default)]
pub(super) struct Post {
    /// Extra members of the lower bone's node, the mesh's node and the primitive.
    pub(super) lower: &'static str,
    pub(super) mesh_node: &'static str,
    pub(super) primitive: &'static str,
    /// Extra nodes (from 4 on), the list of animations, extra skins.
    pub(super) nodes: String,
    pub(super) animations: String,
    pub(super) skins: String,
    /// Changes in the finished text.
    pub(super) change: Vec<(&'static str, &'static str)>,
    pub(super) data: Data,
}

/// The binary chunk and its description.
#[derive(Clone, Default)]
pub(super) struct Data {
    bytes: Vec<u8>,
    views: Vec<String>,
    accessors: Vec<String>,
}

impl Data {
    /// Adds items and returns the number of their accessor.
    pub(super) fn add(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize, more: &str) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let view = format!(r#"{{"buffer":0,"byteOffset":{},"byteLength":{}}}"#, self.bytes.len(), bytes.len());
        self.views.push(view);
        self.bytes.extend(bytes);
        let view = self.views.len() - 1;
        self.accessors.push(format!(
            r#"{{"bufferView":{view},"componentType":{component},"count":{count},"type":"{kind}"{more}}}"#
        ));
        self.accessors.len() - 1
    }

    pub(super) fn floats(&mut self, kind: &str, per_item: usize, values: &[f32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.add(&bytes, 5126, kind, values.len() / per_item, "")
    }
}

/// A post along z from 1 to 3, bent at 2: four vertices, two triangles. Accessors 0 to 4:
/// positions, joints (u8), weights (normalised u8), inverse bind matrices, indices (u16).
pub(super) fn data() -> Data {
    let mut data = Data::default();
    data.floats("VEC3", 3, &[0., 0., 1., 1., 0., 1., 0., 0., 2., 0., 0., 3.]);
    let joints = [[0u8, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [1, 9, 0, 0]];
    data.add(joints.as_flattened(), 5121, "VEC4", 4, "");
    // Sums of 255, 200 (to be made 1), 255 and 255; joint 9 is not there but has no weight.
    let weights = [[255u8, 0, 0, 0], [100, 0, 100, 0], [51, 204, 0, 0], [255, 0, 0, 0]];
    data.add(weights.as_flattened(), 5121, "VEC4", 4, r#","normalized":true"#);
    let shifted = |z: f32| [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., -z, 1.];
    data.floats("MAT4", 16, [shifted(1.), shifted(2.)].as_flattened());
    let indices: Vec<u8> = [0u16, 1, 2, 1, 3, 2].iter().flat_map(|index| index.to_le_bytes()).collect();
    data.add(&indices, 5123, "SCALAR", 6, "");
    data
}

impl Post {
    pub(super) fn new() -> Post {
        Post { data: data(), lower: r#","translation":[0,0,1]"#, ..Post::default() }
    }

    pub(super) fn text(&self) -> String {
        let Post { lower, mesh_node, primitive, nodes, animations, skins, data, .. } = self;
        let mut text = format!(
            r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[0]}}],"nodes":[
            {{"name":"Z_UP","matrix":[1,0,0,0,0,0,-1,0,0,1,0,0,0,0,0,1],"children":[1,3]}},
            {{"name":"lower","children":[2]{lower}}},{{"name":"upper","translation":[0,0,1]}},
            {{"name":"skin","mesh":0,"skin":0{mesh_node}}}{nodes}],
            "skins":[{{"joints":[1,2],"inverseBindMatrices":3}}{skins}],"animations":[{animations}],
            "meshes":[{{"name":"post","primitives":[{{"attributes":{{"POSITION":0,"JOINTS_0":1,"WEIGHTS_0":2}},"indices":4}}{primitive}]}}],
            "buffers":[{{"byteLength":{}}}],"bufferViews":[{}],"accessors":[{}]}}"#,
            data.bytes.len(),
            data.views.join(","),
            data.accessors.join(",")
        );
        for (from, to) in &self.change {
            assert!(text.contains(from), "{from}");
            text = text.replacen(from, to, 1);
        }
        text
    }

    pub(super) fn glb(&self) -> Vec<u8> {
        let mut text = self.text().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut blob = self.data.bytes.clone();
        blob.resize(blob.len().next_multiple_of(4), 0);
        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend((28 + text.len() as u32 + blob.len() as u32).to_le_bytes());
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &blob)] {
            bytes.extend((chunk.len() as u32).to_le_bytes());
            bytes.extend(kind);
            bytes.extend(chunk);
        }
        bytes
    }
}
