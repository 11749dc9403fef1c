//! Cases are small, of every kind, and what the rules admit.

use super::*;

fn room() -> Room {
    let shape = |s: i64, d: i64| -> Shape {
        vec![("S".into(), Value::Int(s)), ("T".into(), Value::Int(s)), ("D".into(), Value::Int(d))]
    };
    let dims = [("S", Extent::Whole(1, 300)), ("T", Extent::Whole(1, 300))];
    let mut dims: Vec<_> = dims.into_iter().map(|(name, extent)| (name.into(), extent)).collect();
    dims.push(("D".into(), Extent::Listed(vec![Value::Int(32), Value::Int(64)])));
    Room { dims, bases: vec![shape(128, 64), shape(100, 32)], scalars: vec![] }
}

fn int(shape: &Shape, place: usize) -> i64 {
    if let Value::Int(v) = shape[place].1 { v } else { panic!("an integer") }
}

#[test]
fn scalars_are_the_usual_ones_beside_numbers_of_extreme_size() {
    let (room, configs) = (room(), [Config::default()]);
    let source = Source {
        room: &room,
        configs: &configs,
        inputs: &Distribution::FUZZED,
        signature: &|_, _| Some(crate::fuzz::scalars::tests::signature()),
        tiles: &|_, _| vec![],
        admits: &|_, _| true,
        is_small: &|_, _| true,
    };
    let generator = Generator::new(source, 3);
    let drawn: Vec<FuzzCase> = (0..400).map(|number| generator.case(number).unwrap().case).collect();
    let scale = |case: &FuzzCase| case.scalars.iter().any(|(name, _)| **name == *"scale");
    let (extreme, others): (Vec<&FuzzCase>, Vec<&FuzzCase>) = drawn.iter().partition(|case| case.inputs.needs_reach());
    assert!(extreme.len() > 20 && !extreme.into_iter().any(scale));
    assert!(others.into_iter().filter(|case| scale(case)).count() > 100);
}

/// The first cases of a seed.
fn cases(seed: u64, most: i64) -> Vec<FuzzCase> {
    let (room, configs) = (room(), ["BLOCK=48", "BLOCK=16"].map(|text| Config::parse(text).unwrap()));
    let tiles = |config: &Config, _: &Shape| match config.get("BLOCK") {
        Some(Value::Int(v)) => vec![*v],
        _ => vec![],
    };
    let is_small = |shape: &Shape, _: &Config| int(shape, 0) * int(shape, 1) <= most;
    let inputs = &Distribution::FUZZED;
    let admits = |_: &Shape, _: &Config| true;
    let source = Source {
        room: &room,
        configs: &configs,
        inputs,
        signature: &|_, _| None,
        tiles: &tiles,
        admits: &admits,
        is_small: &is_small,
    };
    let generator = Generator::new(source, seed);
    let drawn = (0..400).map(|number| generator.case(number).unwrap());
    drawn.inspect(|drawn| assert_eq!(drawn.excluded, 0)).map(|drawn| drawn.case).collect()
}

/// The distinct shapes of 300 cases under a rule, how many draws it excluded, and whether shapes can move at all.
fn under(rule: impl Fn(&[i64], i64) -> bool + Sync, base: [i64; 3]) -> (Vec<Vec<i64>>, usize, bool) {
    let shape: Shape = ["H", "G", "D"].into_iter().zip(base).map(|(n, v)| (n.into(), Value::Int(v))).collect();
    let dims = shape.iter().zip(base).map(|((name, _), size)| (name.clone(), Extent::Whole(1, 2 * size + 1)));
    let room = Room { dims: dims.collect(), bases: vec![shape], scalars: vec![] };
    let configs = ["BLOCK=64", "BLOCK=16"].map(|text| Config::parse(text).unwrap());
    let block = |config: &Config| config.get("BLOCK").and_then(whole).unwrap();
    let tiles = |config: &Config, _: &Shape| vec![block(config)];
    let sizes = |shape: &Shape| (0..3).map(|place| int(shape, place)).collect::<Vec<i64>>();
    let admits = |shape: &Shape, config: &Config| rule(&sizes(shape), block(config));
    let is_small = |shape: &Shape, _: &Config| sizes(shape).iter().product::<i64>() <= 100_000;
    let source = Source {
        room: &room,
        configs: &configs,
        inputs: &Distribution::FUZZED,
        signature: &|_, _| None,
        tiles: &tiles,
        admits: &admits,
        is_small: &is_small,
    };
    let generator = Generator::new(source, 5);
    let drawn: Vec<DrawnCase> = (0..300).map(|number| generator.case(number).unwrap()).collect();
    for DrawnCase { case, .. } in &drawn {
        assert!(admits(&case.shape, &case.config), "{case} {}", case.config);
    }
    let mut shapes: Vec<Vec<i64>> = drawn.iter().map(|drawn| sizes(&drawn.case.shape)).collect();
    shapes.sort();
    shapes.dedup();
    (shapes, drawn.iter().map(|drawn| drawn.excluded).sum(), generator.can_move())
}

#[test]
fn sizes_are_drawn_among_the_multiples_that_are_admitted() {
    let (shapes, excluded, can_move) = under(|sizes, block| sizes[2] % block == 0, [4, 3, 512]);
    let widths: Vec<i64> = shapes.iter().map(|shape| shape[2]).collect();
    for width in [16, 32, 64, 128, 192, 512, 1024] {
        assert!(widths.contains(&width), "{width}: {widths:?}");
    }
    assert!(shapes.len() > 100 && excluded > 100 && can_move, "{} {excluded}", shapes.len());
}

#[test]
fn rules_about_several_dimensions_are_kept_and_all_of_them_still_move() {
    let (shapes, ..) = under(|sizes, _| sizes[0] % sizes[1] == 0 && sizes[2] % 64 == 0, [32, 8, 128]);
    for place in 0..3 {
        let mut sizes: Vec<i64> = shapes.iter().map(|shape| shape[place]).collect();
        sizes.sort_unstable();
        sizes.dedup();
        assert!(sizes.len() >= [10, 5, 4][place], "{place}: {sizes:?}");
    }
    // Tied: only together.
    let (shapes, ..) = under(|sizes, _| sizes[0] == 2 * sizes[1], [64, 32, 7]);
    assert!(shapes.iter().filter(|shape| shape[0] != 64).count() > 50, "{shapes:?}");
    let (shapes, ..) = under(|sizes, block| sizes[0] >= block, [65, 3, 7]);
    assert!(shapes.iter().any(|shape| shape[0] == 16) && shapes.len() > 100);
}

#[test]
fn a_rule_that_leaves_nothing_but_the_workload_is_noticed() {
    let (shapes, excluded, can_move) = under(|sizes, _| sizes == [64, 3, 7], [64, 3, 7]);
    assert_eq!((shapes, can_move), (vec![vec![64, 3, 7]], false));
    assert!(excluded > 200);
}

/// Neither side moves alone, nor in proportion: lists of values, or luck, still find some.
#[test]
fn what_only_moves_at_once_is_found_by_chance() {
    let (shapes, ..) = under(|sizes, _| sizes[0] * sizes[1] == 64 && sizes[2] == 7, [8, 8, 7]);
    assert!(shapes.len() > 2, "{shapes:?}");
}

#[test]
fn what_is_too_large_shrinks_in_admitted_steps() {
    let (shapes, ..) = under(|sizes, _| sizes[0] % 48 == 0 && sizes[1] % 64 == 0, [4800, 6400, 7]);
    assert!(shapes.iter().all(|shape| shape.iter().product::<i64>() <= 100_000) && shapes.len() > 50);
}

#[test]
fn a_seed_gives_the_same_cases_and_another_one_others() {
    assert_eq!(cases(1, 1 << 30), cases(1, 1 << 30));
    assert_ne!(cases(1, 1 << 30), cases(2, 1 << 30));
}

#[test]
fn edges_of_tiles_squares_and_every_kind_of_input_are_among_them() {
    let cases = cases(3, 1 << 30);
    let sizes: Vec<i64> = cases.iter().flat_map(|case| [int(&case.shape, 0), int(&case.shape, 1)]).collect();
    for edge in [1, 15, 16, 17, 33, 47, 48, 49, 97, 300] {
        assert!(sizes.contains(&edge), "{edge}");
    }
    assert!(sizes.iter().all(|size| (1..=300).contains(size)));
    let squares = cases.iter().filter(|case| case.shape[0].1 == case.shape[1].1).count();
    assert!((120..300).contains(&squares), "{squares}");
    assert!(Distribution::FUZZED.iter().all(|inputs| cases.iter().any(|case| case.inputs == *inputs)));
    let first = cases.iter().filter(|case| case.config.to_string() == "BLOCK=48").count();
    assert!((250..350).contains(&first), "{first}");
    assert!(cases.iter().any(|case| case.shape[2].1 == Value::Int(32)));
}

#[test]
fn cases_are_small_enough() {
    assert!(cases(4, 2000).iter().all(|case| int(&case.shape, 0) * int(&case.shape, 1) <= 2000));
}
