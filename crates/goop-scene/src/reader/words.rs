//! Words that stand for choices, and the nearest word to a wrong one.

/// A choice that is written as a word.
pub trait Word: Copy + PartialEq + 'static {
    /// Every word and what it stands for.
    const WORDS: &'static [(&'static str, Self)];

    /// The word of a choice.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, choice)| *choice == self).map_or("", |(word, _)| word)
    }
}

/// The word nearest to a wrong one, if one is near enough to be meant.
pub fn nearest<'a>(wrong: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Case, underscores and the plural of lists are the likeliest slips.
    let plain = |word: &str| {
        let word = word.to_lowercase().replace('_', "-");
        word.strip_suffix("ies").map(|stem| format!("{stem}y")).unwrap_or(word)
    };
    let wrong = plain(wrong);
    if wrong.chars().count() > 64 {
        return None;
    }
    let (distance, word) = words
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(&wrong, &plain(word)), word))
        .min_by_key(|(distance, _)| *distance)?;
    let length = wrong.chars().count().max(word.chars().count());
    (distance <= 1.max(length / 3) && distance < length).then_some(word)
}

/// "did you mean" with the nearest word, else the list of all of them.
pub fn suggestion<'a>(wrong: &str, what: &str, words: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(word) = nearest(wrong, words.clone()) {
        return format!("did you mean `{word}`?");
    }
    let all: Vec<&str> = words.into_iter().collect();
    if all.is_empty() { format!("there is no {what} here") } else { format!("{what}: {}", all.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches suggestions that are further away than anyone would mistype.
    #[test]
    fn a_suggestion_is_near_or_absent() {
        let words = ["young", "density", "max-halvings"];
        assert_eq!(nearest("yuong", words), Some("young"));
        assert_eq!(nearest("max_halvings", words), Some("max-halvings"));
        assert_eq!(nearest("bodies", ["obstacle", "body"]), Some("body"));
        assert_eq!(nearest("colour", words), None);
        assert_eq!(nearest("", ["a"]), None);
        assert!(suggestion("colour", "keys here", words).contains("young, density"));
    }
}
