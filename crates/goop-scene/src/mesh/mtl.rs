//! Material library of an OBJ: names, `Kd`, `d` or `Tr`, and the name in `map_Kd`.

use super::text::{lines, show, tokens};
use super::{Paint, Warnings};
use std::collections::BTreeMap;

/// Longest library read (bytes).
pub(super) const MOST_BYTES: u64 = 1 << 26;

/// Materials by name, as they are after the whole file is read.
pub(super) fn read(bytes: &[u8], file: &str, found: &mut BTreeMap<String, Paint>, warnings: &mut Warnings) {
    let mut open: Option<String> = None;
    for (line, text) in lines(bytes) {
        let mut words = tokens(text);
        let Some(keyword) = words.next() else { continue };
        if keyword == b"newmtl" {
            let name = rest(text);
            found.insert(name.clone(), Paint { name: name.clone(), ..Paint::default() });
            open = Some(name);
            continue;
        }
        let Some(paint) = open.as_ref().and_then(|name| found.get_mut(name)) else { continue };
        let number = |word: Option<&[u8]>| {
            let value: f32 = std::str::from_utf8(word?).ok()?.parse().ok()?;
            value.is_finite().then(|| value.clamp(0.0, 1.0))
        };
        let [r, g, b, a] = paint.colour.unwrap_or([0.8, 0.8, 0.8, 1.0]);
        let colour = match keyword {
            b"Kd" => {
                // Green and blue may be left out where they are as red; a spectrum or xyz is beyond us.
                let red = number(words.next());
                let more = [words.next(), words.next()].map(|word| word.map_or(red, |word| number(Some(word))));
                red.zip(more[0]).zip(more[1]).map(|((r, g), b)| [r, g, b, a])
            }
            b"d" => number(words.next()).map(|a| [r, g, b, a]),
            b"Tr" => number(words.next()).map(|t| [r, g, b, 1.0 - t]),
            b"map_Kd" => {
                paint.texture = Some(rest(text)).filter(|name| !name.is_empty());
                continue;
            }
            _ => continue,
        };
        match colour {
            Some(colour) => paint.colour = Some(colour),
            None => warnings.add(format!("{file}, line {line}: '{}' is passed over", show(text))),
        }
    }
}

/// All behind the first word: names may have spaces.
pub(super) fn rest(text: &[u8]) -> String {
    let text = text.trim_ascii();
    let end = text.iter().position(|b| b.is_ascii_whitespace()).unwrap_or(text.len());
    show(&text[end..])
}
