//! Colours, dashes and markers of the runs, for light and dark pages.
//!
//! The colours are those of Okabe and Ito, darkened where they are too faint on white
//! and lightened for a dark page. Seven colours, each with its dash, and eight markers:
//! fifty-six runs before two look alike.

use plotters::style::RGBColor;

/// Grid lines in a plot.
pub const GRID: RGBColor = RGBColor(0xD8, 0xDC, 0xE0);
/// Axes of a plot.
pub const AXIS: RGBColor = RGBColor(0x80, 0x88, 0x90);
/// Text in a plot.
pub const TEXT: RGBColor = RGBColor(0x30, 0x38, 0x40);

struct Look {
    light: RGBColor,
    dark: &'static str,
    /// In units of the plots, which are four to a pixel.
    dash: &'static str,
}

const LOOKS: [Look; 7] = [
    Look { light: RGBColor(0x00, 0x72, 0xB2), dark: "#56A8F0", dash: "none" },
    Look { light: RGBColor(0xD0, 0x56, 0x00), dark: "#FF8F4D", dash: "40 16" },
    Look { light: RGBColor(0x00, 0x8F, 0x68), dark: "#3CCB9E", dash: "10 14" },
    Look { light: RGBColor(0xB0, 0x50, 0x88), dark: "#E79AC6", dash: "48 14 10 14" },
    Look { light: RGBColor(0xA8, 0x78, 0x00), dark: "#F0C14B", dash: "24 12" },
    Look { light: RGBColor(0x2F, 0x97, 0xCF), dark: "#A5DCFF", dash: "64 16 10 16 10 16" },
    Look { light: RGBColor(0x50, 0x50, 0x50), dark: "#C8C8C8", dash: "80 24" },
];

/// Corners of the markers (px), counted from their point; none for a disc.
const MARKERS: [&[(i32, i32)]; 8] = [
    &[],
    &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
    &[(0, -6), (5, 4), (-5, 4)],
    &[(0, -6), (6, 0), (0, 6), (-6, 0)],
    &[(0, 6), (5, -4), (-5, -4)],
    &[(-2, -6), (2, -6), (2, -2), (6, -2), (6, 2), (2, 2), (2, 6), (-2, 6), (-2, 2), (-6, 2), (-6, -2), (-2, -2)],
    &[(-6, -3), (6, -3), (6, 3), (-6, 3)],
    &[(-3, -6), (3, -6), (3, 6), (-3, 6)],
];

/// Colour of a run on a light page.
pub fn color_of(run: usize) -> RGBColor {
    LOOKS[run % LOOKS.len()].light
}

/// Colour of a run for the style sheet, whatever the page.
pub fn css_color_of(run: usize) -> String {
    format!("var(--run-{})", run % LOOKS.len())
}

/// Corners of a run's marker; none for a disc.
pub fn marker_of(run: usize) -> &'static [(i32, i32)] {
    MARKERS[run % MARKERS.len()]
}

/// Style rules that give the drawings their dashes, and their colours by light and dark.
pub fn css() -> String {
    let (mut light, mut dark, mut rules) = (String::new(), String::new(), String::new());
    for (i, Look { light: color, dark: dark_color, dash }) in LOOKS.iter().enumerate() {
        let hex = hex(*color);
        light += &format!("--run-{i}:{hex};");
        dark += &format!("--run-{i}:{dark_color};");
        rules += &format!("svg [stroke=\"{hex}\"]{{stroke:var(--run-{i})}}svg [fill=\"{hex}\"]{{fill:var(--run-{i})}}");
        rules += &format!("svg polyline[stroke=\"{hex}\"]{{stroke-dasharray:{dash}}}\n");
    }
    rules += &format!("svg [stroke=\"{}\"]{{stroke:var(--grid)}}", hex(GRID));
    rules += &format!("svg [stroke=\"{}\"]{{stroke:var(--axis)}}\n", hex(AXIS));
    format!(":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{rules}")
}

fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}
