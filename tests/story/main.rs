//! The story that kiln comes from, replayed as a user types it: a broken environment, a template error, too much shared memory, 0.09x, two
//! blind changes, a claim that nobody measured, a misaligned copy, a fix and a confirmed win; and a second session over the same kernel.
//! It runs on the processor, with logs and profiles that were captured on an H200. Kernels differ by the work they do, many times over, so
//! that a busy machine changes nothing.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod scene;

use scene::Scene;

/// What was captured on the GPU.
const SANITIZED: &str = "fixtures/sanitizer/h200/b01_tileload_planted.memcheck.txt";
const PROFILED: &str = "fixtures/ncu/h200/p03_smallmat_planted.raw.csv";

const BENCH: &str = "bench tile --target cpu --samples 25 --max-samples 25";
const TUNE: &str = "tune tile --target cpu --samples 25 --no-ablation --target-speedup 1.2";

/// Rounds of the same work, so that every version is as many times as slow as the next.
const BASELINE: u32 = 8;
const SLOW: u32 = 96;

#[test]
fn the_story_is_told_as_it_happens_and_the_second_session_is_shorter() {
    let scene = Scene::new("story", BASELINE);
    scene.at("assess", "nothing is recorded yet");
    scene.kiln(&["session", "start", "tile", "--goal", "1.2x", "--budget", "3h", "--price", "3.5/h"]).exits(0);

    // The environment is broken. Long commands do not start, and `next` sends nobody anywhere else.
    let broken = scene.without_compiler("doctor tile");
    broken.exits(1).says("environment_validation");
    assert_eq!(scene.next_without_compiler()["node"], "mend");
    scene.run("doctor tile").exits(0);
    scene.at("first_check", "the machine is fit");

    // A template that nothing instantiates.
    scene.source("template <int N> void tile(const float *x, float *y, int64_t n) { for (int i = 0; i < n; i += N) y[i] = 2 * x[i]; }\n");
    scene.run("check tile --target cpu").exits(3).teaches("explicit_instantiation");
    scene.at("build", "it cannot be linked");
    scene.rounds(SLOW);
    scene.run("check tile --target cpu").exits(0);
    scene.at("measure", "it is correct, and nobody knows how fast");

    // More stages than a block has shared memory for: refused before anything is built, on a machine without a GPU.
    let overflow = scene.run("gate tile --target cuda --arch sm_90a --config STAGES=4 --static");
    overflow.exits(3).says("smem_overflow").teaches("shared_memory_budget");
    scene.at("loosen", "a limit of the device");

    // 0.09x, and two changes by guess.
    let first = scene.run(BENCH);
    first.exits(0).warns("of the baseline and was not profiled").warns("kiln lessons show profile_before_optimising");
    scene.at("profile", "far below the baseline");
    let mut before = scene.best_speedup();
    assert!(before < 0.2, "{before}");
    for (change, rounds) in [3 * SLOW, 9 * SLOW].into_iter().enumerate() {
        scene.rounds(rounds);
        scene.at("profile_blind", "a change without a profile is a guess");
        let guessed = scene.run(BENCH);
        guessed.exits(0).warns("a blind change: ").warns("kiln lessons show profile_before_optimising");
        let now = scene.last_speedup();
        assert!(now < before, "{now} after {before}");
        before = now;
        if change == 1 {
            guessed.warns("tile gets slower: ").warns("kiln lessons show revert_what_got_worse");
        }
    }
    assert_eq!(scene.status()["blind"].as_array().unwrap().len(), 2);

    // A claim that nobody measured.
    let claim = "[[claims]]\nclaim = \"1.2-2.4x\"\nwhere = \"a talk\"\nkernel = \"tile\"\nbaseline = \"plain\"\nspeedup = [1.2, 2.4]\ntarget = \"cpu\"\n";
    scene.write("claims.toml", claim);
    scene.run("claims claims.toml --samples 25 --max-samples 25").exits(5).says("refuted").teaches("trust_numbers");
    scene.at("profile", "a claim is no profile");

    // Counters name the bottleneck at last, and a sanitizer the bug.
    let profile = scene.kiln(&["diagnose", "tile", "--ncu", &scene.fixture(PROFILED)]);
    profile.exits(0).says("shared_bank_conflict").teaches("bank_conflicts");
    assert_eq!(scene.at("fix", "the profile names a cause")["facts"]["cause"], "shared_bank_conflict");
    let sanitized = scene.kiln(&["diagnose", "tile", "--sanitizer", &scene.fixture(SANITIZED)]);
    sanitized.exits(3).says("misaligned_shared").teaches("async_copy_row_alignment");
    assert_eq!(scene.at("fix_fault", "a copy is misaligned")["facts"]["fault_cause"], "misaligned_shared");

    // A fix, by a hypothesis, and a win that is confirmed.
    scene.rounds(1);
    let fixed = scene.kiln(&["try", "rows are 2 bytes off", "--", "kiln", "check", "tile", "--target", "cpu"]);
    fixed.exits(0);
    scene.at("remeasure", "it was profiled before, and is checked");
    scene.run(TUNE).exits(0).warns("the goal is reached: ");
    scene.at("stop", "the goal is reached");
    let ended = scene.run("session end --out first");
    ended.exits(0).says("rows are 2 bytes off").says("grade ");
    let first = scene.json("session report last --json");
    let (row, lessons) = (&first["row"], first["lessons_used"].to_string());
    assert_eq!((&row["blind"], &row["repeated"]), (&2.into(), &0.into()), "{first:#}");
    for lesson in ["explicit_instantiation", "shared_memory_budget", "async_copy_row_alignment", "trust_numbers"] {
        assert!(lessons.contains(lesson), "{lesson}: {lessons}");
    }
    assert!(row["time_to_bottleneck_s"].is_number() && row["speedup"].as_f64().unwrap() > 1.2, "{row:#}");
    scene.at("next_bottleneck", "twice as fast as asked for");

    // The same kernel as it was, once more. What was learned stands beside the first failure, and no step is a guess.
    scene.rounds(SLOW);
    scene.run("session start tile --goal 1.2x").exits(0);
    let again = scene.kiln(&["diagnose", "tile", "--sanitizer", &scene.fixture(SANITIZED)]);
    again.exits(3).says("met 2 times here, put right once, in ");
    scene.rounds(1);
    scene.run(TUNE).exits(0).warns("the goal is reached: ");
    let second = scene.json("session end --json");
    let attempts = |report: &serde_json::Value| report["row"]["attempts_to_best"].as_u64().unwrap();
    assert!(2 * attempts(&second) < attempts(&first), "{} and {}", attempts(&second), attempts(&first));
    assert_eq!((&second["row"]["blind"], &second["row"]["repeated"]), (&0.into(), &1.into()), "{second:#}");
    let said = format!("shorter: {} attempts to ", attempts(&second));
    let took = format!(" took {} to ", attempts(&first));
    scene.run("session report last").exits(0).says(&said).says(&took);
    scene.run("session report last --markdown").exits(0).says(&said);
}
