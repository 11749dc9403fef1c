//! A kernel in C of the form `void f(const float *x, float *y, int64_t n)`, built and loaded.

use std::process::Command;

use camino::Utf8PathBuf;
use kiln_build::{BuildLimits, Cache, Compiler, Passing, Request, SHIM_SYMBOL, shim};
use kiln_core::{Config, Outcome};
use kiln_run::{Answer, Arena, Ask, Confinement, MappedSlot, Region, Worker};

use crate::{limits, passed};

/// Elements of x and y.
pub(crate) const N: usize = 1000;
/// The body of a good kernel.
pub(crate) const DOUBLE: &str = "for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i];";
const HEADERS: &str =
    "#define _GNU_SOURCE\n#include <pthread.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <stdio.h>
#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n#include <unistd.h>\n#include <errno.h>\n#include <fcntl.h>
#include <sched.h>\n#include <signal.h>\n#include <spawn.h>\n#include <sys/mman.h>\n#include <sys/prctl.h>
#include <sys/ptrace.h>\n#include <sys/resource.h>\n#include <sys/shm.h>\n#include <sys/socket.h>\n#include <sys/stat.h>
#include <sys/syscall.h>\n#include <sys/wait.h>\n";

/// A worker with a kernel loaded, and its memory.
pub(crate) struct Loaded {
    _folder: tempfile::TempDir,
    pub(crate) worker: Worker,
    pub(crate) arena: Arena,
    pub(crate) regions: Vec<Region>,
    pub(crate) slots: Vec<MappedSlot>,
}

pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.args(["worker", "cpu"]);
    command
}

pub(crate) fn start() -> Worker {
    Worker::start(command(), limits()).unwrap()
}

/// Builds `body` as the kernel's body and gets it ready to be called, in a worker that may do anything.
pub(crate) fn load(body: &str) -> Loaded {
    load_as(body, &[], Confinement::None)
}

/// The same with more flags for the compiler, and a worker that is confined first.
pub(crate) fn load_as(body: &str, flags: &[&str], confinement: Confinement) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    let source = root.join("k.c");
    std::fs::write(&source, format!("{HEADERS}void f(const float *x, float *y, int64_t n) {{ {body} }}\n")).unwrap();
    let request = Request {
        sources: vec![source],
        includes: vec![],
        std: None,
        flags: ["-w", "-O1", "-pthread"].iter().chain(flags).map(|flag| (*flag).to_string()).collect(),
        config: Config::default(),
        shim: shim("f", &[Passing::Pointer, Passing::Pointer, Passing::Value("int64_t")]),
        ..Request::default()
    };
    let compiler = Compiler::named(vec!["cc".into()]).unwrap();
    let built = Cache::at(root.join("cache")).build(&compiler, &request, BuildLimits::default(), &|_| {}).unwrap();
    let Outcome::Passed(artifact) = built else { panic!("{built:?}") };

    let (arena, regions, slots) = memory();
    let mut worker = start();
    let confined = passed(worker.confine(confinement, limits().time));
    assert!(matches!(confined, Answer::Confined(_)), "{confined:?}");
    let load =
        Ask::Load { library: artifact.library.to_string(), symbol: SHIM_SYMBOL.into(), config: None, device: false };
    assert_eq!(passed(worker.ask(load)), Answer::Done);
    assert_eq!(passed(worker.ask(Ask::map(&arena, slots.clone()))), Answer::Done);
    Loaded { _folder: folder, worker, arena, regions, slots }
}

/// x holding 0, 1, 2, ..., y, and n.
pub(crate) fn memory() -> (Arena, Vec<Region>, Vec<MappedSlot>) {
    let (mut arena, regions) = Arena::new(&[4 * N, 4 * N, 8]).unwrap();
    for i in 0..N {
        arena.bytes_mut()[regions[0].start + 4 * i..][..4].copy_from_slice(&(i as f32).to_ne_bytes());
    }
    arena.bytes_mut()[regions[2].clone()].copy_from_slice(&(N as i64).to_ne_bytes());
    let slots = [("x", "f32", vec![N], "in"), ("y", "f32", vec![N], "out"), ("n", "i64", vec![], "scalar")];
    let slots = slots.into_iter().zip(&regions).map(|((name, dtype, shape, role), region)| MappedSlot {
        name: name.into(),
        offset: region.start,
        bytes: region.len(),
        dtype: dtype.into(),
        shape,
        role: role.into(),
        strides: None,
        ..MappedSlot::default()
    });
    let slots = slots.collect();
    (arena, regions, slots)
}

/// The elements of a region.
pub(crate) fn floats(arena: &Arena, region: &Region) -> Vec<f32> {
    let bytes = arena.bytes()[region.clone()].chunks_exact(4);
    bytes.map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}
