//! The rows as a page.

use super::problem::Row;
use std::fmt::Write;

/// One HTML text that needs nothing from outside.
pub fn render(rows: &[Row]) -> String {
    let failed = rows.iter().filter(|row| row.failed()).count();
    let held = rows.iter().filter(|row| row.cannot.is_none()).count();
    let mut out = String::from(HEAD);
    let _ = write!(out, "<h1>Known answers</h1><p>{} of {held} rows are within their tolerance.</p>", held - failed);
    out += "<table><thead><tr><th>Problem and model<th>Value<th>Reference<th>Error<th>Allowed<th>Order<th>Verdict<th>Time (s)</tr></thead><tbody>";
    for row in rows {
        let (class, verdict) = match (&row.value, row.cannot) {
            (_, Some(why)) => ("soft", format!("not held to it: {}", escape(why))),
            (Err(sentence), _) => ("bad", escape(sentence)),
            (Ok(_), _) if row.failed() => ("bad", "outside".to_owned()),
            _ => ("good", "within".to_owned()),
        };
        let value = row.value.as_ref().map_or(String::new(), |value| format!("{value:.6}"));
        let error = if row.error.is_finite() { format!("{:.1e}", row.error) } else { String::new() };
        let order = row.order.map_or(String::new(), |order| format!("{order:.2}"));
        let _ = write!(
            out,
            "<tr class={class}><td>{}<td>{value}<td>{:.6}<td>{error}<td>{:.0e}<td>{order}<td>{verdict}<td>{:.1}</tr>",
            escape(&row.name),
            row.reference,
            row.tolerance,
            row.seconds,
        );
    }
    out += "</tbody></table><p>Errors are relative, absolute where the reference is 0. The order comes from the two finest resolutions; where errors are at rounding there is none to see. Rows that a model is not held to show what it does all the same.</p></body></html>";
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

const HEAD: &str = "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>Known answers</title><style>
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8884; font-variant-numeric: tabular-nums }
.good td:nth-child(7) { color: #1a7f37 } .bad td:nth-child(7) { color: #d1242f; font-weight: 600 } .soft { opacity: .7 }
</style></head><body>";
