//! Reads every rig and every motion of a folder, and plays each motion on each rig that
//! has legs. Prints a line for each; `--tables` also what goes with what, `--sticks DIR`
//! writes bones as line segments and skins as OBJ, for drawing. Exit code 1 where something went wrong
//! that no sentence explains.
//!
//! `cargo run --release -p goop-scene --example rigs -- ../shared/data`

#![allow(clippy::print_stdout)]

use goop_scene::rig::{
    BvhOptions, Mapping, Motion, Part, RetargetOptions, Rig, RigOptions, read_bvh, read_rig, retarget, roles,
};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn files(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files(&path, extensions, found);
        } else if path.extension().is_some_and(|e| extensions.iter().any(|wanted| e.eq_ignore_ascii_case(wanted))) {
            found.push(path);
        }
    }
    found.sort();
}

/// Bones from joint to joint (and to ends) over the motion, as text: a line with the
/// time, then one with six numbers for each bone.
fn sticks(motion: &Motion, keep: impl Fn(usize) -> bool, frames: usize) -> String {
    let mut text = String::new();
    for frame in 0..frames {
        let time = motion.duration * frame as f64 / (frames.max(2) - 1) as f64;
        let pose = motion.pose(time);
        let _ = writeln!(text, "t {time:.4}");
        for (i, joint) in motion.skeleton.joints.iter().enumerate() {
            let to = pose[i].translation;
            let end = joint.end.map(|end| (to, pose[i].transform_point3(end), i));
            let bone = joint.parent.filter(|&parent| keep(parent) && keep(i)).map(|p| (pose[p].translation, to, i));
            for (a, b, i) in bone.into_iter().chain(end) {
                let name = motion.skeleton.joints[i].name.replace(' ', "_");
                let _ = writeln!(text, "{} {} {} {} {} {} {name}", a.x, a.y, a.z, b.x, b.y, b.z);
            }
        }
    }
    text
}

/// The skin at a time, as OBJ.
fn obj(rig: &Rig, motion: &Motion, time: f64) -> String {
    let (mut skin, mut text) = (Vec::new(), String::new());
    rig.skinned(&motion.pose(time), &mut skin);
    for p in &skin {
        let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
    }
    for [a, b, c] in &rig.triangles {
        let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    text
}

/// Whether all poses and all skins are finite; the lowest and highest point of the skin.
fn play(rig: &Rig, motion: &Motion) -> (bool, f64, f64) {
    let (mut sound, mut low, mut high) = (true, f64::MAX, f64::MIN);
    let mut skin = Vec::new();
    for frame in 0..=50 {
        rig.skinned(&motion.pose(motion.duration * f64::from(frame) / 50.0), &mut skin);
        for point in &skin {
            sound &= point.is_finite();
            (low, high) = (low.min(point.y), high.max(point.y));
        }
    }
    (sound, low, high)
}

fn main() -> std::process::ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let tables = args.iter().position(|arg| arg == "--tables").map(|i| args.remove(i)).is_some();
    let out = args.iter().position(|arg| arg == "--sticks").map(|i| args.drain(i..i + 2).next_back());
    let out = out.flatten().map(PathBuf::from);
    let folder = PathBuf::from(args.first().map_or("../shared/data", String::as_str));
    let save = |name: String, text: String| {
        if let Some(out) = &out
            && let Err(e) = std::fs::write(out.join(name), text)
        {
            println!("not written: {e}");
        }
    };
    let (mut rigs, mut motions, mut bad) = (Vec::new(), Vec::new(), 0);
    let stem = |path: &Path| path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
    let mut paths = Vec::new();
    files(&folder, &["glb", "gltf"], &mut paths);
    for path in &paths {
        match read_rig(path, &RigOptions::default()) {
            Err(e) => println!("refused  {e}"),
            Ok(rig) => {
                let bones = rig.is_bone.iter().filter(|bone| **bone).count();
                let (segments, vertices) = (rig.segments().len(), rig.positions.len());
                println!("rig      {}: {bones} bones, {segments} segments, {vertices} vertices", path.display());
                for motion in &rig.motions {
                    let (sound, low, high) = play(&rig, motion);
                    bad += usize::from(!sound);
                    let speed = motion.fastest().map_or(0.0, |fastest| fastest.speed);
                    let (name, seconds) = (&motion.name, motion.duration);
                    println!(
                        "         '{name}' {seconds:.2} s, skin {low:.2} … {high:.2} m, fastest {speed:.1} m/s, finite: {sound}"
                    );
                    for k in 0..6 {
                        let time = seconds * f64::from(k) / 5.0;
                        save(format!("{}-{}-{k}.obj", stem(path), name.replace(' ', "_")), obj(&rig, motion, time));
                    }
                    save(
                        format!("{}-{}.txt", stem(path), name.replace(' ', "_")),
                        sticks(motion, |i| rig.is_bone[i], 12),
                    );
                }
                rig.notes.iter().for_each(|note| println!("         {note}"));
                let parts = roles(&rig.skeleton, &rig.bind);
                if parts.iter().any(|role| role.part == Part::UpperLeg) {
                    rigs.push((path, rig));
                }
            }
        }
    }
    let mut paths = Vec::new();
    files(&folder, &["bvh"], &mut paths);
    for path in &paths {
        match read_bvh(path).and_then(|bvh| bvh.motion(path, &BvhOptions::default())) {
            Err(e) => println!("refused  {e}"),
            Ok(found) => {
                let speed = found.motion.fastest().map_or(0.0, |fastest| fastest.speed);
                let (joints, seconds) = (found.roles.len(), found.motion.duration);
                println!("motion   {}: {joints} joints, {seconds:.2} s, fastest {speed:.1} m/s", path.display());
                found.notes.iter().for_each(|note| println!("         {note}"));
                save(format!("{}.txt", stem(path)), sticks(&found.motion, |_| true, 12));
                motions.push((path, found));
            }
        }
    }
    for (rig_path, rig) in &rigs {
        for (path, source) in &motions {
            let mapping = Mapping::suggest(rig, source);
            match retarget(rig, source, &mapping, &RetargetOptions::default(), path) {
                Err(e) => println!("refused  {} on {}: {e}", path.display(), stem(rig_path)),
                Ok(played) => {
                    let (sound, low, high) = play(rig, &played.motion);
                    bad += usize::from(!sound);
                    println!(
                        "played   {} on {}: {}, skin {low:.2} … {high:.2} m, finite: {sound}",
                        stem(path),
                        stem(rig_path),
                        played.notes.join("; ")
                    );
                    let name = format!("{}-{}.txt", stem(rig_path), stem(path));
                    save(name, sticks(&played.motion, |i| rig.is_bone[i], 12));
                    for k in 0..6 {
                        let time = played.motion.duration * f64::from(k) / 5.0;
                        save(format!("{}-{}-{k}.obj", stem(rig_path), stem(path)), obj(rig, &played.motion, time));
                    }
                }
            }
            if tables {
                println!("{mapping}");
            }
        }
    }
    println!("{} rigs, {} motions, {bad} not finite", rigs.len(), motions.len());
    std::process::ExitCode::from(u8::from(bad > 0))
}
