//! Workers that lie about time: the parent's clock finds them out. A shell stands in for a worker whose candidate has taken
//! it over.

use std::process::Command;
use std::time::Duration;

use kiln_core::{Gate, Outcome};
use kiln_run::{Answer, Ask, PROTOCOL, Worker, WorkerLimits};

use crate::{comes_true, refused};

/// The words of a shell that greets like a worker.
pub(crate) fn greets() -> String {
    format!(r#"echo '{{"id":0,"answer":{{"ready":{PROTOCOL}}}}}'"#)
}

/// Greets, and answers every question with `answer` after `seconds`.
fn liar(seconds: &str, answer: &str) -> Worker {
    let script = format!(
        r#"{}
        while read -r line; do
            id=${{line#*:}}; id=${{id%%,*}}
            sleep {seconds}
            echo '{{"id":'$id',"answer":{answer}}}'
        done"#,
        greets()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]);
    Worker::start(command, WorkerLimits { time: Duration::from_secs(20), memory: 1 << 30 }).unwrap()
}

fn times(nanoseconds: &str, untimed: u64) -> String {
    format!(
        r#"{{"times":{{"nanoseconds":{nanoseconds},"calls":1,"wall_nanoseconds":0,"untimed_nanoseconds":{untimed}}}}}"#
    )
}

fn ask(batches: u32) -> Ask {
    Ask::time(batches, 1)
}

#[test]
fn a_wait_that_times_do_not_explain_accuses_nobody() {
    let mut worker = liar("0.2", &times("[600000,600000]", 0));
    assert!(matches!(worker.ask(ask(2)).unwrap(), Outcome::Passed(Answer::Times(_))));
}

#[test]
fn processor_time_is_accounted_whatever_a_worker_says() {
    let script = r#"while read -r line; do
            id=${line#*:}; id=${id%%,*}
            i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done
            echo '{"id":'$id',"answer":{"times":{"nanoseconds":[1],"calls":1,"wall_nanoseconds":1,"untimed_nanoseconds":0}}}'
        done"#;
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{}\n{script}", greets())]);
    let mut worker = Worker::start(command, WorkerLimits::default()).unwrap();
    let before = worker.cpu_time().unwrap();
    worker.ask(ask(1)).unwrap();
    let mut last = worker.cpu_time().unwrap();
    let spent = last - before;
    assert!(spent > Duration::from_millis(5), "{spent:?}");
    // It waits for the next question soon.
    let still = || {
        let now = worker.cpu_time().unwrap();
        std::mem::replace(&mut last, now) == now
    };
    assert!(comes_true(still), "nobody runs who waits");
}

#[test]
fn times_longer_than_the_wait_are_refused() {
    let mut worker = liar("0", &times("[5000000000,5000000000]", 0));
    let refusal = refused(worker.ask(ask(2)));
    assert!(refusal.measured.starts_with("the worker says 10.00 s"), "{}", refusal.measured);
}

#[test]
fn times_that_explain_the_wait_are_believed() {
    let mut worker = liar("0.2", &times("[90000000,90000000]", 0));
    assert!(matches!(worker.ask(ask(2)).unwrap(), Outcome::Passed(Answer::Times(_))));
}

#[test]
fn an_answer_to_another_kind_of_question_is_none() {
    for (ask, answer) in [
        (ask(2), "\"done\"".to_string()),
        (ask(2), times("[1]", 0)),
        (Ask::Call, times("[1]", 0)),
        (Ask::Call, format!("{{\"ready\":{PROTOCOL}}}")),
    ] {
        let refusal = refused(liar("0", &answer).ask(ask));
        assert_eq!(refusal.gate, Gate::WorkerProtocol, "{answer}");
    }
}

#[test]
fn a_worker_that_answers_without_reading_does_not_block_the_parent() {
    // It never reads: questions pile up in the pipe until it is full.
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{}; sleep 1000", greets())]);
    let mut worker =
        Worker::start(command, WorkerLimits { time: Duration::from_millis(300), memory: 1 << 30 }).unwrap();
    let ask = Ask::Load { library: "x".repeat(1 << 20), symbol: "f".into(), config: None, device: false };
    assert_eq!(refused(worker.ask(ask)).gate, Gate::Timeout);
}
