//! The `goop` command. `main` reads as the flow: which command, and how it ended.

mod args;
mod bench;
mod check;
mod compare;
mod dancer;
mod export;
mod jelly;
mod library;
mod open;
mod outputs;
mod preview;
mod progress;
mod render;
mod resume;
mod run;
mod saved;
mod scenes;
mod studio;
mod study;
mod summary;
mod units;
mod validate;

use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

/// How a command ends: the exit codes of the README.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// 0: done.
    Done,
    /// 1: the simulation failed; everything before is kept.
    Failed,
    /// 2: the input is wrong; nothing was written.
    Wrong,
    /// 130: stopped by the user after a whole frame.
    Interrupted,
}

impl From<End> for ExitCode {
    fn from(end: End) -> ExitCode {
        ExitCode::from(match end {
            End::Done => 0,
            End::Failed => 1,
            End::Wrong => 2,
            End::Interrupted => 130,
        })
    }
}

/// A reader that closes our output early (`goop scenes | head`) ends us quietly, as it
/// ends any other command; and a bug of ours says that it is one.
fn behave() {
    #[cfg(unix)]
    // SAFETY: called first, before any thread or handler exists.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        // A file that may not grow is then an error like any other, with a sentence.
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("error: goop itself failed: {panic}");
        eprintln!("  = help: this is a bug in goop, not in your scene; please report it with the scene");
    }));
}

fn main() -> ExitCode {
    behave();
    let args = Args::parse();
    let outcome = match args.command {
        None => run::default_scene(),
        Some(Command::Run(run)) => run::run(&run),
        Some(Command::Jelly(jelly)) => jelly::jelly(&jelly),
        Some(Command::Check(check)) => check::check(&check),
        Some(Command::Scenes { name }) => scenes::scenes(name.as_deref()),
        Some(Command::New(new)) => scenes::new(&new),
        Some(Command::Dancer(args)) => dancer::dancer(&args),
        Some(Command::Export(export)) => export::export(&export),
        Some(Command::Render(render)) => render::render(&render),
        Some(Command::Schema) => scenes::schema(),
        Some(Command::Compare(compare)) => compare::compare(&compare),
        Some(Command::Validate(args)) => validate::validate(&args),
        Some(Command::Study(args)) => study::study(&args),
        Some(Command::Bench(args)) => bench::bench(&args),
        Some(Command::Studio(args)) => studio::studio(&args),
    };
    match outcome {
        Ok(end) => end.into(),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(1)
        }
    }
}
