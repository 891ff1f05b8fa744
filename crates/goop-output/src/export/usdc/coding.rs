//! How a crate packs its tables.
//!
//! Integers become differences, a two-bit code each (0: the common difference, then 8,
//! 16, 32 bits) with the differences behind. Bytes are then an LZ4 block after a zero,
//! which means "in one piece". We write the block as literals only: the tables are small
//! beside the points, which are not packed at all.

/// A table of integers with its length in bytes in front.
pub fn integers(values: &[u32]) -> Vec<u8> {
    let packed = if values.is_empty() { Vec::new() } else { block(&differences(values)) };
    let mut bytes = (packed.len() as u64).to_le_bytes().to_vec();
    bytes.extend(packed);
    bytes
}

fn differences(values: &[u32]) -> Vec<u8> {
    const COMMON: i32 = 1; // paths, field sets and specs mostly count up
    let mut codes = vec![0u8; values.len().div_ceil(4)];
    let mut behind = Vec::new();
    let mut before = 0u32;
    for (i, &value) in values.iter().enumerate() {
        let difference = value.wrapping_sub(before) as i32;
        before = value;
        let code = if difference == COMMON {
            0
        } else if let Ok(small) = i8::try_from(difference) {
            behind.extend(small.to_le_bytes());
            1
        } else if let Ok(medium) = i16::try_from(difference) {
            behind.extend(medium.to_le_bytes());
            2
        } else {
            behind.extend(difference.to_le_bytes());
            3
        };
        codes[i / 4] |= code << (2 * (i % 4));
    }
    [&COMMON.to_le_bytes(), codes.as_slice(), &behind].concat()
}

/// Bytes as one LZ4 block that holds nothing but literals.
pub fn block(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0];
    let length = bytes.len();
    out.push(if length < 15 { (length as u8) << 4 } else { 0xf0 });
    if length >= 15 {
        let rest = length - 15;
        out.extend(std::iter::repeat_n(255, rest / 255));
        out.push((rest % 255) as u8);
    }
    out.extend_from_slice(bytes);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Undoes `block` by the rules of LZ4, for literals.
    fn unblock(bytes: &[u8]) -> Vec<u8> {
        assert_eq!((bytes[0], bytes[1] & 15), (0, 0));
        let (mut length, mut at) = ((bytes[1] >> 4) as usize, 2);
        if length == 15 {
            loop {
                length += bytes[at] as usize;
                at += 1;
                if bytes[at - 1] != 255 {
                    break;
                }
            }
        }
        assert_eq!(bytes.len() - at, length);
        bytes[at..].to_vec()
    }

    fn unpack(bytes: &[u8], count: usize) -> Vec<u32> {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        assert_eq!(bytes.len(), 8 + length);
        let plain = unblock(&bytes[8..]);
        let common = i32::from_le_bytes(plain[..4].try_into().unwrap());
        let (mut at, mut value) = (4 + count.div_ceil(4), 0i32);
        let mut take = |n: usize| {
            at += n;
            plain[at - n..at].to_vec()
        };
        let values = (0..count).map(|i| {
            value = value.wrapping_add(match plain[4 + i / 4] >> (2 * (i % 4)) & 3 {
                0 => common,
                1 => i8::from_le_bytes(take(1).try_into().unwrap()).into(),
                2 => i16::from_le_bytes(take(2).try_into().unwrap()).into(),
                _ => i32::from_le_bytes(take(4).try_into().unwrap()),
            });
            value as u32
        });
        let values = values.collect();
        assert_eq!(at, plain.len());
        values
    }

    /// Catches a wrong code for a width, and lengths of a block around 15 and 270.
    #[test]
    fn integers_come_back() {
        let some = [0, 1, 2, 1, 200, 40_000, 3_000_000_000, u32::MAX, 0, 5, 5, 127, 255, 0x8000_0000];
        assert_eq!(unpack(&integers(&some), some.len()), some);
        for count in [1, 4, 5, 13, 14, 15, 16, 60, 254, 255, 256, 269, 270, 271, 5000] {
            let values: Vec<u32> = (0..count as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
            assert_eq!(unpack(&integers(&values), count), values, "{count}");
        }
    }
}
