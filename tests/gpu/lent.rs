//! Memory that one process keeps on the GPU and another works in: kiln's own worker lends, PyTorch and a host launcher's worker
//! borrow.

use std::process::Command;
use std::time::Duration;

use kiln_core::Outcome;
use kiln_run::{
    Answer, Arena, Ask, Drawing, Fill, Lies, MappedSlot, Numbers, Worker, WorkerLimits, find_python, python_command,
};

use crate::folder;

const N: usize = 100_000;
const FIRST: Duration = Duration::from_secs(120);

fn limits() -> WorkerLimits {
    WorkerLimits { memory: 16 << 30, ..WorkerLimits::default() }
}

fn said(worker: &mut Worker, ask: Ask) -> Answer {
    match worker.ask_within(ask, FIRST).unwrap() {
        Outcome::Passed(answer) => answer,
        Outcome::Refused(refusal) => panic!("{refusal:?}"),
    }
}

fn done(worker: &mut Worker, ask: Ask) {
    assert_eq!(said(worker, ask), Answer::Done);
}

fn floats(arena: &Arena, slot: &MappedSlot) -> Vec<f32> {
    let bytes = &arena.bytes()[slot.offset..slot.offset + slot.bytes];
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn python_works_in_memory_that_another_process_keeps() {
    let Some(folder) = folder("lent") else { return };
    let Ok(python) = find_python() else { return };
    if python.torch_cuda.is_none() {
        println!("skipped: {} has no PyTorch for CUDA", python.interpreter);
        return;
    }
    let kiln = std::env::var("KILN_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_kiln").into());
    let mut command = Command::new(kiln);
    command.args(["worker", "cuda"]);
    let mut keeper = Worker::start(command, limits()).unwrap();
    let (mut arena, regions) = Arena::new(&[4 * N, 4 * N, 4]).unwrap();
    let slot = |number: usize, name: &str, role: &str, shape: Vec<usize>| MappedSlot {
        name: name.into(),
        role: role.into(),
        offset: regions[number].start,
        bytes: regions[number].len(),
        dtype: "f32".into(),
        shape,
        ..MappedSlot::default()
    };
    let slots = vec![slot(0, "x", "in", vec![N]), slot(1, "y", "out", vec![N]), slot(2, "a", "scalar", vec![])];
    let map = |arena, lent, slots, elsewhere| Ask::Map {
        arena,
        lent,
        slots,
        launches: vec![],
        sets: 3,
        stride: 0,
        holes: vec![],
        elsewhere,
        gone: vec![],
    };
    let fill =
        Fill { offset: regions[0].start, dtype: "f32".into(), shape: vec![N], strides: None, numbers: Numbers::Normal };
    for (body, graph) in [
        ("torch.mul(inputs['x'], scalars['a'], out=outputs['y'])", true),
        ("return inputs['x'] * scalars['a']", true),
        ("outputs['y'].copy_(inputs['x'] * (scalars['a'] + 0 * inputs['x'][1].item()))", false),
        ("return inputs['x'] * (scalars['a'] + 0 * inputs['x'][1].item())", false),
    ] {
        let file = folder.join("subject.py");
        std::fs::write(&file, format!("import torch\ndef f(inputs, scalars, outputs):\n    {body}\n")).unwrap();
        let mut worker = Worker::start(python_command(&python.interpreter), limits()).unwrap();
        let library = file.to_str().unwrap().to_string();
        done(&mut worker, Ask::Load { library, symbol: "f".into(), config: None, device: true });
        // Twice: what was lent is given back, and comes back elsewhere.
        for round in 0..2 {
            done(&mut keeper, map(arena.handle(), None, vec![], true));
            let Answer::Lent(lent) = said(&mut keeper, Ask::Lend) else { panic!() };
            done(&mut worker, map(Default::default(), Some(lent), slots.clone(), false));
            done(&mut worker, Ask::Scalars { values: vec![(regions[2].start, 2.5_f32.to_ne_bytes().to_vec())] });
            arena.bytes_mut().fill(0xff);
            done(&mut keeper, Ask::Upload { image: 1 });
            let drawing = |seed| Ask::Draw(Drawing { image: 1, seed, first: 0, least: 0, fills: vec![fill.clone()] });
            done(&mut keeper, drawing(round + 7));
            done(&mut worker, Ask::Call);
            done(&mut keeper, drawing(round + 8));
            done(&mut keeper, Ask::Cool);
            let timing = Ask::time(1, 3);
            let Answer::Times(timing) = said(&mut worker, timing) else { panic!() };
            assert!(timing.nanoseconds.len() == 1 && timing.graph == graph, "{body}: {timing:?}");
            let named = timing.kernels.iter().any(|name| name.contains("elementwise"));
            assert_eq!(named, graph, "{body}: {:?}", timing.kernels);
            // From here on the function's process does nothing: what it returned is read by another.
            assert!(worker.pause());
            let (handles, calls) = timing.lie.map(|lie| *lie).unwrap_or_default();
            assert_eq!(!calls.is_empty(), body.starts_with("return"), "{body}");
            for set in 0..3 {
                for (output, handle, offset) in calls.get(set as usize).into_iter().flatten() {
                    assert_eq!(*output, 0);
                    let lies = Lies { handle: handles[*handle].clone(), offset: *offset };
                    let (offset, bytes) = (slots[1].offset, slots[1].bytes);
                    done(&mut keeper, Ask::Adopt { set, offset, bytes, lies });
                }
                done(&mut keeper, Ask::Fetch { set, parts: vec![] });
                let (x, y) = (floats(&arena, &slots[0]), floats(&arena, &slots[1]));
                assert!(x.iter().zip(&y).all(|(x, y)| x * 2.5 == *y), "{body}, set {set}");
                assert!(x.iter().any(|x| *x > 3.0) && x.iter().all(|x| x.abs() < 8.0), "{body}, set {set}");
            }
            worker.resume();
            done(&mut worker, Ask::Release);
        }
    }
}
