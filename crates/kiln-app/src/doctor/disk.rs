//! The disk that records and builds go to.

use crate::doctor::Finding;
use camino::Utf8Path;
use kiln_core::size;

use crate::doctor::space::{room, try_writing};
use crate::project::Project;

const ID: &str = "disk";
const WHY: &str = "every trial is recorded and every build cached there; a full disk ends a study";
/// Below this, a study is likely to fill it.
const LITTLE: u64 = 2_000_000_000;
/// Below this, one surely will.
const TOO_LITTLE: u64 = 200_000_000;

/// Looks at where `.kiln` lies, or will.
pub(crate) fn look(project: &Project) -> Finding {
    let own = project.folder();
    if own.exists() && !own.is_dir() {
        let fix = format!("move {own} away: kiln makes a folder of that name");
        return Finding::fail(ID, WHY, format!("{own} is not a folder"), fix);
    }
    let cache = project.folder().join("cache");
    if cache.exists() && !cache.is_dir() {
        let fix = format!("move {cache} away: kiln makes a folder of that name");
        return Finding::fail(ID, WHY, format!("{cache} is not a folder"), fix);
    }
    let folder = if own.is_dir() { own } else { Utf8Path::new(".") };
    let called = if own.is_dir() { own.as_str() } else { "this folder" };
    if let Err(why) = try_writing(folder) {
        let fix = "make it writable, or run kiln in a folder of yours";
        return Finding::fail(ID, WHY, format!("{called} cannot be written: {why}"), fix);
    }
    let Some(room) = room(folder) else {
        return Finding::ok(ID, WHY, format!("{called} can be written; the system does not say how much is free"));
    };
    let what = format!("{} free for {called}", size(room.free));
    let fix = "free some space; `kiln cache --clear` gives back what builds hold";
    match room.free {
        free if free < TOO_LITTLE => Finding::fail(ID, WHY, format!("{what}; {} are needed", size(TOO_LITTLE)), fix),
        free if free < LITTLE => Finding::warn(ID, WHY, format!("{what}; a study may need {}", size(LITTLE)), fix),
        _ => Finding::ok(ID, WHY, what),
    }
}
