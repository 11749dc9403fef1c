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
    /// `1.2x s512`: a speedup and a workload; other words are kept as they are.
    pub fn parse(text: &str) -> Goal {
        let factor = |word: &str| {
            let number = word.strip_suffix(['x', 'X'])?.parse::<f64>().ok()?;
            (number.is_finite() && number > 0.0).then_some(number)
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let at = words.iter().position(|word| factor(word).is_some());
        let speedup = at.and_then(|at| factor(words[at]));
        // `1.2x s512`, `1.2x on s512`: one word behind the number is the workload.
        let workload = at.and_then(|at| match words[at + 1..] {
            [name] | ["on" | "at", name] => Some(name.to_string()),
            _ => None,
        });
        Goal { text: text.trim().into(), speedup, workload }
    }

    /// Whether a speedup on a workload reaches it.
    pub fn is_reached(&self, speedup: f64, workload: Option<&str>) -> bool {
        let there = self.workload.is_none() || workload.is_none() || self.workload.as_deref() == workload;
        there && self.speedup.is_some_and(|goal| speedup >= goal)
    }
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
        let goal = Goal::parse("1.2x s512");
        assert_eq!((goal.speedup, goal.workload.as_deref()), (Some(1.2), Some("s512")));
        assert_eq!(Goal::parse("1.2x on s512").workload.as_deref(), Some("s512"));
        assert_eq!(Goal::parse("reach 2x at last, whatever it takes").workload, None);
        assert_eq!(Goal::parse("find the crash").speedup, None);
        assert!(goal.is_reached(1.21, Some("s512")) && goal.is_reached(1.2, None));
        assert!(!goal.is_reached(1.19, Some("s512")) && !goal.is_reached(3.0, Some("s128")));
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
