use proptest::prelude::*;

use super::super::Bottleneck;
use super::*;

/// Real pages of three planted programs: lines with their instructions, and instructions alone.
fn page(name: &str) -> Vec<HotKernel> {
    let path = format!("{}/../../fixtures/ncu/source/{name}", env!("CARGO_MANIFEST_DIR"));
    read(io::BufReader::new(std::fs::File::open(path).unwrap())).unwrap()
}

fn blamed(kernel: &str, cause: Bottleneck) -> Vec<(Option<u64>, f64)> {
    let page = page("planted.cuda_sass.csv");
    let kernel = page.iter().find(|own| own.kernel.starts_with(kernel)).unwrap();
    blame(kernel, Some(cause)).into_iter().map(|own| (own.line, own.share)).collect()
}

#[test]
fn lines_have_the_sums_of_their_instructions() {
    let page = page("planted.cuda_sass.csv");
    let names: Vec<&str> = page.iter().map(|own| own.kernel.split('(').next().unwrap()).collect();
    assert_eq!(names, ["spmv", "power8", "weigh"]);
    let line = page[0].lines.iter().find(|own| own.line == Some(16)).unwrap();
    assert!(line.source.starts_with("for (int k = 0; k < NNZ; k++)"), "{}", line.source);
    assert_eq!((line.samples, line.file.as_deref()), (33451.0, Some("/build/planted/43_spmv.cu")));
    // A kernel's lines come from several files.
    assert!(page[2].lines.iter().any(|own| own.file.as_deref().unwrap().ends_with("device_atomic_functions.hpp")));
}

#[test]
fn the_planted_line_is_blamed() {
    assert_eq!(blamed("spmv", Bottleneck::UncoalescedGlobal)[0], (Some(16), 1.0));
    let spills = blamed("power8", Bottleneck::RegisterSpillLocal);
    assert!(spills[0].0 == Some(21) && spills[0].1 > 0.7, "{spills:?}");
    let atomics = blamed("weigh", Bottleneck::AtomicContention);
    assert!(atomics.iter().any(|(line, _)| *line == Some(15)), "{atomics:?}");
    // Where nothing was counted of what shows the cause, samples are.
    let page = page("planted.cuda_sass.csv");
    let by: Vec<String> = blame(&page[0], Some(Bottleneck::SharedBankConflict)).into_iter().map(|own| own.by).collect();
    assert_eq!(by, ["# Samples"]);
}

#[test]
fn a_page_of_instructions_has_no_lines() {
    let page = page("spmv.sass.csv");
    assert_eq!(page.len(), 1);
    assert!(page[0].lines.iter().all(|own| own.line.is_none() && own.file.is_none()));
    let first = &blame(&page[0], Some(Bottleneck::UncoalescedGlobal))[0];
    assert!(first.source.starts_with("LDG"), "{first:?}");
}

#[test]
fn quotes_and_commas_of_the_source_stay_in_it() {
    let text = "\"File Path\",\"a.cu\"\n\"Function Name\",\"k(int)\"\n\
        \"Line No\",\"Source\",\"Address\",\"Source\",\"# Samples\"\n\
        \"3\",\"printf(\"a\",\"b\", \"c\");\",\"-\",\"-\",\"1,234\"\n\"\",\"\",\"0x10\",\"MOV\",\"7\"\n\"\",\"\",\"...\",\"...\",\"-\"\n";
    let found = read(text.as_bytes()).unwrap();
    assert_eq!(found[0].lines.len(), 1);
    assert_eq!((found[0].lines[0].source.as_str(), found[0].lines[0].samples), ("printf(\"a\",\"b\", \"c\");", 1234.0));
}

#[test]
fn what_is_no_source_page_has_no_kernels() {
    for text in ["", "nothing", "\"ID\",\"Kernel Name\"\n\"0\",\"k\"\n", "\"Line No\",\"Source\"\n\"1\",\"int x;\"\n"] {
        assert_eq!(read(text.as_bytes()).unwrap(), [], "{text}");
    }
}

proptest! {
    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for kernel in read(bytes.as_slice()).unwrap() {
            blame(&kernel, None);
        }
    }

    /// A real page with bytes changed, or cut.
    #[test]
    fn damaged_pages_do_not_panic(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40), end in any::<prop::sample::Index>()) {
        let head = "\"File Path\",\"a.cu\"\n\"Function Name\",\"k\"\n\"Line No\",\"Source\",\"Address\",\"Source\",\"# Samples\",\"Instructions Executed\",\"stall_wait\"\n";
        let mut bytes = format!("{head}{}", "\"1\",\"x = \"y\";\",\"-\",\"-\",\"5\",\"6\",\"7\"\n".repeat(4)).into_bytes();
        for (index, byte) in edits {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(end.index(bytes.len()) + 1);
        for kernel in read(bytes.as_slice()).unwrap() {
            let lines = blame(&kernel, Some(Bottleneck::WarpDivergence));
            prop_assert!(lines.iter().all(|line| line.share.is_finite()));
        }
    }
}
