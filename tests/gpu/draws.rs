//! Numbers that kiln's own kernels draw: the ones that were asked for, others for every set, the same again for the same
//! seed, and not a byte beside them.

use std::process::Command;
use std::time::Duration;

use kiln_core::Outcome;
use kiln_run::{Answer, Arena, Ask, Drawing, Fill, MappedSlot, Numbers, Worker, WorkerLimits};

use crate::folder;

const N: usize = 100_003;
const FIRST: Duration = Duration::from_secs(60);

fn done(worker: &mut Worker, ask: Ask) {
    let said = worker.ask_within(ask, FIRST).unwrap();
    assert!(matches!(said, Outcome::Passed(Answer::Done)), "{said:?}");
}

/// The values of an argument in a set, with what lies around them left as it was.
fn fetched(worker: &mut Worker, arena: &mut Arena, set: u32) -> Vec<u8> {
    arena.bytes_mut().fill(0);
    done(worker, Ask::Fetch { set, parts: vec![] });
    arena.bytes().to_vec()
}

#[test]
fn every_set_has_numbers_of_its_own() {
    if folder("draws").is_none() {
        return;
    }
    let kiln = std::env::var("KILN_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_kiln").into());
    let mut command = Command::new(kiln);
    command.args(["worker", "cuda"]);
    let mut worker = Worker::start(command, WorkerLimits { memory: 8 << 30, ..WorkerLimits::default() }).unwrap();
    type Read = fn(&[u8]) -> f64;
    let kinds: [(&str, usize, Numbers, Read); 6] = [
        ("f32", 4, Numbers::Normal, |b| f64::from(f32::from_ne_bytes(b.try_into().unwrap()))),
        ("f64", 8, Numbers::Normal, |b| f64::from_ne_bytes(b.try_into().unwrap())),
        ("bf16", 2, Numbers::Normal, |b| {
            f64::from(f32::from_bits(u32::from(u16::from_ne_bytes(b.try_into().unwrap())) << 16))
        }),
        ("f32", 4, Numbers::Real(-2.0, 3.0), |b| f64::from(f32::from_ne_bytes(b.try_into().unwrap()))),
        ("i8", 1, Numbers::Whole(-3, 6), |b| f64::from(b[0] as i8)),
        ("i64", 8, Numbers::Whole(i64::MIN, u64::MAX), |b| {
            i64::from_ne_bytes(b.try_into().unwrap()) as f64 / 2f64.powi(63)
        }),
    ];
    for (dtype, size, numbers, read) in kinds {
        for padded in [false, true] {
            // Rows of 100 elements, one behind the other or 104 apart.
            let (shape, strides) = if padded { (vec![1000, 100], Some(vec![104, 1])) } else { (vec![N], None) };
            let reach = if padded { 999 * 104 + 100 } else { N };
            let (mut arena, regions) = Arena::new(&[reach * size]).unwrap();
            let offset = regions[0].start;
            let slot = MappedSlot {
                name: "x".into(),
                offset,
                bytes: reach * size,
                dtype: dtype.into(),
                ..MappedSlot::default()
            };
            let map = Ask::Map {
                arena: arena.handle(),
                lent: None,
                slots: vec![slot],
                launches: vec![],
                sets: 3,
                stride: 0,
                holes: vec![],
                elsewhere: true,
                gone: vec![],
            };
            done(&mut worker, map);
            arena.bytes_mut().fill(0xa5);
            done(&mut worker, Ask::Upload { image: 1 });
            let fill = Fill { offset, dtype: dtype.into(), shape: shape.clone(), strides: strides.clone(), numbers };
            let drawing =
                |seed, first| Ask::Draw(Drawing { image: 1, seed, first, least: 0, fills: vec![fill.clone()] });
            done(&mut worker, drawing(7, 10));
            let sets: Vec<Vec<u8>> = (0..3).map(|set| fetched(&mut worker, &mut arena, set)).collect();
            assert!(sets[0] != sets[1] && sets[1] != sets[2] && sets[0] != sets[2], "{dtype}");
            let is_drawn = |at: usize| {
                let inside = regions[0].contains(&at).then(|| (at - offset) / size);
                inside.is_some_and(|element| !padded || element % 104 < 100)
            };
            assert!(sets[1].iter().enumerate().all(|(at, byte)| is_drawn(at) || *byte == 0xa5), "{dtype} {padded}");
            let values: Vec<f64> = sets[1][regions[0].clone()]
                .chunks_exact(size)
                .enumerate()
                .filter(|(element, _)| !padded || element % 104 < 100)
                .map(|(_, bytes)| read(bytes))
                .collect();
            let moment = |power: i32| values.iter().map(|v| v.powi(power)).sum::<f64>() / values.len() as f64;
            let (mean, square) = match numbers {
                Numbers::Normal => (0.0, 1.0),
                Numbers::Real(low, high) => ((low + high) / 2.0, (low * low + low * high + high * high) / 3.0),
                Numbers::Whole(-3, _) => (0.0, 4.0),
                Numbers::Whole(..) => (0.0, 1.0 / 3.0),
            };
            assert!(
                (moment(1) - mean).abs() < 0.03 && (moment(2) - square).abs() < 0.03 * square.max(1.0),
                "{dtype}: {} {}",
                moment(1),
                moment(2)
            );
            if numbers == Numbers::Normal {
                assert!((moment(4) - 3.0).abs() < 0.15, "{dtype}: {}", moment(4));
            }
            // The call of number 11, whichever set it is in; and others under another seed.
            done(&mut worker, drawing(7, 11));
            assert!(fetched(&mut worker, &mut arena, 0) == sets[1]);
            done(&mut worker, drawing(8, 11));
            assert!(fetched(&mut worker, &mut arena, 0) != sets[1]);
        }
    }
}
