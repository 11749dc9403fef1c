//! The eight public spaces open with exactly their published numbers of valid configurations, and every lookup agrees
//! with every other on them.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;

use kiln_space::{Problem, Space, Step};
use kiln_spec::Choice;

/// Name, raw and valid configurations.
const SPACES: [(&str, u128, u128); 8] = [
    ("dedispersion", 22_272, 11_130),
    ("expdist", 9_732_096, 294_000),
    ("hotspot", 22_200_000, 349_853),
    ("gemm", 663_552, 116_928),
    ("microhh", 1_166_400, 138_600),
    ("atf_prl_2x2", 36_864, 1_200),
    ("atf_prl_4x4", 9_437_184, 10_800),
    ("atf_prl_8x8", 2_415_919_104, 48_720),
];

fn problem(name: &str) -> Problem {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/spaces/{name}.json"));
    let bytes = std::fs::read(&path).unwrap();
    let imported = kiln_formats::read(name, &bytes).unwrap();
    let selection = imported.spec.select(Choice::default()).unwrap();
    Problem::from_selection(&selection).unwrap()
}

#[test]
fn valid_counts_are_the_published_ones() {
    for (name, raw, valid) in SPACES {
        let problem = problem(name);
        assert_eq!(problem.raw(), Some(raw), "{name}");
        assert_eq!(Space::build(&problem).unwrap().len(), valid, "{name}");
    }
}

#[test]
fn index_to_configuration_and_back_is_the_identity() {
    for (name, _, valid) in SPACES {
        let space = Space::build(&problem(name)).unwrap();
        // A stride without small factors visits indices all over the space.
        for step in 0..5_000u128 {
            let index = step * 1_000_003 % valid;
            let point = space.point(index).unwrap();
            assert_eq!(space.index(&point), Some(index), "{name}");
            assert_eq!(space.locate(&space.config(&point)).as_deref(), Some(&*point), "{name}");
        }
        assert_eq!(space.point(valid), None);
    }
}

#[test]
fn every_listed_configuration_keeps_every_rule() {
    for name in ["dedispersion", "atf_prl_2x2", "atf_prl_4x4"] {
        let problem = problem(name);
        let space = Space::build(&problem).unwrap();
        let mut seen = std::collections::HashSet::new();
        for point in space.iter() {
            let config = space.config(&point);
            let env = problem.bindings(&config, &problem.constants[0]);
            for rule in &problem.rules {
                assert!(kiln_expr::truth(&rule.expression.eval(&env).unwrap()), "{name}: {config}");
            }
            assert!(seen.insert(point));
        }
        assert_eq!(seen.len() as u128, space.len());
    }
}

#[test]
fn neighbours_differ_in_one_tunable_and_are_valid() {
    for name in ["hotspot", "gemm"] {
        let space = Space::build(&problem(name)).unwrap();
        for point in space.sample(50, 7) {
            let any = space.neighbours(&point, Step::Any);
            let adjacent = space.neighbours(&point, Step::Adjacent);
            for other in any.iter().chain(&adjacent) {
                assert!(space.contains(other));
                assert_eq!(point.iter().zip(other).filter(|(a, b)| a != b).count(), 1);
            }
            assert!(adjacent.iter().all(|a| any.contains(a)));
            // Complete: every single change that is valid is there.
            let mut expected = 0;
            for (t, d) in space.dimensions().iter().enumerate() {
                for v in (0..d.values.len() as u32).filter(|v| *v != point[t]) {
                    let mut other = point.clone();
                    other[t] = v;
                    expected += usize::from(space.contains(&other));
                }
            }
            assert_eq!(any.len(), expected);
        }
    }
}
