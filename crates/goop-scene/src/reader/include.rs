//! `include`: several files as one tree.
//!
//! Tables are merged; lists of tables are joined, those of included files first;
//! any other key of the including file wins. Paths are relative to the file that
//! names them.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::fault::Fault;
use super::source::{Source, Sources, Span};
use super::tree::{Entry, Node, Value, parse_tree};

/// Largest scene text (bytes).
const MAX_SCENE_BYTES: u64 = 64 << 20;
const MAX_DEPTH: usize = 8;
const MAX_FILES: usize = 256;

/// Files that were read: path, and its contents' hash.
pub(crate) type Inputs = Vec<(PathBuf, String)>;

/// What gathering has found so far.
pub(crate) struct Gather<'a> {
    pub sources: &'a mut Sources,
    pub faults: Vec<Fault>,
    pub inputs: Inputs,
    /// Folder of the main scene; includes need one.
    pub folder: Option<&'a Path>,
    /// Files being read now, outermost first.
    open: Vec<PathBuf>,
}

/// Reads the tree of a text that is already among the sources, and of all that it includes.
pub(crate) fn gather<'a>(
    sources: &'a mut Sources,
    main: usize,
    folder: Option<&'a Path>,
    file: Option<PathBuf>,
) -> (Option<Node>, Vec<Fault>, Inputs) {
    let open = file.into_iter().map(|file| plain(&file)).collect();
    let mut gather = Gather { sources, faults: Vec::new(), inputs: Vec::new(), folder, open };
    let tree = gather.tree(main);
    (tree, gather.faults, gather.inputs)
}

impl Gather<'_> {
    fn tree(&mut self, source: usize) -> Option<Node> {
        let mut tree = match parse_tree(self.sources, source) {
            Ok(tree) => tree,
            Err(fault) => {
                self.faults.push(*fault);
                return None;
            }
        };
        let Value::Table(entries) = &mut tree.value else { return Some(tree) };
        let Some(index) = entries.iter().position(|entry| entry.name == "include") else { return Some(tree) };
        let list = entries.remove(index);
        let mut base: Option<Node> = None;
        for (path, span) in self.paths(&list) {
            if let Some(included) = self.file(source, &path, span) {
                base = Some(match base {
                    Some(base) => merge(base, included),
                    None => included,
                });
            }
        }
        Some(match base {
            Some(base) => merge(base, tree),
            None => tree,
        })
    }

    /// The paths of an `include` list.
    fn paths(&mut self, list: &Entry) -> Vec<(String, Span)> {
        const HINT: &str = "a list of files, relative to this one; for example `include = [\"floor.toml\"]`";
        let mut paths = Vec::new();
        match &list.node.value {
            Value::Array(items) => {
                for item in items {
                    match &item.value {
                        Value::Text(path) => paths.push((path.clone(), item.span)),
                        _ => {
                            let message = format!("`include` must be a list of strings, found {}", item.kind());
                            self.fault(item.span, message, HINT);
                        }
                    }
                }
            }
            _ => {
                let message = format!("`include` must be a list of strings, found {}", list.node.kind());
                self.fault(list.node.span, message, HINT);
            }
        }
        paths
    }

    fn file(&mut self, source: usize, path: &str, span: Span) -> Option<Node> {
        let Some(root) = self.folder else {
            self.fault(span, "a scene without a file cannot include others", "save the scene to a file first");
            return None;
        };
        let relative = self.sources.get(source).map(|source| source.folder.join(path)).unwrap_or_default();
        let full = root.join(&relative);
        let own = plain(&full);
        if let Some(first) = self.open.iter().position(|open| *open == own) {
            let names: Vec<String> = self.open[first..].iter().map(|open| file_name(open)).collect();
            let message = format!("\"{path}\" includes itself: {} > {}", names.join(" > "), file_name(&own));
            self.fault(span, message, "take it out of one of the `include` lists");
            return None;
        }
        if self.open.len() > MAX_DEPTH {
            let message = format!("includes go deeper than {MAX_DEPTH} files");
            self.fault(span, message, "include the files directly from the scene");
            return None;
        }
        if self.inputs.len() >= MAX_FILES {
            self.fault(span, format!("more than {MAX_FILES} files are included"), "join some of them");
            return None;
        }
        match read_text(&full) {
            Ok((text, hash)) => {
                self.inputs.push((full.clone(), hash));
                let folder = relative.parent().map(Path::to_path_buf).unwrap_or_default();
                let name = self.name_beside(source, path);
                let number = self.sources.add(Source { name, text, folder });
                self.open.push(own);
                let tree = self.tree(number);
                self.open.pop();
                tree
            }
            Err(reason) => {
                let hint = "paths are relative to the file that names them";
                self.fault(span, format!("cannot read \"{path}\": {reason}"), hint);
                None
            }
        }
    }

    /// The name of an included file, said the way its includer is said.
    fn name_beside(&self, source: usize, path: &str) -> String {
        let includer = self.sources.get(source).map_or("", |source| source.name.as_str());
        match Path::new(includer).parent() {
            Some(folder) => folder.join(path).display().to_string(),
            None => path.to_string(),
        }
    }

    fn fault(&mut self, span: Span, message: impl Into<String>, hint: &str) {
        let place = self.sources.place(span);
        self.faults.push(Fault { place, path: "include".into(), message: message.into(), hint: hint.into() });
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A path without `.` and, where that is safe, without `..`; links are followed if the file is there.
fn plain(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// A text file and its hash; the reason if it cannot be had.
pub(crate) fn read_text(path: &Path) -> Result<(String, String), String> {
    let about = std::fs::metadata(path).map_err(|error| said(&error))?;
    if !about.is_file() {
        return Err("it is not a file".into());
    }
    if about.len() > MAX_SCENE_BYTES {
        return Err(format!("it has {} bytes, the most is {MAX_SCENE_BYTES}", about.len()));
    }
    let bytes = std::fs::read(path).map_err(|error| said(&error))?;
    let hash = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&bytes));
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, hash)),
        Err(error) => Err(format!("byte {} is not UTF-8 text", error.utf8_error().valid_up_to())),
    }
}

/// The hash of a file of any size; the reason if it cannot be had.
pub(crate) fn hash_file(path: &Path) -> Result<String, String> {
    let about = std::fs::metadata(path).map_err(|error| said(&error))?;
    if !about.is_file() {
        return Err("it is not a file".into());
    }
    let mut file = std::fs::File::open(path).map_err(|error| said(&error))?;
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(|error| said(&error))? {
            0 => return Ok(format!("{:032x}", hasher.digest128())),
            length => hasher.update(&buffer[..length]),
        }
    }
}

/// An input-output error without its number.
fn said(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

/// Lays `over` on `base`.
fn merge(mut base: Node, over: Node) -> Node {
    let joined = base.is_tables() && over.is_tables();
    match (&mut base.value, over.value) {
        (Value::Array(under), Value::Array(items)) if joined => under.extend(items),
        (Value::Table(under), Value::Table(entries)) => {
            for entry in entries {
                match under.iter().position(|old| old.name == entry.name) {
                    Some(index) => {
                        let old = under.remove(index);
                        under.insert(index, Entry { node: merge(old.node, entry.node), ..entry });
                    }
                    None => under.push(entry),
                }
            }
            base.span = over.span;
        }
        (_, value) => return Node { span: over.span, value },
    }
    base
}
