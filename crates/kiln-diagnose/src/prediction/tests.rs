use proptest::prelude::*;

use super::*;

const H200: Board = Board { sms: 132, bytes_per_second: 4.8e12, flops_per_second: 66.9e12, tensor: false };

fn launch(blocks: u64, warps_per_sm: u32) -> PlannedLaunch {
    PlannedLaunch {
        kernel: "k".into(),
        blocks,
        threads: 256,
        registers: Some(32),
        spilled_bytes: 0,
        shared_bytes: 0,
        blocks_per_sm: 8,
        occupancy: f64::from(warps_per_sm) / 64.0,
        warps_per_sm,
        limited_by: "threads".into(),
    }
}

fn plan(flops: f64, bytes: f64, launch: PlannedLaunch) -> Plan {
    Plan { flops: Some(flops), bytes: Some(bytes), launches: vec![launch] }
}

#[test]
fn the_floor_is_the_tighter_roof() {
    let found = predict(&plan(1e9, 4.8e8, launch(132 * 800, 64)), &H200);
    assert_eq!(
        (found.floor_us, found.bound, found.cause),
        (Some(100.0), Some(Floor::Memory), Some(Bottleneck::AtRooflineDram))
    );
    let found = predict(&plan(66.9e9, 4.8e6, launch(132 * 800, 64)), &H200);
    assert_eq!((found.floor_us, found.cause), (Some(1000.0), Some(Bottleneck::AtRooflineFp32)));
    let tensor = Board { tensor: true, ..H200 };
    assert_eq!(predict(&plan(66.9e9, 1.0, launch(132 * 800, 64)), &tensor).cause, Some(Bottleneck::AtRooflineTensor));
    let none = predict(&Plan { launches: vec![launch(132 * 800, 64)], ..Plan::default() }, &H200);
    assert_eq!((none.floor_us, none.cause), (None, None));
}

/// The planted programs of `fixtures/ncu` whose cause shows before a run.
#[test]
fn planted_causes_that_show_before_a_run() {
    // 13_few_blocks: 16 blocks for 132 SMs, which read 2 TB/s at most.
    let few = predict(&plan(1e8, 2.7e8, launch(16, 64)), &H200);
    assert_eq!((few.cause, few.ranked[0].slowdown), (Some(Bottleneck::SmallGrid), Some(2.34)));
    let computing = predict(&plan(66.9e9, 1e6, launch(16, 64)), &H200);
    assert_eq!((computing.cause, computing.ranked[0].slowdown), (Some(Bottleneck::SmallGrid), Some(8.25)));
    // 15_one_more: 140 blocks of 1024 threads; 8 SMs have two.
    let more = predict(&plan(1e9, 1e6, PlannedLaunch { blocks_per_sm: 2, ..launch(140, 64) }), &H200);
    assert_eq!((more.cause, more.ranked[0].slowdown), (Some(Bottleneck::TailEffect), Some(1.89)));
    // 09_window: 4 warps on an SM because of shared memory, and DRAM to keep busy.
    let room = PlannedLaunch { limited_by: "shared memory".into(), ..launch(131_072, 4) };
    let found = predict(&plan(1e7, 6.7e8, room), &H200);
    assert_eq!(found.cause, Some(Bottleneck::OccupancySharedMem));
    assert!(found.ranked[0].slowdown.unwrap() > 4.0 && found.ranked[0].why.contains("4 warps"), "{found:?}");
    // 17_steps: 128 KiB, 400 launches.
    let steps = Plan { flops: None, bytes: Some(400.0 * 131_072.0), launches: vec![launch(64, 64); 400] };
    let found = predict(&steps, &H200);
    assert_eq!(found.bound, Some(Floor::Launch));
    assert!(found.ranked.iter().any(|own| own.cause == Bottleneck::LaunchBound), "{found:?}");
    // 07_state64: 200 bytes of spills, whose cost nobody knows before a run.
    let spilling = PlannedLaunch { spilled_bytes: 200, ..launch(132 * 800, 64) };
    let found = predict(&plan(1e9, 4.8e8, spilling), &H200);
    assert_eq!((found.cause, found.ranked[0].slowdown), (Some(Bottleneck::RegisterSpillLocal), None));
}

/// One block for work of a microsecond: the launch takes as long either way.
#[test]
fn a_small_grid_slows_the_work_and_not_the_launch() {
    let tiny = predict(&plan(1e3, 4e3, launch(1, 64)), &H200);
    assert_eq!((tiny.floor_us, tiny.cause), (Some(2.5), Some(Bottleneck::LaunchBound)));
    assert!(!tiny.ranked.iter().any(|own| own.cause == Bottleneck::SmallGrid), "{tiny:?}");
    // 1 us of arithmetic on all SMs is 132 us on one, 52.8 times the launch.
    let some = predict(&plan(66.9e6, 4e3, launch(1, 64)), &H200);
    assert_eq!((some.cause, some.ranked[0].slowdown), (Some(Bottleneck::SmallGrid), Some(52.8)));
}

/// Without a floor nothing is a multiple of it.
#[test]
fn without_a_cost_no_slowdown_is_known() {
    for blocks in [64, 140] {
        let launches = vec![PlannedLaunch { blocks_per_sm: 2, ..launch(blocks, 64) }];
        let found = predict(&Plan { launches, ..Plan::default() }, &H200);
        assert!(found.floor_us.is_none() && !found.ranked.is_empty(), "{found:?}");
        assert!(found.ranked.iter().all(|own| own.slowdown.is_none()), "{found:?}");
    }
}

/// Few warps suffice for tensor cores, and a limit by threads is none that registers or shared memory set.
#[test]
fn occupancy_is_blamed_only_where_it_limits() {
    let room = PlannedLaunch { limited_by: "registers".into(), ..launch(132 * 800, 4) };
    let of = |plan: &Plan, board: &Board| predict(plan, board).cause;
    assert_eq!(of(&plan(66.9e9, 1e6, room.clone()), &H200), Some(Bottleneck::OccupancyRegisters));
    assert_eq!(
        of(&plan(66.9e9, 1e6, room.clone()), &Board { tensor: true, ..H200 }),
        Some(Bottleneck::AtRooflineTensor)
    );
    let threads = PlannedLaunch { limited_by: "threads".into(), ..room };
    assert_eq!(of(&plan(1e6, 4.8e8, threads), &H200), Some(Bottleneck::AtRooflineDram));
}

proptest! {
    #[test]
    fn nothing_panics(flops in prop::option::of(0.0..1e18f64), bytes in prop::option::of(0.0..1e18f64), blocks in 0u64..1 << 40,
                      warps in 0u32..65, per_sm in 0u32..33, sms in 0u32..200, by in "(registers|shared memory|threads)") {
        let launch = PlannedLaunch { blocks_per_sm: per_sm, limited_by: by, ..launch(blocks, warps) };
        let plan = Plan { flops, bytes, launches: vec![launch] };
        let found = predict(&plan, &Board { sms, ..H200 });
        prop_assert!(found.ranked.iter().all(|own| own.slowdown.is_none_or(f64::is_finite)));
        prop_assert!(found.floor_us.is_none_or(f64::is_finite));
    }
}
