//! What stopped a kernel: hardware exceptions, failed assertions, wrong frees on the device; and records kiln does not know.

use serde_json::Value;

use super::code::parenthesis;
use super::group::Group;
use super::{Context, Finding};
use crate::sanitizer::{Record, Severity, What};
use crate::{Cause, Tool};

/// Explanation and fix, for a record and for a call that reports the same.
pub(super) const ILLEGAL_INSTRUCTION: [&str; 2] = [
    "The device met an instruction it cannot execute, or one with invalid operands: a tensor copy with a descriptor that was \
     never encoded, a wgmma or tcgen05 instruction with a wrong descriptor, or code for another architecture.",
    "Check descriptors (cuTensorMapEncode* succeeded, passed as __grid_constant__, 64-byte aligned), and that the code is \
     built for this device (sm_90a for Hopper's wgmma and setmaxnreg).",
];

pub(super) fn finding(context: &Context<'_>, group: &Group<'_>, problem: &str) -> Finding {
    let lower = problem.to_ascii_lowercase();
    let cause = match lower.as_str() {
        _ if lower.contains("illegal instruction") => Cause::IllegalInstruction,
        _ if lower.contains("stack overflow") => Cause::StackOverflow,
        _ if lower.contains("assert") => Cause::DeviceAssert,
        _ if lower.contains("deadlock") => Cause::Hang,
        _ if lower.contains("misaligned") => misaligned(context, group.run.tool, lower.contains("shared")),
        _ if lower.contains("shared") && lower.contains("out") => Cause::OobShared,
        _ => Cause::DeviceFault,
    };
    let tool = match group.run.tool {
        Tool::ComputeSanitizer => Tool::Memcheck,
        tool => tool,
    };
    let mut finding = context.at(cause, tool, group);
    finding.kernel = finding.kernel.or_else(|| group.first().launched());
    if cause == Cause::DeviceAssert {
        only_assertion(context, &mut finding);
    }
    finding.facts.set("problem", problem);
    if group.first().thread.is_some() {
        finding.facts.set("threads", group.count);
    }
    finding.facts.set_some("first_thread", group.first().thread.map(|thread| thread.to_vec()));
    finding.facts.set_some("first_block", group.first().block.map(|block| block.to_vec()));
    (finding.explanation, finding.fix) = match cause {
        Cause::IllegalInstruction => ILLEGAL_INSTRUCTION.map(Into::into).into(),
        Cause::StackOverflow => (
            "A thread used up its stack: deep recursion, or large local arrays in called functions.".into(),
            "Bound the recursion, or raise the limit with cudaDeviceSetLimit(cudaLimitStackSize, bytes).".into(),
        ),
        Cause::DeviceAssert => (
            "An assertion in the kernel failed.".into(),
            "Read the assertion in the program's output; it names the line, the block and the thread.".into(),
        ),
        Cause::Hang => (
            format!("{problem}: threads wait for one that never comes."),
            "Check that every arrival the barrier expects happens, in every phase.".into(),
        ),
        _ if lower.contains("trap") => (
            "A thread executed a trap instruction: __trap(), a check that failed in a library, or code that cannot be reached."
                .into(),
            "Find the check at or before this line whose condition this thread fails.".into(),
        ),
        _ => (
            format!(
                "The device stopped the kernel: {problem}. The tool does not know which access or instruction it was."
            ),
            "Build with -lineinfo and run memcheck on this kernel alone; a trap instruction in the code does this too."
                .into(),
        ),
    };
    finding
}

pub(super) const MISALIGNED_FIX: &str = "Align both addresses of bulk copies to 16 bytes (128 for tensor copies) and make their \
    sizes multiples of 16; for other accesses, align to the access size.";

/// What is misaligned, when only the hardware has noticed. memcheck checks every plain access itself, so what is left is a
/// bulk copy; other tools check none, and the source decides.
pub(super) fn misaligned(context: &Context<'_>, tool: Tool, shared: bool) -> Cause {
    let bulk =
        context.sources.files().any(|(_, text)| text.contains("cp.async.bulk") || text.contains("cp_async_bulk"));
    match (tool, shared) {
        (Tool::Memcheck | Tool::ComputeSanitizer, _) => Cause::MisalignedSharedBulk,
        _ if bulk => Cause::MisalignedSharedBulk,
        (_, true) => Cause::MisalignedShared,
        (_, false) => Cause::MisalignedGlobal,
    }
}

/// `free` in a kernel.
pub(super) fn heap_call(context: &Context<'_>, group: &Group<'_>, problem: &str) -> Finding {
    let lower = problem.to_ascii_lowercase();
    let double = lower.contains("double");
    let no_memory = lower.contains("fail") && lower.contains("alloc");
    let cause = match (double, no_memory) {
        (true, _) => Cause::DoubleFree,
        (_, true) => Cause::ApiError,
        _ => Cause::InvalidFree,
    };
    let mut finding = context.at(cause, Tool::Memcheck, group);
    finding.facts.set("problem", problem);
    finding.facts.set("device_heap", true);
    if no_memory {
        finding.explanation = format!("malloc() in a kernel found no memory: {problem}.");
        finding.fix = "Raise the heap with cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes), free what is not needed any more, and \
                       check what malloc() returns."
            .into();
        return finding;
    }
    finding.explanation = match double {
        true => "A kernel frees the same memory twice.".into(),
        false => format!("A kernel frees a pointer that malloc() did not return: {problem}."),
    };
    finding.fix = "Call free() once for each pointer that malloc() returned in a kernel, and for no other.".into();
    finding
}

/// Assertions the program printed.
pub(super) fn asserted(context: &Context<'_>) -> Option<Finding> {
    let assertions = &context.log.program.assertions;
    let first = assertions.first()?;
    let tool =
        context.log.runs.iter().map(|run| run.tool).find(|tool| *tool == Tool::Memcheck).unwrap_or(Tool::Program);
    let same = assertions.iter().filter(|assertion| assertion.place == first.place).count() as u64;
    let kernel = Some(first.place.function.as_str()).filter(|name| !name.is_empty());
    let mut finding = context.located(Cause::DeviceAssert, tool, kernel, Some(&first.place)).counted(same);
    finding.facts.set("assertion", first.condition.as_str());
    finding.facts.set("first_thread", index(&first.thread));
    finding.facts.set("first_block", index(&first.block));
    finding.facts.set("threads", same);
    finding.explanation =
        format!("The assertion `{}` failed in block ({}), thread ({}).", first.condition, first.block, first.thread);
    finding.fix =
        "Make the condition true: look at the values of that thread, on the smallest input that fails.".into();
    Some(finding)
}

/// `188,0,0` as a list of numbers, if it is one.
fn index(text: &str) -> Value {
    let numbers: Option<Vec<u64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    numbers.map_or_else(|| text.into(), Into::into)
}

/// A record of an assertion names none. If the sources have one, that is it.
fn only_assertion(context: &Context<'_>, finding: &mut Finding) {
    let mut found = context.sources.files().flat_map(|(file, text)| {
        let lines = text.lines().zip(1_u32..).filter_map(|(line, number)| Some((line, number, condition(line)?)));
        lines.map(move |(line, number, condition)| (file, line, number, condition))
    });
    if let (Some((file, line, number, condition)), None) = (found.next(), found.next())
        && finding.file.is_none()
    {
        (finding.file, finding.line) = (Some(file.into()), Some(number));
        finding.facts.set("source_line", line.trim());
        finding.facts.set("assertion", condition);
    }
}

/// What a line asserts.
fn condition(line: &str) -> Option<&str> {
    let at = line.match_indices("assert(").map(|(at, _)| at).find(|at| {
        let before = line[..*at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })?;
    let comment = line.find("//").is_some_and(|comment| comment < at);
    parenthesis(&line[at + "assert".len()..]).map(|(condition, _)| condition).filter(|_| !comment)
}

/// An error kiln does not know, with a place in device code: better told than dropped.
pub(super) fn unrecognised(context: &Context<'_>, group: &Group<'_>, words: &str) -> Option<Finding> {
    if !is_told(group.first()) {
        return None;
    }
    let mut finding = context.at(Cause::DeviceFault, group.run.tool, group);
    finding.facts.set("problem", words);
    finding.explanation = format!("The tool reports an error that kiln does not know: {words}.");
    finding.fix = "Read the tool's manual for this message.".into();
    Some(finding)
}

/// Whether a record becomes a finding. One that kiln does not know needs a place.
pub(super) fn is_told(record: &Record) -> bool {
    let unknown = matches!(record.what, What::Unrecognised { .. });
    !unknown || record.severity >= Severity::Error && record.place.is_some()
}
