//! What `kiln session start` asks for, where somebody is there to answer: on a terminal, and never of a script.

use std::io::{self, BufRead, IsTerminal, Write};

use kiln_app::{Failure, Project, SessionDefaults, StartSessionRequest, session_defaults};

use crate::args::StartArgs;

/// The flags, and answers for what they leave out.
pub(super) fn request(project: &Project, args: &StartArgs, json: bool) -> Result<StartSessionRequest, Failure> {
    let mut request = StartSessionRequest {
        path: args.path.clone(),
        goal: args.goal.clone().unwrap_or_default(),
        budget: args.budget.clone(),
        price: args.price.clone(),
        engineer_price: args.engineer_price.clone(),
        assistant_price: args.assistant_price.clone(),
        worth: args.worth,
        gpu: args.gpu.clone(),
        baseline: args.baseline.clone(),
        smallest: args.smallest.clone(),
        criteria: args.criteria.clone(),
    };
    if !json && io::stdin().is_terminal() && io::stderr().is_terminal() {
        let usual = session_defaults(project, args.path.as_deref())?;
        answered(&mut request, &usual, &mut io::stdin().lock(), &mut io::stderr().lock())?;
    }
    Ok(request)
}

/// Asks for what is not given; an empty answer takes what stands in brackets.
fn answered(
    request: &mut StartSessionRequest,
    usual: &SessionDefaults,
    answers: &mut impl BufRead,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut ask = |question: &str, usual: Option<&str>| -> io::Result<Option<String>> {
        match usual {
            Some(usual) => write!(out, "{question} [{usual}]: ")?,
            None => write!(out, "{question}: ")?,
        }
        out.flush()?;
        loop {
            let mut line = Vec::new();
            // The end of input answers everything with what stands in brackets.
            answers.read_until(b'\n', &mut line)?;
            match String::from_utf8(line) {
                Ok(line) => return Ok(Some(line.trim().to_string()).filter(|line| !line.is_empty())),
                Err(_) => write!(out, "that is not UTF-8; once more: ")?,
            }
            out.flush()?;
        }
    };
    if request.goal.is_empty() {
        request.goal = ask("goal, such as 1.2x s512", None)?.unwrap_or_default();
    }
    if request.gpu.is_none() {
        request.gpu = ask("GPU", usual.gpu.as_deref())?;
    }
    if request.baseline.is_none() {
        request.baseline = ask("baseline to beat", usual.baseline.as_deref())?;
    }
    if request.smallest.is_none() {
        request.smallest = ask("smallest case", usual.smallest.as_deref())?;
    }
    if request.criteria.is_none() {
        let goal = Some(request.goal.clone()).filter(|goal| !goal.is_empty());
        request.criteria = ask("done when", goal.as_deref())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_given_is_asked_for_and_the_end_of_input_ends_the_questions() {
        let usual = SessionDefaults { gpu: Some("H200".into()), baseline: None, smallest: Some("s128".into()) };
        let mut request = StartSessionRequest { goal: "1.2x".into(), ..StartSessionRequest::default() };
        let mut asked = Vec::new();
        answered(&mut request, &usual, &mut &b"\nsdpa\n"[..], &mut asked).unwrap();
        assert_eq!((request.gpu, request.baseline.as_deref(), request.smallest), (None, Some("sdpa"), None));
        let asked = String::from_utf8(asked).unwrap();
        assert_eq!(asked, "GPU [H200]: baseline to beat: smallest case [s128]: done when [1.2x]: ");
    }

    #[test]
    fn an_answer_that_is_not_utf_8_is_asked_for_again() {
        let mut request = StartSessionRequest { goal: "1.2x".into(), ..StartSessionRequest::default() };
        let mut asked = Vec::new();
        answered(&mut request, &SessionDefaults::default(), &mut &b"H\xff00\nH200\n"[..], &mut asked).unwrap();
        assert_eq!(request.gpu.as_deref(), Some("H200"));
        assert!(String::from_utf8(asked).unwrap().starts_with("GPU: that is not UTF-8; once more: baseline"));
    }
}
