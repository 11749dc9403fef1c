//! A choice, with what could have been done instead. In: options as they are typed, `keep tuning; 2h; 1.15x`, and the chosen one. Out: the
//! decision, recorded. Without options those that are always there: go on, use the baseline, or stop with what was reached. Refuses a
//! choice that is none of them.

use kiln_core::Report;
use kiln_session::{Decision, DecisionKind, DecisionOption, Session, best, cost, span};
use kiln_store::{AttemptsOf, Store, Study};

use super::{now, one_line, opened};
use crate::attempt::user;
use crate::failure::Failure;
use crate::project::Project;

/// The best case that anybody can mean.
const MOST: f64 = 1000.0;

/// What is decided.
#[derive(Debug, Clone, Default)]
pub struct DecideRequest {
    /// Options, each as `WHAT; TIME; BEST CASE`; time and best case may be left out.
    pub options: Vec<String>,
    /// The chosen one: its number from 1, or its words.
    pub choose: String,
    /// Why.
    pub because: String,
}

/// Records a choice in the open session.
pub fn decide(project: &Project, request: &DecideRequest) -> Result<Decision, Failure> {
    if request.because.trim().is_empty() {
        return Err(Report::error("--because is empty").label("expected the reason").into());
    }
    let typed = request.options.iter().map(|text| option(text)).collect::<Result<Vec<_>, Failure>>()?;
    if let Some(twice) = twice(&typed) {
        return Err(Report::error(format!("--option {twice} is given twice"))
            .label("expected each option once")
            .into());
    }
    let (store, session) = opened(project)?;
    let options = if typed.is_empty() { usual(&store, &session)? } else { typed };
    let priced = |one: DecisionOption| {
        let cost = one.time_s.and_then(|time| cost(&session.prices, time, None).total);
        DecisionOption { cost, ..one }
    };
    let options: Vec<DecisionOption> = options.into_iter().map(priced).collect();
    let choice = chosen(&options, &request.choose)?;
    let made = Decision {
        id: Study::new_id(),
        at_ms: now(),
        session: Some(session.id.clone()),
        kernel: session.kernel.clone().unwrap_or_default(),
        path: String::new(),
        kind: DecisionKind::Chosen,
        choice,
        options,
        because: one_line(&request.because),
        user: user(),
    };
    store.record_decision(&made)?;
    Ok(made)
}

/// An option that another one is called like.
fn twice(options: &[DecisionOption]) -> Option<&str> {
    let again =
        |(at, one): (usize, &DecisionOption)| options[..at].iter().any(|own| own.what.eq_ignore_ascii_case(&one.what));
    options.iter().enumerate().find(|own| again(*own)).map(|(_, one)| one.what.as_str())
}

/// `keep tuning; 2h; 1.15x`.
fn option(text: &str) -> Result<DecisionOption, Failure> {
    let mut parts = text.split(';').map(str::trim);
    let what = one_line(parts.next().unwrap_or_default());
    let wrong = |expected: &str| Report::error(format!("--option {text}")).label(expected.to_string());
    if what.is_empty() {
        return Err(wrong("expected WHAT; TIME; BEST CASE, such as \"keep tuning; 2h; 1.15x\"").into());
    }
    let (mut time_s, mut best_case) = (None, None);
    for part in parts.filter(|part| !part.is_empty()) {
        match (part.strip_suffix('x').and_then(|number| number.parse::<f64>().ok()), span(part)) {
            (Some(factor), _) if factor > 0.0 && factor <= MOST => best_case = Some(factor),
            (_, Ok(seconds)) => time_s = Some(seconds),
            _ => {
                return Err(wrong(
                    "expected a time such as 2h, or a best case such as 1.15x up to 1000x, behind a semicolon",
                )
                .into());
            }
        }
    }
    Ok(DecisionOption { what, time_s, cost: None, best_case })
}

/// Go on for the time that is left, with what the last profile promises; use the baseline; or keep the best so far.
fn usual(store: &Store, session: &Session) -> Result<Vec<DecisionOption>, Failure> {
    let attempts = store.attempts(AttemptsOf::Session(&session.id))?;
    let promise = attempts.iter().rev().find_map(|one| one.promise);
    let best = best(session, &attempts).map(|best| best.speedup);
    let left = (session.budget_s - session.elapsed_s(now())).max(0.0);
    let best_case = best.map(|best| best * promise.unwrap_or(1.0).max(1.0));
    let option = |what: &str, time_s, best_case| DecisionOption {
        what: what.into(),
        time_s: Some(time_s),
        cost: None,
        best_case,
    };
    Ok(vec![
        option("go on", left, best_case),
        option("use the baseline", 0.0, Some(1.0)),
        option("stop here", 0.0, best),
    ])
}

fn chosen(options: &[DecisionOption], typed: &str) -> Result<String, Failure> {
    let numbered = typed.trim().parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
    let found = numbered.or(options.iter().find(|option| option.what.eq_ignore_ascii_case(typed.trim())));
    found.map(|option| option.what.clone()).ok_or_else(|| {
        let all: Vec<String> =
            options.iter().enumerate().map(|(at, one)| format!("{} ({})", at + 1, one.what)).collect();
        Report::error(format!("--choose {typed}")).label(format!("expected one of {}", all.join(", "))).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_they_are_typed_and_one_of_them_is_chosen() {
        let both = [option("keep tuning; 2h; 1.15x").unwrap(), option("use the baseline").unwrap()];
        assert_eq!((both[0].time_s, both[0].best_case), (Some(7200.0), Some(1.15)));
        assert_eq!(
            (chosen(&both, "2").unwrap(), chosen(&both, "Keep tuning").unwrap()),
            (both[1].what.clone(), both[0].what.clone())
        );
        assert!(chosen(&both, "3").unwrap_err().to_string().contains("1 (keep tuning), 2 (use the baseline)"));
        assert!(chosen(&both, "0").is_err() && option("; 2h").is_err() && option("a; soon").is_err());
        assert!(option("a; 1e9x").is_err() && option("a; infx").is_err());
        assert_eq!(twice(&[both.as_slice(), &[option("KEEP tuning").unwrap()]].concat()), Some("KEEP tuning"));
        assert_eq!(twice(&both), None);
    }
}
