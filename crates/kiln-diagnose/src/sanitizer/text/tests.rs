use proptest::prelude::*;

use super::*;
use crate::sanitizer::{Direction, Nearest, Problem, Side, Space, read};

fn only(log: &str) -> Record {
    let log = read(log);
    assert_eq!(log.runs.len(), 1);
    assert_eq!(log.runs[0].records.len(), 1, "{:#?}", log.runs[0].records);
    log.runs[0].records[0].clone()
}

#[test]
fn an_access_is_read_in_full() {
    let record = only(
        "========= COMPUTE-SANITIZER\n\
         ========= Invalid __global__ write of size 4 bytes\n\
         =========     at row_scale(float *, int)+0x2e0 in b03.cu:29\n\
         =========     by thread (1,2,3) in block (11,125,0)\n\
         =========     Access to 0x7ff87b407980 is out of bounds\n\
         =========     and is 1,409 bytes after the nearest allocation at 0x7ff87b000000 of size 4,224,000 bytes\n\
         =========         Device Frame: outer(float *)+0x10 in b03.cu:40\n\
         =========     Saved host backtrace up to driver entry point at kernel launch time\n\
         =========         Host Frame: main [0x8e5e] in b03\n\
         ========= \n",
    );
    let What::Access(access) = &record.what else { panic!("{record:?}") };
    assert_eq!((access.space, access.direction, access.size), (Space::Global, Direction::Write, 4));
    assert_eq!((access.address, &access.problem), (Some(0x7ff8_7b40_7980), &Problem::OutOfBounds));
    assert_eq!(access.nearest, Some(Nearest { side: Side::After(1409), base: 0x7ff8_7b00_0000, size: 4_224_000 }));
    assert_eq!((record.thread, record.block), (Some([1, 2, 3]), Some([11, 125, 0])));
    assert_eq!(record.kernel(), Some("outer"));
    assert_eq!(record.host, ["main"]);
}

/// Issues and manuals show logs without indentation, with other spacing, and as older versions wrote them.
#[test]
fn pasted_and_older_logs_are_read() {
    for log in [
        "========= Invalid __global__ write of size 2 bytes\n\
         ========= at k(int)+0xd80 in a.cu:162\n\
         ========= by thread (63,0,0) in block (506,0,0)\n\
         ========= Address 0x7fcd07a0312c is out of bounds\n\
         ========= and is 12589 bytes after the nearest allocation at 0x7fcd079ffc00 of size 1024 bytes\n\
         =========\n",
        "    ========= Invalid __global__ write of size 2 bytes\r\n    \r\n    =========     at 0xd80 in /src/a.cu:162:k(int)\r\n\
             =========     by thread (63,0,0) in block (506,0,0)\r\n    =========     Address 0x7fcd07a0312c is out of bounds\r\n\
             =========     and is 12589 bytes after the nearest allocation at 0x7fcd079ffc00 of size 1024 bytes\r\n\
             =========     Host Frame: [0x2ea231]\r\n    =========                in /usr/lib/x86_64-linux-gnu/libcuda.so.1\r\n",
    ] {
        let record = only(log);
        let place = record.place.as_ref().unwrap();
        assert_eq!((place.function.as_str(), place.line), ("k", Some(162)));
        let What::Access(access) = &record.what else { panic!("{record:?}") };
        assert_eq!(access.nearest.unwrap().side, Side::After(12589));
        assert_eq!(record.host, Vec::<String>::new());
    }
}

#[test]
fn runs_and_tools_are_told_apart() {
    let log = read(
        "$ compute-sanitizer --tool synccheck ./a\n========= COMPUTE-SANITIZER\nx check=PASS\n========= ERROR SUMMARY: 0 errors\n\
         ========= COMPUTE-SANITIZER\n========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n========= ERROR SUMMARY: 0 errors\n\
         ========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)\n\
         ==> a.initcheck.txt <==\n========= COMPUTE-SANITIZER\n",
    );
    let tools: Vec<Tool> = log.runs.iter().map(|run| run.tool).collect();
    assert_eq!(tools, [Tool::Synccheck, Tool::Memcheck, Tool::Racecheck, Tool::Initcheck]);
    assert_eq!(log.runs[2].errors, Some(3));
    assert_eq!(log.runs.iter().map(|run| run.ended).collect::<Vec<_>>(), [true, true, true, false]);
    assert!(log.runs[0].is_clean() && log.runs[1].is_clean() && !log.runs[3].is_clean());
}

#[test]
fn output_glued_to_a_line_is_the_programs() {
    let log = read("========= COMPUTE-SANITIZER\nresult: check=FAIL========= ERROR SUMMARY: 0 errors\n==========\n");
    assert!(log.runs[0].ended);
    assert_eq!(log.program.check, Some(crate::sanitizer::Check::Failed));
}

#[test]
fn an_unknown_record_keeps_its_words() {
    let record = only(
        "========= COMPUTE-SANITIZER\n========= Quantum error in lane 3\n=========     at k(int)+0x10 in a.cu:1\n\
         =========     by thread (0,0,0) in block (0,0,0)\n=========     something else\n=========\n",
    );
    assert_eq!(record.what, What::Unrecognised { words: "Quantum error in lane 3".into() });
    assert_eq!(record.place.unwrap().line, Some(1));
}

const PIECES: [&str; 29] = [
    "========= COMPUTE-SANITIZER\n",
    "========= ",
    "=========     ",
    "Invalid __shared__ write of size 16 bytes",
    "Uninitialized __global__ memory read of size ",
    "Error: Race reported between Write access at ",
    "and Read access at k(int)+0x1 in a.cu:3 [",
    "Error: Potential RAW hazard detected at __shared__ ",
    "at ",
    "by thread (1,2,3) in block (",
    "Access to 0x",
    "and is 18446744073709551615 bytes after the nearest allocation at 0x0 of size 0",
    "and is bytes after the nearest allocation at 0xffffffffffffffff of size 18446744073709551615 bytes\n",
    "Invalid __global__ write of size 18446744073709551615 bytes\n========= at k(int)+0x10 in a.cu:1\n========= by thread (4294967295,0,0) in block (4294967295,0,0)\n========= Access to 0xffffffffffffffff is out of bounds\n",
    "Invalid __global__ read of size 16 bytes\n========= by thread (1,0,0) in block (0,0,0)\n========= Access to 0x8000000000000001 is misaligned\n=========\n",
    "Leaked 18446744073709551615 bytes at 0xffffffffffffffff\n=========\n",
    "k<<<1, 2, 3>>>(x); cudaFree(x); assert(x); bar.sync 1, 9",
    "Device Frame:",
    "Host Frame:",
    "Leaked ",
    "Program hit ",
    "ERROR SUMMARY: 18446744073709551615 errors\n",
    "LEAK SUMMARY: 1 bytes leaked in 99999999999 allocations\n",
    "ERROR SUMMARY: 5 errors were not printed\n",
    "Malloc/Free error encountered : ",
    "\n",
    "\r\n",
    "é",
    "Assertion `x` failed.",
];

proptest! {
    #[test]
    fn nothing_panics(pieces in prop::collection::vec(prop_oneof![prop::sample::select(PIECES.to_vec()).prop_map(String::from), "[ -~é\n]{0,12}"], 0..40)) {
        let text = pieces.concat();
        let diagnosis = crate::sanitizer::diagnose(&read(&text), &crate::Sources::none().with("a.cu", text.as_str()));
        prop_assert!(serde_json::to_string(&diagnosis).is_ok());
    }

    #[test]
    fn no_xml_panics(pieces in prop::collection::vec(prop::sample::select(vec!["<?xml?>", "<ComputeSanitizerOutput>", "</ComputeSanitizerOutput>", "<record>", "</record>", "<what>", "</what>", "<text>", "</text>", "Leaked 3 bytes", "<source>", "<direction>Write", "<address>0x", "</", "<", ">", "&lt;", "é", "7"]), 0..40)) {
        let text = format!("<?xml version=\"1.0\"?>{}", pieces.concat());
        crate::sanitizer::diagnose(&read(&text), &crate::Sources::none());
    }
}
