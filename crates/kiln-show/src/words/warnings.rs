//! Warnings under a table: those of one kind in one line, with how many there are.

/// Lines for warnings with where each belongs; alike are those that differ in numbers and sides alone.
pub(crate) fn gathered(warnings: &[(String, String)]) -> Vec<String> {
    let mut kinds: Vec<(String, Vec<&(String, String)>)> = Vec::new();
    for warning in warnings {
        let kind = kind(&warning.1);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, alike)) => alike.push(warning),
            None => kinds.push((kind, vec![warning])),
        }
    }
    let line = |(_, alike): &(String, Vec<&(String, String)>)| {
        let (place, words) = alike.first()?;
        Some(match alike.len() {
            1 => format!("{place}: {words}"),
            count => format!("{place}: {words} ({} like this in the table)", count),
        })
    };
    kinds.iter().filter_map(line).collect()
}

/// What is left without numbers and sides.
fn kind(words: &str) -> String {
    let words = words.replace("candidate's", "side's").replace("baseline's", "side's");
    let words = words.replace("base's", "side's").replace("the base ", "the side ");
    let words = words.replace("the candidate ", "the side ").replace("the baseline ", "the side ");
    words.chars().filter(|c| !(c.is_ascii_digit() || ".+-".contains(*c))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_one_kind_are_one_line_with_a_count() {
        let cv = |place: &str, side: &str, cv: f64| {
            (place.to_string(), format!("the {side}'s CV is {cv:.1} %, above 12.0 %"))
        };
        let drift = ("w1".to_string(), "the candidate drifted by -4.0 % over the run".to_string());
        let warnings =
            [cv("w1", "candidate", 13.1), drift.clone(), cv("w1", "baseline", 20.0), cv("w2", "candidate", 99.5)];
        assert_eq!(
            gathered(&warnings),
            [
                "w1: the candidate's CV is 13.1 %, above 12.0 % (3 like this in the table)".to_string(),
                format!("w1: {}", drift.1)
            ]
        );
        assert!(gathered(&[]).is_empty());
    }
}
