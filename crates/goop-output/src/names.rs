//! File names from the names people give to bodies.

use std::collections::BTreeSet;

/// Longest name made (characters); frame number and ending come on top.
const LONGEST: usize = 60;

/// One name per body for files and folders, in the same order.
///
/// Letters, digits, `-` and `_` stay, also a `.` that is not in front; anything else
/// becomes `_`. No two are alike, whatever the case of their letters.
pub fn file_names<S: AsRef<str>>(names: &[S]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut unique = |name: &str| {
        let plain = plain(name);
        let mut candidate = plain.clone();
        let mut count = 1;
        while !taken.insert(candidate.to_lowercase()) {
            count += 1;
            candidate = format!("{plain}-{count}");
        }
        candidate
    };
    names.iter().map(|name| unique(name.as_ref())).collect()
}

fn plain(name: &str) -> String {
    let keep = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let kept: String = name.chars().take(LONGEST).map(|c| if keep(c) { c } else { '_' }).collect();
    let kept = kept.trim_end_matches('.'); // some systems drop it
    match kept.chars().next() {
        None => "body".into(),
        Some('.') => format!("_{}", &kept[1..]),
        Some(_) if is_device(kept) => format!("{kept}_"),
        Some(_) => kept.into(),
    }
}

/// Names that mean a device to Windows, whatever follows the first dot.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or("").to_ascii_lowercase();
    let numbered =
        |word: &str| stem.strip_prefix(word).is_some_and(|n| n.len() == 1 && n != "0" && n.parse::<u8>().is_ok());
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a body called `../x` writing outside the run's folder.
    #[test]
    fn names_cannot_leave_their_folder() {
        let made = file_names(&["../../etc/passwd", "..", ".", "", "a/b\\c:d", "/abs", "nul.ply", "com1", "company"]);
        assert_eq!(
            made,
            ["_._.._etc_passwd", "body", "body-2", "body-3", "a_b_c_d", "_abs", "nul.ply_", "com1_", "company"]
        );
    }

    /// Catches two bodies overwriting each other's frames.
    #[test]
    fn names_that_fall_together_are_told_apart() {
        assert_eq!(file_names(&["a b", "a_b", "A_B", "a_b-2"]), ["a_b", "a_b-2", "A_B-3", "a_b-2-2"]);
    }

    /// Catches names in other scripts turning into underscores.
    #[test]
    fn letters_of_any_script_stay() {
        assert_eq!(file_names(&["Gelée-1"]), ["Gelée-1"]);
    }
}
