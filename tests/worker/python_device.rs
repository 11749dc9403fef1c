//! Python subjects on a GPU. Without one: the device's code on processor tensors, and what users are told instead.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use kiln_run::{Answer, Ask, Failed, Lent, Python, Worker, python_command};

use super::interpreter;
use crate::kernel::memory;
use crate::{failed, limits, passed};

fn load(worker: &mut Worker, text: &str) -> Answer {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("subject.py");
    fs::write(&file, text).unwrap();
    let library = file.to_str().unwrap().to_string();
    let ask = Ask::Load { library, symbol: "f".into(), config: None, device: true };
    passed(worker.ask_within(ask, Duration::from_secs(120)))
}

fn start(python: &Python) -> Worker {
    // Whoever uses a GPU maps gigabytes of libraries.
    let limits = kiln_run::WorkerLimits { memory: 16 << 30, ..limits() };
    Worker::start(python_command(&python.interpreter), limits).unwrap()
}

#[test]
fn the_devices_code_works_without_one() {
    let Some(python) = interpreter() else { return };
    if python.torch.is_none() {
        println!("skipped: {} has no PyTorch", python.interpreter);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program.py");
    // The very text that workers are started with.
    let text = python_command(&python.interpreter).get_args().last().unwrap().to_str().unwrap().to_string();
    fs::write(&program, text).unwrap();
    let checks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/worker/python_device.py");
    let output = Command::new(&python.interpreter).arg(checks).arg(program).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn a_file_for_the_device_must_work_with_its_tensors() {
    let Some(python) = interpreter() else { return };
    let mut worker = start(&python);
    let Answer::Failed(Failed { words: why, .. }) = load(&mut worker, "def f(inputs, scalars, outputs): pass\n") else {
        panic!()
    };
    assert!(why.contains("imports neither torch nor triton") && why.contains("hint: write `import torch`"), "{why}");
    // Nothing is loaded for a device, so nothing can be lent there; and who keeps memory is another process.
    let Ask::Map { arena, slots, launches, sets, stride, holes, elsewhere, gone, .. } = Ask::map(&memory().0, vec![])
    else {
        panic!()
    };
    let lent = Some(Lent::default());
    let map = Ask::Map { arena, lent, slots, launches, sets, stride, holes, elsewhere, gone };
    let why = failed(worker.ask(map));
    assert!(why.contains("memory is lent on a device, and no function is loaded for one"), "{why}");
    for ask in [Ask::Upload { image: 1 }, Ask::Lay { image: 1 }, Ask::Fetch { set: 0, parts: vec![] }] {
        assert!(failed(worker.ask(ask)).contains("no such question"));
    }
    if python.torch.is_none() {
        // Whatever comes out of Triton says so.
        let text = "import types\ntl = types.ModuleType('triton.language')\ndef f(inputs, scalars, outputs): pass\n";
        let Answer::Failed(Failed { words: why, .. }) = load(&mut worker, text) else { panic!() };
        assert!(why.contains("tensors on the GPU need PyTorch, which"), "{why}");
    } else if python.torch_cuda.is_none() {
        let Answer::Failed(Failed { words: why, .. }) =
            load(&mut worker, "import torch\ndef f(inputs, scalars, outputs): pass\n")
        else {
            panic!()
        };
        assert!(why.contains("PyTorch sees no GPU: this PyTorch ("), "{why}");
    }
}
