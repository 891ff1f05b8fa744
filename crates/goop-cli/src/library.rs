//! The scenes in the binary: `scenes/` smallest first, then those that redo a
//! figure of a paper.

/// A built-in scene.
#[derive(Debug)]
pub struct Entry {
    /// Its name: kebab-case, papers' scenes with the key of the paper in front.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! scenes {
    ($($name:literal => $file:literal),* $(,)?) => {
        &[$(Entry { name: $name, text: include_str!(concat!("../../../", $file)) }),*]
    };
}

/// All of them.
pub const SCENES: &[Entry] = scenes! {
    "flatland" => "scenes/flatland.toml",
    "swinging-string" => "scenes/swinging-string.toml",
    "hanging-chain" => "scenes/hanging-chain.toml",
    "bungee" => "scenes/bungee.toml",
    "shaken-string" => "scenes/shaken-string.toml",
    "sliding-blocks" => "scenes/sliding-blocks.toml",
    "thrown-book" => "scenes/thrown-book.toml",
    "four-corners" => "scenes/four-corners.toml",
    "soft-and-stiff-halves" => "scenes/soft-and-stiff-halves.toml",
    "snapping-dome" => "scenes/snapping-dome.toml",
    "let-go-and-grab" => "scenes/let-go-and-grab.toml",
    "four-materials" => "scenes/four-materials.toml",
    "held-at-centre" => "scenes/held-at-centre.toml",
    "jelly-cube" => "scenes/jelly-cube.toml",
    "flag" => "scenes/flag.toml",
    "torn-sheet" => "scenes/torn-sheet.toml",
    "tearing-flag" => "scenes/tearing-flag.toml",
    "clay-hoop" => "scenes/clay-hoop.toml",
    "balloon" => "scenes/balloon.toml",
    "bouncing-ball" => "scenes/bouncing-ball.toml",
    "ball-into-cloth" => "scenes/ball-into-cloth.toml",
    "two-sheets-and-a-ball" => "scenes/two-sheets-and-a-ball.toml",
    "struck-sheet" => "scenes/struck-sheet.toml",
    "string-knot" => "scenes/string-knot.toml",
    "folding-cloth" => "scenes/folding-cloth.toml",
    "jelly-pile" => "scenes/jelly-pile.toml",
    "jelly-in-a-bowl" => "scenes/jelly-in-a-bowl.toml",
    "down-the-stairs" => "scenes/down-the-stairs.toml",
    "kitchen" => "scenes/kitchen.toml",
    "springy-beam" => "scenes/springy-beam.toml",
    "twisted-bar" => "scenes/twisted-bar.toml",
    "ball-and-curtain" => "scenes/ball-and-curtain.toml",
    "over-torus" => "scenes/over-torus.toml",
    "over-ellipsoid" => "scenes/over-ellipsoid.toml",
    "over-hyperboloid" => "scenes/over-hyperboloid.toml",
    "dancer" => "scenes/dancer.toml",
    "known-catenary" => "scenes/known/catenary.toml",
    "known-hanging-bar" => "scenes/known/hanging-bar.toml",
    "known-hanging-block" => "scenes/known/hanging-block.toml",
    "known-heavy-cantilever" => "scenes/known/heavy-cantilever.toml",
    "known-heavy-strip" => "scenes/known/heavy-strip.toml",
    "known-incline" => "scenes/known/incline.toml",
    "known-membrane" => "scenes/known/membrane.toml",
    "known-membrane-hybrid" => "scenes/known/membrane-hybrid.toml",
    "known-plate" => "scenes/known/plate.toml",
    "known-projectile" => "scenes/known/projectile.toml",
    "known-silicone-beam" => "scenes/known/silicone-beam.toml",
    "known-stopping" => "scenes/known/stopping.toml",
    "known-vibrating-rod" => "scenes/known/vibrating-rod.toml",
    "w1" => "scenes/w1.toml",
    "w2" => "scenes/w2.toml",
    "w3" => "scenes/w3.toml",
    "tw-1988-tumble" => "papers/tw-1988/tumble.toml",
    "tw-1988-fig2-hoop" => "papers/tw-1988/fig2-hoop.toml",
    "tw-1988-fig2-shape" => "papers/tw-1988/fig2-shape.toml",
    "tw-1988-clay-hoop" => "papers/tw-1988/clay-hoop.toml",
    "tw-1988-stretchy" => "papers/tw-1988/stretchy.toml",
    "tw-1988-weights" => "papers/tw-1988/weights.toml",
    "go-1994-fig5" => "papers/go-1994/fig5.toml",
    "go-1994-fig7" => "papers/go-1994/fig7.toml",
    "go-1994-fig6" => "papers/go-1994/fig6.toml",
    "go-1994-bezier" => "papers/go-1994/bezier.toml",
    "go-1994-pin-springs" => "papers/go-1994/pin-springs.toml",
    "go-spring-fig4" => "papers/go-spring/fig4.toml",
    "go-spring-fig5" => "papers/go-spring/fig5.toml",
    "go-spring-fig6" => "papers/go-spring/fig6.toml",
    "go-spring-regions" => "papers/go-spring/regions.toml",
    "go-spring-rest-lengths" => "papers/go-spring/rest-lengths.toml",
    "chang-2000-fig6-1" => "papers/chang-2000/fig6-1.toml",
    "chang-2000-fig6-2" => "papers/chang-2000/fig6-2.toml",
    "chang-2000-fig6-3" => "papers/chang-2000/fig6-3.toml",
    "chang-2000-fig6-4" => "papers/chang-2000/fig6-4.toml",
    "chang-2000-fig6-17" => "papers/chang-2000/fig6-17.toml",
};

/// What `goop` alone runs.
pub const DEFAULT: &str = "dancer";

/// What `goop new` starts from.
pub const SMALLEST: &str = "swinging-string";

/// A scene by its name.
pub fn find(name: &str) -> Option<&'static Entry> {
    SCENES.iter().find(|s| s.name == name)
}

/// The scene's one-line title.
pub fn title(entry: &Entry) -> &'static str {
    let line = entry.text.lines().find_map(|l| l.strip_prefix("title = ")).unwrap_or("");
    line.trim().trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Catches a scene file that was forgotten in the binary, and one that is broken.
    #[test]
    fn every_scene_file_is_built_in_has_a_title_and_builds() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut files = BTreeSet::new();
        let mut folders = vec![root.join("scenes"), root.join("papers")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "toml") {
                    files.insert(std::fs::read_to_string(path).unwrap());
                }
            }
        }
        let built_in: BTreeSet<String> = SCENES.iter().map(|s| s.text.to_owned()).collect();
        assert_eq!(files.len(), SCENES.len());
        assert!(files == built_in);
        for scene in SCENES {
            assert!(
                scene.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
                "{}",
                scene.name
            );
            assert!(!title(scene).is_empty(), "{} has no title", scene.name);
            let loaded = crate::open::load(scene.name, &[]).unwrap_or_else(|faults| panic!("{faults}"));
            assert!(loaded.warnings.is_empty(), "{}: {:?}", scene.name, loaded.warnings);
            loaded.build().unwrap_or_else(|faults| panic!("{faults}"));
        }
    }
}
