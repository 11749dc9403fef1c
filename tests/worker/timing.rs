//! Timing of good kernels: samples, memory put back, cold caches, and the parent's clock around it all.

use std::time::{Duration, Instant};

use kiln_run::{Answer, Arena, Ask, MappedSlot, Timing, Worker};

use crate::kernel::{DOUBLE, N, floats, load};
use crate::{failed, passed};

fn time(batches: u32, calls: u32, flush: u64) -> Ask {
    Ask::Time { batches, calls, flush, draw: None }
}

fn times(worker: &mut Worker, ask: Ask) -> Timing {
    match passed(worker.ask_within(ask, Duration::from_secs(20))) {
        Answer::Times(timing) => timing,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_good_kernel_computes_and_is_timed() {
    let mut loaded = load(DOUBLE);
    assert_eq!(passed(loaded.worker.ask(Ask::Call)), Answer::Done);
    let right: Vec<f32> = (0..N).map(|i| 2.0 * i as f32).collect();
    assert_eq!(floats(&loaded.arena, &loaded.regions[1]), right);
    let started = Instant::now();
    let timing = times(&mut loaded.worker, time(20, 50, 0));
    // The parent's clock bounds the worker's.
    let total: u64 = timing.nanoseconds.iter().sum();
    assert!(timing.nanoseconds.len() == 20 && total > 0 && timing.calls == 50);
    assert!(total <= timing.wall_nanoseconds);
    assert!(Duration::from_nanos(timing.wall_nanoseconds) <= started.elapsed());
}

#[test]
fn every_call_has_a_set_of_its_own() {
    let mut loaded = load("for (int64_t i = 0; i < n; i++) y[i] += x[i] + 1;");
    // Two buffers of N floats each for every call, one after another behind the first.
    let (x, y) = (loaded.regions[0].clone(), loaded.regions[1].clone());
    let stride = (loaded.regions[2].end - x.start).next_multiple_of(64);
    let (sets, total) = (6_u32, 7 * stride);
    let (mut arena, regions) = Arena::new(&[total]).unwrap();
    let base = regions[0].start;
    let place = |mut slot: MappedSlot| {
        slot.offset = slot.offset - x.start + base;
        slot
    };
    let slots: Vec<MappedSlot> = loaded.slots.iter().cloned().map(place).collect();
    let scalar = slots[2].clone();
    for set in 0..sets as usize {
        let at = scalar.offset + set * stride;
        let n = loaded.arena.bytes()[loaded.slots[2].offset..][..scalar.bytes].to_vec();
        arena.bytes_mut()[at..at + scalar.bytes].copy_from_slice(&n);
    }
    let map = Ask::Map {
        arena: arena.handle(),
        lent: None,
        slots,
        launches: vec![],
        sets,
        stride,
        holes: vec![],
        elsewhere: false,
        gone: vec![],
    };
    assert_eq!(passed(loaded.worker.ask(map)), Answer::Done);
    let first = |arena: &Arena, set: usize| {
        let at = base + (y.start - x.start) + set * stride;
        f32::from_ne_bytes(arena.bytes()[at..at + 4].try_into().unwrap())
    };
    let timing = times(&mut loaded.worker, time(2, 2, 0));
    assert_eq!((timing.nanoseconds.len(), timing.calls), (2, 2));
    assert_eq!((0..6).map(|set| first(&arena, set)).collect::<Vec<_>>(), [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    // With fewer sets than calls they begin anew.
    times(&mut loaded.worker, time(2, 4, 1 << 20));
    assert_eq!((0..6).map(|set| first(&arena, set)).collect::<Vec<_>>(), [3.0, 3.0, 2.0, 2.0, 1.0, 1.0]);
    // In an order of the parent's, with sets beside that no call has.
    let prepare = |order: &[u32]| Ask::Prepare { order: order.to_vec() };
    assert_eq!(passed(loaded.worker.ask(prepare(&[5, 1]))), Answer::Done);
    let timing = times(&mut loaded.worker, Ask::Go { returned: false, copy: false });
    assert_eq!((timing.nanoseconds.len(), timing.calls), (1, 2));
    assert_eq!((0..6).map(|set| first(&arena, set)).collect::<Vec<_>>(), [3.0, 4.0, 2.0, 2.0, 1.0, 2.0]);
    let why = failed(loaded.worker.ask(prepare(&[0, 6])));
    assert!(why.contains("set 6 is wanted, there are 6"), "{why}");
}

#[test]
fn many_tiny_batches_are_believed() {
    let mut loaded = load("");
    let timing = times(&mut loaded.worker, time(20_000, 1, 0));
    assert_eq!(timing.nanoseconds.len(), 20_000);
}

#[test]
fn one_question_may_take_longer_than_others() {
    let mut loaded = load("usleep(2000000);");
    let answer = loaded.worker.ask_within(Ask::Call, Duration::from_secs(20));
    assert_eq!(passed(answer), Answer::Done);
}

#[test]
fn a_worker_outlives_the_thread_that_started_it() {
    let mut worker = std::thread::spawn(crate::start).join().unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert!(failed(worker.ask(Ask::Call)).contains("no library"));
}

/// A processor that this process may use.
fn processor() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split(['-', ',']).next_back().unwrap().parse().unwrap()
}

#[test]
fn time_in_which_others_have_the_processor_is_not_the_kernels() {
    let own = processor();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            kiln_run::pin_thread(&[own]).unwrap();
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        kiln_run::pin_thread(&[own]).unwrap();
        // Three fifths of what it is given, of a processor that it has half of at most.
        let mut loaded = crate::kernel::load(
            "struct timespec t; do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); while (t.tv_sec + 1e-9 * t.tv_nsec < 1.2);",
        );
        let answer = loaded.worker.ask_within(Ask::CallWatched, Duration::from_secs(2));
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(passed(answer), Answer::Done);
    });
}
