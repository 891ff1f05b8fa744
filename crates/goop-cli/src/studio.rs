//! `goop studio`: what the command line lends the studio, and the browser.

use crate::args::{Format, Studio};
use crate::{End, check, library, outputs};
use anyhow::Result;
use goop_studio::{Host, Options, StudioError};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What opens when no scene is named: small, and something to pull at.
const FIRST: &str = "four-corners";

/// `goop studio`
pub fn studio(args: &Studio) -> Result<End> {
    give_memory_back();
    if let Some(threads) = args.threads {
        // A pool that exists already keeps its size: harmless, results do not depend on it.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build_global();
    }
    let (folder, scene) = match place(args.scene.as_deref().unwrap_or(FIRST)) {
        Ok(found) => found,
        Err(sentence) => {
            eprintln!("error: {sentence}");
            return Ok(End::Wrong);
        }
    };
    let options = Options {
        scene,
        folder,
        port: args.port,
        address: args.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        token: args.token.clone(),
        memory: args.memory as usize * 1_000_000,
    };
    let ready = |address: &str| {
        println!("the studio is at {address}");
        println!("end it with Ctrl-C");
        if !args.no_open && !open(address) {
            println!("no browser could be started; open that address in one");
        }
    };
    match goop_studio::serve(options, host(), ready) {
        Ok(()) => Ok(End::Done),
        Err(error @ (StudioError::Listen { .. } | StudioError::NoPage(_))) => {
            eprintln!("error: {error}");
            Ok(End::Failed)
        }
        Err(error) => {
            eprintln!("error: {error}");
            Ok(End::Wrong)
        }
    }
}

/// The folder to work in, and the scene's name in it.
fn place(scene: &str) -> Result<(PathBuf, String), String> {
    let path = Path::new(scene);
    if path.is_file() && path.extension().is_some_and(|e| e == "toml") {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().and_then(|n| n.to_str()).ok_or("the file's name cannot be read")?;
        return Ok((folder.to_path_buf(), name.to_owned()));
    }
    if library::find(scene).is_some() {
        return Ok((PathBuf::from("."), scene.to_owned()));
    }
    let names = library::SCENES.iter().map(|s| s.name);
    let hint = match goop_scene::reader::nearest(scene, names) {
        Some(near) => format!("did you mean '{near}'? `goop scenes` lists them all"),
        None => "give the path of a .toml file, or a name that `goop scenes` lists".to_owned(),
    };
    Err(format!("there is no scene file and no built-in scene '{scene}'; {hint}"))
}

fn host() -> Host {
    Host {
        scenes: library::SCENES.iter().map(|s| (s.name, library::title(s).to_owned(), s.text)).collect(),
        check: check::findings,
        outputs: |folder, built, fps, first| {
            outputs::open(folder, built, Format::None, fps, first, None).map_err(|error| format!("{error:#}"))
        },
    }
}

/// Opens a page in the user's browser; whether one was started.
fn open(address: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let started =
        Command::new(program).args(arguments).arg(address).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.is_ok()
}

/// Frames of the record come and go for hours; each large array has pages of its own and gives them back, instead of
/// leaving holes of all sizes behind.
fn give_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: called before the studio starts its threads.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 64 << 10);
    }
}
