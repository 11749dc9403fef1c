//! The CUDA worker, where there is a driver and where there is none: it greets, says what is missing, and stays.

use std::process::Command;
use std::time::Duration;

use kiln_core::Outcome;
use kiln_run::{Answer, Arena, Ask, Gpu, MappedSlot, Worker};

use crate::{failed, limits, passed};

/// The first question makes a context, which takes its time.
const FIRST: Duration = Duration::from_secs(60);

fn start() -> Worker {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.args(["worker", "cuda"]);
    Worker::start(command, kiln_run::WorkerLimits { memory: 8 << 30, ..limits() }).unwrap()
}

/// What the device is, or why there is none.
fn describe(worker: &mut Worker) -> Result<Gpu, String> {
    match passed(worker.ask_within(Ask::Describe, FIRST)) {
        Answer::Device(gpu) => Ok(*gpu),
        Answer::Failed(failed) => Err(failed.words),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_device_is_described_or_its_absence_is_said() {
    let mut worker = start();
    let first = describe(&mut worker);
    match &first {
        Ok(gpu) => {
            assert!(gpu.uuid.len() == 40 && gpu.uuid.starts_with("GPU-"), "{gpu:?}");
            assert!(!gpu.name.is_empty() && gpu.sms > 0 && gpu.capability.0 > 0, "{gpu:?}");
            assert!(gpu.memory >= gpu.memory_free && gpu.memory_free > 0 && gpu.l2 > 0, "{gpu:?}");
            assert!(gpu.smem_per_sm >= gpu.smem_per_block && gpu.cuda.contains('.'), "{gpu:?}");
        }
        // No library, one that is too old, or one without a device.
        Err(why) => assert!(why.contains("CUDA driver here") || why.starts_with("cu"), "{why}"),
    }
    // It is still there, and says the same.
    let again = describe(&mut worker);
    assert_eq!(first.map(|gpu| gpu.uuid), again.map(|gpu| gpu.uuid));
}

#[test]
fn processors_need_no_device() {
    let mut worker = start();
    assert!(failed(worker.ask(Ask::Pin { cpus: vec![] })).contains("none"));
}

#[test]
fn what_cannot_be_done_is_said_and_the_worker_stays() {
    let mut worker = start();
    let mut why = |ask: Ask| failed(worker.ask_within(ask, FIRST));
    let load = |library: &str| Ask::Load { library: library.into(), symbol: "f".into(), config: None, device: true };
    let missing = why(load("/nowhere.cubin"));
    if why(Ask::Call).contains("no library is loaded") {
        // There is a device.
        assert!(missing.contains("/nowhere.cubin"), "{missing}");
        assert!(why(load("/nowhere.so")).contains("/nowhere.so"));
        assert!(why(Ask::Fetch { set: 0, parts: vec![] }).contains("no memory is mapped"));
        let (arena, regions) = Arena::new(&[64]).unwrap();
        let slot = |bytes| MappedSlot { name: "x".into(), offset: regions[0].start, bytes, ..MappedSlot::default() };
        let map = |bytes| Ask::map(&arena, vec![slot(bytes)]);
        assert!(why(map(usize::MAX)).contains("outside"));
        assert_eq!(passed(worker.ask(map(64))), Answer::Done);
        assert_eq!(failed(worker.ask(Ask::Lay { image: 3 })), "no image 3");
    } else {
        // Every question that needs one says what is missing.
        for ask in [load("/nowhere.so"), Ask::Fetch { set: 0, parts: vec![] }, Ask::Lay { image: 3 }, Ask::Describe] {
            assert_eq!(why(ask), missing);
        }
    }
}

#[test]
fn an_image_comes_back_as_it_was_sent() {
    let mut worker = start();
    if describe(&mut worker).is_err() {
        return;
    }
    let (mut arena, regions) = Arena::new(&[100_000, 8]).unwrap();
    let sent: Vec<u8> = (0..100_000).map(|i| (i % 251) as u8).collect();
    arena.bytes_mut()[regions[0].clone()].copy_from_slice(&sent);
    let done = |outcome| assert!(matches!(outcome, Ok(Outcome::Passed(Answer::Done))), "{outcome:?}");
    let slots =
        vec![MappedSlot { name: "x".into(), offset: regions[0].start, bytes: 100_000, ..MappedSlot::default() }];
    let map = |elsewhere| Ask::Map {
        arena: arena.handle(),
        lent: None,
        slots: slots.clone(),
        launches: vec![],
        sets: 1,
        stride: 0,
        holes: vec![],
        elsewhere,
        gone: vec![],
    };
    let (first, again) = (map(false), map(true));
    done(worker.ask_within(first, FIRST));
    done(worker.ask(Ask::Upload { image: 7 }));
    arena.bytes_mut().fill(0xab);
    done(worker.ask(Ask::Lay { image: 7 }));
    done(worker.ask(Ask::Fetch { set: 0, parts: vec![] }));
    assert!(arena.bytes()[regions[0].clone()] == sent[..]);
    // Elsewhere on the device there is nothing until the image is laid there.
    done(worker.ask(again));
    done(worker.ask(Ask::Fetch { set: 0, parts: vec![] }));
    assert!(arena.bytes().iter().all(|byte| *byte == 0));
    done(worker.ask(Ask::Lay { image: 7 }));
    done(worker.ask(Ask::Fetch { set: 0, parts: vec![] }));
    assert!(arena.bytes()[regions[0].clone()] == sent[..]);
    // A part alone, and not a byte more.
    let (start, end) = (regions[0].start + 10, regions[0].start + 30);
    arena.bytes_mut().fill(0xab);
    done(worker.ask(Ask::Fetch { set: 0, parts: vec![(start, end)] }));
    let fetched = arena.bytes();
    assert!(fetched[start..end] == sent[10..30] && fetched[start - 1] == 0xab && fetched[end] == 0xab);
    let beyond = (start, arena.bytes().len() + 1);
    assert!(!matches!(worker.ask(Ask::Fetch { set: 0, parts: vec![beyond] }), Ok(Outcome::Passed(_))));
    done(worker.ask(Ask::Fetch { set: 0, parts: vec![] }));
    // Guards are mirrored too, or nobody could see that one was written to.
    assert!(arena.bytes()[..regions[0].start].iter().all(|byte| *byte == 0));
}
