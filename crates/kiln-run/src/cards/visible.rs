//! Which GPU a run uses. In: the cards of this machine, what `CUDA_VISIBLE_DEVICES` says, what the user asked for. Out: one
//! card. Refuses, with what was asked and what there is: a GPU that is not there or hidden, a prefix that means several,
//! a GPU that is cut into slices and cannot be used as a whole.

use crate::cards::nvml::Card;

/// The card a run uses.
///
/// `variable` is `CUDA_VISIBLE_DEVICES`: indices in the order of the PCI bus, UUIDs or beginnings of them; unset it shows
/// every GPU, and as in CUDA an entry that means nothing hides itself and all after it. `wanted` is an index among the
/// GPUs that can be seen, or a UUID or the beginning of one; without it, the first that can be seen.
pub fn visible(cards: &[Card], variable: Option<&str>, wanted: Option<&str>) -> Result<Card, String> {
    let seen = seen(cards, variable);
    let Some(first) = seen.first() else {
        return Err(match variable {
            Some(list) => format!("CUDA_VISIBLE_DEVICES=\"{list}\" hides every GPU; there {}", are(cards.iter())),
            None => "there is no GPU".into(),
        });
    };
    let wanted = wanted.map(str::trim);
    let card = match (wanted, wanted.and_then(|w| w.parse::<usize>().ok())) {
        (None, _) => first,
        (Some(_), Some(index)) => seen.get(index).ok_or_else(|| {
            let shown = variable.map(|list| format!(" with CUDA_VISIBLE_DEVICES=\"{list}\"")).unwrap_or_default();
            format!("there is no GPU {index}{shown}; there {}", are(seen.iter().copied()))
        })?,
        (Some(name), None) => named(cards, &seen, variable, name)?,
    };
    if card.mig {
        return Err(cut(cards, card));
    }
    Ok((*card).clone())
}

/// What can be seen, in the order of the list.
fn seen<'a>(cards: &'a [Card], variable: Option<&str>) -> Vec<&'a Card> {
    let whole = || cards.iter().filter(|card| !card.is_slice());
    let Some(list) = variable else { return whole().collect() };
    let mut seen: Vec<&Card> = Vec::new();
    for entry in list.split(',').map(str::trim) {
        let card = match entry.parse::<u32>() {
            Ok(index) => whole().find(|card| card.index == index),
            Err(_) => match &beginning_with(cards, entry)[..] {
                [only] => Some(*only),
                _ => None,
            },
        };
        match card {
            Some(card) if !seen.contains(&card) => seen.push(card),
            Some(_) => {}
            None => break,
        }
    }
    seen
}

/// Cards whose UUID begins so, or is so.
fn beginning_with<'a>(cards: &'a [Card], name: &str) -> Vec<&'a Card> {
    let begins = |card: &&Card| card.uuid.get(..name.len()).is_some_and(|part| part.eq_ignore_ascii_case(name));
    if name.is_empty() { Vec::new() } else { cards.iter().filter(begins).collect() }
}

/// The card of this UUID or beginning of one, among those that can be seen. A slice can be when its GPU can.
fn named<'a>(cards: &'a [Card], seen: &[&'a Card], variable: Option<&str>, name: &str) -> Result<&'a Card, String> {
    let can_be_seen = |card: &Card| {
        seen.iter().any(|s| s.uuid == card.uuid || (card.is_slice() && !s.is_slice() && s.index == card.index))
    };
    let there = beginning_with(cards, name);
    let among: Vec<&Card> = there.iter().copied().filter(|card| can_be_seen(card)).collect();
    match (&among[..], &there[..]) {
        ([only], _) => Ok(only),
        ([], []) => Err(format!("there is no GPU `{name}`; there {}", are(cards.iter()))),
        ([], [hidden, ..]) => {
            let list = variable.unwrap_or_default();
            Err(format!("CUDA_VISIBLE_DEVICES=\"{list}\" hides {}", called(hidden)))
        }
        (several, _) => Err(format!("`{name}` means several: there {}", are(several.iter().copied()))),
    }
}

/// Why a GPU cannot be used as a whole, and what can be.
fn cut(cards: &[Card], whole: &Card) -> String {
    let slices: Vec<&Card> = cards.iter().filter(|card| card.is_slice() && card.index == whole.index).collect();
    let what = format!("{} is cut into slices (MIG) and cannot be used as a whole", called(whole));
    match slices.is_empty() {
        true => format!("{what}; it has no slice yet: make one with nvidia-smi mig, or end MIG mode"),
        false => format!("{what}; name a slice: there {}", are(slices.into_iter())),
    }
}

fn are<'a>(cards: impl Iterator<Item = &'a Card>) -> String {
    let names: Vec<String> = cards.map(called).collect();
    match names.len() {
        0 => "is none".into(),
        1 => format!("is {}", names[0]),
        _ => format!("are {}", names.join(", ")),
    }
}

fn called(card: &Card) -> String {
    match card.is_slice() {
        true => format!("slice {} ({})", card.uuid, card.name),
        false => format!("GPU {} ({}, {})", card.index, card.name, card.uuid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(index: u32, uuid: &str, mig: bool) -> Card {
        Card { index, uuid: uuid.into(), name: "H200".into(), mig, ..Card::default() }
    }

    fn three() -> Vec<Card> {
        vec![card(0, "GPU-aa11", false), card(1, "GPU-aa22", false), card(2, "GPU-bb33", false)]
    }

    fn sliced() -> Vec<Card> {
        vec![card(0, "GPU-aa11", true), card(0, "MIG-c1", false), card(0, "MIG-c2", false), card(1, "GPU-bb33", false)]
    }

    fn uuid(cards: &[Card], variable: Option<&str>, wanted: Option<&str>) -> String {
        visible(cards, variable, wanted).map_or_else(|why| why, |card| card.uuid)
    }

    #[test]
    fn without_a_wish_the_first_that_can_be_seen() {
        assert_eq!(uuid(&three(), None, None), "GPU-aa11");
        assert_eq!(uuid(&three(), Some("2,0"), None), "GPU-bb33");
        assert_eq!(uuid(&three(), Some("GPU-bb"), None), "GPU-bb33");
        assert_eq!(uuid(&[], None, None), "there is no GPU");
    }

    #[test]
    fn an_index_counts_what_can_be_seen() {
        assert_eq!(uuid(&three(), None, Some("1")), "GPU-aa22");
        assert_eq!(uuid(&three(), Some("2,0"), Some("1")), "GPU-aa11");
        assert_eq!(uuid(&three(), Some(" 2 , 2, 0"), Some("1")), "GPU-aa11");
        let why = uuid(&three(), Some("2"), Some("1"));
        assert_eq!(why, "there is no GPU 1 with CUDA_VISIBLE_DEVICES=\"2\"; there is GPU 2 (H200, GPU-bb33)");
    }

    #[test]
    fn a_uuid_or_its_beginning_names_one() {
        assert_eq!(uuid(&three(), None, Some("GPU-aa22")), "GPU-aa22");
        assert_eq!(uuid(&three(), None, Some("gpu-B")), "GPU-bb33");
        let why = uuid(&three(), None, Some("GPU-aa"));
        assert!(why.starts_with("`GPU-aa` means several: there are GPU 0 (H200, GPU-aa11), GPU 1"), "{why}");
        // What is hidden does not make a beginning ambiguous.
        assert_eq!(uuid(&three(), Some("1"), Some("GPU-aa")), "GPU-aa22");
        let why = uuid(&three(), None, Some("GPU-zz"));
        assert!(why.starts_with("there is no GPU `GPU-zz`; there are GPU 0"), "{why}");
        for odd in ["", "first", "-1"] {
            assert!(uuid(&three(), None, Some(odd)).starts_with("there is no GPU `"), "{odd}");
        }
    }

    #[test]
    fn what_the_variable_hides_is_said_to_be_hidden() {
        for list in ["", "-1", "7,0", "GPU-aa", "none"] {
            let why = uuid(&three(), Some(list), None);
            assert!(why.starts_with(&format!("CUDA_VISIBLE_DEVICES=\"{list}\" hides every GPU")), "{why}");
        }
        // As in CUDA, what follows an entry that means nothing is hidden with it.
        assert!(uuid(&three(), Some("1,7,0"), Some("1")).starts_with("there is no GPU 1"));
        let why = uuid(&three(), Some("1"), Some("GPU-bb33"));
        assert_eq!(why, "CUDA_VISIBLE_DEVICES=\"1\" hides GPU 2 (H200, GPU-bb33)");
    }

    #[test]
    fn a_cut_gpu_is_used_by_the_slice() {
        for wanted in [None, Some("0"), Some("GPU-aa11")] {
            let why = uuid(&sliced(), None, wanted);
            assert!(
                why.contains("cannot be used as a whole; name a slice: there are slice MIG-c1 (H200), slice"),
                "{why}"
            );
        }
        assert_eq!(uuid(&sliced(), None, Some("1")), "GPU-bb33");
        assert_eq!(uuid(&sliced(), None, Some("MIG-c2")), "MIG-c2");
        assert_eq!(uuid(&sliced(), Some("0"), Some("MIG-c2")), "MIG-c2");
        assert_eq!(uuid(&sliced(), Some("MIG-c2,MIG-c1"), Some("0")), "MIG-c2");
        assert!(uuid(&sliced(), Some("1"), Some("MIG-c2")).contains("hides slice MIG-c2"));
        assert!(uuid(&sliced(), Some("MIG-c1"), Some("MIG-c2")).contains("hides slice MIG-c2"));
        let empty = uuid(&[card(0, "GPU-aa11", true)], None, None);
        assert!(empty.contains("it has no slice yet"), "{empty}");
    }
}
