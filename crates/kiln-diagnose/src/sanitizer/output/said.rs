//! What one line of a program's output says about it: that its results are wrong or right, that a call of CUDA failed, that an
//! exception ended it. Words alone are not enough: a count that belongs to them may be zero, and `no` may stand before them.

mod count;

use super::Check;
use count::{count, is_denied, tokens};

/// Texts of `cudaGetErrorString` that nobody writes for another reason.
const DEVICE_ERRORS: [&str; 21] = [
    "an illegal memory access was encountered",
    "an illegal instruction was encountered",
    "an uncorrectable ecc error was encountered",
    "uncorrectable ecc error encountered",
    "uncorrectable nvlink error detected",
    "unspecified launch failure",
    "unspecified launch error",
    "device-side assert triggered",
    "too many resources requested for launch",
    "too many blocks in cooperative launch",
    "invalid configuration argument",
    "no kernel image is available for execution on the device",
    "the provided ptx was compiled with an unsupported toolchain",
    "a ptx jit compilation failed",
    "operation not supported on global/shared address space",
    "the launch timed out and was terminated",
    "cuda driver version is insufficient for cuda runtime version",
    "no cuda-capable device is detected",
    "cuda-capable device(s) is/are busy or unavailable",
    "external device reported an error",
    "cuda out of memory",
];

/// Texts that are an error only where the line says so.
const ERRORS: [&str; 16] = [
    "misaligned address",
    "invalid program counter",
    "hardware stack error",
    "invalid device function",
    "invalid device symbol",
    "invalid device ordinal",
    "invalid device context",
    "invalid device pointer",
    "invalid resource handle",
    "invalid argument",
    "out of memory",
    "initialization error",
    "named symbol not found",
    "operation not supported",
    "operation not permitted",
    "unknown error",
];

/// The words of an error of CUDA or its libraries, without its name.
pub(super) fn device_error(line: &str, lower: &str) -> Option<String> {
    // Most lines have nothing of it.
    if ![
        "cuda",
        "error",
        "fail",
        "assert",
        "launch",
        "device",
        "encountered",
        "_status_",
        "invalid",
        "ptx",
        "address space",
    ]
    .iter()
    .any(|part| lower.contains(part))
    {
        return None;
    }
    let at = |text: &&str| lower.find(text).filter(|at| !denied_before(&lower[..*at]));
    let found = |texts: &[&'static str]| texts.iter().copied().find(|text| at(text).is_some());
    let named = found(&DEVICE_ERRORS).or_else(|| {
        let says = ["error", "gpuassert", "cuda", "failed", "failure"].iter().any(|word| lower.contains(word));
        found(&ERRORS).filter(|_| says)
    });
    let status = |part: &&str| {
        ["CUBLAS_STATUS_", "CUDNN_STATUS_", "CUSPARSE_STATUS_", "CUSOLVER_STATUS_"].iter().any(|s| part.starts_with(s))
            && !part.ends_with("_SUCCESS")
    };
    let status = || line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).find(status);
    named.or_else(status).map(Into::into).or_else(|| is_cuda_error(lower).then(|| shortened(line)))
}

/// `CUDA error 700 at app.cu:33`, `CUDA Runtime Error: ...`. Not `CUDA error checking is on` or `CUDA error: none`.
fn is_cuda_error(lower: &str) -> bool {
    let after = ["cuda error", "cuda runtime error", "cuda driver error", "cuda kernel error", "gpuassert"]
        .iter()
        .find_map(|start| lower.split_once(start));
    let Some((before, after)) = after.filter(|(before, _)| !denied_before(before)) else { return false };
    let nothing = ["none", "no error", "no", "success", "cudasuccess", "ok", "false", "0"];
    let said = after.trim_start_matches([':', '=', '#', ' ']).trim_end_matches(['.', ' ', '!']);
    let word = said.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    if before.contains("check") || said.starts_with("no error") || nothing.contains(&word) || said.is_empty() {
        return false;
    }
    let placed = ["at ", "in ", "code", "("].iter().any(|start| said.starts_with(start));
    placed || after.trim_start().starts_with(':') || word.starts_with(|c: char| c.is_ascii_digit())
}

fn denied_before(before: &str) -> bool {
    let word = before.trim_end().rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    ["no", "not", "without", "0", "zero", "never"].contains(&word)
}

/// Exceptions that Python and its libraries for GPUs raise.
const EXCEPTIONS: [&str; 32] = [
    "AcceleratorError",
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "CUDADriverError",
    "CUDARuntimeError",
    "CompilationError",
    "CompileException",
    "CudaAPIError",
    "EOFError",
    "Exception",
    "FileNotFoundError",
    "FloatingPointError",
    "ImportError",
    "IndexError",
    "KeyError",
    "KeyboardInterrupt",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "NotImplementedError",
    "OSError",
    "OutOfMemoryError",
    "OutOfResources",
    "OverflowError",
    "PermissionError",
    "RecursionError",
    "RuntimeError",
    "SystemError",
    "TypeError",
    "ValueError",
    "ZeroDivisionError",
];

/// The line that begins a Python traceback.
pub(super) const TRACEBACK: &str = "Traceback (most recent call last)";

/// An exception that nothing caught, in the words of the line that says so.
pub(super) fn raised(line: &str) -> Option<String> {
    // `[rank0]: ValueError: ...`, and `E   ValueError: ...` of pytest.
    let text = match line.split_once("]: ") {
        Some((rank, rest)) if rank.starts_with('[') && !rank.contains(' ') => rest,
        _ => line,
    };
    if text.trim_start().starts_with(TRACEBACK) {
        return Some(TRACEBACK.into());
    }
    let text = text.strip_prefix("E  ").map_or(text, str::trim_start);
    let path = text.split(':').next().unwrap_or_default();
    let name = path.rsplit('.').next().unwrap_or_default();
    let ends = text.trim_end() == path || text[path.len()..].starts_with(": ");
    (ends && EXCEPTIONS.contains(&name.trim_end())).then(|| shortened(text))
}

/// Characters that are kept of a line.
const KEPT: usize = 200;

fn shortened(line: &str) -> String {
    line.trim().chars().take(KEPT).collect()
}

/// Signs of a wrong result, in whatever case.
const WRONG: [&str; 14] = [
    "tensor-likes are not",
    "scalars are not close",
    "scalars are not equal",
    "not equal to tolerance",
    "arrays are not equal",
    "arrays are not almost equal",
    "result mismatch",
    "results mismatch",
    "results differ",
    "outputs differ",
    "values differ",
    "wrong result",
    "wrong answer",
    "incorrect result",
];

/// What is compared with what is expected.
const RESULTS: [&str; 14] = [
    "result",
    "output",
    "answer",
    "value",
    "reference",
    "expected",
    "test",
    "check",
    "verification",
    "validation",
    "comparison",
    "tensor",
    "arrays",
    "matri",
];

/// Whether the line says that the results are right or wrong.
pub(super) fn check(line: &str, lower: &str) -> Option<Check> {
    // Most lines have nothing of it.
    if !["fail", "pass", "mismatch", "incorrect", "wrong", "errors", "not ", "n't match", "differ"]
        .iter()
        .any(|part| lower.contains(part))
    {
        return None;
    }
    let tokens = tokens(line);
    let mut passed = false;
    for (at, token) in tokens.iter().enumerate() {
        let word = token.to_ascii_lowercase();
        let before = at.checked_sub(1).map(|before| tokens[before].to_ascii_lowercase()).unwrap_or_default();
        let next = tokens.get(at + 1).map(|next| next.to_ascii_lowercase()).unwrap_or_default();
        let (denied, number) = (is_denied(&tokens, at), count(&tokens, at));
        let some = number.map(|number| number != 0.0);
        let wrong = match word.as_str() {
            "pass" | "passed" => {
                let loud = matches!(*token, "PASS" | "PASSED") || before == "=" && lower.contains("check=pass");
                passed |= loud && !denied && some != Some(false);
                denied && (loud || word == "passed" && (tokens.len() == 2 || about_results(lower)))
            }
            _ if denied => false,
            "fail" | "failed" => {
                let loud = matches!(*token, "FAIL" | "FAILED");
                let of_check = matches!(before.as_str(), "verification" | "validation" | "comparison" | "test")
                    || before == "=" && lower.contains("check=fail");
                let summed = word == "failed" && matches!(next.as_str(), "" | "," | ";" | "." | ")" | "in" | "!" | "=");
                some.unwrap_or(loud || of_check) && (loud || of_check || summed)
            }
            "mismatch" | "mismatches" | "mismatched" => some.unwrap_or_else(|| {
                let told = matches!(next.as_str(), ":" | "!" | "at" | "between" | "detected" | "found");
                next == "at" || told && (at == 0 || next != ":")
            }),
            "incorrect" | "wrong" => {
                let said = matches!(before.as_str(), ":" | "is" | "are" | "=");
                some.unwrap_or(matches!(*token, "INCORRECT" | "WRONG") || said && about_results(lower))
            }
            "errors" => {
                let forgiven = ["correct", "expected", "allowed", "tolerated", "injected", "ignored", "suppressed"];
                let whole = number.is_some_and(|number| number.fract() == 0.0 && number > 0.0);
                whole && !forgiven.iter().any(|word| lower.contains(word))
            }
            _ => false,
        };
        if wrong {
            return Some(Check::Failed);
        }
    }
    let unlike = ["do not match", "does not match", "did not match", "don't match", "doesn't match", "didn't match"];
    let unlike = unlike.iter().any(|words| lower.contains(words)) && about_results(lower);
    // A sign may be denied: `no wrong results`, `0 results differ`, `results differ by at most 1e-6`.
    let is_sign = |sign: &&str| {
        let rest = lower.split_once(*sign).map(|(before, after)| (denied_before(before), after.trim_start()));
        let zero = |after: &str| {
            let after = after.trim_start_matches(['s', ':', '=', ' ']);
            after == "0"
                || ["0 ", "0,", "0/", "by at most", "by less", "none"].iter().any(|zero| after.starts_with(zero))
        };
        rest.is_some_and(|(denied, after)| !denied && !zero(after))
    };
    match unlike || WRONG.iter().any(is_sign) {
        true => Some(Check::Failed),
        false => passed.then_some(Check::Passed),
    }
}

fn about_results(lower: &str) -> bool {
    RESULTS.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests;
