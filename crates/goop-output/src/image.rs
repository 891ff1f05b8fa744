//! Pictures: rows of RGB bytes, to PNG and back.

use crate::error::OutputError;
use crate::whole;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

/// Most pixels of a picture: beyond it a slip of the pen is likelier than a wish.
pub const MOST_PIXELS: u64 = 1 << 26;

/// A picture, sRGB, three bytes a pixel, top row first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `width · height · 3` bytes.
    pub pixels: Vec<u8>,
}

impl Image {
    /// A picture of one colour; fails where it would be empty or too large.
    pub fn new(width: u32, height: u32, color: [u8; 3]) -> Result<Image, OutputError> {
        check_size(width, height)?;
        Ok(Image { width, height, pixels: color.repeat(width as usize * height as usize) })
    }

    /// One pixel; black outside.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let start = 3 * (y as usize * self.width as usize + x as usize);
        match self.pixels.get(start..start + 3) {
            Some(p) if x < self.width => [p[0], p[1], p[2]],
            _ => [0; 3],
        }
    }

    /// The picture as a PNG file.
    pub fn png(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header().map_err(io::Error::from)?;
        writer.write_image_data(&self.pixels).map_err(io::Error::from)?;
        writer.finish().map_err(io::Error::from)?;
        Ok(bytes)
    }

    /// Writes a PNG, whole or not at all.
    pub fn write_png(&self, path: &Path) -> Result<(), OutputError> {
        let bytes = self.png().map_err(|cause| OutputError::file("write", path, cause))?;
        whole::write(path, &bytes)
    }

    /// Reads a PNG of any colour type; transparency is laid over white.
    pub fn read_png(path: &Path) -> Result<Image, OutputError> {
        let file = File::open(path).map_err(|cause| OutputError::file("open", path, cause))?;
        let fault = |cause: png::DecodingError| OutputError::file("read", path, io::Error::from(cause));
        let mut decoder = png::Decoder::new(BufReader::new(file));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(fault)?;
        let (width, height) = (reader.info().width, reader.info().height);
        check_size(width, height)?;
        let size = reader.output_buffer_size().ok_or(OutputError::PictureSize { width, height })?;
        let mut buffer = vec![0; size];
        let info = reader.next_frame(&mut buffer).map_err(fault)?;
        let over_white = |value: u8, alpha: u8| {
            ((u32::from(value) * u32::from(alpha) + 255 * (255 - u32::from(alpha)) + 127) / 255) as u8
        };
        let data = &buffer[..info.buffer_size()];
        let pixels = match info.color_type {
            png::ColorType::Grayscale => data.iter().flat_map(|&g| [g; 3]).collect(),
            png::ColorType::GrayscaleAlpha => data.chunks_exact(2).flat_map(|p| [over_white(p[0], p[1]); 3]).collect(),
            png::ColorType::Rgba => {
                data.chunks_exact(4).flat_map(|p| [0, 1, 2].map(|i| over_white(p[i], p[3]))).collect()
            }
            _ => data.to_vec(),
        };
        Ok(Image { width, height, pixels })
    }

    /// Puts another picture into this one with its top left corner here; what sticks out is cut.
    pub fn place(&mut self, other: &Image, left: u32, top: u32) {
        let columns = other.width.min(self.width.saturating_sub(left)) as usize;
        for row in 0..other.height.min(self.height.saturating_sub(top)) {
            let from = 3 * (row as usize * other.width as usize);
            let to = 3 * ((top + row) as usize * self.width as usize + left as usize);
            self.pixels[to..to + 3 * columns].copy_from_slice(&other.pixels[from..from + 3 * columns]);
        }
    }
}

/// Fails for an empty or too large picture.
pub(crate) fn check_size(width: u32, height: u32) -> Result<(), OutputError> {
    let fine = width > 0 && height > 0 && width <= 32768 && height <= 32768;
    if fine && u64::from(width) * u64::from(height) <= MOST_PIXELS {
        return Ok(());
    }
    Err(OutputError::PictureSize { width, height })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches swapped channels or rows, and a size that overflows before it is refused.
    #[test]
    fn a_picture_survives_its_png_and_an_absurd_size_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let mut image = Image::new(5, 3, [10, 20, 30]).unwrap();
        image.place(&Image::new(2, 9, [200, 100, 0]).unwrap(), 4, 1);
        assert_eq!(
            [image.pixel(3, 1), image.pixel(4, 1), image.pixel(4, 0)],
            [[10, 20, 30], [200, 100, 0], [10, 20, 30]]
        );
        image.write_png(&path).unwrap();
        assert_eq!(Image::read_png(&path).unwrap(), image);
        let message = Image::new(u32::MAX, 2, [0; 3]).unwrap_err().to_string();
        assert!(message.contains("4294967295") && message.contains("1280"), "{message}");
    }
}
