use super::super::page::Pages;
use super::*;

const HEAD: &str = "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"launch__sm_count\"\n\"\",\"\",\"ns\",\"\"\n";

fn pages(rows: &[(&str, u64, u64)]) -> Pages {
    let rows: String = rows.iter().map(|(name, ns, sms)| format!("\"0\",\"{name}\",\"{ns}\",\"{sms}\"\n")).collect();
    Pages::read(format!("{HEAD}{rows}").as_bytes()).unwrap()
}

fn subject(ns: u64, sms: u64) -> Subject {
    Subject::of(&pages(&[("k(int)", ns, sms)]).kernels[0])
}

fn names<'a>(found: &Pairs<'a>) -> Vec<(&'a str, &'a str)> {
    found.all.iter().map(|(one, other)| (one.name.as_str(), other.name.as_str())).collect()
}

#[test]
fn kernels_are_paired_by_name_and_the_largest_difference_comes_first() {
    let here = pages(&[("a(int)", 100, 132), ("void b<int>(T1 *)", 900, 132), ("only(int)", 5, 132)]);
    let against = pages(&[("void b<float>(T1 *)", 300, 132), ("a(int)", 90, 132), ("c(int)", 7, 132)]);
    let found = pairs(&here, &against);
    assert_eq!(names(&found), [("void b<int>(T1 *)", "void b<float>(T1 *)"), ("a(int)", "a(int)")]);
    assert_eq!((found.here, found.against, found.by_time), (vec!["only(int)"], vec!["c(int)"], false));
}

/// Two instances of a template have one base name: which belongs to which is not known.
#[test]
fn ambiguous_names_pair_nothing() {
    let here = pages(&[("b<int>(T1)", 100, 132), ("b<float>(T1)", 100, 132)]);
    let against = pages(&[("b<short>(T1)", 100, 132), ("b<long>(T1)", 100, 132)]);
    assert!(pairs(&here, &against).all.is_empty());
}

#[test]
fn a_single_kernel_is_compared_with_what_took_the_other_pages_time() {
    let here = pages(&[("mine(int)", 100, 132)]);
    let against = pages(&[("setup(int)", 10, 132), ("gemm(int)", 300, 132)]);
    let found = pairs(&here, &against);
    assert!(found.by_time);
    assert_eq!(names(&found), [("mine(int)", "gemm(int)")]);
    assert_eq!((found.here.len(), found.against), (0, vec!["setup(int)"]));
    assert!(pairs(&Pages::default(), &against).all.is_empty());
}

#[test]
fn times_that_are_alike_explain_nothing() {
    let found = compare(&subject(1000, 132), &subject(1010, 132)).unwrap();
    assert_eq!((found.explained, found.split, found.speedup), (None, None, 1.01));
    assert!(found.changed.iter().all(|own| own.explains.is_none()));
    let page = Pages::read("\"ID\",\"Kernel Name\"\n\"0\",\"k(int)\"\n".as_bytes()).unwrap();
    assert_eq!(compare(&subject(1000, 132), &Subject::of(&page.kernels[0])), None);
}

#[test]
fn other_gpus_are_noticed() {
    assert_eq!(other_gpu(&subject(1, 132), &subject(1, 132)), None);
    assert!(other_gpu(&subject(1, 132), &subject(1, 108)).unwrap().contains("132 SMs here, 108 there"));
}

/// Shares never exceed the difference, whatever is promised.
#[test]
fn shares_add_up_to_the_whole_at_most() {
    let of = |cause, here: Option<f64>, there: Option<f64>| Changed {
        cause,
        expected_speedup: here,
        against_expected_speedup: there,
        explains: None,
        metrics: vec![],
    };
    let mut all = [
        of(Bottleneck::TailEffect, Some(1.5), None),
        of(Bottleneck::SmallGrid, Some(9.0), None),
        of(Bottleneck::WarpDivergence, None, Some(3.0)),
    ];
    assert_eq!(share_out(&mut all, true, 4.0), 1.0);
    let shares: Vec<_> = all.iter().map(|own| (own.cause, own.explains)).collect();
    assert_eq!(shares[0], (Bottleneck::SmallGrid, Some(1.0)));
    assert_eq!(shares[1], (Bottleneck::TailEffect, Some(0.0)));
    assert_eq!(shares[2], (Bottleneck::WarpDivergence, None));
    let mut half = [of(Bottleneck::TailEffect, None, Some(2.0))];
    assert_eq!(share_out(&mut half, false, 4.0), 0.667);
}
