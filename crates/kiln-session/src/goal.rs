//! What a session is for, as it is typed: a goal (`1.2x s512`), a stretch of time (`4h`, `1h30m`), a price of an hour (`3.5/h`). Refuses
//! what cannot be read, with what was expected.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is to be reached.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Goal {
    /// As it was typed.
    pub text: String,
    /// The speedup in it; none where it is about something else.
    pub speedup: Option<f64>,
    /// The workload in it.
    pub workload: Option<String>,
}

/// Why something cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalError {
    /// What was typed.
    pub typed: String,
    /// What was expected.
    pub expected: &'static str,
}

impl fmt::Display for GoalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.typed, self.expected)
    }
}

impl Goal {
    /// `1.2x s512`: a speedup and a workload. Words without a number are a goal that nobody measures, kept as they are; a number that
    /// is not read would be one that nobody notices.
    pub fn parse(text: &str) -> Result<Goal, GoalError> {
        let expected = "expected a speedup up to 1000x and a workload such as \"1.2x s512\", a speedup alone, or words without a number";
        let wrong = || GoalError { typed: text.trim().into(), expected };
        let words: Vec<&str> = text.split_whitespace().collect();
        let (speedup, workload) = match words.as_slice() {
            words if !words.iter().any(|word| is_number(word)) => (None, None),
            [number] => (Some(factor(number).ok_or_else(wrong)?), None),
            [number, "on" | "at", name] => (Some(factor(number).ok_or_else(wrong)?), Some(name.to_string())),
            [number, name] if !matches!(*name, "on" | "at") => {
                (Some(factor(number).ok_or_else(wrong)?), Some(name.to_string()))
            }
            _ => return Err(wrong()),
        };
        Ok(Goal { text: text.trim().into(), speedup, workload })
    }

    /// Whether what was measured on a workload, or on all together, can reach it.
    pub fn is_about(&self, workload: Option<&str>) -> bool {
        self.workload.is_none() || self.workload.as_deref() == workload
    }

    /// Whether a speedup on a workload reaches it.
    pub fn is_reached(&self, speedup: f64, workload: Option<&str>) -> bool {
        self.is_about(workload) && self.speedup.is_some_and(|goal| speedup >= goal)
    }
}

/// The largest speedup that anybody can mean.
const MOST: f64 = 1000.0;

/// `1.2x`.
fn factor(word: &str) -> Option<f64> {
    let number = word.strip_suffix(['x', 'X'])?.parse::<f64>().ok()?;
    (number > 0.0 && number <= MOST).then_some(number)
}

/// Whether a word was meant as a number.
fn is_number(word: &str) -> bool {
    let bare = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let bare = bare.trim_end_matches(['x', 'X', '\u{d7}', '%']);
    bare.starts_with(|letter: char| letter.is_ascii_digit()) || bare.parse::<f64>().is_ok()
}

/// A stretch of time, in seconds: `4h`, `90m`, `1h30m`, `45s`.
pub fn span(text: &str) -> Result<f64, GoalError> {
    let wrong = || GoalError { typed: text.into(), expected: "expected a time such as 4h, 90m or 1h30m" };
    let (mut seconds, mut number) = (0.0, String::new());
    let mut letters = text.trim().chars().filter(|letter| !letter.is_whitespace()).peekable();
    if letters.peek().is_none() {
        return Err(wrong());
    }
    while let Some(letter) = letters.next() {
        if letter.is_ascii_digit() || letter == '.' {
            number.push(letter);
            continue;
        }
        let unit = match letter {
            'h' => 3600.0,
            'm' => 60.0,
            's' => 1.0,
            'd' => 86400.0,
            _ => return Err(wrong()),
        };
        // `min` and `sec` are said as often as `m` and `s`.
        while letters.peek().is_some_and(char::is_ascii_alphabetic) {
            letters.next();
        }
        seconds += unit * number.parse::<f64>().map_err(|_| wrong())?;
        number.clear();
    }
    // A number without a unit could mean minutes or hours.
    if number.is_empty() && seconds > 0.0 && seconds.is_finite() { Ok(seconds) } else { Err(wrong()) }
}

/// The price of an hour: `3.5/h`, `3.5`.
pub fn hourly(text: &str) -> Result<f64, GoalError> {
    let wrong = || GoalError { typed: text.into(), expected: "expected the price of an hour, such as 3.5/h" };
    let number = text.trim().trim_start_matches(['$', '€', '£']);
    let number = number.strip_suffix("/hour").or(number.strip_suffix("/h")).unwrap_or(number);
    let price = number.trim().parse::<f64>().map_err(|_| wrong())?;
    if price.is_finite() && price >= 0.0 { Ok(price) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_read_as_they_are_typed() {
        let goal = Goal::parse("1.2x s512").unwrap();
        assert_eq!((goal.speedup, goal.workload.as_deref()), (Some(1.2), Some("s512")));
        assert_eq!(Goal::parse("1.2x on s512").unwrap().workload.as_deref(), Some("s512"));
        let words = ["find the crash", "twice as fast", "no crash at S=65", ""].map(|text| Goal::parse(text).unwrap());
        assert!(words.iter().all(|goal| goal.speedup.is_none() && goal.workload.is_none()));
        assert!(goal.is_reached(1.21, Some("s512")) && goal.is_reached(1.2, Some("s512")));
        assert!(!goal.is_reached(1.19, Some("s512")) && !goal.is_reached(3.0, Some("s128")));
        assert!(!goal.is_reached(3.0, None), "the mean of others says nothing of s512");
        assert!(Goal::parse("1.2x").unwrap().is_reached(1.2, None));
    }

    #[test]
    fn a_number_that_is_not_understood_is_no_goal() {
        let odd = [
            "1.2",
            "1e9x",
            "2\u{d7}",
            "20% faster",
            "20 % faster",
            "nanx",
            "infx",
            "0x",
            "-1x",
            "1,2x",
            ">=2x",
            "1.2x s512 tomorrow",
            "1.2x on",
            "reach 2x at last",
        ];
        for text in odd {
            assert!(Goal::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_and_prices_need_what_they_are_counted_in() {
        assert_eq!(
            ["4h", "90m", "1h30m", "45 min", "30s"].map(|text| span(text).unwrap()),
            [14400.0, 5400.0, 5400.0, 2700.0, 30.0]
        );
        for text in ["4", "", "h", "-1h", "4x", "0h", "1h30"] {
            assert!(span(text).is_err(), "{text}");
        }
        assert_eq!(["3.5/h", "$3.5/h", "2", "0/hour"].map(|text| hourly(text).unwrap()), [3.5, 3.5, 2.0, 0.0]);
        assert!(["", "-1", "nan", "3.5/min", "a"].iter().all(|text| hourly(text).is_err()));
    }
}
