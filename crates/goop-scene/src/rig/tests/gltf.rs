//! Rigs from glTF: bind pose, weights, animations, faults.

use super::glb::Post;
use crate::mesh::read_mesh;
use crate::rig::{Rig, RigOptions, read_rig};
use glam::{DQuat, DVec3};
use std::path::Path;

fn read(post: &Post) -> Rig {
    Rig::parse(&post.glb(), Path::new("."), &RigOptions::default()).unwrap()
}

fn refusal(post: &Post) -> String {
    let fault = Rig::parse(&post.glb(), Path::new("."), &RigOptions::default()).unwrap_err();
    assert!(!fault.remedy.is_empty());
    fault.message
}

fn changed(from: &'static str, to: &'static str) -> Post {
    Post { change: vec![(from, to)], ..Post::new() }
}

fn close(a: DVec3, b: [f64; 3]) -> bool {
    a.distance(DVec3::from_array(b)) < 1e-6
}

/// Catches the node of a skinned mesh moving it, weights that do not add up, and a bind
/// pose left in the file's axes.
#[test]
fn the_bind_pose_is_in_world_axes() {
    let rig = read(&Post { mesh_node: r#","translation":[100,5,0],"scale":[9,9,9]"#, ..Post::new() });
    let expected = [[0., 1., 0.], [1., 1., 0.], [0., 2., 0.], [0., 3., 0.]];
    assert!(rig.positions.iter().zip(expected).all(|(&p, e)| close(p, e)), "{:?}", rig.positions);
    assert_eq!(rig.triangles, [[0, 1, 2], [1, 3, 2]]);
    let names: Vec<&str> = rig.skeleton.joints.iter().map(|joint| joint.name.as_str()).collect();
    assert_eq!((names, rig.is_bone.as_slice()), (vec!["Z_UP", "lower", "upper"], &[false, true, true][..]));
    assert!(close(rig.bind[1].translation, [0., 1., 0.]) && close(rig.bind[2].translation, [0., 2., 0.]));
    let of = |vertex| rig.influences.of(vertex).collect::<Vec<_>>();
    assert_eq!((of(0), of(1), of(3)), (vec![(1, 1.0)], vec![(1, 1.0)], vec![(2, 1.0)]));
    let [(first, heavy), (second, light)] = of(2)[..] else { panic!() };
    assert!((first, second) == (1, 2) && (heavy - 0.8).abs() < 1e-12 && (light - 0.2).abs() < 1e-12);
    let bones: Vec<_> =
        rig.segments().iter().map(|bone| (bone.joint, bone.from.y.round(), bone.to.y.round())).collect();
    assert_eq!(bones, [(1, 1.0, 2.0), (2, 2.0, 3.0)]);
    let mut skin = Vec::new();
    rig.skinned(&rig.bind, &mut skin);
    assert!(skin.iter().zip(&rig.positions).all(|(a, b)| a.distance(*b) < 1e-12));
}

/// Catches a bind pose taken from nodes that rest in another pose.
#[test]
fn nodes_may_rest_elsewhere() {
    let bent = Post {
        lower: r#","translation":[0.1,0,1],"rotation":[0,0.19866933,0,0.98006658]"#,
        change: bend(),
        ..Post::new()
    };
    let (straight, bent) = (read(&Post::new()), read(&bent));
    for (a, b) in straight.positions.iter().zip(&bent.positions) {
        assert!(a.distance(*b) < 1e-6);
    }
    // At rest the skin is Σ w W B p, by hand for the vertex at the top.
    let (lower, upper) = (DQuat::from_rotation_y(0.4), DQuat::from_rotation_x(0.4));
    let top = DVec3::new(0.1, 0.0, 1.0) + lower * (DVec3::Z + upper * DVec3::Z);
    let mut skin = Vec::new();
    bent.skinned(&bent.skeleton.rest_pose(), &mut skin);
    assert!(close(skin[3], [top.x, top.z, -top.y]), "{}", skin[3]);
}

/// The upper bone rests bent against the lower one.
fn bend() -> Vec<(&'static str, &'static str)> {
    vec![(r#""name":"upper""#, r#""name":"upper","rotation":[0.19866933,0,0,0.98006658]"#)]
}

/// Catches vertices in another order than the mesh reader's, and primitives without
/// indices, weights of their own type or a second set lost.
#[test]
fn vertices_keep_the_order_of_the_mesh_reader() {
    let mut post = Post::new();
    let joints = post.data.add(&[0u8; 24], 5123, "VEC4", 3, "");
    let weights = post.data.floats("VEC4", 4, &[0.5, 0., 0., 0., 0.25, 0., 0., 0., 0., 0., 0., 0.]);
    let more: Vec<u8> = [[1u16, 0, 0, 0]; 3].as_flattened().iter().flat_map(|joint| joint.to_le_bytes()).collect();
    let more = post.data.add(&more, 5123, "VEC4", 3, "");
    let rest: Vec<u8> =
        [[65535u16, 0, 0, 0]; 2].as_flattened().iter().flat_map(|w| w.to_le_bytes()).chain([0; 8]).collect();
    let rest = post.data.add(&rest, 5123, "VEC4", 3, r#","normalized":true"#);
    let places = post.data.floats("VEC3", 3, &[5., 0., 0., 6., 0., 0., 5., 1., 0.]);
    assert_eq!((joints, weights, more, rest, places), (5, 6, 7, 8, 9));
    post.primitive = r#",{"attributes":{"POSITION":9,"JOINTS_0":5,"WEIGHTS_0":6,"JOINTS_1":7,"WEIGHTS_1":8}}"#;
    post.nodes = r#",{"name":"hat","mesh":1,"translation":[0,0,7]}"#.into();
    post.change = vec![
        (r#""meshes":["#, r#""meshes":[{"primitives":[{"attributes":{"POSITION":9}}]},"#),
        (r#""mesh":0,"skin":0"#, r#""mesh":1,"skin":0"#),
        (r#""name":"hat","mesh":1"#, r#""name":"hat","mesh":0"#),
        (r#""name":"upper""#, r#""name":"upper","children":[4]"#),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("post.glb");
    std::fs::write(&path, post.glb()).unwrap();
    let (rig, mesh) = (read_rig(&path, &RigOptions::default()).unwrap(), read_mesh(&path, false).unwrap());
    assert_eq!((rig.positions.len(), &rig.triangles), (mesh.welded_from.len(), &mesh.triangles));
    assert_eq!(rig.notes, ["1 vertices have no weight: they go with the first joint of their skin"]);
    let of = |vertex| rig.influences.of(vertex).collect::<Vec<_>>();
    assert_eq!(of(4), [(2, 1.0 / 1.5), (1, 0.5 / 1.5)]);
    assert_eq!((of(5)[0], of(6)), ((2, 0.8), vec![(1, 1.0)]));
    // The hat has no skin: it sits on its own node, which the upper bone carries.
    assert_eq!((rig.skeleton.joints[3].name.as_str(), rig.skeleton.joints[3].parent), ("hat", Some(2)));
    assert!(of(7) == [(3, 1.0)] && close(rig.positions[7], [5., 9., 0.]), "{}", rig.positions[7]);
}

/// Catches two skins that fall apart because each was placed on its own.
#[test]
fn skins_that_share_joints_are_bound_together() {
    let mut post = Post::new();
    // The second skin's mesh is modelled one lower, and its matrices make up for it.
    let shifted = |z: f32| [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., -z, 1.];
    post.data.floats("MAT4", 16, [shifted(1.), shifted(0.)].as_flattened());
    post.skins = r#",{"joints":[2,1],"inverseBindMatrices":5}"#.into();
    post.nodes = r#",{"name":"second","mesh":0,"skin":1}"#.into();
    post.lower = r#","translation":[0.3,0,1],"rotation":[0,0.19866933,0,0.98006658]"#;
    post.change = bend();
    post.change.push((r#""scenes":[{"nodes":[0]}]"#, r#""scenes":[{"nodes":[0,4]}]"#));
    let rig = read(&post);
    assert_eq!(rig.positions.len(), 8);
    for i in 0..4 {
        assert!(rig.positions[i + 4].distance(rig.positions[i] + DVec3::Y) < 1e-6, "{}", rig.positions[i + 4]);
    }
    assert!(rig.notes.is_empty(), "{:?}", rig.notes);
}

fn animated(sampler: &str, path: &str, post: Post) -> Post {
    let animations = format!(
        r#"{{"name":"wave","samplers":[{sampler}],"channels":[{{"sampler":0,"target":{{"node":2,"path":"{path}"}}}},
        {{"sampler":0,"target":{{"node":3,"path":"weights"}}}}]}}"#
    );
    Post { animations, ..post }
}

/// Catches each way between keys, integers that stand for fractions, and sparse values.
#[test]
fn animations_follow_every_interpolation() {
    let local = |rig: &Rig, time: f64| {
        let pose = rig.motions[0].pose(time);
        pose[1].inverse() * pose[2]
    };
    let mut post = Post::new();
    let times = post.data.floats("SCALAR", 1, &[0.5, 1.5]);
    let moves = post.data.floats("VEC3", 3, &[0., 0., 1., 2., 0., 1.]);
    let slopes = post.data.floats("VEC3", 3, &[9., 9., 9., 0., 0., 1., 0., 0., 4., 0., 2., 0., 2., 0., 1., 9., 9., 9.]);
    let turns: Vec<u8> = [0i16, 0, 0, 32767, 0, 0, 23170, 23170].iter().flat_map(|q| q.to_le_bytes()).collect();
    let turns = post.data.add(&turns, 5122, "VEC4", 2, r#","normalized":true"#);
    let index = post.data.add(&[1u8, 0, 0, 0], 5121, "SCALAR", 1, "");
    let value = post.data.floats("VEC3", 3, &[7., 8., 9.]);
    post.data.add(&[0; 24], 5126, "VEC3", 2, &format!(
        r#","sparse":{{"count":1,"indices":{{"bufferView":{index},"componentType":5121}},"values":{{"bufferView":{value}}}}}"#
    ));
    assert_eq!((times, moves, slopes, turns), (5, 6, 7, 8));
    let with = |text: &str, path: &str| read(&animated(text, path, post.clone()));
    let rig = with(r#"{"input":5,"output":6}"#, "translation");
    assert_eq!((rig.motions[0].name.as_str(), rig.motions[0].duration), ("wave", 1.5));
    assert_eq!(rig.notes, ["1 channels of animation 'wave' move no joint and are left aside"]);
    // A quarter of the way is nearer to the first key: the thesis has the weights swapped.
    assert!(close(local(&rig, 0.75).translation, [0.5, 0., 1.]));
    assert!(close(local(&rig, 0.0).translation, [0., 0., 1.]) && close(local(&rig, 9.0).translation, [2., 0., 1.]));
    let step = with(r#"{"input":5,"output":6,"interpolation":"STEP"}"#, "translation");
    assert!(close(local(&step, 1.49).translation, [0., 0., 1.]) && close(local(&step, 1.5).translation, [2., 0., 1.]));
    let cubic = with(r#"{"input":5,"output":7,"interpolation":"CUBICSPLINE"}"#, "translation");
    // Halfway: half of each value, an eighth of the leaving slope, less one of the arriving.
    assert!(close(local(&cubic, 1.0).translation, [1.0, -0.25, 1.5]), "{}", local(&cubic, 1.0).translation);
    let turned = with(r#"{"input":5,"output":8}"#, "rotation");
    let (_, rotation, _) = local(&turned, 1.0).to_scale_rotation_translation();
    assert!(rotation.angle_between(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_4)) < 1e-4);
    let sparse = with(r#"{"input":5,"output":11}"#, "translation");
    assert!(close(local(&sparse, 1.5).translation, [7., 8., 9.]) && close(local(&sparse, 0.5).translation, [0.; 3]));
    let scaled = with(r#"{"input":5,"output":6}"#, "scale");
    assert!(close(local(&scaled, 1.0).transform_vector3(DVec3::ONE), [1., 0., 1.]));
    let bad = |text: &str| refusal(&animated(text, "translation", post.clone()));
    assert_eq!(
        bad(r#"{"input":5,"output":0,"interpolation":"CUBICSPLINE"}"#),
        "in animation 'wave': a channel has 4 values for 2 keys"
    );
    assert_eq!(bad(r#"{"input":4,"output":6}"#), "in animation 'wave': the times of a channel do not rise");
    assert_eq!(bad(r#"{"input":99,"output":6}"#), "in animation 'wave': accessor 99 is named but not there");
    assert!(bad(r#"{"input":5,"output":8}"#).contains("another type"));
}

/// Catches a file in centimetres that makes a giant.
#[test]
fn a_giant_is_taken_for_centimetres() {
    let mut post = Post::new();
    post.data = super::glb::Data::default();
    post.data.floats("VEC3", 3, &[0., 0., 0., 100., 0., 0., 0., 0., 50.]);
    post.data.add(&[0; 12], 5121, "VEC4", 3, "");
    post.data.floats("VEC4", 4, &[1., 0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0.]);
    let identity = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.];
    post.data.floats("MAT4", 16, [identity, identity].as_flattened());
    post.data.add(&[0, 1, 2], 5121, "SCALAR", 3, "");
    post.data.floats("SCALAR", 1, &[0., 1.]);
    post.data.floats("VEC3", 3, &[0., 0., 1., 0., 0., 101.]);
    let rig = read(&animated(r#"{"input":5,"output":6}"#, "translation", post.clone()));
    assert!(rig.unit == 0.01 && rig.notes.iter().any(|note| note.contains("centimetre")), "{:?}", rig.notes);
    assert!(close(rig.positions[1] - rig.positions[0], [1., 0., 0.]));
    let rise = rig.motions[0].pose(1.0)[2].translation - rig.motions[0].pose(0.0)[2].translation;
    assert!(close(rise, [0., 1., 0.]), "{rise}");
    let told = Rig::parse(&post.glb(), Path::new("."), &RigOptions { unit: Some(1.0) }).unwrap();
    assert!(close(told.positions[1] - told.positions[0], [100., 0., 0.]));
}

/// Catches indices and counts that are believed.
#[test]
fn faults_are_sentences() {
    let place = "in primitive 0 of mesh 'post': ";
    assert_eq!(refusal(&changed(r#""skin":0"#, r#""skin":7"#)), "skin 7 is named but not there");
    assert_eq!(refusal(&changed(r#""joints":[1,2]"#, r#""joints":[1,77]"#)), "joint 77 is named but not there");
    assert_eq!(refusal(&changed(r#""joints":[1,2]"#, r#""joints":[]"#)), "skin 0 has no joints");
    let one = refusal(&changed(r#""joints":[1,2]"#, r#""joints":[1]"#));
    assert_eq!(one, format!("{place}vertex 2 goes with joint 1, but the skin has 1"));
    let few = refusal(&changed(r#""joints":[1,2]"#, r#""joints":[1,2,0]"#));
    assert_eq!(few, "the inverse bind matrices of skin 0 are fewer than its joints");
    assert_eq!(refusal(&changed(r#","WEIGHTS_0":2"#, "")), format!("{place}a skinned mesh has no weights"));
    assert_eq!(
        refusal(&changed(r#""count":4,"type":"VEC4""#, r#""count":3,"type":"VEC4""#)),
        format!("{place}there are fewer joints or weights than the 4 vertices")
    );
    assert_eq!(refusal(&changed(r#","skin":0"#, "")), "the file has neither bones nor an animation of its nodes");
    assert_eq!(refusal(&changed(r#""mesh":0,"skin":0"#, r#""skin":0"#)), "no scene shows a mesh");
    let flat = Post { lower: r#","scale":[0,1,1]"#, ..Post::new() };
    assert!(refusal(&flat).contains("without size"), "{}", refusal(&flat));
    let singular = {
        let mut post = Post::new();
        post.data.floats("MAT4", 16, &[0.0; 32]);
        post.change = vec![(r#""inverseBindMatrices":3"#, r#""inverseBindMatrices":5"#)];
        refusal(&post)
    };
    assert_eq!(singular, "the inverse bind matrices of skin 0 can't be inverted");
    let none = changed(r#","inverseBindMatrices":3"#, "");
    assert!(Rig::parse(&none.glb(), Path::new("."), &RigOptions::default()).is_ok());
}
