//! Timing of good kernels: samples, memory put back, cold caches, and the parent's clock around it all.

use std::time::{Duration, Instant};

use kiln_run::{Answer, Ask, Copy, Timing, Worker};

use crate::kernel::{DOUBLE, N, floats, load};
use crate::{failed, passed};

fn time(samples: u32, calls: u32, restore: Vec<Copy>, flush: u64) -> Ask {
    Ask::Time { samples, calls, restore, flush }
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
    let timing = times(&mut loaded.worker, time(20, 50, vec![], 0));
    // The parent's clock bounds the worker's.
    let total: u64 = timing.nanoseconds.iter().sum();
    assert!(timing.nanoseconds.len() == 20 && total > 0 && timing.calls == 50);
    assert!(total <= timing.wall_nanoseconds);
    assert!(Duration::from_nanos(timing.wall_nanoseconds) <= started.elapsed());
}

#[test]
fn memory_is_put_back_before_every_sample() {
    let mut loaded = load("for (int64_t i = 0; i < n; i++) y[i] += x[i];");
    // y begins as x each time, so that it ends as 2 x however often it is called.
    let (x, y) = (loaded.regions[0].clone(), loaded.regions[1].clone());
    let copy = Copy { from: x.start, to: y.start, bytes: x.len() };
    times(&mut loaded.worker, time(7, 1, vec![copy], 0));
    assert_eq!(floats(&loaded.arena, &y)[N - 1], 2.0 * (N - 1) as f32);
    let why = failed(loaded.worker.ask(time(7, 2, vec![copy], 0)));
    assert!(why.contains("2 calls"), "{why}");
    let beyond = Copy { bytes: usize::MAX, ..copy };
    assert!(failed(loaded.worker.ask(time(1, 1, vec![beyond], 0))).contains("outside"));
}

#[test]
fn cold_caches_cost_time_that_is_told_apart() {
    let mut loaded = load(DOUBLE);
    let warm = times(&mut loaded.worker, time(20, 1, vec![], 0));
    let cold = times(&mut loaded.worker, time(20, 1, vec![], 32 << 20));
    assert!(cold.untimed_nanoseconds > warm.untimed_nanoseconds);
    let total: u64 = cold.nanoseconds.iter().sum();
    assert!(total + cold.untimed_nanoseconds / 2 <= cold.wall_nanoseconds + cold.untimed_nanoseconds);
    assert!(failed(loaded.worker.ask(time(1, 1, vec![], u64::MAX))).contains("to cool caches"));
}

#[test]
fn many_tiny_samples_are_believed() {
    let mut loaded = load("");
    let timing = times(&mut loaded.worker, time(300_000, 1, vec![], 0));
    assert_eq!(timing.nanoseconds.len(), 300_000);
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
