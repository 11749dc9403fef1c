//! The lessons that are part of kiln: `lessons/*.toml` at the root of the repository, one file each.

use std::sync::OnceLock;

use super::Lesson;
use super::parse::read;

macro_rules! files {
    ($($id:literal,)*) => {
        &[$(($id, include_str!(concat!("../../../../lessons/", $id, ".toml"))),)*]
    };
}

/// Every file, by name. A test holds this against the folder.
const FILES: &[(&str, &str)] = files![
    "a_kernel_computes",
    "abi_mismatch",
    "async_copy_row_alignment",
    "async_copy_wait",
    "at_the_roofline",
    "atomic_contention",
    "bank_conflicts",
    "barrier_stalls",
    "baseline_first",
    "bisect_before_archaeology",
    "clean_tools_wrong_result",
    "coalesced_access",
    "compare_with_the_state_of_the_art",
    "compile_time_assertions",
    "correctness_early",
    "counters_forbidden",
    "dependent_loads",
    "design_for_the_chip",
    "divergent_barrier",
    "double_literals",
    "driver_too_old",
    "dynamic_shared_memory_limit",
    "environment_validation",
    "explicit_instantiation",
    "exponentials_cost",
    "fallback_ran",
    "hang",
    "host_headers_under_nvrtc",
    "illegal_address",
    "independent_sums",
    "index_modulo_tile",
    "install_the_tools",
    "keep_the_gpu_warm",
    "know_when_to_stop",
    "launch_limits",
    "launch_overhead_apart",
    "leaking_launcher",
    "lucky_timings",
    "measure_before_optimising",
    "missing_barrier",
    "missing_proxy_fence",
    "moving_result",
    "narrow_loads",
    "no_exceptions_to_the_environment",
    "no_gpu_here",
    "occupancy_is_a_means",
    "one_compilation_unit",
    "persisting_l2",
    "preemptible_machines",
    "profile_before_optimising",
    "quiet_machine",
    "read_only_inputs",
    "report_progress",
    "revert_what_got_worse",
    "room_on_the_disk",
    "seven_step_debugging",
    "shared_memory_budget",
    "softmax_maximum",
    "spills_from_launch_bounds",
    "tail_guard",
    "tensor_cores_idle",
    "trust_numbers",
    "uninitialised_memory",
    "unwritten_tail",
    "values_on_the_stack",
    "vector_load_alignment",
    "vectorised_loop",
    "warp_divergence",
    "wgmma_needs_sm_90a",
    "wgmma_serialised",
];

/// Every lesson, by name. A file that cannot be read is left out; a test makes sure that there is none.
pub fn shipped() -> &'static [Lesson] {
    static LESSONS: OnceLock<Vec<Lesson>> = OnceLock::new();
    LESSONS.get_or_init(|| {
        let read = |(id, text): &(&str, &str)| read(&format!("{id}.toml"), text, false).ok();
        FILES.iter().filter_map(read).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons::parse;

    #[test]
    fn every_file_of_the_folder_is_shipped_and_whole() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lessons");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".toml")?.to_string())).collect();
        names.sort();
        assert_eq!(names, FILES.iter().map(|(id, _)| *id).collect::<Vec<_>>(), "lessons/*.toml, by name");
        for (id, text) in FILES {
            let lesson = parse(&format!("lessons/{id}.toml"), text).unwrap_or_else(|reports| {
                panic!("{}", reports.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
            });
            assert!(lesson.evidence.is_some(), "{id} states no evidence");
            assert!(lesson.title.len() <= 90 && !lesson.title.ends_with('.'), "{id}: {}", lesson.title);
            for sentence in [&lesson.cause, &lesson.remedy] {
                assert!(sentence.ends_with('.'), "{id}: {sentence}");
            }
        }
        assert_eq!(shipped().len(), FILES.len());
    }
}
