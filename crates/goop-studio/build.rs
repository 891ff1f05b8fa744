//! Builds the page with npm and puts it into the binary. Without npm, or where npm cannot
//! fetch what the lock file names, everything else still builds and the studio says why
//! it has no page.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const FILES: [&str; 3] = ["index.html", "style.css", "main.js"];

fn main() {
    let page = Path::new("../../studio");
    for name in ["src", "package.json", "package-lock.json", "build.mjs"] {
        println!("cargo:rerun-if-changed={}", page.join(name).display());
    }
    println!("cargo:rerun-if-env-changed=GOOP_NO_PAGE");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap_or_default());
    let code = match build(page, &out) {
        Ok(folder) => {
            let entry = |name: &&str| format!("({name:?}, include_bytes!({:?})),", folder.join(name));
            let files: String = FILES.iter().map(entry).collect();
            format!("pub const PAGE: Result<&[(&str, &[u8])], &str> = Ok(&[{files}]);")
        }
        Err(reason) => {
            println!("cargo:warning=the studio has no page: {reason}");
            format!("pub const PAGE: Result<&[(&str, &[u8])], &str> = Err({reason:?});")
        }
    };
    if let Err(error) = fs::write(out.join("page.rs"), code) {
        println!("cargo:warning=cannot write page.rs: {error}");
    }
}

/// Runs npm on a copy, so that nothing is written beside the sources.
fn build(page: &Path, out: &Path) -> Result<PathBuf, String> {
    if env::var_os("GOOP_NO_PAGE").is_some() {
        return Err("it was built with GOOP_NO_PAGE set".into());
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if Command::new(npm).arg("--version").output().is_err() {
        return Err("npm was not found when goop was built; install Node.js and build again".into());
    }
    let work = out.join("studio");
    let say = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
    fs::create_dir_all(work.join("src")).map_err(|e| say("cannot make a folder", &e))?;
    let old = fs::read(work.join("package-lock.json")).ok();
    for name in ["package.json", "package-lock.json", "build.mjs"] {
        fs::copy(page.join(name), work.join(name)).map_err(|e| say(name, &e))?;
    }
    fs::remove_dir_all(work.join("src")).map_err(|e| say("cannot clear a folder", &e))?;
    fs::create_dir_all(work.join("src")).map_err(|e| say("cannot make a folder", &e))?;
    for entry in fs::read_dir(page.join("src")).map_err(|e| say("studio/src", &e))? {
        let path = entry.map_err(|e| say("studio/src", &e))?.path();
        if let Some(name) = path.file_name() {
            fs::copy(&path, work.join("src").join(name)).map_err(|e| say("studio/src", &e))?;
        }
    }
    let same = old.is_some() && old == fs::read(work.join("package-lock.json")).ok();
    if !same || !work.join("node_modules/three").is_dir() {
        let args = ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
        run(Command::new(npm).args(args), &work, "npm ci")?;
    }
    run(Command::new("node").arg("build.mjs"), &work, "node build.mjs")?;
    Ok(work.join("dist"))
}

fn run(command: &mut Command, folder: &Path, name: &str) -> Result<(), String> {
    match command.current_dir(folder).output() {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => {
            let text = String::from_utf8_lossy(&done.stderr);
            let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message").to_owned();
            Err(format!("`{name}` failed when goop was built ({last}); mend it and build again"))
        }
        Err(error) => Err(format!("`{name}` could not be started ({error}); install Node.js and build again")),
    }
}
