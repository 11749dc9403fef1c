//! Inputs. In: how an argument is to be filled, and a seed. Out: numbers, already rounded to the argument's dtype, so that
//! the reference sees exactly what the kernel sees. The same seed gives the same numbers on every machine.

use kiln_spec::{Dtype, Init};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::element::{decode, encode};

/// Distributions beyond the one the kernel file names, for finalists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filling {
    /// As the kernel file says.
    AsDeclared(Init),
    /// Normal, times a factor: large values exercise what small ones do not.
    Scaled(u32),
    /// The same value everywhere.
    Constant,
    /// Zeros but for a few large spikes.
    Spikes,
}

/// `count` numbers that the dtype can hold.
pub fn fill(filling: Filling, dtype: Dtype, count: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let values: Vec<f64> = match filling {
        Filling::AsDeclared(Init::Normal) => normal(&mut rng, count, 1.0),
        Filling::Scaled(factor) => normal(&mut rng, count, f64::from(factor)),
        Filling::AsDeclared(Init::Uniform) => (0..count).map(|_| uniform(&mut rng)).collect(),
        Filling::AsDeclared(Init::Zeros) => vec![0.0; count],
        Filling::AsDeclared(Init::Ones) => vec![1.0; count],
        Filling::AsDeclared(Init::Arange) => (0..count).map(|i| i as f64).collect(),
        Filling::Constant => vec![uniform(&mut rng) + 0.5; count],
        Filling::Spikes => {
            (0..count).map(|_| if uniform(&mut rng) < 0.02 { 16.0 * (uniform(&mut rng) - 0.5) } else { 0.0 }).collect()
        }
    };
    decode(dtype, &encode(dtype, &values))
}

/// In [0, 1), from the upper 53 bits.
fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Box and Muller's pairs.
fn normal(rng: &mut ChaCha8Rng, count: usize, factor: f64) -> Vec<f64> {
    let mut values = Vec::with_capacity(count + 1);
    while values.len() < count {
        let radius = (-2.0 * (1.0 - uniform(rng)).ln()).sqrt();
        let angle = std::f64::consts::TAU * uniform(rng);
        values.push(factor * radius * angle.cos());
        values.push(factor * radius * angle.sin());
    }
    values.truncate(count);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillings_repeat_by_seed_and_have_the_right_moments() {
        let normal = fill(Filling::AsDeclared(Init::Normal), Dtype::F64, 20_000, 7);
        assert_eq!(normal, fill(Filling::AsDeclared(Init::Normal), Dtype::F64, 20_000, 7));
        assert_ne!(normal, fill(Filling::AsDeclared(Init::Normal), Dtype::F64, 20_000, 8));
        let mean = normal.iter().sum::<f64>() / 20_000.0;
        let variance = normal.iter().map(|v| v * v).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
        let uniform = fill(Filling::AsDeclared(Init::Uniform), Dtype::F32, 1000, 1);
        assert!(uniform.iter().all(|v| (0.0..=1.0).contains(v)));
        assert_eq!(fill(Filling::AsDeclared(Init::Arange), Dtype::I32, 3, 1), [0.0, 1.0, 2.0]);
        assert!(fill(Filling::Spikes, Dtype::F32, 1000, 1).iter().filter(|v| **v != 0.0).count() < 60);
    }

    #[test]
    fn numbers_are_rounded_to_what_the_kernel_sees() {
        let values = fill(Filling::AsDeclared(Init::Normal), Dtype::BF16, 100, 3);
        assert_eq!(values, decode(Dtype::BF16, &encode(Dtype::BF16, &values)));
    }
}
