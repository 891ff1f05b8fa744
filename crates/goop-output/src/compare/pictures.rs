//! The runs of a comparison next to each other, at one instant, from one camera.

use crate::error::OutputError;
use crate::image::Image;
use crate::render::{Motion, Renderer, SceneLook, Settings, side_by_side};
use goop::frame::Frame;

/// One run as it is drawn.
pub struct Panel {
    /// What stands under it.
    pub label: String,
    /// Its frames from the first; fewer than those of others where it stopped.
    pub frames: Vec<Frame>,
}

/// The same instant of several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Instant {
    /// Time (s).
    pub time: f64,
    /// The runs, side by side, with captions.
    pub picture: Image,
}

/// Draws panels.
pub struct Panels<'a> {
    renderer: Renderer,
    panels: &'a [Panel],
    settings: Settings,
}

impl<'a> Panels<'a> {
    /// One camera for all, such that the motion of every run is seen; each panel as large as the settings say.
    pub fn new(look: &SceneLook, settings: &Settings, panels: &'a [Panel]) -> Result<Panels<'a>, OutputError> {
        let mut renderer = Renderer::new(look, settings)?;
        renderer.frame_camera(&Motion::of(panels.iter().flat_map(|panel| &panel.frames)));
        Ok(Panels { renderer, panels, settings: settings.clone() })
    }

    /// Frames of the longest run.
    pub fn frames(&self) -> usize {
        self.panels.iter().map(|panel| panel.frames.len()).max().unwrap_or(0)
    }

    /// All runs at a frame; one that stopped before stays as it was last and says so.
    pub fn at(&mut self, index: usize) -> Result<Instant, OutputError> {
        let mut drawn = Vec::with_capacity(self.panels.len());
        let mut time = 0.0_f64;
        for Panel { label, frames } in self.panels {
            let Some(frame) = frames.get(index).or(frames.last()) else {
                let blank = Image::new(self.settings.width, self.settings.height, [0xE8; 3])?;
                drawn.push((blank, format!("{label}: did not start")));
                continue;
            };
            time = time.max(frame.time);
            let caption = match index < frames.len() {
                true => format!("{label}  {:.2} s", frame.time),
                false => format!("{label}: stopped at {:.2} s", frame.time),
            };
            drawn.push((self.renderer.draw(frame)?, caption));
        }
        let panels: Vec<(&Image, &str)> = drawn.iter().map(|(image, caption)| (image, caption.as_str())).collect();
        Ok(Instant { time, picture: side_by_side(&panels)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::BodyLook;
    use goop::frame::BodyFrame;

    fn panel(label: &str, frames: usize, drift: f32) -> Panel {
        let frame = |index: usize| {
            let x = drift * index as f32;
            let positions = vec![[x, 0.0, 0.0], [x + 1.0, 0.0, 0.0], [x, 1.0, 0.0]];
            let body = BodyFrame { positions, ..BodyFrame::default() };
            Frame { index, time: 0.5 * index as f64, bodies: vec![body], ..Frame::default() }
        };
        Panel { label: label.into(), frames: (0..frames).map(frame).collect() }
    }

    /// Catches a run that stopped early taking the others along, and panels from different cameras.
    #[test]
    fn runs_of_different_lengths_are_drawn_from_one_camera_to_the_end_of_the_longest() {
        let body = BodyLook { triangles: vec![[0, 1, 2]], ..BodyLook::default() };
        let look = SceneLook { bodies: vec![body], ..SceneLook::default() };
        let settings = Settings { width: 64, height: 48, ..Settings::default() };
        let panels = [panel("a", 4, 0.0), panel("b", 2, 1.0), panel("c", 0, 0.0)];
        let mut drawn = Panels::new(&look, &settings, &panels).unwrap();
        assert_eq!(drawn.frames(), 4);
        let (first, last) = (drawn.at(0).unwrap(), drawn.at(3).unwrap());
        assert_eq!((first.time, last.time), (0.0, 1.5));
        let part = |image: &Image, panel: u32| {
            let left = panel * (image.width - 64) / 2;
            (0..48)
                .flat_map(|y| (0..64).map(move |x| (x, y)))
                .map(|(x, y)| image.pixel(left + x, y))
                .collect::<Vec<_>>()
        };
        let [first, last] = [first.picture, last.picture];
        assert!(part(&first, 0) == part(&last, 0) && part(&first, 0) == part(&first, 1));
        assert!(part(&first, 1) != part(&last, 1));
    }
}
