//! Shared memory, where buffers lie that kiln and its workers both see.

use crate::doctor::Finding;
use camino::Utf8Path;
use kiln_core::size;
use kiln_run::Arena;

use crate::doctor::space::{room, try_writing};

const ID: &str = "shared_memory";
const WHY: &str = "arguments of kernels lie there; a worker that touches more than there is dies of SIGBUS";
const FOLDER: &str = "/dev/shm";
/// Below this, larger workloads do not fit.
const LITTLE: u64 = 256_000_000;
/// Below this, hardly any does.
const TOO_LITTLE: u64 = 16_000_000;

/// Looks at size and use.
pub(crate) fn look() -> Finding {
    if Arena::new(&[1]).is_ok_and(|(arena, _)| arena.is_sealed()) {
        return Finding::ok(ID, WHY, "files in memory work: as much as the machine has, whatever the size of /dev/shm");
    }
    let folder = Utf8Path::new(FOLDER);
    let remount = format!("mount -o remount,size=4G {FOLDER}, or start the container with --shm-size=4g");
    if let Err(why) = try_writing(folder) {
        // Buffers then go to the temporary folder, which is slower to set up and otherwise works.
        let what = format!("{FOLDER} cannot be used ({why}); the temporary folder takes its place");
        return Finding::warn(ID, WHY, what, format!("mount a tmpfs on {FOLDER} that you can write to"));
    }
    let Some(room) = room(folder) else { return Finding::ok(ID, WHY, format!("{FOLDER} can be written")) };
    let what = format!("{} of {} free in {FOLDER}", size(room.free), size(room.whole));
    match room.free {
        free if free < TOO_LITTLE => Finding::fail(ID, WHY, what, remount),
        free if free < LITTLE => Finding::warn(ID, WHY, what, remount),
        _ => Finding::ok(ID, WHY, what),
    }
}
