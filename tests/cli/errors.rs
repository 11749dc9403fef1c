//! What a user sees when something is wrong: message, hint and exit code.

use std::fs::File;

use crate::run::{empty_folder, kiln, kiln_in};

#[test]
fn mistakes_on_the_command_line_are_explained() {
    let lines = [
        "space nowhere",
        "space docs",
        "space README.md",
        "space kernels/attention --arch sm_9O",
        "space kernels/attention --target cpuu",
        "space kernels/attention --workload s512",
        "space kernels/attention --variant T=f32",
        "gate kernels/attention --config BLOCK_M",
        "gate kernels/attention --config BLOCK_M=65,WARP=4",
        "gate fixtures/attention_original --config BLOCK_M=64,BLOCK_N=64",
    ];
    let mut all = String::new();
    for line in lines {
        let ran = kiln(line);
        assert_eq!(ran.code, 2, "{line}");
        assert_eq!(ran.out, "", "{line}");
        all.push_str(&format!("$ kiln {line}\n{}\n", ran.err));
    }
    insta::assert_snapshot!("command_line_mistakes", all);
}

#[test]
fn errors_are_json_too_when_asked_for() {
    let ran = kiln("space nowhere --json");
    let object: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(object["errors"][0]["severity"], "error");
    assert!(object["errors"][0]["message"].as_str().unwrap().contains("nowhere"));
    assert_eq!(ran.code, 2);
}

#[test]
fn a_file_of_100_megabytes_is_refused_unread() {
    let folder = empty_folder("large_file");
    // Sparse: it takes no room and no time to make.
    File::create(folder.join("kernel.toml")).unwrap().set_len(100_000_000).unwrap();
    let ran = kiln_in(&folder, &["space", "."]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("100"), "{}", ran.err);
}

#[test]
fn a_rule_that_divides_by_zero_names_the_values() {
    let folder = empty_folder("zero_division");
    let file = "[kernel]\nname = \"z\"\n[tunables]\nA = [0, 2, 3]\nB = [4, 6]\n[constraints]\n\
                divides = \"B % A == 0\"\n[target.cpu]\nsource = \"z.c\"\n";
    std::fs::write(folder.join("kernel.toml"), file).unwrap();
    let ran = kiln_in(&folder, &["space", "."]);
    assert_eq!(ran.code, 2);
    insta::assert_snapshot!("zero_division", ran.err);
    // Refused by a rule of its own, the same value does no harm.
    let guarded = file.replace("[constraints]\n", "[constraints]\npositive = \"A > 0\"\n");
    std::fs::write(folder.join("kernel.toml"), guarded).unwrap();
    assert_eq!(kiln_in(&folder, &["space", ".", "--list"]).out, "A=2,B=4\nA=2,B=6\nA=3,B=6\n");
}

#[test]
fn wrong_json_is_explained() {
    let folder = empty_folder("wrong_json");
    let cases = [
        ("broken.json", "{\"ConfigurationSpace\": {\n  \"TuningParameters\": [}"),
        ("other.json", "{\"a\": 1}"),
        (
            "typo.json",
            "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"block_x\", \"Values\": \"[1, 2]\"}],\n\
             \"Conditions\": [{\"Expression\": \"blok_x > 1\"}]}}",
        ),
        (
            "values.json",
            "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"x\", \"Values\": \"np.arange(3)\"}]}}",
        ),
        ("empty.json", "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"x\", \"Values\": \"[]\"}]}}"),
    ];
    let mut all = String::new();
    for (name, text) in cases {
        std::fs::write(folder.join(name), text).unwrap();
        let ran = kiln_in(&folder, &["space", name]);
        assert_eq!(ran.code, 2, "{name}");
        all.push_str(&format!("{}\n", ran.err));
    }
    insta::assert_snapshot!("wrong_json", all);
}

#[test]
fn a_full_disk_or_closed_stderr_is_no_panic() {
    use std::process::Command;
    for line in [
        "space fixtures/spaces/gemm.json --json >/dev/full",
        "space nowhere 2>/dev/full",
        "space nowhere --json >/dev/full",
    ] {
        let shell = format!("{} {line}", env!("CARGO_BIN_EXE_kiln"));
        let ended = Command::new("sh").args(["-c", &shell]).current_dir(crate::run::root()).output().unwrap();
        assert!(matches!(ended.status.code(), Some(1 | 2)), "{line}: {:?}", ended.status);
    }
}

#[test]
fn work_and_memory_are_bounded() {
    let folder = empty_folder("entangled");
    let names = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L"];
    let lists: String = names.iter().map(|n| format!("{n} = {{ from = 0, to = 40 }}\n")).collect();
    let mut rules = String::new();
    for (i, a) in names.iter().enumerate() {
        names[..i].iter().for_each(|b| rules.push_str(&format!("{a}{b} = \"{a} != {b}\"\n")));
    }
    let file =
        format!("[kernel]\nname = \"e\"\n[tunables]\n{lists}[constraints]\n{rules}[target.cpu]\nsource = \"e.c\"\n");
    std::fs::write(folder.join("kernel.toml"), file).unwrap();
    let ran = kiln_in(&folder, &["space", "."]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("the constraints on A, B, C"), "{}", ran.err);
    let many = kiln_in(
        &folder,
        &["space", &format!("{}/fixtures/spaces/gemm.json", crate::run::root().display()), "--sample", "99999999999"],
    );
    assert_eq!(many.code, 2, "{}", many.err);
}

#[test]
fn a_default_that_breaks_a_rule_is_warned_about() {
    let folder = empty_folder("bad_default");
    let file = "[kernel]\nname = \"d\"\n[tunables]\nA = [16, 64]\nB = [1, 4]\n[default]\nA = 16\nB = 4\n[constraints]\n\
                rows = \"A % (16 * B) == 0\"\n[target.cpu]\nsource = \"d.c\"\n";
    std::fs::write(folder.join("kernel.toml"), file).unwrap();
    let ran = kiln_in(&folder, &["space", "."]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("the default configuration is refused by rows: 16 == 0"), "{}", ran.err);
}
