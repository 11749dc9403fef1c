//! Accesses outside every allocation, as memcheck prints them, with addresses of every kind of pointer: what is wrong follows from
//! where the first thread would have been.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use kiln_diagnose::sanitizer::{self, diagnose};
use kiln_diagnose::{Cause, Finding, Sources};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sanitizer");
/// An allocation on the device, and its size.
const BASE: u64 = 0x7f92_a680_0000;
const SIZE: u64 = 16_384;

struct Case {
    direction: &'static str,
    base: u64,
    blocks: std::ops::Range<u64>,
    threads: std::ops::Range<u64>,
    /// The address of a block's thread.
    address: fn(u64, u64) -> u64,
}

impl Case {
    /// The log, with the nearest allocation as the tool says it.
    fn log(&self) -> String {
        let mut log = String::from("========= COMPUTE-SANITIZER\n");
        let mut count = 0;
        for block in self.blocks.clone() {
            for thread in self.threads.clone() {
                let address = (self.address)(block, thread);
                let end = self.base + SIZE;
                let near = match address {
                    _ if address < self.base => format!("{} bytes before", self.base - address),
                    _ => format!("{} bytes after", address - end + 1),
                };
                log.push_str(&format!(
                    "========= Invalid __global__ {} of size 4 bytes\n=========     at scale(const float *, float *, int)+0xc0 in scale.cu:2\n\
                     =========     by thread ({thread},0,0) in block ({block},0,0)\n=========     Access to {address:#x} is out of bounds\n\
                     =========     and is {near} the nearest allocation at {:#x} of size 16,384 bytes\n\
                     =========     Saved host backtrace up to driver entry point at kernel launch time\n\
                     =========         Host Frame: main [0x908b] in scale\n========= \n",
                    self.direction, self.base
                ));
                count += 1;
            }
        }
        log + &format!("========= Target application returned an error\n========= ERROR SUMMARY: {count} errors\n")
    }
}

fn first(log: &str, sources: &Sources) -> Finding {
    let diagnosis = diagnose(&sanitizer::read(log), sources);
    assert_eq!(diagnosis.findings.len(), 1, "{diagnosis:#?}");
    diagnosis.findings[0].clone()
}

#[test]
fn addresses_tell_pointers_apart() {
    let case = |direction, base, blocks, threads, address| Case { direction, base, blocks, threads, address };
    for (what, case, cause) in [
        ("null, and a field", case("read", BASE, 0..1, 0..1, |_, _| 0x10), Cause::NullPointer),
        ("null, block 500", case("read", BASE, 500..501, 0..100, |b, t| (b * 256 + t) * 4), Cause::NullPointer),
        ("null, blocks 500 on", case("write", BASE, 500..503, 0..32, |b, t| (b * 32 + t) * 4), Cause::NullPointer),
        ("heap", case("read", BASE, 8..9, 0..32, |b, t| 0x556c_5523_9620 + (b * 256 + t) * 4), Cause::HostPointer),
        ("heap of AArch64", case("read", BASE, 0..1, 0..32, |_, t| 0xaaaa_d1c3_f2a0 + t * 4), Cause::HostPointer),
        ("stack", case("write", BASE, 0..1, 0..1, |_, _| 0x7ffe_d4e7_f6ac), Cause::HostPointer),
        (
            "a large block of malloc",
            case("read", BASE, 4..6, 0..32, |b, t| 0x7f92_a000_0010 + (b * 32 + t) * 4),
            Cause::HostPointer,
        ),
        (
            "heap of Windows",
            case("read", 0x7_04c0_0000, 0..1, 0..32, |_, t| 0x01d2_f3a4_b5c0 + t * 4),
            Cause::HostPointer,
        ),
        (
            "a memory pool",
            case("read", BASE, 8..9, 0..64, |b, t| 0x48_ea00_0000 + (b * 256 + t) * 4),
            Cause::UseAfterFree,
        ),
        (
            "freed, before another",
            case("read", BASE, 8..9, 0..64, |b, t| BASE - SIZE + (b * 256 + t) * 4),
            Cause::UseAfterFree,
        ),
        ("freed, after a gap", case("write", BASE, 0..1, 0..64, |_, t| BASE + 4 * SIZE + t * 4), Cause::UseAfterFree),
        ("a number", case("write", BASE, 0..1, 0..1, |_, _| 0x8765_4320), Cause::OobGlobalWrite),
        ("one past the end", case("read", BASE, 16..17, 0..1, |_, _| BASE + SIZE), Cause::OobGlobalRead),
        ("one before the start", case("read", BASE, 0..1, 0..1, |_, _| BASE - 4), Cause::OobGlobalRead),
        ("a halo of 3", case("read", BASE, 0..1, 0..3, |_, t| BASE - 12 + t * 4), Cause::OobGlobalRead),
        (
            "high up, as far as a stack",
            case("read", 0x7ff8_4680_4200, 16..17, 128..129, |_, _| 0x7ff8_4680_4200 + SIZE),
            Cause::OobGlobalRead,
        ),
    ] {
        let finding = first(&case.log(), &Sources::none());
        assert_eq!((finding.cause, finding.line), (cause, Some(2)), "{what}: {finding:#?}");
        assert_eq!(finding.kernel.as_deref(), Some("scale"));
    }
}

/// A freed buffer right after another looks like an index past its end. The source tells.
#[test]
fn the_source_shows_what_is_freed() {
    let log =
        Case { direction: "read", base: BASE, blocks: 0..1, threads: 0..64, address: |_, t| BASE + SIZE + t * 4 }.log();
    assert_eq!(first(&log, &Sources::none()).cause, Cause::OobGlobalRead);
    for (source, cause) in [
        ("cudaMalloc(&x, n);\ncudaFree(x);\nscale<<<16, 256>>>(x, y, n);\n", Cause::UseAfterFree),
        ("cudaFreeAsync(x, stream);\nscale<float><<<16, 256, 0, stream>>>(x, y, n);\n", Cause::UseAfterFree),
        ("scale<<<16, 256>>>(x, y, n);\ncudaFree(x);\n", Cause::OobGlobalRead),
        ("cudaFree(x);\ncudaMalloc(&x, n);\nscale<<<16, 256>>>(x, y, n);\n", Cause::OobGlobalRead),
        ("cudaFree(z);\nscale<<<16, 256>>>(x, y, n);\n", Cause::OobGlobalRead),
        ("// cudaFree(x);\nscale<<<16, 256>>>(x, y, n);\n", Cause::OobGlobalRead),
    ] {
        assert_eq!(first(&log, &Sources::none().with("scale.cu", source)).cause, cause, "{source}");
    }
}

/// XML without --leak-check names no allocation at all: an address is then no reason to call a pointer the host's or freed.
#[test]
fn xml_without_allocations_is_read_with_care() {
    for (program, cause) in [
        ("two_bugs", Cause::OobGlobalWrite),
        ("oob_global_read", Cause::OobGlobalRead),
        ("oob_global_write_silent", Cause::OobGlobalWrite),
        ("host_pointer_stack", Cause::HostPointer),
        ("oob_bulk_read", Cause::OobGlobalRead),
    ] {
        let xml = fs::read_to_string(format!("{FOLDER}/planted/{program}_planted.memcheck.xml")).unwrap();
        let records = xml.split("  <record>\n").filter(|record| !record.contains("<kind>Leak</kind>"));
        let xml = records.collect::<Vec<_>>().join("  <record>\n");
        let xml =
            format!("{}</ComputeSanitizerOutput>\n", xml.trim_end().trim_end_matches("</ComputeSanitizerOutput>"));
        assert_eq!(first(&xml, &Sources::none()).cause, cause, "{program}");
    }
}
