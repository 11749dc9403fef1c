//! The refusal of an architecture name, and the name most likely meant.
//!
//! In: the text somebody wrote. Out: an error that shows the text, the nearest
//! known name and the whole list. Refuses to offer a name when nothing known is
//! within one slip of the text: a far-fetched offer is worse than the list.

use std::cmp::Reverse;
use std::fmt;

use crate::arch::Arch;

/// A name that is no known architecture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct UnknownArch {
    text: String,
}

impl UnknownArch {
    pub(crate) fn new(text: &str) -> UnknownArch {
        UnknownArch { text: text.to_owned() }
    }

    /// The text that was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The known architecture one slip away, if there is one.
    ///
    /// Among several, the one that starts alike, then the one nearest as a
    /// number: 95 is one digit from 75 and from 90, and 90 is what was meant.
    pub fn nearest(&self) -> Option<Arch> {
        let given = plain(&self.text);
        Arch::all()
            .iter()
            .filter_map(|arch| {
                let known = plain(arch.name());
                let slips = slips(given.as_bytes(), known.as_bytes())?;
                let alike = Reverse(alike(given.as_bytes(), known.as_bytes()));
                let gap = number(&given).abs_diff(number(&known));
                Some(((slips, alike, gap), *arch))
            })
            .min_by_key(|(rank, _)| *rank)
            .map(|(_, arch)| arch)
    }
}

impl fmt::Display for UnknownArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown architecture {}", self.text)?;
        if let Some(arch) = self.nearest() {
            write!(f, ": did you mean {arch}?")?;
        }
        write!(f, " (known: ")?;
        for (i, arch) in Arch::all().iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{arch}")?;
        }
        write!(f, ")")
    }
}

/// What is left of a name once the usual other spellings are taken away:
/// case, separators, the prefix, and letters that look like digits.
fn plain(text: &str) -> String {
    let folded: String = text
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| match c.to_ascii_lowercase() {
            'o' => '0',
            'l' | 'i' => '1',
            other => other,
        })
        .collect();
    // "compute" has an o in it, which has just become a zero.
    ["sm", "c0mpute"].iter().find_map(|prefix| folded.strip_prefix(prefix)).unwrap_or(&folded).to_owned()
}

/// The number a plain name starts with; 0 when it starts with none.
fn number(plain: &str) -> u32 {
    let end = plain.find(|c: char| !c.is_ascii_digit()).unwrap_or(plain.len());
    plain[..end].parse().unwrap_or(0)
}

/// How many bytes two texts begin with in common.
fn alike(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// 0 for equal texts, 1 for texts one insertion, deletion or substitution
/// apart, `None` for anything further.
fn slips(a: &[u8], b: &[u8]) -> Option<u32> {
    let head = alike(a, b);
    let (a, b) = (&a[head..], &b[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    match (a.len() - tail, b.len() - tail) {
        (0, 0) => Some(0),
        (0 | 1, 0 | 1) => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(text: &str) -> Option<&'static str> {
        UnknownArch::new(text).nearest().map(|arch| arch.name())
    }

    #[test]
    fn offers_the_nearest_name() {
        assert_eq!(nearest("sm_9O"), Some("sm_90"));
        assert_eq!(nearest("sm90a"), Some("sm_90a"));
        assert_eq!(nearest("SM_90A"), Some("sm_90a"));
        assert_eq!(nearest("90"), Some("sm_90"));
        assert_eq!(nearest("9.0"), Some("sm_90"));
        assert_eq!(nearest("compute_80"), Some("sm_80"));
        assert_eq!(nearest("sm_9"), Some("sm_90"));
        assert_eq!(nearest("sm_95"), Some("sm_90"));
        assert_eq!(nearest("sm_121"), Some("sm_120"));
        assert_eq!(nearest("sm_l0Oa"), Some("sm_100a"));
        assert_eq!(nearest("sm_900a"), Some("sm_90a"));
    }

    #[test]
    fn offers_nothing_far_fetched() {
        for text in ["", "hopper", "sm_", "gfx942", "sm_1234", "é"] {
            assert_eq!(nearest(text), None, "{text:?}");
        }
    }

    #[test]
    fn message_names_text_offer_and_list() {
        let message = UnknownArch::new("sm_9O").to_string();
        assert!(message.starts_with("unknown architecture sm_9O: did you mean sm_90? (known: "));
        for arch in Arch::all() {
            assert!(message.contains(arch.name()));
        }
        assert_eq!(
            UnknownArch::new("hopper").to_string(),
            format!(
                "unknown architecture hopper (known: {})",
                Arch::all().iter().map(|arch| arch.name()).collect::<Vec<_>>().join(", ")
            )
        );
    }

    #[test]
    fn slips_count_up_to_one() {
        assert_eq!(slips(b"90", b"90"), Some(0));
        assert_eq!(slips(b"90", b"90a"), Some(1));
        assert_eq!(slips(b"90", b"9"), Some(1));
        assert_eq!(slips(b"95", b"90"), Some(1));
        assert_eq!(slips(b"09", b"90"), None);
        assert_eq!(slips(b"100", b"10"), Some(1));
        assert_eq!(slips(b"", b"90"), None);
    }
}
