//! What a drawing fills, as kiln's kernel is told of it. In: the arguments that are drawn, and how large a set is. Out: one
//! [`Filling`] for each, in the layout of draw.cu, and the stretches of a set that come from the image instead. Refuses
//! what lies outside a set, has elements of no known type, or too many dimensions.

use std::ops::Range;

use crate::protocol::{Fill, Numbers};
use crate::serving::cpu::within;

use super::driver::Trouble;

/// Dimensions of what does not lie in one piece, at most.
const RANK: usize = 6;
/// Both ends of what is copied from an image are multiples of this.
const PIECE: usize = 16;

/// `Fill` of draw.cu.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Filling {
    /// At first the slot's offset.
    pub(super) base: u64,
    pub(super) stride: u64,
    pub(super) first: u64,
    pub(super) seed: u64,
    pub(super) elements: u64,
    span: u64,
    low: i64,
    least: f64,
    most: f64,
    slot: u32,
    dtype: u32,
    kind: u32,
    rank: u32,
    shape: [u64; RANK],
    strides: [u64; RANK],
}

impl Filling {
    /// For the slot of this number in the list.
    fn of(number: usize, fill: &Fill, length: usize) -> Result<Filling, Trouble> {
        let (dtype, bytes) = element(&fill.dtype)?;
        let elements = fill.shape.iter().fold(1_usize, |product, size| product.saturating_mul(*size));
        let mut made = Filling {
            base: fill.offset as u64,
            elements: elements as u64,
            slot: number as u32,
            dtype,
            ..Filling::default()
        };
        let mut reach = elements;
        if let (Some(strides), true) = (&fill.strides, elements > 0) {
            if strides.len() != fill.shape.len() || strides.len() > RANK {
                return Err(
                    format!("{} strides for {} dimensions, {RANK} at most", strides.len(), fill.shape.len()).into()
                );
            }
            made.rank = strides.len() as u32;
            reach = 1;
            for (at, (size, stride)) in fill.shape.iter().zip(strides).enumerate() {
                (made.shape[at], made.strides[at]) = (*size as u64, *stride as u64);
                reach = reach.saturating_add((size - 1).saturating_mul(*stride));
            }
        }
        within("what is drawn", fill.offset, reach.saturating_mul(bytes), length)?;
        match fill.numbers {
            Numbers::Normal => made.kind = 0,
            Numbers::Real(least, most) => (made.kind, made.least, made.most) = (1, least, most),
            Numbers::Whole(low, span) => (made.kind, made.low, made.span) = (2, low, span),
        }
        // A whole number as one with fractions, and the other way round, is a mistake of who asks.
        if made.kind != 2 && dtype >= FIRST_WHOLE {
            return Err(format!("elements of `{}` are drawn as integers", fill.dtype).into());
        }
        Ok(made)
    }
}

/// All of a drawing's, and what of a set of `length` bytes they leave to the image: what lies between those in one piece.
pub(super) fn fillings(fills: &[Fill], length: usize) -> Result<(Vec<Filling>, Vec<Range<usize>>), Trouble> {
    let made: Vec<Filling> =
        fills.iter().enumerate().map(|(number, fill)| Filling::of(number, fill, length)).collect::<Result<_, _>>()?;
    let mut whole: Vec<Range<usize>> = Vec::new();
    for (fill, filling) in fills.iter().zip(&made).filter(|(_, filling)| filling.rank == 0) {
        let bytes = element(&fill.dtype)?.1;
        whole.push(fill.offset..fill.offset + filling.elements as usize * bytes);
    }
    whole.sort_by_key(|range| range.start);
    let starts = std::iter::once(0).chain(whole.iter().map(|range| range.end));
    let ends = whole.iter().map(|range| range.start).chain([length]);
    // Rounded outwards: what is drawn comes afterwards.
    let outward = |(start, end): (usize, usize)| start / PIECE * PIECE..end.next_multiple_of(PIECE);
    let rest = starts.zip(ends).filter(|(start, end)| start < end).map(outward).collect();
    Ok((made, rest))
}

/// The first type of draw.cu's list that has no fractions.
const FIRST_WHOLE: u32 = 6;

/// The number of a type in draw.cu's list, and its bytes.
fn element(dtype: &str) -> Result<(u32, usize), Trouble> {
    Ok(match dtype {
        "f32" => (0, 4),
        "f64" => (1, 8),
        "f16" => (2, 2),
        "bf16" => (3, 2),
        "f8e4m3" => (4, 1),
        "f8e5m2" => (5, 1),
        "i8" | "u8" | "bool" => (FIRST_WHOLE, 1),
        "i16" | "u16" => (7, 2),
        "i32" | "u32" => (8, 4),
        "i64" | "u64" => (9, 8),
        other => return Err(format!("elements of `{other}` cannot be drawn").into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(offset: usize, dtype: &str, shape: &[usize], numbers: Numbers) -> Fill {
        Fill { offset, dtype: dtype.into(), shape: shape.to_vec(), strides: None, numbers }
    }

    #[test]
    fn the_layout_is_that_of_the_kernel() {
        assert_eq!((size_of::<Filling>(), align_of::<Filling>()), (184, 8));
    }

    #[test]
    fn what_is_not_drawn_comes_from_the_image() {
        let fills = [fill(8192, "bf16", &[10], Numbers::Normal), fill(4096, "f32", &[4, 5], Numbers::Real(-1.0, 1.0))];
        let (made, rest) = fillings(&fills, 16384).unwrap();
        assert_eq!((made[0].slot, made[0].elements, made[0].dtype), (0, 10, 3));
        assert_eq!((made[1].slot, made[1].elements, made[1].least), (1, 20, -1.0));
        assert_eq!(rest, [0..4096, 4176..8192, 8208..16384]);
        assert_eq!(fillings(&[], 100).unwrap().1, vec![Range { start: 0, end: 112 }]);
    }

    #[test]
    fn rows_with_padding_keep_what_the_image_has_between_them() {
        let mut padded = fill(64, "f32", &[3, 5], Numbers::Normal);
        padded.strides = Some(vec![8, 1]);
        let (made, rest) = fillings(&[padded.clone()], 256).unwrap();
        assert_eq!(
            (made[0].rank, made[0].shape[..2].to_vec(), made[0].strides[..2].to_vec()),
            (2, vec![3, 5], vec![8, 1])
        );
        assert_eq!(rest, vec![Range { start: 0, end: 256 }]);
        // 21 elements, not 15.
        assert!(fillings(&[padded], 64 + 80).is_err());
    }

    #[test]
    fn what_cannot_be_drawn_is_said() {
        let why = |fill: Fill| fillings(&[fill], 1000).unwrap_err().failed.words;
        assert!(why(fill(0, "c64", &[1], Numbers::Normal)).contains("`c64`"));
        assert!(why(fill(992, "f32", &[3], Numbers::Normal)).contains("outside"));
        assert!(why(fill(0, "i32", &[3], Numbers::Normal)).contains("integers"));
        let mut odd = fill(0, "f32", &[1; 7], Numbers::Normal);
        odd.strides = Some(vec![1; 7]);
        assert!(why(odd).contains("7 dimensions"));
        assert!(fillings(&[fill(0, "i64", &[3], Numbers::Whole(-4, 8))], 1000).is_ok());
    }
}
