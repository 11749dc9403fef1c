//! What `kiln diagnose` says beside a single page: two profiles compared, pictures, hot lines, reports that ncu reads, and predictions.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::run::{empty_folder, json as printed, kiln, kiln_in, root};

const PAGES: &str = "fixtures/ncu/h200";

#[test]
fn a_repair_is_compared_with_what_it_repaired() {
    let (planted, fixed) =
        (format!("{PAGES}/p01_scalebias_planted.raw.csv"), format!("{PAGES}/p01_scalebias_fixed.raw.csv"));
    let found = printed(&format!("diagnose --ncu {fixed} --against {planted} --json"));
    let kernel = &found["kernels"][0];
    assert_eq!(kernel["changed"][0]["cause"], json!("uncoalesced_global"), "{found:#}");
    assert!(kernel["speedup"].as_f64().unwrap() > 6.0 && kernel["explained"].as_f64().unwrap() > 0.9, "{found:#}");
    let told = kiln(&format!("diagnose --ncu {planted} --against {fixed}")).out;
    assert!(told.starts_with("scale_bias: 1390 us against 206 us: 6.7"), "{told}");
    assert!(told.contains("slower\n  uncoalesced_global only here: ") && told.contains("explains 100 %"), "{told}");
    assert!(told.contains("memory_l2_theoretical_sectors_global = 1.342e8, there 1.678e7"), "{told}");
    assert!(told.contains("  work: L2 is busy for ") && told.contains("  waiting: "), "{told}");
    let same = kiln(&format!("diagnose --ncu {fixed} --against {fixed}"));
    assert!(same.code == 0 && same.out.contains("no difference in time"), "{}{}", same.out, same.err);
}

#[test]
fn kernels_are_matched_by_name_and_strangers_are_refused() {
    let (planted, fixed) = ("fixtures/ncu/recorded/planted.raw.csv", "fixtures/ncu/recorded/fixed.raw.csv");
    let found = printed(&format!("diagnose --ncu {fixed} --against {planted} --json"));
    assert_eq!(found["kernels"].as_array().unwrap().len(), 10, "{found:#}");
    assert!(found["only_against"].as_array().unwrap().len() > 40 && found.get("only_here").is_none());
    let folder = empty_folder("diagnose-strangers");
    let page = |names: [&str; 2]| {
        let rows = names.map(|name| format!("\"0\",\"{name}(int)\",\"1000\"\n")).concat();
        format!("\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"ns\"\n{rows}")
    };
    std::fs::write(folder.join("a.csv"), page(["one", "two"])).unwrap();
    std::fs::write(folder.join("b.csv"), page(["three", "four"])).unwrap();
    let ran = kiln_in(&folder, &["diagnose", "--ncu", "a.csv", "--against", "b.csv"]);
    assert!(ran.code == 2 && ran.err.contains("have no kernel in common"), "{} {}", ran.code, ran.err);
    assert!(ran.err.contains("a.csv has one(int), two(int); b.csv has three(int), four(int)"), "{}", ran.err);
    std::fs::write(folder.join("c.csv"), "\"ID\",\"Kernel Name\"\n\"\",\"\"\n\"0\",\"one(int)\"\n").unwrap();
    let ran = kiln_in(&folder, &["diagnose", "--ncu", "c.csv", "--against", "a.csv"]);
    assert!(ran.code == 2 && ran.err.contains("gpu__time_duration.sum was not collected"), "{} {}", ran.code, ran.err);
}

#[test]
fn pictures_go_into_a_folder_and_onto_the_terminal() {
    let folder = empty_folder("diagnose-svg");
    let page = root().join(PAGES).join("p03_smallmat_planted.raw.csv");
    let ran = kiln_in(&folder, &["diagnose", "--ncu", page.to_str().unwrap(), "--svg", "new/folder", "--verbose"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for name in ["roofline.svg", "units.svg", "stalls.svg"] {
        let svg = std::fs::read_to_string(folder.join("new/folder").join(name)).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{name}");
        assert!(ran.err.contains(&format!("wrote new/folder/{name}")), "{}", ran.err);
    }
    assert!(
        ran.out.contains("under the roofs: / DRAM peak 4.8") && ran.out.contains("how busy each unit is"),
        "{}",
        ran.out
    );
    std::fs::write(folder.join("file"), "").unwrap();
    let ran = kiln_in(&folder, &["diagnose", "--ncu", page.to_str().unwrap(), "--svg", "file"]);
    assert!(ran.code == 1 && ran.err.contains("making file for the pictures"), "{} {}", ran.code, ran.err);
}

/// The raw page of one planted program out of the page of all.
fn page_of(kernel: &str, file: &Path) {
    let all = std::fs::read_to_string(root().join("fixtures/ncu/recorded/planted.raw.csv")).unwrap();
    let kept =
        |line: &&str| line.starts_with("\"ID\"") || line.starts_with("\"\"") || line.contains(&format!(",\"{kernel}("));
    let rows: String = all.split_inclusive('\n').filter(kept).collect();
    std::fs::write(file, rows).unwrap();
}

#[test]
fn the_source_page_names_the_hot_lines() {
    let folder = empty_folder("diagnose-hot");
    page_of("spmv", &folder.join("raw.csv"));
    let page = root().join("fixtures/ncu/source/planted.cuda_sass.csv");
    let source = root().join("fixtures/ncu/planted/43_spmv.cu");
    let flags = |more: &[&'static str]| {
        let mut all = vec![
            "diagnose",
            "--ncu",
            "raw.csv",
            "--source",
            source.to_str().unwrap(),
            "--source-page",
            page.to_str().unwrap(),
        ];
        all.extend(more);
        kiln_in(&folder, &all)
    };
    let found: Value = serde_json::from_str(&flags(&["--json"]).out).unwrap();
    let line = &found["hot_lines"][0];
    assert_eq!(
        (&line["line"], &line["by"]),
        (&json!(16), &json!("L2 Theoretical Sectors Global Excessive")),
        "{found:#}"
    );
    let told = flags(&[]).out;
    assert!(
        told.contains("hot lines, by L2 Theoretical Sectors Global Excessive:\n  100 %  43_spmv.cu:16: for (int k"),
        "{told}"
    );
    page_of("histogram", &folder.join("raw.csv"));
    let told = flags(&[]).out;
    assert!(told.contains("note: the source page has no kernel histogram("), "{told}");
}

/// A program in the place of ncu that prints a page, or fails.
fn with_ncu(folder: &Path, script: &str, arguments: &[&str]) -> (String, String, i32) {
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::write(bin.join("ncu"), format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(bin.join("ncu"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    let output = command.args(arguments).current_dir(folder).env("PATH", path).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap_or(-1))
}

#[test]
fn reports_are_read_by_ncu() {
    let folder = empty_folder("diagnose-report");
    page_of("spmv", &folder.join("raw.csv"));
    std::fs::write(folder.join("spmv.ncu-rep"), "a report").unwrap();
    let source = root().join("fixtures/ncu/source/planted.cuda_sass.csv");
    let script =
        format!("case \"$*\" in\n*'--page source'*) cat {} ;;\n*'--page raw'*) cat raw.csv ;;\nesac", source.display());
    let (out, err, code) = with_ncu(&folder, &script, &["diagnose", "--ncu", "spmv.ncu-rep", "--json"]);
    assert_eq!(code, 0, "{out}{err}");
    let found: Value = serde_json::from_str(&out).unwrap();
    assert!(found["kernel"].as_str().unwrap().starts_with("spmv("), "{found:#}");
    assert_eq!(found["hot_lines"][0]["line"], json!(16), "{found:#}");
    let (_, err, code) =
        with_ncu(&folder, "echo '==ERROR== The file is damaged' >&2; exit 1", &["diagnose", "--ncu", "spmv.ncu-rep"]);
    assert!(
        code == 1 && err.contains("ncu cannot read spmv.ncu-rep") && err.contains("The file is damaged"),
        "{code} {err}"
    );
    let none = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["diagnose", "--ncu", "spmv.ncu-rep"])
        .current_dir(&folder)
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    let err = String::from_utf8(none.stderr).unwrap();
    assert!(none.status.code() == Some(1) && err.contains("ncu is not installed here"), "{err}");
    assert!(err.contains("ncu --import spmv.ncu-rep --csv --page raw"), "{err}");
}

#[test]
fn kernels_are_predicted_for_boards_that_are_not_here() {
    let found = printed("diagnose kernels/matmul --predict --board h200 --json");
    assert_eq!((&found["prediction"], &found["board"]), (&json!(true), &json!("NVIDIA H200")), "{found:#}");
    let square = &found["workloads"][0];
    // 2 x 4096^3 operations at 989.4 TFLOP/s.
    assert_eq!((&square["floor_us"], &square["bound"]), (&json!(139.0), &json!("compute")), "{found:#}");
    assert_eq!(square["launches"][0]["blocks"], json!(512), "{found:#}");
    let told = kiln("diagnose kernels/matmul --predict --arch sm_89").out;
    assert!(
        told.starts_with(
            "prediction of matmul for NVIDIA GeForce RTX 4090 (sm_89, by its datasheet); nothing was run\n"
        ),
        "{told}"
    );
    assert!(told.contains("likely bottleneck: "), "{told}");
    let ran = kiln("diagnose kernels/softmax --predict");
    assert!(ran.code == 2 && ran.err.contains("target cpu runs on the processor"), "{} {}", ran.code, ran.err);
    let ran = kiln("diagnose kernels/matmul --predict --board h20");
    assert!(ran.code == 2 && ran.err.contains("no board `h20` is known"), "{} {}", ran.code, ran.err);
    let ran = kiln("diagnose kernels/matmul");
    assert!(ran.code == 2, "a path alone says nothing: {}", ran.err);
}
