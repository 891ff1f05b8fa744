//! Every format read back by a small reader of its own, which shares nothing with the writer.

mod glb;
mod sequences;
mod usd;

use super::*;
use crate::cache::tests::{bodies, frame, place, write_cache};
use tempfile::TempDir;

const FRAMES: usize = 4;

/// A run of the cache's tests, exported.
fn exported(format: Format) -> (TempDir, Report) {
    let folder = tempfile::tempdir().unwrap();
    write_cache(folder.path(), FRAMES);
    let report = export(folder.path(), format, folder.path().join("out")).unwrap();
    (folder, report)
}

fn read(folder: &TempDir, name: &str) -> Vec<u8> {
    fs::read(folder.path().join("out").join(name)).unwrap()
}

/// Where the drawn vertices of the sheet are.
fn sheet(frame: usize) -> [[f32; 3]; 4] {
    [0, 1, 3, 4].map(|node| place(0, node, frame))
}

fn rope(frame: usize) -> [[f32; 3]; 3] {
    [0, 1, 2].map(|node| place(1, node, frame))
}

fn triples(values: &[f32]) -> Vec<[f32; 3]> {
    values.chunks_exact(3).map(|v| [v[0], v[1], v[2]]).collect()
}

/// Catches wrong order of bytes, a wrong header, and frames in another order.
#[test]
fn pc2_and_mdd_have_every_frame_of_every_body() {
    let (folder, report) = exported(Format::Pc2);
    let little = |bytes: &[u8]| -> Vec<f32> {
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let bytes = read(&folder, "a_sheet.pc2");
    assert_eq!(&bytes[..12], b"POINTCACHE2\0");
    assert_eq!(bytes[12..20], [1, 0, 0, 0, 4, 0, 0, 0]);
    assert_eq!(little(&bytes[20..28]), [0.0, 1.0]);
    assert_eq!(bytes[28..32], [4, 0, 0, 0]);
    let all: Vec<[f32; 3]> = (0..FRAMES).flat_map(sheet).collect();
    assert_eq!(triples(&little(&bytes[32..])), all);
    assert_eq!(report.files.len(), 5);
    assert_eq!(report.bytes, report.files.iter().map(|file| fs::metadata(file).unwrap().len()).sum::<u64>());

    let (folder, _) = exported(Format::Mdd);
    let bytes = read(&folder, "rope.mdd");
    assert_eq!(bytes[..8], [0, 0, 0, 4, 0, 0, 0, 3]);
    let big: Vec<f32> = bytes[8..].chunks_exact(4).map(|b| f32::from_be_bytes(b.try_into().unwrap())).collect();
    assert_eq!(big[..4], [0.0, 1.0 / 24.0, 2.0 / 24.0, 3.0 / 24.0]);
    assert_eq!(triples(&big[4..]), (0..FRAMES).flat_map(rope).collect::<Vec<_>>());
}

/// Catches numbers that begin anew where a run began late.
#[test]
fn frames_keep_the_numbers_they_had_in_the_run() {
    use crate::cache::Cache;
    use crate::sink::Sink;
    let folder = tempfile::tempdir().unwrap();
    let mut cache = Cache::create(folder.path(), bodies(), 24.0, 12).unwrap();
    (12..14).for_each(|index| cache.write(&frame(index)).unwrap());
    export(folder.path(), Format::Obj, folder.path().join("out")).unwrap();
    assert!(folder.path().join("out/rope/rope.0013.obj").exists());
    export(folder.path(), Format::Usda, folder.path().join("out")).unwrap();
    let text = fs::read_to_string(folder.path().join("out/scene.usda")).unwrap();
    assert!(text.contains("startTimeCode = 12") && text.contains("endTimeCode = 13") && text.contains("        13: ["));
}

/// Catches an export of nothing, and one that leaves half a file where the cache is spoilt.
#[test]
fn a_run_without_frames_or_with_a_spoilt_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_cache(folder.path(), 0);
    let message = export(folder.path(), Format::Glb, folder.path().join("out")).unwrap_err().to_string();
    assert!(message.contains("no body has a whole frame"), "{message}");
    assert!(!folder.path().join("out").exists());

    write_cache(folder.path(), 2);
    let path = folder.path().join("cache/rope.pc2");
    let mut bytes = fs::read(&path).unwrap();
    bytes[70..72].copy_from_slice(&[0xff, 0xff]);
    fs::write(&path, bytes).unwrap();
    for format in Format::ALL {
        let out = folder.path().join(format.name());
        let message = export(folder.path(), format, &out).unwrap_err().to_string();
        assert!(message.contains("rope.pc2") && message.contains("frame 1"), "{message}");
        let torn = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().to_string_lossy().ends_with(".part");
        assert!(!fs::read_dir(&out).unwrap().any(torn));
    }
}

/// Catches a format without a name, or two with one.
#[test]
fn formats_are_found_by_their_names() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
    }
    assert_eq!(Format::from_name("fbx"), None);
}
