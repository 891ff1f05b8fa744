//! Fewer frames, such that straight lines between them stay near the motion.
//!
//! Begins with the first and the last frame and adds, again and again, the frame that is
//! farthest from the line between its kept neighbours. The choice looks at no more than
//! `TRACKED` vertices, spread over all bodies; the error reported is that of every vertex
//! at every frame.

use crate::cache::CacheReader;
use crate::error::OutputError;

/// Most vertices that the choice looks at.
const TRACKED: usize = 2000;

/// Frames kept, ascending, and the largest distance (m) of a vertex from its place in the
/// run at the others; none where all are kept.
pub struct Keyframes {
    pub kept: Vec<usize>,
    pub error: Option<f64>,
}

/// At most `most` frames, though never fewer than the first and the last.
pub fn choose(cache: &CacheReader, most: usize) -> Result<Keyframes, OutputError> {
    let frames = cache.frames();
    if frames <= most.max(2) {
        return Ok(Keyframes { kept: (0..frames).collect(), error: None });
    }
    let tracks = tracks(cache)?;
    let mut spans = vec![Span::new(&tracks, 0, frames - 1)];
    while spans.len() + 1 < most {
        let worst = (0..spans.len()).max_by(|&a, &b| spans[a].error.total_cmp(&spans[b].error));
        // There is one, and frames left out mean that it can be split unless it is straight.
        let Some(Span { first, last, worst: Some(middle), .. }) = worst.map(|at| spans.swap_remove(at)) else { break };
        spans.push(Span::new(&tracks, first, middle));
        spans.push(Span::new(&tracks, middle, last));
    }
    let mut kept: Vec<usize> = spans.iter().map(|span| span.first).chain([frames - 1]).collect();
    kept.sort_unstable();
    let error = exact_error(cache, &kept)?;
    Ok(Keyframes { kept, error: Some(error) })
}

/// Frames between two kept ones.
struct Span {
    first: usize,
    last: usize,
    /// The frame farthest from the line, where there are frames between.
    worst: Option<usize>,
    error: f64,
}

impl Span {
    fn new(tracks: &[Vec<[f32; 3]>], first: usize, last: usize) -> Span {
        let mut span = Span { first, last, worst: None, error: -1.0 };
        for frame in first + 1..last {
            let error = distance(&tracks[first], &tracks[last], &tracks[frame], share(first, last, frame));
            if error > span.error {
                span.error = error;
                span.worst = Some(frame);
            }
        }
        span
    }
}

fn share(first: usize, last: usize, frame: usize) -> f64 {
    (frame - first) as f64 / (last - first) as f64
}

/// Largest distance of a vertex from the line between its first and last place.
fn distance(first: &[[f32; 3]], last: &[[f32; 3]], there: &[[f32; 3]], share: f64) -> f64 {
    let mut largest = 0f64;
    for ((a, b), x) in first.iter().zip(last).zip(there) {
        let square: f64 =
            (0..3).map(|i| (f64::from(a[i]) * (1.0 - share) + f64::from(b[i]) * share - f64::from(x[i])).powi(2)).sum();
        largest = largest.max(square);
    }
    largest.sqrt()
}

/// Some vertices of all bodies at every frame.
fn tracks(cache: &CacheReader) -> Result<Vec<Vec<[f32; 3]>>, OutputError> {
    let vertices: usize = cache.bodies().iter().map(|body| body.rest.positions.len()).sum();
    let stride = vertices.div_ceil(TRACKED).max(1);
    let mut tracks = vec![Vec::new(); cache.frames()];
    for (frame, track) in tracks.iter_mut().enumerate() {
        for body in 0..cache.bodies().len() {
            track.extend(cache.positions(body, frame)?.into_iter().step_by(stride));
        }
    }
    Ok(tracks)
}

fn exact_error(cache: &CacheReader, kept: &[usize]) -> Result<f64, OutputError> {
    let mut largest = 0f64;
    for body in 0..cache.bodies().len() {
        for pair in kept.windows(2).filter(|pair| pair[1] - pair[0] > 1) {
            let (first, last) = (cache.positions(body, pair[0])?, cache.positions(body, pair[1])?);
            for frame in pair[0] + 1..pair[1] {
                let there = cache.positions(body, frame)?;
                largest = largest.max(distance(&first, &last, &there, share(pair[0], pair[1], frame)));
            }
        }
    }
    Ok(largest)
}
