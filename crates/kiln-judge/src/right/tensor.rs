//! Numbers with a shape, in double precision: what references compute with. 64-bit integers, which doubles do not hold, are
//! there exactly too.

use kiln_spec::Dtype;

use crate::drawn::element::{decode, encode};
use crate::drawn::whole;

/// A row-major tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Dimensions, outermost first.
    pub shape: Vec<usize>,
    /// Elements, the last dimension varying fastest.
    pub data: Vec<f64>,
    /// The same elements without rounding, of 64-bit integers.
    pub exact: Option<Vec<i128>>,
}

impl Tensor {
    /// A tensor of these numbers.
    pub fn new(shape: &[usize], data: Vec<f64>) -> Tensor {
        Tensor { shape: shape.to_vec(), data, exact: None }
    }

    /// A tensor of these integers, which a double might not hold.
    pub fn of_integers(shape: &[usize], exact: Vec<i128>) -> Tensor {
        Tensor { shape: shape.to_vec(), data: exact.iter().map(|v| *v as f64).collect(), exact: Some(exact) }
    }

    /// A tensor of zeros.
    pub fn zeros(shape: &[usize]) -> Tensor {
        Tensor::new(shape, vec![0.0; shape.iter().product()])
    }

    /// What the bytes of a type are.
    pub fn read(dtype: Dtype, shape: &[usize], bytes: &[u8]) -> Tensor {
        match whole::is_wide(dtype) {
            true => Tensor::of_integers(shape, whole::read(dtype, bytes)),
            false => Tensor::new(shape, decode(dtype, bytes)),
        }
    }

    /// The bytes of these numbers in a type.
    pub fn bytes(&self, dtype: Dtype) -> Vec<u8> {
        match &self.exact {
            Some(exact) if whole::is_wide(dtype) => whole::write(dtype, exact),
            _ => encode(dtype, &self.data),
        }
    }

    /// An element that is an integer.
    pub(crate) fn integer(&self, at: usize) -> i128 {
        self.exact.as_ref().map_or(self.data[at] as i128, |exact| exact[at])
    }

    /// The size of the last dimension; 1 for a scalar.
    pub(crate) fn last(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// One row along the last dimension.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        let width = self.last();
        &self.data[row * width..][..width]
    }
}

/// The coordinates of an element.
pub(crate) fn place(shape: &[usize], mut index: usize) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (coordinate, size) in at.iter_mut().zip(shape).rev() {
        *coordinate = index % (*size).max(1);
        index /= (*size).max(1);
    }
    at
}
