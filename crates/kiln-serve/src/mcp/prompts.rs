//! Prompts a person picks: make this kernel faster, judge this kernel. In: a kernel. Out: a message that names the rules and begins with what
//! `kiln next` says now.

use kiln_app::{Failure, NextRequest, Report, next};
use kiln_show::NextView;
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::arguments::{Argument, Given, Kind, may};
use super::server::{Shared, refused};

const ARGUMENTS: &[Argument] = &[may(
    "kernel",
    Kind::Named,
    "a kernel's folder, its kernel.toml or its name; default: the one in the project's folder, else the one worked on last",
)];

const FASTER: &str = "make_this_kernel_faster";
const JUDGE: &str = "judge_this_kernel";

const FASTER_WORDS: &str = "Make the kernel faster, and prove it.\n\n\
    1. Call `doctor`, then `next`. Do the one thing it says with the matching tool, then call `next` again. Do not skip steps.\n\
    2. Before you change code, call `profile`: name the cause, change one thing for it, then gate, check and bench. Then `next` says whether it was a gain over the code before: a verdict of `faster` is over the baseline alone.\n\
    3. `tune_start` searches the tunables; follow it with `tune_status`. Fuzz the winner with runs: 100 before you call it validated.\n\
    4. Never change the reference, the tolerances, the baselines or the workloads.\n\
    5. End with: the speedup with its interval, over which baseline, on which device and workloads; what was refused and why; everything in \
    `evidence.not_checked`. If it is not faster, say so: that is a result too.";

const JUDGE_WORDS: &str = "Judge the kernel as a sceptic. Change nothing.\n\n\
    1. Call `doctor` and `describe`. Read the reference, the tolerances and the baselines: is the baseline one that people use, and is the tolerance fair?\n\
    2. Call `gate`, then `check` with full: true, then `fuzz`; `sanitize` where something fails.\n\
    3. Call `bench` against every baseline. Compare with what is claimed: `claims` measures a file of claims.\n\
    4. Answer with a table: question, verdict, figure with interval, n, device. Then what was not checked. `too_noisy`, `inconclusive` and `not_run` are \
    answers; do not round them up.";

/// The prompts.
pub(super) fn list() -> Vec<Prompt> {
    let arguments = || {
        let own = |argument: &Argument| {
            PromptArgument::new(argument.name).with_description(argument.about).with_required(argument.required)
        };
        Some(ARGUMENTS.iter().map(own).collect::<Vec<_>>())
    };
    vec![
        Prompt::new(FASTER, Some("Make this kernel faster, step by step, and prove it"), arguments())
            .with_title("Make this kernel faster"),
        Prompt::new(JUDGE, Some("Judge this kernel: is it correct, is it fast, what is not known"), arguments())
            .with_title("Judge this kernel"),
    ]
}

/// One prompt, with what to do now.
pub(super) fn get(shared: &Shared, name: &str, given: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let words = match name {
        FASTER => FASTER_WORDS,
        JUDGE => JUDGE_WORDS,
        _ => {
            let name: String = name.chars().take(60).collect();
            let report =
                Report::error(format!("there is no prompt `{name}`")).hint(format!("expected {FASTER} or {JUDGE}"));
            return Err(refused(&report.into()));
        }
    };
    let given = Given::read(&[ARGUMENTS], given, &shared.place).map_err(|all| refused(&Failure::from(all)))?;
    let kernel = given.path("kernel");
    let of = kernel.as_ref().map(|kernel| format!("The kernel: {kernel}\n\n")).unwrap_or_default();
    // Where there is no kernel yet, that is what to begin with.
    let now = match next(&shared.project, &NextRequest { kernel, ..NextRequest::default() }) {
        Ok(step) => short(&NextView { step: &step, kiln: &shared.kiln }.json()),
        Err(failure) => failure.to_string(),
    };
    let text = format!("{words}\n\n{of}What `next` says now:\n{now}\n");
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

fn short(step: &Value) -> String {
    let text = |key: &str| step[key].as_str().unwrap_or("unknown").to_string();
    format!("do: {}\ncommand: {}\nbecause: {}", text("do"), text("command"), text("because"))
}
