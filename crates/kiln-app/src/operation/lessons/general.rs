//! What was said once, made general. In: the words of a failure. Out: a regular expression for the same words with other numbers, at
//! another element and in another file; and a title without the figures of the one case.

use kiln_core::{Gate, Refusal};

/// A refusal in a line: the rule that the kernel file states, what a tool said, or what the gate means.
pub(super) fn titled(refusal: &Refusal) -> String {
    match refusal.gate {
        Gate::Constraint => first_line(&format!("constraint {}: {}", refusal.rule, refusal.limit), 80),
        gate => said_by_a_tool(gate, &refusal.measured).unwrap_or_else(|| format!("{gate}: {}", gate.meaning())),
    }
}

/// What a compiler, a driver or the system said; nothing of other gates, whose words are figures.
pub(super) fn said_by_a_tool(gate: Gate, words: &str) -> Option<String> {
    let tool = matches!(gate, Gate::BuildFailed | Gate::LaunchFailed | Gate::RuntimeFailed | Gate::ForbiddenCall);
    tool.then(|| first_line(after_the_place(words), 80))
}

pub(super) fn first_line(text: &str, most: usize) -> String {
    text.lines().next().unwrap_or_default().chars().take(most).collect()
}

/// What follows the place of `k.cu(12): error: ...` or `k.c:12:3: error: ...`.
pub(super) fn after_the_place(words: &str) -> &str {
    let marks = ["error: ", "error   : ", "Error: "];
    marks.iter().find_map(|mark| words.split_once(mark)).map_or(words, |(_, rest)| rest)
}

/// Any number: with a sign, decimals, an exponent, or without.
const NUMBER: &str = r"[-+]?\d+(\.\d+)*(e[-+]?\d+)?";

/// Any element of a tensor, whatever its dimensions.
const INDEX: &str = r"\[[\d, ]+\]";

/// An expression for the same words with other numbers, at another element and in another file.
pub(super) fn generalised(words: &str) -> String {
    let letters: Vec<char> = after_the_place(words).trim().chars().collect();
    let (mut expression, mut at) = (String::new(), 0);
    while at < letters.len() {
        let before = at.checked_sub(1).map(|place| letters[place]);
        // What is part of a name, such as f32, has neither sign nor decimals.
        let in_name = before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        let element = if in_name { index(&letters[at..]) } else { 0 };
        let hex =
            if letters[at..].starts_with(&['0', 'x']) { run(&letters[at + 2..], char::is_ascii_hexdigit) } else { 0 };
        if element > 0 {
            at += element;
            expression.push_str(INDEX);
        } else if hex > 0 && !in_name {
            at += 2 + hex;
            expression.push_str("0x[0-9a-f]+");
        } else if let Some(length) = number(&letters[at..]).filter(|_| !in_name) {
            at += length;
            expression.push_str(NUMBER);
        } else if letters[at].is_ascii_digit() {
            at += run(&letters[at..], char::is_ascii_digit);
            expression.push_str("\\d+");
        } else {
            if "\\.+*?()|[]{}^$#&-~".contains(letters[at]) {
                expression.push('\\');
            }
            expression.push(letters[at]);
            at += 1;
        }
    }
    expression
}

/// How many letters from the first on are of a kind.
fn run(letters: &[char], of: impl Fn(&char) -> bool) -> usize {
    letters.iter().take_while(|letter| of(letter)).count()
}

/// How many letters the place in a tensor takes with which these begin, `[32, 380]`; 0 where they begin with none.
fn index(letters: &[char]) -> usize {
    let inner =
        run(letters.get(1..).unwrap_or_default(), |letter| letter.is_ascii_digit() || matches!(letter, ',' | ' '));
    let closed = inner > 0 && letters.first() == Some(&'[') && letters.get(inner + 1) == Some(&']');
    if closed { inner + 2 } else { 0 }
}

/// How many letters the number takes with which these begin; none where they begin with none.
fn number(letters: &[char]) -> Option<usize> {
    let digits = |at: usize| run(letters.get(at..).unwrap_or_default(), char::is_ascii_digit);
    let is = |at: usize, any: &[char]| letters.get(at).is_some_and(|letter| any.contains(letter));
    let mut at = usize::from(is(0, &['-', '+']));
    if digits(at) == 0 {
        return None;
    }
    at += digits(at);
    while is(at, &['.']) && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    }
    let exponent = at + 1 + usize::from(is(at + 1, &['-', '+']));
    if is(at, &['e', 'E']) && digits(exponent) > 0 {
        at = exponent + digits(exponent);
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_diagnose::lessons::{Library, Origin, Symptoms, parse};
    use serde_json::Value;

    #[test]
    fn words_are_made_general() {
        let said = "k.cu(12): error: static assertion failed with \"TILE (48)\"";
        assert_eq!(generalised(said), format!("static assertion failed with \"TILE \\({NUMBER}\\)\""));
        assert_eq!(generalised("183296 bytes of shared memory"), format!("{NUMBER} bytes of shared memory"));
        assert_eq!(generalised("f32 at y[12] is 0x7fc00000"), "f\\d+ at y\\[[\\d, ]+\\] is 0x[0-9a-f]+");
        assert_eq!(generalised("y[32, 380] is 5.7656277e-2"), format!("y\\[[\\d, ]+\\] is {NUMBER}"));
        assert_eq!(generalised("expected [1] of [a, 2]"), format!("expected \\[{NUMBER}\\] of \\[a, {NUMBER}\\]"));
    }

    #[test]
    fn a_title_has_no_figures_of_one_case() {
        let refusal = |gate, rule: &str, measured: &str, limit: &str| Refusal {
            gate,
            rule: rule.into(),
            measured: measured.into(),
            limit: limit.into(),
            evidence: String::new(),
            hint: None,
        };
        let wrong = refusal(Gate::Numerics, "y", "y[32, 380] is 5.7656277e-2", "6.1e-2 within 3.5e-7");
        assert_eq!(titled(&wrong), "numerics: an output differs from the reference by more than the tolerance");
        let rule = refusal(Gate::Constraint, "tail", "8 == 0", "COLS % LANES == 0");
        assert_eq!(titled(&rule), "constraint tail: COLS % LANES == 0");
        let built = refusal(Gate::BuildFailed, "", "k.cu(7): error: no member `zebra`\nmore", "");
        assert_eq!(titled(&built), "no member `zebra`");
    }

    #[test]
    fn numbers_with_signs_decimals_and_exponents_are_numbers() {
        let said = |value: &str| format!("y[7] is {value}, expected 2 (16-byte rows, cuda 13.0.1)");
        let file = |value: &str| {
            let text = generalised(&said(value));
            let text = Value::from(vec![text]);
            format!("id = \"n\"\ntitle = \"T\"\n[[symptom]]\ntext = {text}\n[lesson]\ncause = \"c\"\nremedy = \"r\"\n")
        };
        let values = ["3", "-1.5e-3", "2.25", "+4E10", "1e-06", "-0"];
        for value in values {
            let lesson = parse("n.toml", &file(value)).unwrap();
            let library = Library::new(vec![(lesson, Origin::Own)], |_| None);
            for other in values {
                let seen = Symptoms { text: said(other), ..Symptoms::default() };
                let best = library.best(&seen).map(|own| own.lesson.id.clone());
                assert_eq!(best.as_deref(), Some("n"), "{value} {other}: {}", generalised(&said(value)));
            }
            let none = Symptoms { text: said("nan"), ..Symptoms::default() };
            assert!(library.best(&none).is_none_or(|own| own.lesson.id != "n"));
        }
    }
}
