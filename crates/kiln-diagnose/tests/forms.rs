//! Forms of records that the tool's manual and public reports show, one small log each: versions and options differ in what
//! they print, and a cause must not depend on it.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::panic)]

use kiln_diagnose::sanitizer::{self, diagnose};
use kiln_diagnose::{Cause, Finding, Sources, Verdict};

const AT: &str = "at k(int *)+0x10 in a.cu:7\nby thread (0,0,0) in block (0,0,0)";

fn log(record: &str) -> String {
    let lines: String = record.lines().map(|line| format!("========= {line}\n")).collect();
    format!("========= COMPUTE-SANITIZER\n{lines}=========\n========= ERROR SUMMARY: 1 error\n")
}

fn only(record: &str, sources: &Sources) -> Finding {
    let diagnosis = diagnose(&sanitizer::read(&log(record)), sources);
    assert_eq!(diagnosis.findings.len(), 1, "{record}\n{diagnosis:#?}");
    assert_eq!(diagnosis.verdict, Verdict::BugsFound);
    let finding = diagnosis.findings[0].clone();
    assert!(!finding.explanation.is_empty() && !finding.fix.is_empty(), "{record}");
    finding
}

#[test]
fn causes_of_documented_records() {
    for (record, cause) in [
        (format!("Invalid __global__ read of size 16 bytes\n{AT}\nAddress 0x7f6510c00004 is misaligned"), Cause::MisalignedGlobal),
        (format!("Invalid __shared__ read of size 4 bytes\n{AT}\nAddress 0x800 is out of bounds"), Cause::OobShared),
        (format!("Invalid __local__ write of size 4 bytes\n{AT}\nAddress 0xfffd00 is out of bounds"), Cause::OobLocal),
        (format!("Uninitialized __shared__ memory read of size 4 bytes\n{AT}\nAddress 0x0"), Cause::UninitShared),
        (format!("Barrier error detected. Divergent thread(s) in block\n{AT}"), Cause::DivergentBarrier),
        (format!("Barrier error detected. Divergent thread(s) in warp.\n{AT}"), Cause::DivergentBarrier),
        (format!("Barrier error detected. Invalid arguments.\n{AT}"), Cause::BadSyncwarpMask),
        (format!("Barrier error detected. Missing wait.\n{AT}\nBarrier is located at shared address 0x30408"), Cause::BarrierProtocol),
        (format!("Barrier error detected. Missing init\n{AT}"), Cause::BarrierProtocol),
        (format!("Warpgroup MMA sequence error detected. Missing fence.\n{AT}"), Cause::WarpgroupSequence),
        (format!("Illegal instruction\n{AT}"), Cause::IllegalInstruction),
        (format!("Stack overflow\n{AT}"), Cause::StackOverflow),
        (format!("Lane User Stack Overflow\n{AT}"), Cause::StackOverflow),
        ("Malloc/Free error encountered : Double free\nat 0x79d8\nby thread (0,0,0) in block (0,0,0)\nAddress 0x400aff920".into(), Cause::DoubleFree),
        ("Malloc/Free Error encountered : Invalid pointer to free\nat 0x79d8".into(), Cause::InvalidFree),
        (format!("Malloc/Free Warning encountered : Device-side allocation failure\n{AT}"), Cause::ApiError),
        ("Leaked 16 bytes at 0x4012ffff6 on the device heap".into(), Cause::Leak),
        (
            format!("Potential invalid __shared__ read of size 4 bytes\n{AT}\nAddress 0x1000400 is located in a block that might have already exited"),
            Cause::RaceCluster,
        ),
        (
            "Host API memory access error at host access to 0x1303fd1400 of size 25600 bytes\nUninitialized access at 0x1303fd4600 on access by cudaMemcopy source.".into(),
            Cause::UninitGlobal,
        ),
        (
            "Deadlock detected in Cuda::barrier wait called by threads starting at (0,0,0) in block (0,0,0), (active mask: 0xffffffff), barrier address: 0x0 at k+0x1190 in a.cu:98".into(),
            Cause::Hang,
        ),
        (
            "ERROR: Potential WAW hazard detected at __shared__ 0x0 in block (0,0,0) :\nWrite Thread (0,0,0) at k()+0x2f0 in a.cu:20\nWrite Thread (1,0,0) at k()+0x2f0 in a.cu:20\nCurrent Value : 1, Incoming Value : 2".into(),
            Cause::RaceSharedWaw,
        ),
        (
            "Error: Potential WAR hazard detected at __shared__ 0x0 in block (0,0,0) :\nRead Thread (0,0,0) at k()+0x2f0 in a.cu:20\nWrite Thread (1,0,0) at k()+0x300 in a.cu:21".into(),
            Cause::RaceSharedWar,
        ),
        (
            "Error: Potential RAW hazard detected at __shared__ 0x0 in block (0,0,0) (invalid memcpy_async synchronization) :\nWrite Thread (0,0,0) at k()+0x2f0 in a.cu:20\nRead Thread (1,0,0) at k()+0x300 in a.cu:21".into(),
            Cause::AsyncCopyNoWait,
        ),
        (
            "Warning: Race reported between Read access at 0x300 in //cl/sum.cl:43:sum_local(const int *, int *)\nand Write access at 0x320 in //cl/sum.cl:44:sum_local(const int *, int *) [8 hazards]".into(),
            Cause::RaceSharedWar,
        ),
        (
            "Error: Race reported between Write access at k()+0x100 in a.cu:20\nand Write access at k()+0x100 in a.cu:20 [64 hazards]".into(),
            Cause::RaceSharedWaw,
        ),
        (
            "Program hit cudaErrorInvalidConfiguration (error 9) due to \"invalid configuration argument\" on CUDA API call to cudaLaunchKernel.".into(),
            Cause::LaunchFailureConfig,
        ),
        (
            "Program hit cudaErrorLaunchOutOfResources (error 701) due to \"too many resources requested for launch\" on CUDA API call to cudaLaunchKernel.".into(),
            Cause::LaunchFailureConfig,
        ),
        ("Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API call to cudaFree.".into(), Cause::DoubleFree),
        ("Program hit invalid copy direction for memcpy (error 21) on CUDA API call to cudaMemcpy.".into(), Cause::ApiError),
    ] {
        assert_eq!(only(&record, &Sources::none()).cause, cause, "{record}");
    }
}

/// A write by an asynchronous copy, in a report that does not say so: the source line does.
#[test]
fn the_source_shows_an_asynchronous_copy() {
    let record = "Error: Race reported between Write access at k()+0x100 in a.cu:2\nand Read access at k()+0x180 in a.cu:3 [64 hazards]";
    let source =
        "__global__ void k() {\nasm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" ...);\nx = s[0]; }\n";
    assert_eq!(only(record, &Sources::none()).cause, Cause::RaceSharedRaw);
    assert_eq!(only(record, &Sources::none().with("a.cu", source)).cause, Cause::AsyncCopyNoWait);
}

/// In a loop, the barrier after the write is there; the one before the next trip's write is not.
#[test]
fn a_race_around_a_loop_is_write_after_read() {
    let record = "Error: Race reported between Write access at k()+0x100 in a.cu:2\nand Read access at k()+0x180 in a.cu:4 [64 hazards]";
    let source = "for (int i = 0; i < n; i++) {\ns[t] = x[i];\n__syncthreads();\ny += s[t ^ 1];\n}\n";
    assert_eq!(only(record, &Sources::none().with("a.cu", source)).cause, Cause::RaceSharedWar);
    let dropped = "for (;;) {\ns[t] = x[i];\n#ifdef FIXED\n__syncthreads();\n#endif\ny += s[t ^ 1];\n}\n";
    let record = record.replace("a.cu:4", "a.cu:6");
    assert_eq!(only(&record, &Sources::none().with("a.cu", dropped)).cause, Cause::RaceSharedRaw);
    // All on one line.
    let record = record.replace("a.cu:6", "a.cu:2");
    for (line, cause) in [
        ("for (int i = 0; i < n; i++) { s[t] = x[i]; __syncthreads(); y += s[t ^ 1]; }", Cause::RaceSharedWar),
        ("for (int i = 0; i < n; i++) { s[t] = x[i]; y += s[t ^ 1]; __syncthreads(); }", Cause::RaceSharedRaw),
        ("s[t] = x[i]; y += s[t ^ 1]; // __syncthreads();", Cause::RaceSharedRaw),
    ] {
        let source = format!("__global__ void k() {{\n{line}\n}}\n");
        assert_eq!(only(&record, &Sources::none().with("a.cu", source)).cause, cause, "{line}");
    }
}

/// A copy that every thread has waited for races with the next copy into the same place.
#[test]
fn a_copy_that_is_waited_for_races_with_the_next() {
    let record = "Error: Race reported between Write access at k()+0x100 in a.cu:2\nand Read access at k()+0x180 in a.cu:5 [64 hazards]";
    let source = |wait: &str| {
        format!(
            "for (;;) {{\nasm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" ...);\nasm volatile(\"{wait};\");\n__syncthreads();\ny += s[t ^ 1];\n}}\n"
        )
    };
    for (wait, cause) in [
        ("cp.async.wait_all", Cause::RaceSharedWar),
        ("cp.async.wait_group 0", Cause::RaceSharedWar),
        ("cp.async.wait_group 1", Cause::AsyncCopyNoWait),
        ("cp.async.commit_group", Cause::AsyncCopyNoWait),
    ] {
        assert_eq!(only(record, &Sources::none().with("a.cu", source(wait))).cause, cause, "{wait}");
    }
}

/// No thread races with itself, unless a copy wrote in its name.
#[test]
fn a_thread_that_races_with_itself_copies() {
    let record = "Error: Potential RAW hazard detected at __shared__ 0x400 in block (0,0,0) :\nWrite Thread (7,0,0) at k()+0x2f0 in a.cu:20\nRead Thread (7,0,0) at k()+0x300 in a.cu:21";
    assert_eq!(only(record, &Sources::none()).cause, Cause::AsyncCopyNoWait);
}

#[test]
fn an_assertion_is_found_in_the_programs_output() {
    let log = "========= COMPUTE-SANITIZER\n\
               a.cu:5: void gather(const int *, int): block: [2,0,0], thread: [188,0,0] Assertion `i < n` failed.\n\
               a.cu CUDA error 710 cudaErrorAssert: device-side assert triggered at line 20\n\
               ========= Program hit cudaErrorAssert (error 710) due to \"device-side assert triggered\" on CUDA API call to cudaDeviceSynchronize.\n\
               =========     Saved host backtrace up to driver entry point at error\n=========\n\
               ========= Leaked 4,096 bytes at 0x7f0000000000\n=========\n\
               ========= Target application returned an error\n========= LEAK SUMMARY: 4096 bytes leaked in 1 allocations\n\
               ========= ERROR SUMMARY: 2 errors\n";
    let diagnosis = diagnose(&sanitizer::read(log), &Sources::none());
    assert_eq!(diagnosis.findings.len(), 1, "{diagnosis:#?}");
    let finding = &diagnosis.findings[0];
    assert_eq!(
        (finding.cause, finding.kernel.as_deref(), finding.line),
        (Cause::DeviceAssert, Some("gather"), Some(5))
    );
    assert_eq!(finding.facts.text("assertion"), Some("i < n"));
    assert_eq!(finding.facts.text("followed_by"), Some("cudaErrorAssert from cudaDeviceSynchronize"));
    assert_eq!(finding.facts.number("leaked_after_abort"), Some(1));
}

fn global(thread: u32, block: u32, address: u64, nearest: &str) -> String {
    format!(
        "========= Invalid __global__ read of size 4 bytes\n=========     at k(int *)+0x10 in a.cu:7\n\
         =========     by thread ({thread},0,0) in block ({block},0,0)\n=========     Access to {address:#x} is out of bounds\n\
         =========     and is {nearest} of size 16,384 bytes\n=========\n"
    )
}

/// Which part of the errors is printed is chance: a part of a row past the end is no freed buffer, and a part of a freed
/// buffer is no row past an end.
#[test]
fn freed_memory_is_told_from_memory_past_the_end() {
    let base = 0x7f00_0000_0000_u64;
    let summary = |errors: u32| {
        format!(
            "========= Target application returned an error\n========= ERROR SUMMARY: {errors} errors\n\
             ========= ERROR SUMMARY: {} errors were not printed. Use --print-limit option to adjust the number of printed errors\n",
            errors - 64
        )
    };
    let cause = |records: String, errors: u32| {
        let log = format!("========= COMPUTE-SANITIZER\n{records}{}", summary(errors));
        diagnose(&sanitizer::read(&log), &Sources::none()).findings[0].cause
    };
    // Threads 64 to 127 of block 3, of 16 blocks of 256 threads that read a freed buffer before another allocation.
    let freed = (64..128_u32).map(|x| {
        let address = base + u64::from(3 * 256 + x) * 4;
        global(
            x,
            3,
            address,
            &format!("{} bytes before the nearest allocation at {:#x}", base + 16384 - address, base + 16384),
        )
    });
    assert_eq!(cause(freed.collect(), 4097), Cause::UseAfterFree);
    // Threads 0 to 63 of block 14 of a row of 1,056 elements after the end.
    let past = (0..64_u32).map(|x| {
        let address = base + 16384 + u64::from(14 * 32 + x) * 4;
        global(
            x,
            14,
            address,
            &format!("{} bytes after the nearest allocation at {base:#x}", address - base - 16384 + 1),
        )
    });
    assert_eq!(cause(past.collect(), 1057), Cause::OobGlobalRead);
    // The row before the first of 16, which begins as aligned as any allocation.
    let before = (0..64_u32).map(|x| {
        let address = base - 1024 + u64::from(x) * 4;
        global(x, 0, address, &format!("{} bytes before the nearest allocation at {base:#x}", base - address))
    });
    assert_eq!(cause(before.collect(), 257), Cause::OobGlobalRead);
}

/// Headers of the toolkit are no place to look: the finding points to who called.
#[test]
fn findings_point_into_the_programs_own_code() {
    for (record, cause, line) in [
        (
            "Barrier error detected. Divergent thread(s) in warp.\nat __syncwarp(unsigned int)+0x120 in sm_30_intrinsics.hpp:110\nby thread (0,0,0) in block (8,0,0)\n    Device Frame: half_warp(const float *, float *)+0xb0 in warp.cu:9",
            Cause::BadSyncwarpMask,
            9,
        ),
        (
            "Barrier error detected. Divergent thread(s) in block.\nat cooperative_groups::__v1::thread_block::sync() const+0x20 in sync.h:80\nby thread (0,0,0) in block (8,0,0)\n    Device Frame: reduce(float *)+0xb0 in reduce.cu:12",
            Cause::DivergentBarrier,
            12,
        ),
        (
            "Invalid __global__ atomic of size 4 bytes\nat atomicAdd(int *, int)+0xf0 in device_atomic_functions.hpp:107\nby thread (0,0,0) in block (8,0,0)\nAccess to 0x7f5faa808100 is out of bounds\nand is 1 bytes after the nearest allocation at 0x7f5faa808000 of size 256 bytes\n    Device Frame: histogram(const int *, int *, int)+0xd0 in histogram.cu:7",
            Cause::OobGlobalWrite,
            7,
        ),
        (
            "Invalid __global__ read of size 16 bytes\nat __pipeline_memcpy_async(void *, const void *, unsigned long)+0xe0 in cuda_pipeline_primitives.h:83\nby thread (1,0,0) in block (0,0,0)\nAccess to 0x7f7d9e800084 is misaligned\nand is inside the nearest allocation at 0x7f7d9e800000 of size 5,120 bytes\n    Device Frame: tile::load(float *)+0xb0 in tile.cuh:31\n    Device Frame: gemm(float *)+0x40 in gemm.cu:90",
            Cause::MisalignedGlobal,
            31,
        ),
    ] {
        let finding = only(record, &Sources::none());
        assert_eq!((finding.cause, finding.line), (cause, Some(line)), "{finding:#?}");
    }
    // The kernel is the outermost frame.
    let record = "Stack overflow\nat [clone k(int)] deep(int)+0x120 in a.cu:2\nby thread (0,0,0) in block (0,0,0)\n    Device Frame: [clone k(int)] deep(int)+0x820 in a.cu:2\n    Device Frame: k(int)+0x90 in a.cu:3";
    let finding = only(record, &Sources::none());
    assert_eq!((finding.cause, finding.kernel.as_deref()), (Cause::StackOverflow, Some("k")));
}

/// The driver's words for too much shared memory and too many threads are the same.
#[test]
fn a_refused_launch_is_explained_by_its_source() {
    let record = "Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API call to cudaLaunchKernel.\n    Saved host backtrace up to driver entry point at error\n        Host Frame: void tile<float>(float const*, float*) [0x9420] in app\n        Host Frame: main [0x90a3] in app";
    for (source, cause) in [
        ("", Cause::LaunchFailureSmem),
        ("tile<float><<<n / 256, 256, 100 * 1024>>>(x, y);", Cause::LaunchFailureSmem),
        ("tile<float><<<1, 2048>>>(x, y);", Cause::LaunchFailureConfig),
        ("tile<float><<<1, 2048, 0, stream>>>(x, y);", Cause::LaunchFailureConfig),
        ("tile<float><<<grid, dim3(64, 32)>>>(x, y);", Cause::LaunchFailureConfig),
        ("other<<<1, 2048>>>(x, y);", Cause::LaunchFailureSmem),
    ] {
        let finding = only(record, &Sources::none().with("app.cu", source));
        assert_eq!((finding.cause, finding.kernel.as_deref()), (cause, Some("tile")), "{source}");
        assert_eq!(finding.facts.text("called_from"), Some("main"));
    }
}

/// A call that returns the last error adds nothing to the call that made it.
#[test]
fn the_last_error_is_no_error_of_its_own() {
    let failed = |api: &str| {
        format!(
            "Program hit cudaErrorInvalidConfiguration (error 9) due to \"invalid configuration argument\" on CUDA API call to {api}.\n    Saved host backtrace up to driver entry point at error\n        Host Frame: main [0x9] in app\n"
        )
    };
    let record =
        format!("{}{}{}", failed("cudaLaunchKernel"), failed("cudaGetLastError"), failed("cudaPeekAtLastError"));
    let finding = only(&record, &Sources::none());
    assert_eq!((finding.cause, finding.facts.text("api")), (Cause::LaunchFailureConfig, Some("cudaLaunchKernel")));
    assert_eq!(only(&failed("cudaGetLastError"), &Sources::none()).cause, Cause::LaunchFailureConfig);
}
