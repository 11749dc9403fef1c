//! Whatever goes in comes out equal, from a store that was closed in between.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_core::{Gate, Refusal};
use kiln_store::{Filter, Kept, Measurement, Note, State, Store, Study, Trial, TrialState};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

use crate::example;

fn finite() -> impl Strategy<Value = f64> {
    // All bit patterns: subnormals and the largest values come as often as others.
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite())
}

fn text() -> impl Strategy<Value = String> {
    // With quotes, percent signs, line breaks, zeros and letters beyond the first plane.
    vec(prop_oneof![any::<char>(), Just('\''), Just('%'), Just('\0'), Just('"'), Just('$')], 0..12)
        .prop_map(String::from_iter)
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        finite().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn study() -> impl Strategy<Value = Study> {
    let texts = vec(text(), 9);
    let options = (option::of(any::<i64>()), vec(option::of(text()), 3), option::of(json()));
    (any::<i64>(), any::<u64>(), 0..4usize, finite(), texts, options, json(), json()).prop_map(
        |(started_ms, seed, state, seconds, texts, (ended_ms, maybe, summary), options, environment)| {
            let mut texts = texts.into_iter();
            let mut text = || texts.next().unwrap();
            let mut maybe = maybe.into_iter();
            let mut maybe = || maybe.next().unwrap();
            Study {
                id: Study::new_id(),
                started_ms,
                ended_ms,
                state: State::ALL[state],
                owner: text(),
                kernel: text(),
                path: text(),
                target: text(),
                arch: maybe(),
                variant: text(),
                seed,
                strategy: text(),
                options: Kept::found(options),
                environment: Kept::found(environment),
                git_commit: maybe(),
                spec_hash: text(),
                spec_text: text(),
                kiln_version: text(),
                verdict: maybe(),
                summary: summary.map(Kept::found),
                seconds,
            }
        },
    )
}

fn refusal() -> impl Strategy<Value = Refusal> {
    (0..Gate::ALL.len(), vec(text(), 4), option::of(text())).prop_map(|(gate, t, hint)| Refusal {
        gate: Gate::ALL[gate],
        rule: t[0].clone(),
        measured: t[1].clone(),
        limit: t[2].clone(),
        evidence: t[3].clone(),
        hint,
    })
}

fn trial() -> impl Strategy<Value = (Trial, Vec<Measurement>)> {
    let number = any::<i64>().prop_map(|n| n.unsigned_abs() / 2);
    let measurement = (vec(text(), 3), number.clone(), vec(finite(), 0..20), any::<u32>());
    let parts = (0..3usize, option::of(finite()), option::of(refusal()), vec(option::of(text()), 2), any::<i64>());
    (number, vec(text(), 2), parts, vec(finite(), 4), json(), vec(measurement, 0..4)).prop_map(
        |(number, texts, (state, cost, refusal, maybe, started_ms), times, details, measurements)| {
            let phase = texts[0].clone();
            let trial = Trial {
                number,
                phase: phase.clone(),
                config: texts[1].clone(),
                state: TrialState::ALL[state],
                cost,
                refusal,
                workload: maybe[0].clone(),
                artifact: maybe[1].clone(),
                started_ms,
                build_s: times[0],
                check_s: times[1],
                measure_s: times[2],
                wall_s: times[3],
                details: Kept::found(details),
            };
            let measurements = measurements.into_iter().map(|(texts, block, samples, calls)| Measurement {
                phase: phase.clone(),
                trial: number,
                workload: texts[0].clone(),
                subject: texts[1].clone(),
                block,
                samples,
                calls,
                cache: texts[2].clone(),
            });
            (trial, measurements.collect())
        },
    )
}

fn bits(measurements: &[Measurement]) -> Vec<u64> {
    measurements.iter().flat_map(|m| m.samples.iter().map(|s| s.to_bits())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn everything_reads_back(study in study(), records in vec(trial(), 0..6), notes in vec((any::<i64>(), text(), text()), 0..4)) {
        let (store, folder) = example::store();
        store.begin(&study).unwrap();
        let mut seen = std::collections::HashSet::new();
        let records: Vec<_> = records.into_iter().filter(|(t, _)| seen.insert((t.phase.clone(), t.number))).collect();
        for (trial, measurements) in &records {
            store.record(&study.id, trial, measurements).unwrap();
        }
        for (at_ms, kind, text) in &notes {
            store.note(&study.id, *at_ms, kind, text).unwrap();
        }
        drop(store);

        let store = Store::open(&example::place(&folder)).unwrap();
        prop_assert_eq!(store.studies(&Filter::default()).unwrap(), vec![study.clone()]);
        prop_assert_eq!(store.find(&study.id).unwrap(), study.clone());
        let (trials, measurements): (Vec<_>, Vec<_>) = records.into_iter().unzip();
        let measurements = measurements.concat();
        prop_assert_eq!(store.trials(&study.id).unwrap(), trials);
        let back = store.measurements(&study.id).unwrap();
        prop_assert_eq!(bits(&back), bits(&measurements));
        prop_assert_eq!(back, measurements);
        let notes: Vec<_> = notes.into_iter().map(|(at_ms, kind, text)| Note { at_ms, kind, text }).collect();
        prop_assert_eq!(store.notes(&study.id).unwrap(), notes);
    }
}
