use crate::sanitizer::{Ended, Program};
use crate::{Reason, Sources, Verdict, sanitizer};

fn log(line: &str) -> crate::Diagnosis {
    let clean = include_str!("../../../../../../fixtures/sanitizer/h200/b03_rowscale_fixed.racecheck.txt");
    let lines: String = clean.lines().filter(|line| !line.contains("check=PASS")).map(|l| format!("{l}\n")).collect();
    sanitizer::diagnose(&sanitizer::read(&format!("{lines}{line}\n")), &Sources::none())
}

#[test]
fn a_program_that_says_it_failed_is_not_clean() {
    for (line, reason) in [
        ("CUDA error: an illegal memory access was encountered", Reason::ProgramError),
        ("Error: misaligned address", Reason::ProgramError),
        ("GPUassert: unspecified launch failure app.cu 33", Reason::ProgramError),
        ("RuntimeError: CUDA error: device-side assert triggered", Reason::ProgramError),
        ("CUDA error 700 at app.cu:33", Reason::ProgramError),
        ("CUDA Runtime Error at app.cu:33", Reason::ProgramError),
        ("  what():  CUDA error: something new", Reason::ProgramError),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", Reason::ProgramError),
        ("cuBLAS: CUBLAS_STATUS_NOT_INITIALIZED", Reason::ProgramError),
        ("AssertionError: Tensor-likes are not close!", Reason::ResultWrong),
        ("Mismatched elements: 3 / 100 (3.0%)", Reason::ResultWrong),
        ("result: INCORRECT", Reason::ResultWrong),
        ("NOT PASSED", Reason::ResultWrong),
        ("Results do not match", Reason::ResultWrong),
        ("FAILED 2 of 5 tests", Reason::ResultWrong),
        ("test 0 FAILED", Reason::ResultWrong),
        ("max_err=0 FAIL", Reason::ResultWrong),
        ("max err: 0 FAIL", Reason::ResultWrong),
        ("3 / 100 values mismatched", Reason::ResultWrong),
        ("===== 1 failed, 2 passed in 0.12s =====", Reason::ResultWrong),
        ("Found 3 errors", Reason::ResultWrong),
        ("Mismatch at index 0: 1.0 != 2.0", Reason::ResultWrong),
        ("Verification failed", Reason::ResultWrong),
        ("Not equal to tolerance rtol=1e-07, atol=0", Reason::ResultWrong),
        ("Traceback (most recent call last):", Reason::NonzeroExit),
        ("[rank0]: ValueError: bad shape", Reason::NonzeroExit),
        ("app: app.cpp:12: int main(): Assertion `n > 0' failed.", Reason::Aborted),
    ] {
        let found = log(line);
        assert_eq!(found.verdict, Verdict::Inconclusive, "{line}");
        assert_eq!(found.findings[0].facts.text("reason"), Some(reason.id()), "{line}");
    }
}

#[test]
fn a_program_that_says_it_did_not_fail_is_clean() {
    for line in [
        "",
        "FAILED 0 of 5 tests",
        "0 failed",
        "0 FAILED",
        "0 of 5 tests FAILED",
        "5 PASSED, 0 FAILED",
        "Passed: 5, FAILED: 0",
        "FAILED: none",
        "no errors",
        "errors: 0",
        "0 errors",
        "errors: 1e-6",
        "mismatches: 0",
        "Mismatched elements: 0 / 100 (0.0%)",
        "no mismatches found",
        "checking for mismatches",
        "incorrect results: 0",
        "error rate 0.0",
        "max error 1e-6",
        "CUDA error: no error",
        "CUDA error: 0",
        "CUDA errors: 0",
        "CUDA error checking is on",
        "no CUDA error",
        "CUDA driver error handling: default",
        "CUBLAS_STATUS_SUCCESS",
        "address is aligned, no misaligned address errors",
        "RelativeError: 0.001",
        "outputs differ by at most 1e-6",
        "argument seed not passed, using 1",
        "the version of the file does not match",
        "results match",
    ] {
        let found = log(line);
        assert_eq!(found.verdict, Verdict::Clean, "{line}: {:#?}", found.findings);
    }
}

/// The last line of a traceback says more than the first.
#[test]
fn a_traceback_ends_with_its_exception() {
    let frames = "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    run()\n";
    let read = |last: &str| Program::read(&format!("{frames}{last}\n")).trouble().unwrap();
    assert_eq!(read("ValueError: bad shape"), (Reason::NonzeroExit, "ValueError: bad shape".into()));
    assert_eq!(read("AssertionError: Tensor-likes are not close!").0, Reason::ResultWrong);
    let device = read("RuntimeError: CUDA error: an illegal memory access was encountered");
    assert_eq!(device, (Reason::ProgramError, "an illegal memory access was encountered".into()));
    let aborted = Program::read(&format!("Aborted (core dumped)\n{frames}")).ended;
    assert_eq!(aborted, Some(Ended::Aborted("Aborted".into())));
}

/// What a tool found stays, whatever the program says.
#[test]
fn findings_stay() {
    let log = "========= COMPUTE-SANITIZER\n========= Invalid __shared__ read of size 4 bytes\n=========     at k(int)+0x10 in a.cu:7\n\
               =========     by thread (0,0,0) in block (0,0,0)\n=========     Access to 0x800 is out of bounds\n=========\n\
               CUDA error: an illegal memory access was encountered\n========= ERROR SUMMARY: 1 error\n";
    let found = sanitizer::diagnose(&sanitizer::read(log), &Sources::none());
    assert_eq!((found.verdict, found.findings[0].line), (Verdict::BugsFound, Some(7)));
}
