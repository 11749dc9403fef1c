//! A page that is larger than memory should be: it is read a launch at a time.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufReader, Read};

use kiln_diagnose::profile::Pages;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu/recorded/planted.raw.csv");
/// Bytes of the page: what a debug build reads in seconds.
const SIZE: u64 = 64 << 20;
/// Bytes that reading may take.
const MEMORY: u64 = 48 << 20;

/// The rows of a page again and again.
struct Repeated {
    head: Vec<u8>,
    rows: Vec<u8>,
    at: usize,
    left: u64,
}

impl Read for Repeated {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        let from = if self.at < self.head.len() {
            &self.head[self.at..]
        } else {
            &self.rows[(self.at - self.head.len()) % self.rows.len()..]
        };
        let count = from.len().min(to.len());
        to[..count].copy_from_slice(&from[..count]);
        self.at += count;
        self.left = self.left.saturating_sub(count as u64);
        Ok(count)
    }
}

/// The most memory that this process ever had, in bytes; none where the system does not say.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kb| kb * 1024)
}

#[test]
fn memory_does_not_grow_with_the_page() {
    let page = fs::read(PAGE).unwrap();
    let ends: Vec<usize> = page.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    let (head, rows) = page.split_at(ends[1]);
    let endless = Repeated { head: head.to_vec(), rows: rows.to_vec(), at: 0, left: SIZE };
    let before = peak();
    let pages = Pages::read(BufReader::new(endless)).unwrap();
    let after = peak();
    let launches: u64 = pages.kernels.iter().map(|kernel| kernel.launches).sum();
    assert_eq!(pages.kernels.len(), ends.len() - 2);
    assert!(launches > 1000, "{launches}");
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after - before < MEMORY, "{} MiB", (after - before) >> 20);
    }
}
