//! Base64 (RFC 4648) on its way to a file.

use std::io::{self, Write};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub fn write(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    let mut text = Vec::with_capacity(4096);
    for group in bytes.chunks(3) {
        let bits = group.iter().enumerate().fold(0u32, |bits, (i, &byte)| bits | u32::from(byte) << (16 - 8 * i));
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) as usize & 63;
            text.push(if digit <= group.len() { DIGITS[index] } else { b'=' });
        }
        if text.len() >= 4092 {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)
}

#[cfg(test)]
mod tests {
    /// Catches wrong padding and a swapped digit, against the examples of RFC 4648.
    #[test]
    fn the_examples_of_the_standard_come_out() {
        let examples =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")];
        for (plain, coded) in examples {
            let mut text = Vec::new();
            super::write(&mut text, plain.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(text).unwrap(), coded);
        }
    }
}
