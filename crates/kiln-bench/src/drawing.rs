//! Seeds for every purpose from the study's one seed, so that no two purposes share a stream and each can be repeated alone.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seed for a purpose, such as the inputs of a workload in a phase.
pub fn derive(seed: u64, purpose: &[&str], number: u64) -> u64 {
    // FNV-1a over the words, then one draw of a generator: neighbours give unrelated seeds.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed;
    let mut mix = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    for word in purpose {
        word.bytes().for_each(&mut mix);
        mix(0xff);
    }
    number.to_le_bytes().into_iter().for_each(&mut mix);
    ChaCha8Rng::seed_from_u64(hash).next_u64()
}

/// `items` in random order.
pub(crate) fn shuffle<T>(items: &mut [T], rng: &mut ChaCha8Rng) {
    kiln_space::shuffle(rng, items);
}

/// A generator for a purpose.
pub(crate) fn generator(seed: u64, purpose: &[&str], number: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(derive(seed, purpose, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purposes_do_not_share_streams() {
        let all =
            [derive(1, &["a", "b"], 0), derive(1, &["ab"], 0), derive(1, &["a", "b"], 1), derive(2, &["a", "b"], 0)];
        for (i, a) in all.iter().enumerate() {
            assert!(all.iter().skip(i + 1).all(|b| a != b));
        }
        assert_eq!(derive(1, &["a", "b"], 0), all[0]);
    }

    #[test]
    fn a_shuffle_keeps_everything() {
        let mut items: Vec<u32> = (0..50).collect();
        shuffle(&mut items, &mut generator(3, &["order"], 0));
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
