use kiln_app::{ProfileDiagnoseRequest, Project, Stop, diagnose_profile};

use super::*;

/// A profile of the fixtures.
fn profile(name: &str) -> ProfileDiagnosis {
    let page = format!("{}/../../fixtures/ncu/h200/{name}.csv", env!("CARGO_MANIFEST_DIR")).into();
    let project = Project::here(None, Stop::never());
    diagnose_profile(&project, &ProfileDiagnoseRequest { page, ..ProfileDiagnoseRequest::default() }).unwrap().diagnosis
}

const ALL: [&str; 12] = [
    "p01_scalebias_planted.raw",
    "p01_scalebias_fixed.raw",
    "p03_smallmat_planted.raw",
    "p03_smallmat_fixed.raw",
    "p05_stage_planted.raw",
    "p05_stage_fixed.raw",
    "p10_ops8_planted.raw",
    "p10_ops8_fixed.raw",
    "p13_logistic_planted.raw",
    "p13_logistic_fixed.raw",
    "p17_axpy_planted.raw",
    "p17_axpy_fixed.raw",
];

/// The places of every text: baseline, start and end, by the width of its letters.
fn boxes(svg: &str) -> Vec<(f64, f64, f64, String)> {
    let attribute = |tag: &str, name: &str| {
        let rest = tag.split_once(&format!(" {name}=\""))?.1;
        Some(rest.split('"').next()?.to_owned())
    };
    svg.split("<text ")
        .skip(1)
        .filter_map(|piece| {
            let (tag, rest) = piece.split_once('>')?;
            let tag = format!(" {tag}");
            let words = rest.split('<').next()?.to_owned();
            let size = if tag.contains("\"title\"") { 9.0 } else { 6.6 };
            let length = size * words.chars().count() as f64;
            let x: f64 = attribute(&tag, "x")?.parse().ok()?;
            let from = match attribute(&tag, "text-anchor").as_deref() {
                Some("end") => x - length,
                Some("middle") => x - length / 2.0,
                _ => x,
            };
            Some((attribute(&tag, "y")?.parse().ok()?, from, from + length, words))
        })
        .collect()
}

#[test]
fn no_label_overlaps_another_or_leaves_the_picture() {
    for name in ALL {
        let diagnosis = profile(name);
        let files = ProfilePictures { diagnosis: &diagnosis }.files();
        assert_eq!(files.len(), 3, "{name}");
        for (file, svg) in files {
            let width: f64 = svg.split("width=\"").nth(1).and_then(|w| w.split('"').next()).unwrap().parse().unwrap();
            let texts = boxes(&svg);
            for (index, (y, from, to, words)) in texts.iter().enumerate() {
                assert!(*from >= 0.0 && *to <= width, "{name} {file}: {words} from {from} to {to} of {width}");
                for (other_y, other_from, other_to, other) in &texts[index + 1..] {
                    let apart = (y - other_y).abs() >= 11.0 || to <= other_from || other_to <= from;
                    assert!(apart, "{name} {file}: `{words}` over `{other}`");
                }
            }
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name} {file}");
        }
    }
}

#[test]
fn every_figure_is_written_beside_its_bar() {
    let diagnosis = profile("p01_scalebias_planted.raw");
    let files = ProfilePictures { diagnosis: &diagnosis }.files();
    let units = &files.iter().find(|(name, _)| *name == "units.svg").unwrap().1;
    assert!(units.contains(">L2</text>") && units.contains(">85 %</text>"), "{units}");
    let roofs = &files.iter().find(|(name, _)| *name == "roofline.svg").unwrap().1;
    assert!(roofs.contains("DRAM peak 4.8") && roofs.contains("FP32 peak 6"), "{roofs}");
    let text = ProfilePictures { diagnosis: &diagnosis }.text(true);
    assert!(text.contains("under the roofs: / DRAM peak") && text.contains('@'), "{text}");
    assert!(text.contains("  L2                   #################...  85 %"), "{text}");
}

/// A kernel that computes nothing has no place under the roofs; a page of few metrics has no pictures.
#[test]
fn what_was_not_collected_is_not_drawn() {
    let mut diagnosis = profile("p17_axpy_planted.raw");
    diagnosis.position = None;
    let names = |diagnosis: &ProfileDiagnosis| {
        ProfilePictures { diagnosis }.files().iter().map(|(name, _)| *name).collect::<Vec<_>>()
    };
    assert_eq!(names(&diagnosis), ["units.svg", "stalls.svg"]);
    assert!(names(&profile("direct_logfile")).is_empty());
}
