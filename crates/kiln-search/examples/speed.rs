//! How long the strategies take for one ask and tell on the largest public space, by number of observations. For
//! `cargo run --release -p kiln-search --example speed`; the goal is a median under 2 ms with 1,000 observations.

// An example that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use kiln_search::{Kind, Observation, strategy};
use kiln_space::{Point, Problem, Space};
use kiln_spec::Choice;

fn main() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/spaces/hotspot.json");
    let imported = kiln_formats::read("hotspot", &std::fs::read(&path).unwrap()).unwrap();
    let selection = imported.spec.select(Choice::default()).unwrap();
    let space = Arc::new(Space::build(&Problem::from_selection(&selection).unwrap()).unwrap());
    let observe = |point: &Point| match point.iter().sum::<u32>() {
        sum if sum % 10 == 0 => Observation::Failed,
        sum => Observation::Time(1.0 + f64::from(sum)),
    };
    println!("hotspot, {} configurations; microseconds for one ask and tell: median, 95 %", space.len());
    for kind in Kind::ALL {
        for observations in [20, 100, 300, 1000, 3000] {
            let mut search = strategy(*kind, space.clone(), 1);
            space.sample(observations, 2).iter().for_each(|point| search.tell(point, observe(point)));
            let mut times: Vec<f64> = (0..200)
                .map(|_| {
                    let start = Instant::now();
                    for point in search.ask(1) {
                        search.tell(&point, observe(&point));
                    }
                    start.elapsed().as_secs_f64() * 1e6
                })
                .collect();
            times.sort_by(f64::total_cmp);
            println!("{kind:>9} {observations:>5} observations: {:7.0} {:7.0}", times[100], times[190]);
        }
    }
}
