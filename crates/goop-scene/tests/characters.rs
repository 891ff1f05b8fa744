//! Characters from scene text to moving nodes: bones hold what they should, flesh follows, the
//! skin is the file's.

use glam::DVec3;
use goop::World;
use goop_scene::{Built, Scene};
use std::path::Path;

/// A closed post of 0.3 × 1 × 0.3 m, its sides cut into squares.
fn post(folder: &Path) {
    let (n, m) = (3u32, 10u32);
    let mut text = String::new();
    let mut index = std::collections::HashMap::new();
    let mut vertex = |p: [u32; 3], text: &mut String| {
        let next = index.len() + 1;
        *index.entry(p).or_insert_with(|| {
            let [x, y, z] = [p[0], p[1], p[2]].map(f64::from);
            text.push_str(&format!("v {} {} {}\n", 0.1 * x - 0.15, 0.1 * y, 0.1 * z - 0.15));
            next
        })
    };
    let counts = [n, m, n];
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for (side, flip) in [(0, true), (counts[axis], false)] {
            for i in 0..counts[u] {
                for j in 0..counts[v] {
                    let corner = |a: u32, b: u32| {
                        let mut p = [0; 3];
                        (p[axis], p[u], p[v]) = (side, i + a, j + b);
                        p
                    };
                    let mut quad = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    if flip {
                        quad.reverse();
                    }
                    let names = quad.map(|p| vertex(p, &mut text).to_string());
                    text.push_str(&format!("f {}\n", names.join(" ")));
                }
            }
        }
    }
    std::fs::write(folder.join("post.obj"), text).unwrap();
}

const BONES: &str = r#"
[[body.bone]]
name = "low"
capsule = { from = [0, 0.15, 0], to = [0, 0.4, 0], radius = 0.05 }
[[body.bone.key]]
time = 0
[[body.bone.key]]
time = 4
position = [KEY]
rotation = [TURN]
[[body.bone]]
name = "high"
capsule = { from = [0, 0.6, 0], to = [0, 0.85, 0], radius = 0.05 }
parent = "low"
[[body.bone.key]]
time = 0
[[body.bone.key]]
time = 4
position = [KEY]
rotation = [TURN]
"#;

fn build(body: &str, key: &str, turn: &str, gravity: f64) -> Built {
    let folder = tempfile::tempdir().unwrap();
    post(folder.path());
    let bones = BONES.replace("KEY", key).replace("TURN", turn);
    let text = format!(
        "format = 1\n[world]\ngravity = [0, {gravity:?}, 0]\n[clip]\nseconds = 4\n[step]\ndt = 0.01\n[[body]]\nname = \"post\"\nformulation = \"jelly\"\n\
         position = [1, 2, 3]\nrotation = [0, 30, 10]\nshape.character = {{ file = \"post.obj\", nodes = 600 }}\n{body}\n{bones}"
    );
    let loaded = Scene::load_text(&text, "post.toml", &[], folder.path()).unwrap_or_else(|faults| panic!("{faults}"));
    loaded.scene.build(&loaded.folder).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// Catches bones whose nodes lag or jump, flesh that starts at rest, and a drive that pulls: without
/// weight, a skeleton in uniform motion must not strain anything.
#[test]
fn a_skeleton_in_uniform_motion_strains_nothing() {
    let built = build("[body.solver]\ntolerance = 1e-12", "2, 0.5, -1", "0, 0, 0", 0.0);
    assert!(built.model.bodies[0].pins.iter().all(|pin| pin.nodes.len() > 3));
    let mut world = World::new(built.model);
    let mut worst = 0.0f64;
    while world.time() < 2.0 {
        world.step().unwrap();
        worst = worst.max(world.row(0).worst_stretch.abs());
    }
    eprintln!("largest strain {worst:e}");
    assert!(worst < 1e-9, "{worst:e}");
    let far = world.state().bodies[0].velocities.iter().map(|v| v.distance(DVec3::new(0.5, 0.125, -0.25)));
    assert!(far.fold(0.0, f64::max) < 1e-9);
}

/// Catches nodes of a bone that are not rigid with it, and a resumed run that forgets the motion.
#[test]
fn nodes_of_a_turning_bone_are_rigid_with_it_also_after_a_resume() {
    let built = build("", "0, 0, 0", "0, 90, 0", -9.81);
    let mut world = World::new(built.model.clone());
    world.settle().unwrap();
    while world.time() < 0.5 {
        world.step().unwrap();
    }
    let saved = world.checkpoint();
    while world.time() < 1.0 {
        world.step().unwrap();
    }
    let body = &built.model.bodies[0];
    let rest = &body.shape.rest_positions;
    for nodes in &body.sampled.as_ref().unwrap().bone_nodes {
        for (a, b) in nodes.iter().zip(nodes.iter().skip(1)) {
            let x = &world.state().bodies[0].positions;
            let now = x[*a as usize].distance(x[*b as usize]);
            assert!((now - rest[*a as usize].distance(rest[*b as usize])).abs() < 1e-12);
        }
    }
    let mut again = World::new(built.model.clone());
    again.resume(saved).unwrap();
    while again.time() < 1.0 {
        again.step().unwrap();
    }
    assert_eq!(again.state().hash(), world.state().hash());
}

/// Catches what is fastened to a bone but follows the flesh, or stays behind: a club held out from the upper bone keeps
/// its place beside it while the bone turns and the club's weight pulls.
#[test]
fn what_is_fastened_to_a_bone_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    post(folder.path());
    let bones = BONES.replace("KEY", "0.3, 0.1, 0").replace("TURN", "0, 90, 0");
    let text = format!(
        "format = 1\n[clip]\nseconds = 4\n[step]\ndt = 0.01\n[[body]]\nname = \"post\"\nformulation = \"jelly\"\n\
         position = [1, 2, 3]\nshape.character = {{ file = \"post.obj\", nodes = 600 }}\n{bones}\n\
         [[body]]\nname = \"club\"\nformulation = \"rigid\"\nposition = [1.4, 2.72, 3]\n\
         shape.box = {{ size = [0.3, 0.05, 0.05], nodes = [4, 2, 2] }}\n\
         [[attach]]\nbody = \"club\"\nat = \"all\"\nto = \"post\"\nbone = \"high\"\n"
    );
    let loaded = Scene::load_text(&text, "post.toml", &[], folder.path()).unwrap_or_else(|faults| panic!("{faults}"));
    let model = loaded.scene.build(&loaded.folder).unwrap_or_else(|faults| panic!("{faults:?}")).model;
    let bone = model.bodies[0].sampled.as_ref().unwrap().bone_nodes[1].clone();
    assert!(bone.len() > 3);
    let mut world = World::new(model);
    let apart = |world: &World| -> Vec<f64> {
        let [post, club] = [0, 1].map(|b| &world.state().bodies[b].positions);
        bone.iter().flat_map(|&i| club.iter().map(move |x| x.distance(post[i as usize]))).collect()
    };
    let (start, from) = (apart(&world), world.state().bodies[1].positions[0]);
    // The bone starts with a jerk, which the club is told of a step late.
    let (mut jerked, mut worst) = (0.0f64, 0.0f64);
    while world.time() < 0.8 {
        world.step().unwrap();
        let off = apart(&world).iter().zip(&start).map(|(now, start)| (now - start).abs()).fold(0.0, f64::max);
        let most = if world.time() < 0.25 { &mut jerked } else { &mut worst };
        *most = most.max(off);
    }
    let way = world.state().bodies[1].positions[0].distance(from);
    eprintln!("off by {worst:.2e} m, at first by {jerked:.2e} m, on a way of {way:.2} m");
    assert!(worst < 2e-3 && jerked < 0.01 && way > 0.05, "{worst} {jerked} {way}");
}

/// Catches a skin in another order, or one that is not where the file has it while nothing moves.
#[test]
fn the_drawn_skin_is_the_files_own() {
    for way in ["embedded", "nodes", "fit"] {
        let built = with_skin(way);
        let skin = built.skins[0].as_ref().unwrap();
        let start = built.model.bodies[0].start;
        let mut world = World::new(built.model.clone());
        let frame = world.frame_at(0.0).unwrap();
        let drawn = frame.bodies[0].drawn.as_ref().unwrap();
        assert_eq!(drawn.len(), skin.positions.len());
        let off = drawn
            .iter()
            .zip(&skin.positions)
            .map(|(now, rest)| DVec3::from_array(now.map(f64::from)).distance(start.position + start.rotation * *rest));
        let off = off.fold(0.0, f64::max);
        // A vertex on a node is carried alongside it: it does not turn with the body.
        assert!(off < if way == "nodes" { 0.1 } else { 1e-5 }, "{way}: {off}");
    }
}

fn with_skin(way: &str) -> Built {
    let folder = tempfile::tempdir().unwrap();
    post(folder.path());
    let text = format!(
        "format = 1\n[[body]]\nname = \"post\"\nformulation = \"jelly\"\nposition = [1, 2, 3]\nrotation = [0, 30, 10]\n\
         shape.character = {{ file = \"post.obj\", nodes = 600, skin = \"{way}\" }}\n"
    );
    let loaded = Scene::load_text(&text, "post.toml", &[], folder.path()).unwrap_or_else(|faults| panic!("{faults}"));
    loaded.scene.build(&loaded.folder).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// Catches layers and parts that take the wrong nodes.
#[test]
fn layers_and_parts_have_their_own_material() {
    let regions = "[[body.material.region]]\nat = { depth = [-0.1, 0.03] }\nyoung = 7e4\n\
                   [[body.material.region]]\nat = { part = \"high\" }\ndensity = 500\n";
    let built = build(regions, "0, 0, 0", "0, 0, 0", 0.0);
    let body = &built.model.bodies[0];
    let (sampled, rest) = (body.sampled.as_ref().unwrap(), &body.shape.rest_positions);
    let mut layers = [0, 0];
    for i in 0..body.len() {
        let outer = body.material.young.at(i) == 7e4;
        layers[usize::from(outer)] += 1;
        assert_eq!(outer, sampled.depth[i] <= 0.03 + 1e-9);
        if body.material.density.at(i) == 500.0 {
            assert!(rest[i].y > 0.4, "{}", rest[i]);
        } else {
            assert!(rest[i].y < 0.6, "{}", rest[i]);
        }
    }
    assert!(layers[0] > 50 && layers[1] > 50, "{layers:?}");
}

/// Catches a character whose reduced coordinates, or implicit steps by parts, are those of one lump.
#[test]
fn a_character_has_the_parts_of_its_bones() {
    let plain = build("", "0, 0, 0", "0, 0, 0", -9.81);
    for body in ["elasticity = \"finite\"", "[body.solver]\nby-parts = true"] {
        let model = build(body, "0, 0, 0", "0, 0, 0", -9.81).model;
        assert_eq!(model.bodies[0].parts.as_ref().map(|parts| parts.count), Some(2), "{body}");
        let mut world = World::new(model);
        world.settle().unwrap();
        world.step().unwrap();
    }
    assert!(!plain.model.bodies[0].by_parts);
    // Bones that turn apart: one map cannot follow both, a map a part can.
    let turned = BONES.replacen("TURN", "0, 0, 0", 1).replace("TURN", "0, 0, 60").replace("KEY", "0, 0, 0");
    let text = format!(
        "format = 1\n[world]\ngravity = [0, 0, 0]\n[clip]\nseconds = 4\n[step]\ndt = 0.01\n[[body]]\nname = \"post\"\n\
         elasticity = \"finite\"\ncoordinates = \"reduced\"\nintegrator = \"backward-euler\"\n\
         shape.character = {{ file = \"post.obj\", nodes = 600 }}\n{turned}"
    );
    let folder = tempfile::tempdir().unwrap();
    post(folder.path());
    let loaded = Scene::load_text(&text, "post.toml", &[], folder.path()).unwrap_or_else(|faults| panic!("{faults}"));
    let model = loaded.scene.build(&loaded.folder).unwrap_or_else(|faults| panic!("{faults:?}")).model;
    let far = |parts: bool| {
        let mut model = model.clone();
        if !parts {
            model.bodies[0].parts = None;
        }
        let mut world = World::new(model);
        while world.time() < 4.0 {
            world.step().unwrap();
        }
        // The end of the post beyond the upper bone must have turned with it.
        let (rest, now) = (&world.model().bodies[0].shape.rest_positions, &world.state().bodies[0].positions);
        let pivot = DVec3::new(0.0, 0.725, 0.0);
        let turn = glam::DQuat::from_rotation_z(60f64.to_radians());
        let top = (0..rest.len()).filter(|&i| rest[i].y > 0.9);
        top.map(|i| now[i].distance(pivot + turn * (rest[i] - pivot))).fold(0.0, f64::max)
    };
    let (with, without) = (far(true), far(false));
    assert!(with < 0.05 && with < 0.5 * without, "{with} {without}");
}

/// Catches a skin by deformation matrices that is not what the matrices say: between nodes it must be where a fit to the nodes
/// has it, and at rest where the file has it.
#[test]
fn deformation_matrices_carry_the_skin() {
    let reduced = "elasticity = \"finite\"\ncoordinates = \"reduced\"\nintegrator = \"backward-euler\"";
    let text = |skin: &str| {
        let folder = tempfile::tempdir().unwrap();
        post(folder.path());
        let bones = BONES.replace("KEY", "0.4, 0, 0").replace("TURN", "0, 0, 60");
        let text = format!(
            "format = 1\n[clip]\nseconds = 4\n[step]\ndt = 0.01\n[[body]]\nname = \"post\"\n{reduced}\n\
             shape.character = {{ file = \"post.obj\", nodes = 600, skin = \"{skin}\" }}\nmaterial.young = 2e4\n{bones}"
        );
        let loaded = Scene::load_text(&text, "post.toml", &[], folder.path()).unwrap_or_else(|f| panic!("{f}"));
        let built = loaded.scene.build(&loaded.folder).unwrap_or_else(|faults| panic!("{faults:?}"));
        let mut world = World::new(built.model);
        let frames = [0.0, 0.505, 1.0].map(|time| world.frame_at(time).unwrap().bodies.remove(0).drawn.unwrap());
        let skin = built.skins[0].clone().unwrap().positions;
        (frames, skin)
    };
    let ((matrix, rest), (fit, _)) = (text("matrix"), text("fit"));
    let far = |a: &[[f32; 3]], b: &[[f32; 3]]| {
        let each = a
            .iter()
            .zip(b)
            .map(|(a, b)| DVec3::from_array(a.map(f64::from)).distance(DVec3::from_array(b.map(f64::from))));
        each.fold(0.0, f64::max)
    };
    let rest: Vec<[f32; 3]> = rest.iter().map(|p| p.as_vec3().to_array()).collect();
    assert!(far(&matrix[0], &rest) < 1e-5, "{}", far(&matrix[0], &rest));
    for k in 1..3 {
        let off = far(&matrix[k], &fit[k]);
        // The fit counts nodes of bones too, which are not the matrices'.
        assert!(off > 1e-9 && off < 0.02, "{off}");
    }
    assert!(far(&matrix[2], &rest) > 0.05);
}
