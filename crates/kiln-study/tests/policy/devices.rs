//! Several devices: as many trials at a time, told in order, and the same record gives the same study.

use crate::memory::Memory;
use crate::scripted::{Script, tried};

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
