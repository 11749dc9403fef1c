//! The exact distribution of Mann and Whitney's U when both samples come from one population and no values are equal. In:
//! the two sample sizes. Out: the probability of every U from 0 to n * m.

/// Probabilities of U = 0, 1, ..., n * m. The greatest of all values belongs to the first sample with probability
/// n / (n + m) and then beats all m others; otherwise it adds nothing. All terms are positive, so nothing cancels.
pub(crate) fn probabilities(n: usize, m: usize) -> Vec<f64> {
    // One row of tables, for i values in the first sample and 0..=m in the second.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=m {
            let mut table = vec![0.0; i * j + 1];
            let share = i as f64 / (i + j) as f64;
            row[j].iter().enumerate().for_each(|(u, p)| table[u + j] += share * p);
            next[j - 1].iter().enumerate().for_each(|(u, p)| table[u] += (1.0 - share) * p);
            next.push(table);
        }
        row = next;
    }
    row.pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases_by_counting() {
        assert_eq!(probabilities(1, 1), [0.5, 0.5]);
        let counts = [1.0, 1.0, 2.0, 1.0, 1.0].map(|c| c / 6.0);
        assert!(probabilities(2, 2).iter().zip(counts).all(|(p, c)| (p - c).abs() < 1e-15));
        let large = probabilities(20, 25);
        assert_eq!(large.len(), 501);
        assert!((large.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((large[3] - large[497]).abs() < 1e-18);
    }
}
