//! What two versions of a kernel file do not share. In: their texts. Out: the tables that differ, of those that decide what is
//! correct and what is compared with: who reviews a change must look there.

use toml::Table;

/// Tables that a verdict rests on.
const JUDGING: [&str; 6] = ["arguments", "reference", "baselines", "constraints", "cost", "fuzz"];

/// Those that differ, in a target of the file too. Formatting and comments do not count.
pub fn changed_tables(one: &str, other: &str) -> Vec<&'static str> {
    let table = |text: &str| text.parse::<Table>().unwrap_or_default();
    let (one, other) = (table(one), table(other));
    let differ = |key: &&str| {
        let of = |file: &Table| {
            let targets = file.get("target").and_then(|targets| targets.as_table());
            let own = targets.into_iter().flatten().map(|(name, target)| (name.clone(), target.get(*key).cloned()));
            (file.get(*key).cloned(), own.collect::<Vec<_>>())
        };
        of(&one) != of(&other)
    };
    JUDGING.into_iter().filter(differ).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_decides_counts() {
        let file =
            "[kernel]\nname = \"a\"\n[reference]\nbuiltin = \"softmax\"\n[target.cpu.baselines]\nplain = \"a.c:f\"\n";
        let changed = |from: &str, to: &str| changed_tables(file, &file.replace(from, to));
        assert!(changed("[kernel]", "# a remark\n[kernel]").is_empty() && changed("\"a\"", "\"b\"").is_empty());
        assert_eq!(changed("\"softmax\"", "\"softmax\"\ntolerance = { abs = 1.0 }"), ["reference"]);
        assert_eq!(changed("a.c:f", "slow.c:f"), ["baselines"]);
    }
}
