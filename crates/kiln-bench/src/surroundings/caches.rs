//! The processor's caches, as far as they decide how calls are timed. In: what the system tells. Out: how much of them is a
//! processor's own and how much there is at all.

/// Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caches {
    /// The largest that one processor has to itself.
    pub(crate) private: usize,
    /// The largest of all.
    pub(crate) last: usize,
}

/// Where the system does not tell: small enough for any processor of the last ten years.
const PRIVATE: usize = 256 << 10;
const LAST: usize = 64 << 20;
/// Walking more than this to cool caches takes longer than it is worth.
const MOST_LAST: usize = 768 << 20;

impl Caches {
    /// Of one processor.
    pub(crate) fn of(cpu: usize) -> Caches {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
        let text = |index: usize, name: &str| std::fs::read_to_string(format!("{folder}/index{index}/{name}")).ok();
        let caches = (0..8).filter_map(|index| {
            let kind = text(index, "type")?;
            let shared = text(index, "shared_cpu_list")?;
            let own = !shared.trim().contains([',', '-']);
            (kind.trim() != "Instruction").then_some((bytes(&text(index, "size")?)?, own))
        });
        Caches::among(&caches.collect::<Vec<_>>())
    }

    /// Of sizes, and whether each is one processor's own. Hyperthreads share theirs, and then the second level is taken.
    fn among(caches: &[(usize, bool)]) -> Caches {
        let own = caches.iter().filter(|(_, own)| *own).map(|(size, _)| *size).max();
        let mut sizes: Vec<usize> = caches.iter().map(|(size, _)| *size).collect();
        sizes.sort_unstable();
        let second = if sizes.len() > 2 { sizes.get(sizes.len() - 2).copied() } else { None };
        Caches {
            private: own.or(second).unwrap_or(PRIVATE),
            last: sizes.last().copied().unwrap_or(LAST).min(MOST_LAST),
        }
    }
}

/// `2048K` in bytes.
fn bytes(size: &str) -> Option<usize> {
    let size = size.trim();
    let (digits, unit) = match size.strip_suffix(['K', 'M', 'G']) {
        Some(digits) => (digits, &size[size.len() - 1..]),
        None => (size, ""),
    };
    let shift = [("", 0), ("K", 10), ("M", 20), ("G", 30)].iter().find(|(name, _)| *name == unit)?.1;
    digits.parse::<usize>().ok()?.checked_shl(shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_the_system_writes_them() {
        assert_eq!(
            (bytes("48K\n"), bytes("2M"), bytes("100"), bytes("x")),
            (Some(48 << 10), Some(2 << 20), Some(100), None)
        );
        let machine = Caches::of(0);
        assert!(machine.private > 0 && machine.last >= machine.private);
    }

    #[test]
    fn the_private_one_is_the_largest_that_is_not_shared() {
        let usual = [(48 << 10, true), (2 << 20, true), (60 << 20, false)];
        assert_eq!(Caches::among(&usual), Caches { private: 2 << 20, last: 60 << 20 });
        let hyperthreads = [(48 << 10, false), (2 << 20, false), (60 << 20, false)];
        assert_eq!(Caches::among(&hyperthreads).private, 2 << 20);
        assert_eq!(Caches::among(&[]), Caches { private: PRIVATE, last: LAST });
    }
}
