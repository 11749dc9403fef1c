//! The metrics of a quick profile are enough: a page with nothing else gives the same diagnosis as one with everything.

#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::BufReader;

use kiln_diagnose::profile::{Launch, Pages, ProfileDiagnosis, Subject, diagnose, quick_metrics};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu");

fn pages() -> Vec<Pages> {
    let given = ["p01_scalebias", "p03_smallmat", "p05_stage", "p10_ops8", "p13_logistic", "p17_axpy"];
    let given = given.iter().flat_map(|name| ["planted", "fixed"].map(|kind| format!("h200/{name}_{kind}.raw.csv")));
    let all = given.chain(["recorded/planted.raw.csv".to_string()]);
    all.map(|path| Pages::read(BufReader::new(File::open(format!("{FOLDER}/{path}")).unwrap())).unwrap()).collect()
}

#[test]
fn a_quick_profile_decides_like_a_full_one() {
    let names = quick_metrics((9, 0)).unwrap();
    let mut seen = 0;
    for kernel in pages().iter().flat_map(|page| &page.kernels) {
        let full = Subject::of(kernel);
        let mut launch = Launch::default();
        for name in &names {
            if let Some(value) = full.launch.get(name) {
                launch.set(name, value);
            }
        }
        let quick = Subject { launch, ..full.clone() };
        // The roofline's picture alone needs more.
        let decided = |subject: &Subject| ProfileDiagnosis { position: None, ..diagnose(subject) };
        assert_eq!(decided(&quick), decided(&full), "{}", kernel.name);
        seen += 1;
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn every_metric_of_it_is_on_the_page_of_a_real_device() {
    let page = File::open(format!("{FOLDER}/h200/p03_smallmat_planted.raw.csv")).unwrap();
    let header =
        std::io::BufRead::lines(BufReader::new(page)).map_while(Result::ok).find(|line| line.starts_with("\"ID\""));
    let header = header.unwrap();
    for name in quick_metrics((9, 0)).unwrap() {
        assert!(header.contains(&format!("\"{name}\"")), "{name}");
    }
    assert_eq!(quick_metrics((8, 0)), None);
}
