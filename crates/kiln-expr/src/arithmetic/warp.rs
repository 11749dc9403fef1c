//! What a warp's access to memory takes, for rules about layouts. In: the bytes from one thread's address to the next, and the
//! bytes each of them moves. Out: transactions, as NVIDIA's hardware counts them since sm_70. Refuses widths that no
//! instruction has.

use crate::error::EvalErrorKind as Fail;

/// Threads of a warp, banks of shared memory, bytes of a bank's word and of a sector of global memory.
const THREADS: i128 = 32;
const BANKS: i128 = 32;
const WORD: i128 = 4;
const SECTOR: i128 = 32;

/// Wavefronts beyond those that must be when 32 threads, so many bytes apart, each access so many bytes of shared memory. A
/// wavefront serves every bank once; accesses of 8 and 16 bytes take two and four of them at best.
pub(crate) fn bank_conflicts(stride: i64, bytes: i64) -> Result<i64, Fail> {
    let (stride, bytes) = (i128::from(stride), width(bytes)?);
    // As many threads at a time as fill all banks once.
    let at_once = (BANKS * WORD / bytes).min(THREADS);
    let mut more = 0;
    for first in (0..THREADS).step_by(at_once as usize) {
        let mut words: Vec<i128> = (first..first + at_once)
            .flat_map(|thread| (thread * stride).div_euclid(WORD)..=(thread * stride + bytes - 1).div_euclid(WORD))
            .collect();
        words.sort_unstable();
        words.dedup();
        let mut in_bank = [0_i64; BANKS as usize];
        words.iter().for_each(|word| in_bank[word.rem_euclid(BANKS) as usize] += 1);
        more += in_bank.into_iter().max().unwrap_or(1).max(1) - 1;
    }
    Ok(more)
}

/// Sectors of 32 bytes that such an access touches in global memory, the first thread's address being a multiple of 32.
pub(crate) fn sectors(stride: i64, bytes: i64) -> Result<i64, Fail> {
    let (stride, bytes) = (i128::from(stride), width(bytes)?);
    let mut touched: Vec<i128> = (0..THREADS)
        .flat_map(|thread| (thread * stride).div_euclid(SECTOR)..=(thread * stride + bytes - 1).div_euclid(SECTOR))
        .collect();
    touched.sort_unstable();
    touched.dedup();
    Ok(touched.len() as i64)
}

/// What an instruction moves for each thread.
fn width(bytes: i64) -> Result<i128, Fail> {
    if matches!(bytes, 1 | 2 | 4 | 8 | 16) { Ok(bytes.into()) } else { Err(Fail::Domain) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_are_those_the_hardware_counts() {
        // Neighbours, one word for all, a column of a 32-wide tile of floats, the same padded by one.
        for (stride, bytes, more) in [(4, 4, 0), (0, 4, 0), (128, 4, 31), (132, 4, 0), (8, 4, 1), (64, 4, 15)] {
            assert_eq!(bank_conflicts(stride, bytes), Ok(more), "{stride} {bytes}");
        }
        // Halves two to a word; rows of 64 halves, read 16 bytes at a time, with and without 16 bytes of padding.
        for (stride, bytes, more) in
            [(2, 2, 0), (128, 2, 31), (128, 16, 28), (144, 16, 0), (16, 16, 0), (8, 8, 0), (16, 8, 2)]
        {
            assert_eq!(bank_conflicts(stride, bytes), Ok(more), "{stride} {bytes}");
        }
        assert_eq!(bank_conflicts(-132, 4), Ok(0));
        assert!(bank_conflicts(4, 3).is_err() && bank_conflicts(4, 0).is_err() && bank_conflicts(i64::MAX, 16).is_ok());
    }

    #[test]
    fn sectors_are_those_that_are_touched() {
        for (stride, bytes, count) in
            [(4, 4, 4), (16, 16, 16), (2, 2, 2), (0, 4, 1), (32, 4, 32), (8, 4, 8), (256, 16, 32)]
        {
            assert_eq!(sectors(stride, bytes), Ok(count), "{stride} {bytes}");
        }
        // Rows of 130 bytes: a 16-byte access crosses a sector now and then.
        assert!((33..=64).contains(&sectors(130, 16).unwrap()));
        assert!(sectors(4, 5).is_err());
    }
}
