//! CUDA calls that failed. A launch that is refused never runs: nothing on the device reports it, and the output stays as it
//! was.

use super::code::Launch;
use super::group::Group;
use super::{Context, Finding};
use crate::sanitizer::{ApiCall, Record};
use crate::{Cause, Tool};

const INVALID_VALUE: u64 = 1;
const INVALID_CONFIGURATION: u64 = 9;
const OUT_OF_RESOURCES: u64 = 701;
const COOPERATIVE_TOO_LARGE: u64 = 720;
const MISALIGNED_ADDRESS: u64 = 716;
const MOST_THREADS: u64 = 1024;
/// What later calls return once a kernel was stopped.
pub(super) const AFTERMATH: [u64; 13] = [4, 214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999];

pub(super) fn finding(context: &Context<'_>, group: &Group<'_>, call: &ApiCall) -> Finding {
    let launch = call.name.contains("Launch");
    let cause = match call.code {
        Some(INVALID_VALUE) if launch && is_configuration(context, group.first()) => Cause::LaunchFailureConfig,
        Some(INVALID_VALUE) if launch || call.name.contains("FuncSetAttribute") => Cause::LaunchFailureSmem,
        Some(INVALID_CONFIGURATION | OUT_OF_RESOURCES | COOPERATIVE_TOO_LARGE) => Cause::LaunchFailureConfig,
        Some(INVALID_VALUE) if call.name.contains("Free") => Cause::DoubleFree,
        Some(710) => Cause::DeviceAssert,
        Some(715) => Cause::IllegalInstruction,
        Some(MISALIGNED_ADDRESS) => super::fault::misaligned(context, group.run.tool, false),
        Some(702 | 6) => Cause::Hang,
        Some(code) if AFTERMATH.contains(&code) => Cause::DeviceFault,
        _ => Cause::ApiError,
    };
    let mut finding = context.at(cause, Tool::Memcheck, group);
    finding.kernel = finding.kernel.or_else(|| group.first().launched());
    finding.facts.set("api", call.name.as_str());
    finding.facts.set("error", call.error.as_str());
    finding.facts.set_some("error_code", call.code);
    finding.facts.set("message", call.message.as_str());
    finding.facts.set_some("called_from", group.first().caller());
    let failed = format!("{} returned {} ({})", call.name, call.error, call.message);
    (finding.explanation, finding.fix) = match cause {
        Cause::LaunchFailureSmem => (
            format!(
                "{failed}: the kernel never ran. A launch is refused like this when it asks for more dynamic shared memory than \
                 48 KiB without opting in, or than the device has; also when a block has more than 1,024 threads."
            ),
            "Call cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) before the launch (at most \
             227 KiB per block on Hopper, static included), and check cudaGetLastError() after it."
                .into(),
        ),
        Cause::LaunchFailureConfig if call.code == Some(OUT_OF_RESOURCES) => (
            format!("{failed}: the kernel never ran. Its registers times its threads exceed what one block may have."),
            "Use fewer threads per block, or bound registers with __launch_bounds__(threads) or --maxrregcount; check \
             cudaGetLastError() after the launch."
                .into(),
        ),
        Cause::LaunchFailureConfig => (
            format!("{failed}: the kernel never ran. The grid or the block has a size the device does not allow."),
            "Keep blocks at 1,024 threads or fewer, no dimension zero, and grids within 2,147,483,647 x 65,535 x 65,535; check \
             cudaGetLastError() after the launch."
                .into(),
        ),
        Cause::DoubleFree => (
            format!("{failed}: the pointer was freed before, or was never allocated."),
            "Free it once, and set the pointer to nullptr afterwards.".into(),
        ),
        Cause::DeviceAssert => (
            format!("{failed}: an assertion in a kernel failed."),
            "Read the assertion in the program's output; it names the line, the block and the thread.".into(),
        ),
        Cause::Hang => (
            format!("{failed}: the kernel did not end in time."),
            "Look for a loop that waits for another block, and for a barrier that not all threads reach.".into(),
        ),
        Cause::IllegalInstruction => super::fault::ILLEGAL_INSTRUCTION.map(Into::into).into(),
        Cause::MisalignedSharedBulk | Cause::MisalignedGlobal => (
            format!("{failed}: an address is not aligned, and no record names the access. memcheck checks plain accesses itself, so a \
                     bulk copy is the likely one."),
            super::fault::MISALIGNED_FIX.into(),
        ),
        Cause::DeviceFault => (
            format!("{failed}: a kernel was stopped, and no record says why."),
            "Run memcheck on that kernel alone, built with -lineinfo.".into(),
        ),
        _ => (format!("{failed}."), "Check the arguments of this call, and the status of every call before it.".into()),
    };
    finding
}

/// The driver refuses too much shared memory and too large a block with the same words. The source tells: a launch that asks for
/// no dynamic shared memory was not refused for it, nor was one with more threads than any device allows.
fn is_configuration(context: &Context<'_>, record: &Record) -> bool {
    let kernel = record.kernel().map(str::to_owned).or_else(|| record.launched());
    let launches = kernel.map(|kernel| context.launches(&kernel)).unwrap_or_default();
    let asks = |launch: &Launch| launch.configuration.get(2).is_some_and(|bytes| bytes != "0");
    let too_large = |launch: &Launch| {
        let block = launch.configuration.get(1).map(|block| block.replace(['u', 'U'], "")).unwrap_or_default();
        block.parse::<u64>().is_ok_and(|threads| threads > MOST_THREADS)
    };
    !launches.is_empty() && (launches.iter().any(too_large) || !launches.iter().any(asks))
}
