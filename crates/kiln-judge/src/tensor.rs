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
}
