//! Movies: H.264 in MP4, which every browser plays.
//!
//! ```text
//! Image ─BT.709, 4:2:0▶ openh264 (one thread: the same bytes everywhere) ─▶ muxide ─▶ file
//! ```
//! The index comes before the pictures, so a page can play it while it loads. The
//! file is written at the end, whole or not at all; until then the encoded pictures,
//! some kilobytes each, are kept in memory.

use crate::error::OutputError;
use crate::image::{Image, check_size};
use crate::whole;
use muxide::api::{Muxer, MuxerBuilder, VideoCodec};
use openh264::OpenH264API;
use openh264::encoder::{
    BitRate, Complexity, Encoder, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, QpRange, RateControlMode,
    SpsPpsStrategy, UsageType, VuiConfig,
};
use openh264::formats::YUVSlices;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Largest sides (px) that the encoder takes, either way round.
const LARGEST: [u32; 2] = [3840, 2160];
/// Step of the quantiser: finer than players need, since pale gradients soon show bands.
const QUANTISER: u8 = 18;

/// A movie being made.
pub struct Movie {
    path: PathBuf,
    width: usize,
    height: usize,
    fps: f64,
    frames: u64,
    encoder: Encoder,
    muxer: Muxer<Shared>,
    file: Shared,
    planes: [Vec<u8>; 3],
}

/// Bytes that the muxer writes and the movie keeps.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Movie {
    /// Begins a movie of this size (px; odd ones lose a row or column) at this many frames a second.
    pub fn create(path: &Path, width: u32, height: u32, fps: f64) -> Result<Movie, OutputError> {
        check_size(width, height)?;
        let fault =
            |cause: String, remedy: &'static str| OutputError::Movie { path: path.to_path_buf(), cause, remedy };
        if !(fps.is_finite() && (0.01..=1000.0).contains(&fps)) {
            return Err(fault(format!("{fps} frames a second cannot be shown"), "give 0.01 to 1000, say 24"));
        }
        let (width, height) = (width & !1, height & !1);
        if width.min(height) < 16 || width.max(height) > LARGEST[0] || width.min(height) > LARGEST[1] {
            let cause = format!("{width} x {height} pixels do not suit H.264");
            return Err(fault(cause, "give at least 16 a side and at most 3840 x 2160, or take PNG frames"));
        }
        let config = EncoderConfig::new()
            .usage_type(UsageType::CameraVideoRealTime)
            .rate_control_mode(RateControlMode::Quality)
            .bitrate(BitRate::from_bps(bits_a_second(width, height, fps)))
            .max_frame_rate(FrameRate::from_hz(fps.clamp(1.0, 60.0) as f32))
            .qp(QpRange::new(QUANTISER, QUANTISER))
            .complexity(Complexity::High)
            .skip_frames(false)
            .scene_change_detect(false)
            .adaptive_quantization(false)
            .background_detection(false)
            .sps_pps_strategy(SpsPpsStrategy::ConstantId)
            .intra_frame_period(IntraFramePeriod::from_num_frames((2.0 * fps).clamp(1.0, 250.0) as u32))
            .num_threads(1)
            .vui(VuiConfig::bt709());
        let mut encoder = Encoder::with_api_config(OpenH264API::from_source(), config)
            .map_err(|cause| fault(cause.to_string(), "take PNG frames instead"))?;
        hush(&mut encoder);
        let file = Shared::default();
        let muxer = MuxerBuilder::new(file.clone())
            .video(VideoCodec::H264, width, height, fps)
            .with_fast_start(true)
            .build()
            .map_err(|cause| fault(cause.to_string(), "take PNG frames instead"))?;
        let (width, height) = (width as usize, height as usize);
        let planes = [width * height, width * height / 4, width * height / 4].map(|n| vec![0; n]);
        Ok(Movie { path: path.to_path_buf(), width, height, fps, frames: 0, encoder, muxer, file, planes })
    }

    /// Adds a picture; one of another size is refused.
    pub fn add(&mut self, image: &Image) -> Result<(), OutputError> {
        if [image.width as usize & !1, image.height as usize & !1] != [self.width, self.height] {
            let cause = format!(
                "a picture of {} x {} came into a movie of {} x {}",
                image.width, image.height, self.width, self.height
            );
            return Err(self.fault(cause, "draw all frames with the same settings"));
        }
        self.convert(image);
        let [y, u, v] = &self.planes;
        let planes = YUVSlices::new((y, u, v), (self.width, self.height), (self.width, self.width / 2, self.width / 2));
        let time = self.frames as f64 / self.fps;
        let encoded = (self.encoder.encode(&planes)).map(|stream| (stream.to_vec(), is_key(stream.frame_type())));
        let (bytes, key) = encoded.map_err(|cause| self.fault(cause.to_string(), "take PNG frames instead"))?;
        let written = self.muxer.write_video(time, &bytes, key);
        written.map_err(|cause| self.fault(cause.to_string(), "take PNG frames instead"))?;
        self.frames += 1;
        Ok(())
    }

    /// Ends the movie and writes the file; one without pictures is refused.
    pub fn finish(mut self) -> Result<(), OutputError> {
        if self.frames == 0 {
            return Err(self.fault("it has no pictures".to_owned(), "add at least one"));
        }
        let ended = self.muxer.finish_in_place();
        ended.map_err(|cause| self.fault(cause.to_string(), "take PNG frames instead"))?;
        let bytes = self.file.0.lock().unwrap_or_else(PoisonError::into_inner);
        whole::write(&self.path, &bytes)
    }

    fn fault(&self, cause: String, remedy: &'static str) -> OutputError {
        OutputError::Movie { path: self.path.clone(), cause, remedy }
    }

    /// RGB to BT.709 of limited range: brightness per pixel, colour per four.
    fn convert(&mut self, image: &Image) {
        let (width, stride) = (self.width, 3 * image.width as usize);
        let [y, u, v] = &mut self.planes;
        let pairs = y
            .par_chunks_exact_mut(2 * width)
            .zip(u.par_chunks_exact_mut(width / 2))
            .zip(v.par_chunks_exact_mut(width / 2));
        pairs.enumerate().for_each(|(pair, ((y, u), v))| {
            let rows: [&[u8]; 2] = [0, 1].map(|k| &image.pixels[(2 * pair + k) * stride..][..stride]);
            for x in 0..width / 2 {
                let mut sum = [0; 3];
                for (k, row) in rows.iter().enumerate() {
                    for column in [2 * x, 2 * x + 1] {
                        let [r, g, b] = [0, 1, 2].map(|c| i32::from(row[3 * column + c]));
                        y[k * width + column] = (16 + ((11_966 * r + 40_254 * g + 4_064 * b + 32_768) >> 16)) as u8;
                        sum = [sum[0] + r, sum[1] + g, sum[2] + b];
                    }
                }
                let [r, g, b] = sum;
                u[x] = (128 + ((-6_596 * r - 22_188 * g + 28_784 * b + 131_072) >> 18)) as u8;
                v[x] = (128 + ((28_784 * r - 26_145 * g - 2_639 * b + 131_072) >> 18)) as u8;
            }
        });
    }
}

/// Keeps the encoder from writing to standard error, which it otherwise does before its
/// first picture to say that a constant quality cannot keep to a bit rate.
fn hush(encoder: &mut Encoder) {
    const TRACE_LEVEL: i32 = 25; // ENCODER_OPTION_TRACE_LEVEL of codec_api.h
    let mut quiet: i32 = 0;
    // SAFETY: the encoder takes this option before it is initialised, copies the number
    // behind the pointer during the call and keeps no pointer.
    unsafe {
        encoder.raw_api().set_option(TRACE_LEVEL as _, (&raw mut quiet).cast());
    }
}

/// Generous for renders: a tenth of a bit a pixel.
fn bits_a_second(width: u32, height: u32, fps: f64) -> u32 {
    (0.12 * f64::from(width) * f64::from(height) * fps).clamp(1e6, 6e7) as u32
}

fn is_key(kind: FrameType) -> bool {
    matches!(kind, FrameType::IDR | FrameType::I)
}

#[cfg(test)]
mod tests {
    use super::*;
    use openh264::decoder::Decoder;
    use openh264::formats::YUVSource;

    fn picture(width: u32, height: u32, frame: u32) -> Image {
        let pixels = (0..width * height).flat_map(|i| {
            let (x, y) = (i % width, i / width);
            if (x / 8 + frame).is_multiple_of(5) {
                [200, 60, 30]
            } else {
                [(x * 255 / width) as u8, (y * 255 / height) as u8, 128]
            }
        });
        Image { width, height, pixels: pixels.collect() }
    }

    /// Payload of the first box of this name at or below the given depth of known containers.
    fn find<'a>(bytes: &'a [u8], path: &[&str]) -> &'a [u8] {
        let mut rest = bytes;
        while rest.len() >= 8 {
            let size = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
            if &rest[4..8] == path[0].as_bytes() {
                let inside = &rest[8..size];
                return if path.len() == 1 { inside } else { find(inside, &path[1..]) };
            }
            rest = &rest[size..];
        }
        panic!("no box {path:?}");
    }

    fn number(bytes: &[u8], at: usize) -> u32 {
        u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    const TABLE: [&str; 5] = ["moov", "trak", "mdia", "minf", "stbl"];

    fn table(bytes: &[u8], name: &'static str) -> Vec<u8> {
        let mut path = TABLE.to_vec();
        path.push(name);
        find(bytes, &path).to_vec()
    }

    /// Catches lost or doubled frames, a wrong size, a wrong clock, colours off, and an index at the end.
    #[test]
    fn a_movie_of_an_odd_size_and_a_broken_rate_decodes_to_what_went_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mp4");
        let fps = 30_000.0 / 1001.0;
        let mut movie = Movie::create(&path, 161, 91, fps).unwrap();
        for i in 0..12 {
            movie.add(&picture(161, 91, i)).unwrap();
        }
        movie.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let place = |name: &[u8]| bytes.windows(4).position(|w| w == name).unwrap();
        assert!(place(b"moov") < place(b"mdat"));
        let sizes = table(&bytes, "stsz");
        assert_eq!(number(&sizes, 8), 12);
        let times = table(&bytes, "stts");
        let clock = number(find(&bytes, &["moov", "trak", "mdia", "mdhd"]), 12);
        assert_eq!((number(&times, 4), number(&times, 8), clock), (1, 12, 90_000));
        assert_eq!(number(&times, 12), 3003);

        let description = table(&bytes, "stsd");
        let parameters = description.windows(4).position(|w| w == b"avcC").unwrap() + 4;
        let config = &description[parameters..];
        let sps_size = u16::from_be_bytes([config[6], config[7]]) as usize;
        let sps = &config[8..8 + sps_size];
        let pps = &config[11 + sps_size..];
        let pps_size = u16::from_be_bytes([config[9 + sps_size], config[10 + sps_size]]) as usize;
        let mut decoder = Decoder::new().unwrap();
        let start = [0, 0, 0, 1];
        let header = [&start[..], sps, &start[..], &pps[..pps_size]].concat();
        decoder.decode(&header).unwrap();
        let mut at = number(&table(&bytes, "stco"), 8) as usize;
        for i in 0..12 {
            let size = number(&sizes, 12 + 4 * i) as usize;
            let mut packet = bytes[at..at + size].to_vec();
            let mut k = 0;
            while k < packet.len() {
                let unit = number(&packet, k) as usize;
                packet[k..k + 4].copy_from_slice(&start);
                k += 4 + unit;
            }
            let image = decoder.decode(&packet).unwrap().unwrap_or_else(|| panic!("frame {i} is missing"));
            assert_eq!(image.dimensions(), (160, 90));
            let source = picture(161, 91, i as u32);
            // Brightness at a few places, away from edges.
            for (x, y) in [(12, 20), (84, 45), (132, 70)] {
                let [r, g, b] = source.pixel(x, y).map(f64::from);
                let expected = 16.0 + (0.2126 * r + 0.7152 * g + 0.0722 * b) * 219.0 / 255.0;
                let found = f64::from(image.y()[y as usize * image.strides().0 + x as usize]);
                assert!((found - expected).abs() < 12.0, "frame {i} at {x} {y}: {found} for {expected}");
            }
            at += size;
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// Catches a file that appears before it is whole, and wishes that no player can fulfil.
    #[test]
    fn nothing_is_written_before_the_end_and_impossible_wishes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mp4");
        let mut movie = Movie::create(&path, 64, 64, 24.0).unwrap();
        movie.add(&picture(64, 64, 0)).unwrap();
        assert!(movie.add(&picture(32, 64, 0)).is_err());
        drop(movie);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        for (width, height, fps) in [(64, 64, f64::NAN), (64, 64, 0.0), (8, 64, 24.0), (5000, 64, 24.0), (0, 0, 24.0)] {
            assert!(Movie::create(&path, width, height, fps).is_err(), "{width} {height} {fps}");
        }
        assert!(Movie::create(&path, 64, 64, 24.0).unwrap().finish().is_err());
    }
}
