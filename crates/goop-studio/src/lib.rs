//! The studio: a local server that plays a scene live, and a page to take hold of it.
//!
//! ```text
//! page ─command▶ server ─channel▶ engine thread: session{text, worlds, record, undo}
//!      ◀─frames─        ◀─watch──
//! ```
//! `protocol` is the whole contract. The engine steps at its own clock and never waits for
//! a page: frames lie in a slot of one, and a slow page takes the newest when it comes
//! round. Every change is an edit between steps, the same that a scene's `[[event]]` makes,
//! or a change of the scene's text while nothing has moved yet.

mod document;
mod drawing;
mod engine;
mod model;
mod protocol;
mod record;
mod ring;
mod server;
mod session;
mod state;

use goop::Model;
use goop_output::Sink;
use goop_scene::Built;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// What frames are written to.
pub type Sinks = Vec<Box<dyn Sink>>;

/// What the command line lends the studio.
#[derive(Clone)]
pub struct Host {
    /// Built-in scenes: name, title, text.
    pub scenes: Vec<(&'static str, String, &'static str)>,
    /// What `check` says of every body of a model.
    pub check: fn(&Model) -> Vec<String>,
    /// Opens the files of a run in a folder, at so many frames a second from this frame on.
    pub outputs: fn(&Path, &Built, f64, usize) -> Result<Sinks, String>,
}

/// How the studio is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// A scene file or the name of a built-in scene.
    pub scene: String,
    /// Folder whose scenes are listed and where files are written.
    pub folder: PathBuf,
    /// Port; 0 takes a free one.
    pub port: u16,
    /// Address to listen at; anything but loopback needs a token.
    pub address: IpAddr,
    /// What every request must carry.
    pub token: Option<String>,
    /// Most memory for recorded frames (bytes).
    pub memory: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scene: String::new(),
            folder: PathBuf::from("."),
            port: 0,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            token: None,
            memory: 512 << 20,
        }
    }
}

/// Why the studio cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StudioError {
    /// Everyone on the network could take hold of it.
    #[error("--listen {0} lets other machines in; give --token too, a word that they must know")]
    NeedsToken(IpAddr),
    /// The token is too easy.
    #[error("the token must have 8 to 128 letters, digits, - or _")]
    PoorToken,
    /// No page was built.
    #[error("this goop has no studio page: {0}")]
    NoPage(&'static str),
    /// The scene does not open.
    #[error("{0}")]
    Scene(String),
    /// The port is taken or not allowed.
    #[error("cannot listen at {address}: {cause}; choose another --port")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        cause: std::io::Error,
    },
}

/// Serves until the process ends; `ready` is called once with the address of the page.
pub fn serve(options: Options, host: Host, ready: impl FnOnce(&str)) -> Result<(), StudioError> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match &options.token {
        None if !options.address.is_loopback() => return Err(StudioError::NeedsToken(options.address)),
        Some(token) if !(8..=128).contains(&token.len()) || !token.chars().all(good) => {
            return Err(StudioError::PoorToken);
        }
        _ => {}
    }
    if let Err(reason) = server::PAGE {
        return Err(StudioError::NoPage(reason));
    }
    let session = session::Session::open(&options, host).map_err(StudioError::Scene)?;
    server::serve(&options, session, ready)
}
