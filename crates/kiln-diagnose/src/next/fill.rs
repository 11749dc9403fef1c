//! Words with names in them. In: a template, a name's value. Out: the words. `{name}` is the value; `[...]` is left out where a
//! name in it has none. A name without a value outside of brackets stands there in capitals, as usage lines have it.

/// The template with its names filled in.
pub(super) fn filled(template: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    filled_whole(template, value).0
}

/// The same, and whether every name outside of brackets has a value.
pub(super) fn filled_whole(template: &str, value: &dyn Fn(&str) -> Option<String>) -> (String, bool) {
    let (mut words, mut whole) = (String::new(), true);
    let mut rest = template;
    while let Some(open) = rest.find('[') {
        let Some(close) = rest[open..].find(']').map(|at| open + at) else { break };
        let (before, all) = named(&rest[..open], value);
        words.push_str(&before);
        whole &= all;
        let (inside, known) = named(&rest[open + 1..close], value);
        if known {
            words.push_str(&inside);
        }
        rest = &rest[close + 1..];
    }
    let (behind, all) = named(rest, value);
    words.push_str(&behind);
    (words, whole && all)
}

/// The same without brackets, and whether every name had a value.
fn named(template: &str, value: &dyn Fn(&str) -> Option<String>) -> (String, bool) {
    let (mut words, mut known, mut rest) = (String::new(), true, template);
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|at| open + at) else { break };
        let name = &rest[open + 1..close];
        words.push_str(&rest[..open]);
        match value(name) {
            Some(value) => words.push_str(&value),
            None => {
                known = false;
                words.push_str(&name.to_ascii_uppercase());
            }
        }
        rest = &rest[close + 1..];
    }
    words.push_str(rest);
    (words, known)
}

/// The names in a template.
#[cfg(test)]
pub(super) fn names(template: &str) -> Vec<&str> {
    template.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out_or_stands_in_capitals() {
        let value = |name: &str| (name == "path").then(|| "k".to_string());
        let fill = |template| filled(template, &value);
        assert_eq!(fill("kiln bench {path}[ --workload {workload}] --json"), "kiln bench k --json");
        assert_eq!(fill("kiln show {study}[ of {path}]"), "kiln show STUDY of k");
        assert_eq!(fill("under [baselines] of {path}"), "under baselines of k");
        assert_eq!(fill("open [ and { stay"), "open [ and { stay");
        let whole = |template| filled_whole(template, &value).1;
        assert!(whole("kiln bench {path}[ --workload {workload}]") && !whole("kiln show {study}[ of {path}]"));
        assert_eq!(names("{a}[ {b}]"), ["a", "b"]);
    }
}
