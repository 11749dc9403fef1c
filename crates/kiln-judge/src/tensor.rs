//! Numbers with a shape, in double precision: what references compute with.

/// A row-major tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Dimensions, outermost first.
    pub shape: Vec<usize>,
    /// Elements, the last dimension varying fastest.
    pub data: Vec<f64>,
}

impl Tensor {
    /// A tensor of zeros.
    pub fn zeros(shape: &[usize]) -> Tensor {
        Tensor { shape: shape.to_vec(), data: vec![0.0; shape.iter().product()] }
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
