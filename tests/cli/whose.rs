//! Whose study it is: kernels are known by name and folder, and nothing is taken from another one's record.

use std::path::Path;

use crate::history::{json, tiny, tune};
use crate::run::{empty_folder, kiln_in};
use crate::twice;

/// A copy of the kernel under another name.
fn renamed(folder: &Path, name: &str) {
    let to = folder.join(name);
    std::fs::create_dir_all(&to).unwrap();
    for file in ["kernel.toml", "tiny.c", "tiny.cu", "naive.c"] {
        let text = std::fs::read_to_string(folder.join("tiny").join(file)).unwrap();
        let text = text.replace("name = \"tiny\"", &format!("name = \"{name}\""));
        std::fs::write(to.join(file), text).unwrap();
    }
}

#[test]
fn another_kernels_study_is_not_replayed_or_resumed_and_the_file_is_not_blamed() {
    let folder = tiny("whose_name");
    renamed(&folder, "other");
    let ran = tune(&folder, &[]);
    assert!(matches!(ran.code, 0 | 4), "{}{}", ran.out, ran.err);
    let id = json(&folder, &["history", "--json"])["studies"][0]["short_id"].as_str().unwrap().to_string();
    for flag in ["--replay", "--resume"] {
        let ran = kiln_in(&folder, &["tune", "other", "--target", "cpu", flag, &id]);
        assert_eq!(ran.code, 2, "{flag}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(&format!("study {id} tuned tiny, not other")), "{flag}: {}", ran.err);
        assert!(!ran.err.contains("has changed"), "{flag}: {}", ran.err);
    }
}

#[test]
fn kernels_of_one_name_in_two_folders_share_no_studies_and_no_winners() {
    let folder = empty_folder("whose_folder");
    ["a/twice", "b/twice"].iter().for_each(|path| twice::written(&folder.join(path)));
    twice::tune(&folder, "a/twice", &[]);
    let ran = kiln_in(&folder, &["tune", "b/twice", "--replay", "last"]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("tuned another twice, the one in /") && ran.err.contains("/a/twice"), "{}", ran.err);
    let ran = kiln_in(&folder, &["bench", "b/twice", "--study", "last"]);
    assert!(ran.code == 2 && ran.err.contains("tuned another twice"), "{}{}", ran.out, ran.err);
    twice::tune(&folder, "b/twice", &[]);
    // However the path is typed.
    twice::tune(&folder, "./a/twice/kernel.toml", &["--seed", "2", "--no-prior"]);
    let studies = |path: &str| json(&folder, &["history", path, "--json"])["studies"].as_array().unwrap().len();
    assert_eq!((studies("a/twice"), studies("b/twice"), studies("twice")), (2, 1, 3));
    let ran = kiln_in(&folder, &["bench", "b/twice", "--samples", "25", "--max-samples", "25"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let runs = |path: &str| json(&folder, &["history", path, "--json"])["runs"].as_array().unwrap().len();
    assert_eq!((runs("a/twice"), runs("b/twice"), runs("twice")), (0, 1, 1));
    let mut paths: Vec<String> = std::fs::read_dir(folder.join(".kiln/best"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path().join("best.toml")).unwrap())
        .map(|text| text.lines().find(|line| line.starts_with("path = ")).unwrap().to_string())
        .collect();
    paths.sort();
    assert_eq!(paths.len(), 2, "{paths:?}");
    assert!(paths.iter().any(|line| line.contains("b/twice")), "{paths:?}");
}

#[test]
fn a_variant_does_not_overwrite_another_and_history_names_it() {
    let folder = twice::folder("whose_variant");
    twice::tune(&folder, "twice", &["--variant", "T=f32"]);
    let ran = twice::tune(&folder, "twice", &["--variant", "T=f64"]);
    assert!(ran.out.contains("best_cpu_T_f64.h"), "{}", ran.out);
    let best = std::fs::read_to_string(folder.join(".kiln/best/twice/best.toml")).unwrap();
    for variant in ["T=f32", "T=f64"] {
        for line in [format!("[cpu.\"{variant}\"]"), format!("[cpu.\"{variant}\".config]")] {
            assert_eq!(best.lines().filter(|l| **l == line).count(), 1, "{line}\n{best}");
        }
    }
    let history = kiln_in(&folder, &["history"]).out;
    assert!(history.contains("cpu T=f32") && history.contains("cpu T=f64"), "{history}");
}

#[test]
fn the_next_command_asks_for_the_same_thing_and_can_be_typed() {
    let folder = empty_folder("whose_next");
    twice::written(&folder.join("my kernels"));
    let asked = ["--variant", "T=f64", "--target", "cpu", "--workload", "only", "--target-speedup", "1000"];
    let ran = twice::tune(&folder, "my kernels", &asked);
    assert_eq!(ran.code, 4, "{}", ran.out);
    // All of two configurations were tried: more trials would be none.
    assert!(ran.out.contains(" --importance") && !ran.out.contains("--trials"), "{}", ran.out);
    // With room left, more trials of the same.
    let file = folder.join("my kernels/kernel.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("WAY = [1, 2]", "WAY = { from = 1, to = 40 }")).unwrap();
    let ran = twice::tune(&folder, "my kernels", &[&asked[..], &["--trials", "2", "--threads", "2"]].concat());
    let again = ran.out.lines().find(|line| line.contains("kiln tune")).unwrap_or_else(|| panic!("{}", ran.out));
    let expected = "kiln tune 'my kernels' --target cpu --workload only --variant T=f64 --samples 25 --threads 2 \
                    --trials 4 --target-speedup 1000 --no-stop --no-ablation";
    assert_eq!(again.trim(), expected);
}

#[test]
fn a_study_without_a_valid_candidate_points_at_gate_for_the_same_variant() {
    let folder = twice::folder("whose_gate");
    twice::rewrite(&folder, "twice.c", "2 * x[i]", "3 * x[i]");
    let ran = kiln_in(&folder, &["tune", "twice", "--variant", "T=f64", "--samples", "25", "--threads", "2"]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    let next: Vec<&str> = ran.out.lines().skip_while(|line| *line != "next").skip(1).map(str::trim).collect();
    assert!(next[0].starts_with("kiln show ") && next[0].ends_with(" --refusals"), "{next:?}");
    assert_eq!(next[1], "kiln gate twice --variant T=f64");
    assert_eq!(kiln_in(&folder, &next[1].split(' ').skip(1).collect::<Vec<_>>()).code, 3);
}

#[test]
fn a_store_that_is_shared_knows_whose_benchmarks_are_whose() {
    let folder = empty_folder("whose_shared");
    let (a, b) = (folder.join("a"), folder.join("b"));
    [&a, &b].iter().for_each(|one| twice::written(&one.join("twice")));
    let store = folder.join("all.db");
    let store = store.to_str().unwrap();
    let ran = kiln_in(&a, &["bench", "twice", "--samples", "25", "--max-samples", "25", "--store", store]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let runs = |folder: &Path| json(folder, &["history", "twice", "--json", "--store", store])["runs"].clone();
    let count = |folder: &Path| runs(folder).as_array().unwrap().len();
    assert_eq!((count(&a), count(&b)), (1, 0), "{}", runs(&b));
}
