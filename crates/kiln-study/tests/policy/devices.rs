//! Several devices: as many trials at a time, told in order, and the same record gives the same study.

use kiln_core::{Fault, Gate};

use crate::memory::Memory;
use crate::script::{At, Played, Script, refusal, tried};

/// What was told of trials, in order, without whether it was on record.
fn trials(played: &Played) -> Vec<String> {
    let lines = played.told.iter().filter(|line| line.starts_with("trial "));
    lines.map(|line| line.split(" recorded").next().unwrap_or_default().to_string()).collect()
}

/// A study on so many devices with a search that listens: what it proposes depends on what it was told.
fn on(devices: usize) -> Script {
    let mut script = Script::new("");
    (script.devices, script.settings.ahead, script.settings.strategy) = (devices, 2 * devices, "genetic".into());
    script
}

/// Seconds that differ from configuration to configuration, from one to eight.
fn uneven(config: &kiln_core::Config) -> Option<f64> {
    let text = config.to_string();
    Some(1.0 + f64::from(text.bytes().map(u32::from).sum::<u32>() % 8))
}

#[test]
fn trials_are_shared_and_told_in_order() {
    for devices in [1, 2, 3, 8] {
        let mut script = Script::new("");
        script.devices = devices;
        let played = script.play();
        let numbers: Vec<&str> = played
            .told
            .iter()
            .filter_map(|line| line.strip_prefix("trial seed "))
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert_eq!(numbers, ["0", "1", "2", "3", "4", "5", "6", "7"], "{devices}");
        assert!(tried(&played).values().sum::<usize>() == 21, "{devices}");
    }
}

#[test]
fn more_of_them_take_less_time() {
    let took = |devices: usize| {
        let mut script = Script::new("");
        (script.devices, script.settings.ablation) = (devices, false);
        script.play().seconds
    };
    assert!(took(4) < 0.6 * took(1), "{} and {}", took(4), took(1));
}

#[test]
fn with_as_many_devices_it_goes_on_as_it_was() {
    let (mut script, memory) = (Script::new(""), Memory::default());
    script.devices = 3;
    let whole = script.play_on(&memory, false);
    for kept in [1, 4, 8, 15] {
        let again = script.play_on(&memory.cut(kept), false);
        assert_eq!(again.summary().config, whole.summary().config, "after {kept}");
        assert_eq!(again.summary().trials, whole.summary().trials);
    }
}

#[test]
fn a_slow_trial_keeps_nobody_else_waiting() {
    let slow = std::cell::Cell::new(0);
    let took = |devices: usize| {
        let mut script = Script::new("");
        (script.devices, script.settings.ablation) = (devices, false);
        // One of every four takes as long as six others.
        script.trial_takes = Box::new(|config| Some(if config.to_string().contains("A=1") { 6.0 } else { 1.0 }));
        let played = script.play();
        slow.set(played.acts.iter().filter(|act| act.starts_with("trial ") && act.contains("A=1")).count());
        played.seconds
    };
    let (one, two) = (took(1), took(2));
    assert!(slow.get() >= 2, "the script has slow trials");
    // Full checks and rounds take what they take on one device: what is saved is half of the trials' time, nearly.
    let trials = 21.0 + 5.0 * slow.get() as f64;
    assert!(one - two > 0.35 * trials, "{one} and {two}, of which trials {trials}");
}

#[test]
fn which_device_is_faster_decides_nothing() {
    let play = |uneven_times: bool| {
        let mut script = on(3);
        if uneven_times {
            script.trial_takes = Box::new(uneven);
        }
        script.play()
    };
    let (even, odd) = (play(false), play(true));
    let configs = |played: &Played| -> Vec<String> {
        trials(played).iter().map(|line| line.split(" best").next().unwrap_or_default().to_string()).collect()
    };
    assert_eq!(configs(&even), configs(&odd));
    assert_eq!(even.config(), odd.config());
}

#[test]
fn a_record_with_gaps_is_gone_on_with() {
    let (mut script, memory) = (on(3), Memory::default());
    script.trial_takes = Box::new(uneven);
    let whole = script.play_on(&memory, false);
    let order: Vec<u64> =
        memory.trials.borrow().iter().filter(|(t, _)| t.phase == "search").map(|(t, _)| t.number).collect();
    assert!(!order.is_sorted(), "trials end in another order than they begin: {order:?}");
    for kept in 0..memory.len() {
        let again = script.play_on(&memory.cut(kept), false);
        assert_eq!(trials(&again), trials(&whole), "after {kept}");
        assert_eq!(again.config(), whole.config(), "after {kept}");
    }
    // A replay has no devices, and whoever goes on may have others.
    script.devices = 1;
    let replayed = script.play_on(&memory, true);
    assert_eq!(trials(&replayed), trials(&whole));
    assert!(replayed.acts.is_empty(), "{:?}", replayed.acts);
    assert_eq!(trials(&script.play_on(&memory.cut(9), false)), trials(&whole));
}

#[test]
fn a_fault_on_one_device_keeps_what_others_found() {
    let (mut script, memory) = (on(3), Memory::default());
    script.trial_takes = Box::new(uneven);
    let broken = {
        let whole = script.play();
        let line = trials(&whole).into_iter().find(|line| line.starts_with("trial search 4 "));
        line.and_then(|line| line.split(' ').nth(3).map(String::from)).expect("there is a fifth")
    };
    let at = broken.clone();
    script.fault =
        Box::new(move |config| (config.to_string() == at).then(|| Fault::new("measuring", "the GPU is lost")));
    let ended = script.play_on(&memory, false).ended;
    assert!(ended.is_err_and(|words| words.contains("the GPU is lost")));
    let kept: Vec<u64> =
        memory.trials.borrow().iter().filter(|(t, _)| t.phase == "search").map(|(t, _)| t.number).collect();
    assert!(!kept.contains(&4) && kept.iter().any(|number| *number > 4), "{kept:?}");
    script.fault = Box::new(|_| None);
    assert!(script.play_on(&memory, false).ended.is_ok());
}

#[test]
fn the_end_of_the_time_is_the_same_on_replay() {
    let (mut script, memory) = (on(3), Memory::default());
    (script.trial_takes, script.minutes) = (Box::new(uneven), Some(0.6));
    let whole = script.play_on(&memory, false);
    assert!(whole.heard("the time for it is used up"), "{:?}", whole.told);
    script.devices = 1;
    let replayed = script.play_on(&memory, true);
    assert_eq!(trials(&replayed), trials(&whole));
}

#[test]
fn what_had_begun_may_show_that_not_all_are_refused_alike() {
    let (mut script, memory) = (on(4), Memory::default());
    script.trial_takes = Box::new(uneven);
    // All of the first six are refused, those behind them are not.
    let first: Vec<String> = {
        let whole = script.play();
        trials(&whole).iter().take(6).filter_map(|line| line.split(' ').nth(3).map(String::from)).collect()
    };
    script.refuse = Box::new(move |config, at| {
        (at == At::Trial && first.contains(&config.to_string())).then(|| refusal(Gate::RuntimeFailed, "it crashes"))
    });
    let whole = script.play_on(&memory, false);
    assert!(whole.summary().config.is_some(), "{:?}", whole.told);
    let replayed = script.play_on(&memory, true);
    assert_eq!(trials(&replayed), trials(&whole));
    assert_eq!(replayed.config(), whole.config());
    // One of those behind is on record and one before it is not: all of them had begun.
    let gap = memory.cut(memory.len());
    gap.trials.borrow_mut().retain(|(trial, _)| trial.phase == "default" || trial.phase == "seed" && trial.number != 5);
    assert!(script.play_on(&gap, false).summary().config.is_some());
}
