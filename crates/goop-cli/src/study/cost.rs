//! C14: what a node costs in an iteration as the thesis' cube outgrows the caches, and a second of its animation.

use super::{Found, Line, Plot, short};
use crate::bench::cube;

/// Sampling rates: 7³ to 61³ nodes; 7 and 13 are the thesis' own.
const RATES: [usize; 9] = [7, 11, 13, 15, 21, 31, 41, 51, 61];

/// Cubes up to a number of nodes along a side; wall clock.
pub fn study(largest: u32) -> Result<Found, String> {
    let caches = caches();
    let columns = [
        "rate",
        "nodes",
        "a product reads",
        "fits",
        "ns / node, iteration",
        "iterations / step",
        "mass spring",
        "reduced",
        "implicit",
        "thesis",
    ];
    let mut found = Found {
        title: "C14: cost of the thesis' cube, dt 0.001 s".into(),
        notes: vec![
            "Mass spring, reduced, implicit: seconds for a second of animation, and beside them the thesis' table 6.1."
                .into(),
        ],
        columns: columns.map(str::to_owned).to_vec(),
        rows: Vec::new(),
        plots: Vec::new(),
    };
    let names = ["mass spring", "reduced", "implicit"];
    let mut seconds: Vec<Line> = names.map(|name| Line { label: name.into(), points: Vec::new() }).into();
    let (mut each, mut measured) = (Vec::new(), Vec::new());
    for rate in RATES.into_iter().filter(|&rate| rate <= largest as usize) {
        let mut cells = Vec::new();
        let (mut bytes, mut costs) = (0, [0.0; 2]);
        for (m, (_, axes)) in cube::MODELS.into_iter().enumerate() {
            let (body, product) = cube::cube(rate, axes).map_err(|error| error.to_string())?;
            let cost = cube::cost(body).map_err(|error| error.to_string())?;
            seconds[m].points.push((rate.pow(3) as f64, cost.wall_per_second()));
            cells.push(short(cost.wall_per_second()));
            if cost.iterations > 0 {
                bytes = product;
                costs =
                    [1e9 * cost.stages[2] / cost.iterations as f64 / rate.pow(3) as f64, cost.iterations_per_step()];
            }
        }
        let home = caches.iter().find(|(_, size)| bytes <= *size).map_or("memory", |(name, _)| name.as_str());
        each.push((rate.pow(3) as f64, costs[0]));
        measured.push((home.to_owned(), costs[0]));
        let thesis =
            cube::THESIS.iter().find(|t| t.0 == rate).map_or(String::new(), |t| t.1.map(|s| s.to_string()).join(" / "));
        let mut row =
            vec![rate.to_string(), rate.pow(3).to_string(), format!("{:.1} MB", 1e-6 * bytes as f64), home.into()];
        row.extend([format!("{:.1}", costs[0]), format!("{:.1}", costs[1])]);
        row.extend(cells);
        row.push(thesis);
        found.rows.push(row);
    }
    let told: Vec<String> = caches.iter().map(|(name, size)| format!("{name} {:.1} MB", 1e-6 * *size as f64)).collect();
    found.notes.push(match told.as_slice() {
        [] => "The system does not tell its caches.".into(),
        told => format!(
            "Caches that the threads in use have: {}. A product reads the matrix and three vectors.",
            told.join(", ")
        ),
    });
    found.notes.extend(steps(&measured));
    found.plots.push(Plot {
        title: "Implicit: one iteration of conjugate gradients".into(),
        across: "nodes".into(),
        up: "ns a node".into(),
        lines: vec![Line { label: format!("{} threads", rayon::current_num_threads()), points: each }],
        linear: false,
    });
    found.plots.push(Plot {
        title: "A second of animation".into(),
        across: "nodes".into(),
        up: "s".into(),
        lines: seconds,
        linear: false,
    });
    Ok(found)
}

/// A sentence for every step from one cache to the next: the least cost in each.
fn steps(measured: &[(String, f64)]) -> Vec<String> {
    let mut homes: Vec<(&str, f64)> = Vec::new();
    for (home, cost) in measured {
        match homes.iter_mut().find(|h| h.0 == home) {
            Some(h) => h.1 = h.1.min(*cost),
            None => homes.push((home, *cost)),
        }
    }
    let step = |pair: &[(&str, f64)]| {
        let [(from, before), (to, after)] = [pair[0], pair[1]];
        format!("From {from} to {to}: {before:.1} to {after:.1} ns a node and iteration, {:.2} times.", after / before)
    };
    homes.windows(2).map(step).collect()
}

/// Caches of data and their sizes (bytes), the smallest first, as far as the threads in use share them out.
fn caches() -> Vec<(String, usize)> {
    let threads = rayon::current_num_threads();
    let mut found: Vec<(String, usize)> = Vec::new();
    for index in 0..8 {
        let read = |what: &str| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}");
            std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
        };
        let (Some(level), Some(kind), Some(size)) = (read("level"), read("type"), read("size")) else { continue };
        let number = size.trim_end_matches(char::is_alphabetic).parse::<usize>();
        let Ok(number) = number else { continue };
        if kind == "Instruction" {
            continue;
        }
        let bytes = number * if size.ends_with('M') { 1 << 20 } else { 1 << 10 };
        // A core's own cache counts once a thread.
        let alone = read("shared_cpu_list").is_some_and(|list| !list.contains(['-', ',']));
        found.push((format!("L{level}"), if alone { bytes * threads } else { bytes }));
    }
    found.sort_by_key(|cache| cache.1);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a step that is told between the wrong sizes, or from the cost of one unlucky run.
    #[test]
    fn steps_are_told_between_neighbouring_caches() {
        let line = |home: &str, cost: f64| (home.to_owned(), cost);
        let told =
            steps(&[line("L2", 30.0), line("L2", 20.0), line("L3", 25.0), line("memory", 50.0), line("memory", 60.0)]);
        assert_eq!(told.len(), 2);
        assert!(told[0].contains("L2 to L3: 20.0 to 25.0") && told[0].contains("1.25 times"), "{}", told[0]);
        assert!(told[1].contains("L3 to memory: 25.0 to 50.0"), "{}", told[1]);
    }
}
