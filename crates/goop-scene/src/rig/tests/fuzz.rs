//! Bytes that nobody wrote: readers may refuse, never panic.

use super::bvh::BASE;
use super::glb::Post;
use super::humanoid;
use crate::rig::{Bvh, BvhOptions, ForceScript, Mapping, RetargetOptions, Rig, RigOptions, retarget, roles};
use glam::DQuat;
use proptest::prelude::*;
use std::path::Path;

fn samples() -> Vec<Vec<u8>> {
    let mut post = Post::new();
    post.data.floats("SCALAR", 1, &[0.0, 1.0]);
    post.data.floats("VEC3", 3, &[0., 0., 1., 2., 0., 1.]);
    post.animations =
        r#"{"samplers":[{"input":5,"output":6}],"channels":[{"sampler":0,"target":{"node":2,"path":"translation"}}]}"#
            .into();
    vec![
        BASE.into(),
        humanoid::bvh(&[vec![("Hips", 20.0)], vec![]], 0.1).into_bytes(),
        post.glb(),
        b"rate 30\n0 force 2000 0 0\n3 1 2 3 4 5 6\n4 stop\n4 hold\n9 release\n".to_vec(),
    ]
}

fn try_all(bytes: &[u8]) {
    let _ = ForceScript::parse(bytes);
    if let Ok(rig) = Rig::parse(bytes, Path::new("/nowhere"), &RigOptions::default()) {
        assert!(rig.positions.iter().all(|p| p.is_finite()));
        assert!(rig.triangles.iter().flatten().all(|&v| (v as usize) < rig.positions.len()));
        for vertex in 0..rig.positions.len() {
            let sum: f64 =
                rig.influences.of(vertex).map(|(joint, weight)| weight * f64::from(joint < rig.bind.len())).sum();
            assert!((sum - 1.0).abs() < 1e-9);
        }
        roles(&rig.skeleton, &rig.bind);
        rig.motions.iter().for_each(|motion| drop((motion.pose_and_rate(0.3), motion.fastest())));
    }
    if let Ok(bvh) = Bvh::parse(bytes)
        && let Ok(source) = bvh.motion(Path::new("m"), &BvhOptions::default())
    {
        assert!(source.motion.pose(0.05).iter().all(|place| place.is_finite()));
        let rig = humanoid::rig(1.0, DQuat::IDENTITY, 0.3, |joint| humanoid::JOINTS[joint].0.into());
        let _ = retarget(&rig, &source, &Mapping::suggest(&rig, &source), &RetargetOptions::default(), Path::new("m"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), start in 0..6usize) {
        let starts: [&[u8]; 6] = [b"", b"HIERARCHY ROOT a {", b"glTF\x02\0\0\0", b"0 force ", b"HIERARCHY ROOT a { } MOTION\nFrame Time: 1\n", b"rate "];
        try_all(&[starts[start], &bytes].concat());
    }

    #[test]
    fn mutated_files_never_panic(
        sample in 0..4usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
        end in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = samples().swap_remove(sample);
        for (place, value, how) in changes {
            let at = place.index(bytes.len());
            match how {
                0 => bytes[at] = value,
                1 => bytes[at] = b'0' + value % 10,
                2 => bytes.insert(at, b"0987654321-+.e{} \n"[usize::from(value) % 18]),
                _ => drop(bytes.remove(at)),
            }
        }
        if cut {
            bytes.truncate(end.index(bytes.len() + 1));
        }
        try_all(&bytes);
    }
}
