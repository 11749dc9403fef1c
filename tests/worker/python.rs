//! Python subjects: the same questions, the same refusals. Without an interpreter these tests say so and pass; those that
//! map tensors want NumPy, and some PyTorch.

#[path = "python_clock.rs"]
mod clock;
#[path = "python_device.rs"]
mod device;

use std::fs;
use std::path::Path;
use std::time::Duration;

use kiln_core::Gate;
use kiln_run::{Answer, Arena, Ask, Confinement, MappedSlot, Python, Region, Worker, find_python, python_command};
use serde_json::json;

use crate::confined::whole;
use crate::kernel::{N, floats, memory};
use crate::{failed, limits, passed, refused, runs};

/// The interpreter, or a note that there is none.
pub(crate) fn interpreter() -> Option<Python> {
    find_python().map_err(|fault| println!("skipped: {fault}")).ok()
}

fn with_numpy() -> Option<Python> {
    let python = interpreter()?;
    if python.numpy.is_none() {
        println!("skipped: {} has no NumPy", python.interpreter);
        return None;
    }
    Some(python)
}

pub(crate) fn load(worker: &mut Worker, file: &Path, function: &str) {
    let library = file.to_str().unwrap().to_string();
    let ask = Ask::Load { library, symbol: function.into(), config: None, device: false };
    assert_eq!(passed(worker.ask_within(ask, Duration::from_secs(60))), Answer::Done);
}

/// A worker with `x`, `y` and `n` mapped and a file of this text, whose function `f` is loaded.
struct Subject {
    folder: tempfile::TempDir,
    worker: Worker,
    arena: Arena,
    regions: Vec<Region>,
}

impl Subject {
    fn new(python: &Python, text: &str) -> Subject {
        Subject::confined(python, text, Confinement::None)
    }

    fn confined(python: &Python, text: &str, confinement: Confinement) -> Subject {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("subject.py");
        fs::write(&file, text).unwrap();
        let mut worker = Worker::start(python_command(&python.interpreter), limits()).unwrap();
        let confined = passed(worker.confine(confinement, Duration::from_secs(60)));
        assert!(matches!(confined, Answer::Confined(_)), "{confined:?}");
        load(&mut worker, &file, "f");
        let (arena, regions, slots) = memory();
        let map = Ask::map(&arena, slots);
        assert_eq!(passed(worker.ask_within(map, Duration::from_secs(60))), Answer::Done);
        Subject { folder, worker, arena, regions }
    }

    fn call(&mut self) {
        assert_eq!(passed(self.worker.ask(Ask::Call)), Answer::Done);
    }

    fn y(&self) -> Vec<f32> {
        floats(&self.arena, &self.regions[1])
    }
}

const IN_PLACE: &str = "
import numpy as np

def f(inputs, scalars, outputs):
    print('a subject may print')
    assert scalars == {'n': 1000} and list(outputs) == ['y']
    np.multiply(inputs['x'], 2, out=outputs['y'])
";

fn doubled() -> Vec<f32> {
    (0..N).map(|i| 2.0 * i as f32).collect()
}

#[test]
fn a_function_writes_its_outputs_and_is_timed() {
    let Some(python) = with_numpy() else { return };
    let mut subject = Subject::new(&python, IN_PLACE);
    subject.call();
    assert_eq!(subject.y(), doubled());
    for (calls, flush) in [(3, 0), (2, 1 << 20)] {
        let ask = Ask::Time { batches: 20, calls, flush, draw: None };
        let Answer::Times(timing) = passed(subject.worker.ask(ask)) else { panic!() };
        let total: u64 = timing.nanoseconds.iter().sum();
        assert!(timing.nanoseconds.len() == 20 && timing.calls == calls && total <= timing.wall_nanoseconds);
        assert!(timing.untimed_nanoseconds > 0);
    }
    assert!(!subject.folder.path().join("__pycache__").exists());
}

#[test]
fn a_function_may_return_its_outputs() {
    let Some(python) = with_numpy() else { return };
    for value in ["2 * inputs['x']", "{'y': 2 * inputs['x']}", "{'y': (2 * inputs['x']).astype('f8')}"] {
        let mut subject = Subject::new(&python, &format!("def f(inputs, scalars, outputs): return {value}\n"));
        subject.call();
        assert_eq!(subject.y(), doubled(), "{value}");
        // What the last timed call returned is there to be checked.
        subject.arena.bytes_mut()[subject.regions[1].clone()].fill(0);
        assert!(matches!(passed(subject.worker.ask(Ask::time(2, 1))), Answer::Times(_)));
        assert_eq!(subject.y(), doubled(), "{value}");
        // Where it is as the output would be it is read as it lies; else it is copied on the clock.
        subject.arena.bytes_mut()[subject.regions[1].clone()].fill(0);
        assert_eq!(passed(subject.worker.ask(Ask::Prepare { order: vec![0] })), Answer::Done);
        let Answer::Times(timing) = passed(subject.worker.ask(Ask::Go { returned: false, copy: false })) else {
            panic!()
        };
        match timing.returned.first().and_then(|spots| spots.first()) {
            Some((0, address)) => {
                let mut bytes = vec![0; 4 * N];
                subject.worker.read(*address, &mut bytes).unwrap();
                let read: Vec<f32> = bytes.chunks(4).map(|four| f32::from_ne_bytes(four.try_into().unwrap())).collect();
                assert_eq!((read, value.contains("f8")), (doubled(), false), "{value}");
            }
            spots => assert_eq!((subject.y(), spots, value.contains("f8")), (doubled(), None, true), "{value}"),
        }
        assert!(failed(subject.worker.ask(Ask::Go { returned: false, copy: false })).contains("nothing is made ready"));
    }
    // One that returns the same array again is known for it after a sample, and from then on copied call by call.
    let source = "import numpy\nkept = numpy.zeros(1000, 'f4')\n\
                  def f(inputs, scalars, outputs): return numpy.multiply(inputs['x'], 2, out=kept)\n";
    let mut subject = Subject::new(&python, source);
    assert!(matches!(passed(subject.worker.ask(Ask::time(1, 3))), Answer::Times(_)));
    subject.arena.bytes_mut()[subject.regions[1].clone()].fill(0);
    assert_eq!(passed(subject.worker.ask(Ask::Prepare { order: vec![0] })), Answer::Done);
    let Answer::Times(timing) = passed(subject.worker.ask(Ask::Go { returned: false, copy: false })) else { panic!() };
    assert_eq!((timing.returned.len(), subject.y()), (0, doubled()));
    for (value, words) in [
        ("{'z': inputs['x']}", "`z`, which is no output"),
        ("inputs['x'][:5]", "[5] for `y`, not [1000]"),
        ("(i for i in inputs['x'])", "generator for `y`, not an array"),
    ] {
        let mut subject = Subject::new(&python, &format!("def f(inputs, scalars, outputs): return {value}\n"));
        let why = failed(subject.worker.ask(Ask::Call));
        assert!(why.contains(words), "{value}: {why}");
    }
}

#[test]
fn inputs_are_read_only_and_mistakes_are_said_with_their_place() {
    let Some(python) = with_numpy() else { return };
    for (body, words) in [
        ("inputs['x'][0] = 1", "subject.py:2: ValueError: assignment destination is read-only"),
        ("\n    1 / 0", "subject.py:3: ZeroDivisionError"),
        ("import sys; sys.exit(3)", "subject.py:2: SystemExit: 3"),
        ("outputs['z']", "KeyError: 'z'"),
    ] {
        let mut subject = Subject::new(&python, &format!("def f(inputs, scalars, outputs):\n    {body}\n"));
        let why = failed(subject.worker.ask(Ask::Call));
        assert!(why.contains(words), "{body}: {why}");
        // The worker is still there.
        assert!(failed(subject.worker.ask(Ask::Call)).contains(words));
    }
}

#[test]
fn files_that_cannot_be_loaded_are_said_with_their_place() {
    let Some(python) = interpreter() else { return };
    let mut worker = Worker::start(python_command(&python.interpreter), limits()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.py");
    let library = file.to_str().unwrap().to_string();
    for (text, words) in [
        ("x = 1\nimport no_such_module\n", "wrong.py:2: ModuleNotFoundError: No module named 'no_such_module'"),
        ("x = (\n", "SyntaxError"),
        ("g = 1\n", "no function `f`"),
    ] {
        fs::write(&file, text).unwrap();
        let why =
            failed(worker.ask(Ask::Load { library: library.clone(), symbol: "f".into(), config: None, device: false }));
        assert!(why.contains(words), "{why}");
    }
    let library = "/nowhere.py".to_string();
    assert!(
        failed(worker.ask(Ask::Load { library, symbol: "f".into(), config: None, device: false }))
            .contains("no such file")
    );
    assert!(failed(worker.ask(Ask::Call)).contains("no function"));
    assert!(failed(worker.ask(Ask::Pin { cpus: vec![100_000] })).contains("processors"));
    assert_eq!(passed(worker.ask(Ask::Pin { cpus: (0..1024).collect() })), Answer::Done);
}

#[test]
fn every_dtype_and_role_arrives() {
    let Some(python) = with_numpy() else { return };
    let text = "
from helper import check

def f(inputs, scalars, outputs, TILE, fast):
    check(inputs, scalars, outputs)
    assert TILE == 8 and fast is True
    outputs['s'] += 1
";
    let helper = "
def check(inputs, scalars, outputs):
    assert list(inputs) == ['a', 'b', 'c', 'e', 's'] and list(outputs) == ['s'], (inputs, outputs)
    kinds = [str(a.dtype) for a in inputs.values()]
    assert kinds == ['float16', 'float64', 'bool', 'uint8', 'int32'], kinds
    assert inputs['b'].shape == (2, 3) and inputs['e'].shape == (0, 4) and inputs['s'] is outputs['s']
    assert scalars == {'scale': 0.5, 'half': 1.5}, scalars
";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("subject.py");
    fs::write(&file, text).unwrap();
    fs::write(folder.path().join("helper.py"), helper).unwrap();
    let arguments: [(&str, &str, &[usize], &str, usize); 9] = [
        ("a", "f16", &[5], "in", 10),
        ("b", "f64", &[2, 3], "in", 48),
        ("c", "bool", &[3], "in", 3),
        ("e", "u8", &[0, 4], "in", 0),
        ("s", "i32", &[2], "inout", 8),
        ("w", "f32", &[2], "scratch", 8),
        ("scale", "f32", &[], "scalar", 4),
        ("half", "bf16", &[], "scalar", 2),
        ("saved", "i32", &[2], "scratch", 8),
    ];
    let (mut arena, regions) = Arena::new(&arguments.map(|a| a.4)).unwrap();
    arena.bytes_mut()[regions[6].clone()].copy_from_slice(&0.5_f32.to_ne_bytes());
    arena.bytes_mut()[regions[7].clone()].copy_from_slice(&0x3fc0_u16.to_ne_bytes());
    let slots = arguments.iter().zip(&regions).map(|((name, dtype, shape, role, bytes), region)| MappedSlot {
        name: (*name).into(),
        offset: region.start,
        bytes: *bytes,
        dtype: (*dtype).into(),
        shape: shape.to_vec(),
        role: (*role).into(),
        strides: None,
        ..MappedSlot::default()
    });
    let mut worker = Worker::start(python_command(&python.interpreter), limits()).unwrap();
    // The order does not matter.
    let map = Ask::map(&arena, slots.collect());
    assert_eq!(passed(worker.ask(map)), Answer::Done);
    let library = file.to_str().unwrap().to_string();
    let config = Some(json!({"TILE": 8, "fast": true}));
    let load = Ask::Load { library, symbol: "f".into(), config, device: false };
    assert_eq!(passed(worker.ask_within(load, Duration::from_secs(60))), Answer::Done);
    let answer = passed(worker.ask(Ask::Call));
    assert_eq!(answer, Answer::Done);
    assert_eq!(arena.bytes()[regions[4].start], 1);
}

#[test]
fn what_does_not_fit_is_said() {
    let Some(python) = with_numpy() else { return };
    let mut subject = Subject::new(&python, IN_PLACE);
    let slot = |dtype: &str, bytes| MappedSlot {
        name: "x".into(),
        offset: 4096,
        bytes,
        dtype: dtype.into(),
        shape: vec![4],
        role: "in".into(),
        strides: None,
        ..MappedSlot::default()
    };
    let mut map = |slot| failed(subject.worker.ask(Ask::map(&subject.arena, vec![slot])));
    assert!(map(slot("f32", 8)).contains("f32[4] needs 16 bytes, not 8"));
    assert!(map(slot("f32", 1 << 40)).contains("outside"));
    assert!(map(slot("f7", 16)).contains("unknown dtype f7"));
    if python.torch.is_none() {
        let why = map(slot("bf16", 8));
        assert!(why.contains("`x` is bf16, which needs PyTorch"), "{why}");
    }
}

#[test]
fn a_baseline_of_the_repository_runs_in_both_precisions() {
    let Some(python) = with_numpy() else { return };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/matmul/baseline.py");
    for (dtype, size) in [("f32", 4), ("f64", 8)] {
        let arguments = [("a", vec![2, 3], "in"), ("b", vec![3, 2], "in"), ("c", vec![2, 2], "out")];
        let (mut arena, regions) = Arena::new(&[6 * size, 6 * size, 4 * size]).unwrap();
        let one: Vec<u8> = if size == 4 { 1_f32.to_ne_bytes().into() } else { 1_f64.to_ne_bytes().into() };
        arena.bytes_mut()[regions[0].clone()].copy_from_slice(&one.repeat(6));
        arena.bytes_mut()[regions[1].clone()].copy_from_slice(&one.repeat(6));
        let slots = arguments.into_iter().zip(&regions).map(|((name, shape, role), region)| MappedSlot {
            name: name.into(),
            offset: region.start,
            bytes: region.len(),
            dtype: dtype.into(),
            shape,
            role: role.into(),
            strides: None,
            ..MappedSlot::default()
        });
        let slots = slots.collect();
        let mut worker = Worker::start(python_command(&python.interpreter), limits()).unwrap();
        load(&mut worker, &file, "numpy");
        assert_eq!(passed(worker.ask(Ask::map(&arena, slots))), Answer::Done);
        assert_eq!(passed(worker.ask(Ask::Call)), Answer::Done);
        let three: Vec<u8> = if size == 4 { 3_f32.to_ne_bytes().into() } else { 3_f64.to_ne_bytes().into() };
        assert_eq!(arena.bytes()[regions[2].clone()], three.repeat(4));
    }
}

#[test]
fn tensors_without_numpy_are_a_clear_failure() {
    let Some(python) = interpreter() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("subject.py");
    fs::write(&file, "import sys\nsys.modules['numpy'] = None\ndef f(inputs, scalars, outputs): pass\n").unwrap();
    let mut worker = Worker::start(python_command(&python.interpreter), limits()).unwrap();
    load(&mut worker, &file, "f");
    let (arena, _, slots) = memory();
    let why = failed(worker.ask(Ask::map(&arena, slots)));
    assert!(why.contains("NumPy is not installed in"), "{why}");
}

#[test]
fn a_file_that_uses_torch_gets_tensors() {
    let Some(python) = with_numpy().filter(|p| p.torch.is_some()) else {
        println!("skipped: no PyTorch");
        return;
    };
    for body in ["torch.mul(inputs['x'], 2, out=outputs['y'])", "return 2 * inputs['x']"] {
        let text = format!(
            "import torch\n\ndef f(inputs, scalars, outputs):\n    assert type(inputs['x']) is torch.Tensor\n    {body}\n"
        );
        let mut subject = Subject::new(&python, &text);
        subject.call();
        assert_eq!(subject.y(), doubled(), "{body}");
    }
    // Types that NumPy does not have.
    let (mut arena, regions) = Arena::new(&[8, 8]).unwrap();
    arena.bytes_mut()[regions[0].clone()].copy_from_slice(&[0xc0, 0x3f].repeat(4));
    let slots = [("x", "in"), ("y", "out")].into_iter().zip(&regions).map(|((name, role), region)| MappedSlot {
        name: name.into(),
        offset: region.start,
        bytes: 8,
        dtype: "bf16".into(),
        shape: vec![2, 2],
        role: role.into(),
        strides: None,
        ..MappedSlot::default()
    });
    let slots = slots.collect();
    let mut subject =
        Subject::new(&python, "def f(inputs, scalars, outputs):\n    outputs['y'].copy_(inputs['x'] * 2)\n");
    let map = Ask::map(&arena, slots);
    assert_eq!(passed(subject.worker.ask_within(map, Duration::from_secs(60))), Answer::Done);
    subject.call();
    assert_eq!(arena.bytes()[regions[1].clone()], [0x40, 0x40].repeat(4));
}

#[test]
fn hostile_functions_are_refused_like_kernels() {
    let Some(python) = with_numpy() else { return };
    for (body, gate, measured, evidence) in [
        ("while True: pass", Gate::Timeout, "no answer", ""),
        ("x = []\n    while True: x.append(bytearray(b'1') * (64 << 20))", Gate::HostOom, "resident", ""),
        ("import os; os._exit(4)", Gate::RuntimeFailed, "exited with code 4", ""),
        ("import ctypes; ctypes.string_at(8)", Gate::RuntimeFailed, "SIGSEGV", "subject.py\", line 2 in f"),
        ("import os; print('last words', flush=True); os.abort()", Gate::RuntimeFailed, "SIGABRT", "last words"),
    ] {
        let mut subject = Subject::new(&python, &format!("def f(inputs, scalars, outputs):\n    {body}\n"));
        let pid = subject.worker.pid();
        // Only an endless loop is to run into its limit.
        let time = if gate == Gate::Timeout { limits().time } else { Duration::from_secs(30) };
        let refusal = refused(subject.worker.ask_within(Ask::Call, time));
        assert_eq!(refusal.gate, gate, "{body}");
        assert!(refusal.measured.contains(measured), "{body}: {}", refusal.measured);
        assert!(refusal.evidence.contains(evidence), "{body}: {}", refusal.evidence);
        assert!(!runs(pid));
    }
}

/// A worker with this file's `f` loaded, and no arguments: no package is needed.
fn bare(python: &Python, folder: &Path, body: &str, confinement: Confinement) -> Worker {
    let file = folder.join("subject.py");
    fs::write(&file, format!("import os\ndef f(inputs, scalars, outputs):\n    {body}\n")).unwrap();
    let mut worker = Worker::start(python_command(&python.interpreter), limits()).unwrap();
    let confined = passed(worker.confine(confinement, Duration::from_secs(60)));
    assert!(matches!(confined, Answer::Confined(_)), "{confined:?}");
    load(&mut worker, &file, "f");
    let (arena, _) = Arena::new(&[8]).unwrap();
    assert_eq!(passed(worker.ask(Ask::map(&arena, vec![]))), Answer::Done);
    worker
}

#[test]
fn confined_functions_start_nothing_and_reach_nobody() {
    let Some(python) = interpreter().filter(|_| whole()) else { return };
    let folder = tempfile::tempdir().unwrap();
    for (body, call) in [
        ("os.fork()", "clone"),
        ("import subprocess; subprocess.run(['true'])", "vfork"),
        ("os.system('true')", "clone"),
        ("os.execv('/bin/true', ['true'])", "execve"),
        ("os.posix_spawn('/bin/true', ['true'], {})", "clone"),
        ("import socket; socket.socket(socket.AF_INET)", "socket"),
        ("os.kill(os.getppid(), 15)", "kill"),
        ("import ctypes; ctypes.CDLL(None).ptrace(16, os.getppid(), None, None)", "ptrace"),
    ] {
        let mut worker = bare(&python, folder.path(), body, Confinement::Processor);
        let refusal = refused(worker.ask_within(Ask::Call, Duration::from_secs(20)));
        assert_eq!(refusal.gate, Gate::ForbiddenCall, "{body}: {refusal:?}");
        let called = [call, "clone", "fork", "vfork"].map(|call| format!("the kernel called {call}"));
        assert!(called.contains(&refusal.measured), "{body}: {}", refusal.measured);
        // The line that did it.
        assert!(refusal.evidence.contains("subject.py\", line 3 in f"), "{body}: {}", refusal.evidence);
    }
}

#[test]
fn confined_functions_read_everything_and_write_to_their_folder() {
    let Some(python) = interpreter().filter(|_| whole()) else { return };
    let folder = tempfile::tempdir().unwrap();
    for (body, words) in [
        ("open(os.path.expanduser('~/kiln-test-python'), 'w')", "PermissionError"),
        ("open('/tmp/kiln-test-python', 'w')", "PermissionError"),
        ("open('/dev/shm/kiln-test-python', 'w')", "PermissionError"),
        ("open(__file__, 'a')", "PermissionError"),
        ("open('/proc/%d/environ' % os.getppid()).read()", "PermissionError"),
        ("open('/proc/%d/mem' % os.getppid()).read()", "PermissionError"),
        ("os.sched_setaffinity(0, os.sched_getaffinity(0))", "PermissionError"),
        ("import socket; socket.socket(socket.AF_UNIX)", "PermissionError"),
    ] {
        let why = failed(bare(&python, folder.path(), body, Confinement::Processor).ask(Ask::Call));
        assert!(why.contains(words), "{body}: {why}");
    }
    for body in [
        "assert open('/proc/cpuinfo').read()",
        "print(open(os.path.join(os.environ['TMPDIR'], 'x'), 'w').write('x')); open('/dev/null', 'w').write('x')",
        "import tempfile; tempfile.TemporaryFile().write(b'x'); tempfile.TemporaryDirectory().cleanup()",
        "import threading; t = [threading.Thread(target=print) for _ in range(8)]; [i.start() for i in t]; [i.join() for i in t]",
        "assert len(bytearray(100 << 20)) and os.urandom(8)",
    ] {
        let mut worker = bare(&python, folder.path(), body, Confinement::Processor);
        assert_eq!(passed(worker.ask_within(Ask::Call, Duration::from_secs(20))), Answer::Done, "{body}");
    }
}

#[test]
fn functions_that_compile_may_start_processes_but_reach_nobody() {
    let Some(python) = interpreter().filter(|_| whole()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let body = "import subprocess; p = subprocess.Popen(['sleep', '100']); p.kill(); assert p.wait() == -9
    open(os.path.join(os.environ['TMPDIR'], 'x'), 'w').close()";
    let mut worker = bare(&python, folder.path(), body, Confinement::Compiler);
    assert_eq!(passed(worker.ask_within(Ask::Call, Duration::from_secs(20))), Answer::Done);
    for body in ["os.kill(os.getppid(), 15)", "import ctypes; ctypes.CDLL(None).ptrace(16, os.getppid(), None, None)"] {
        let refusal = refused(bare(&python, folder.path(), body, Confinement::Compiler).ask(Ask::Call));
        assert_eq!(refusal.gate, Gate::ForbiddenCall, "{refusal:?}");
        // Nobody listens yet, so that the call has no name; the line has.
        assert!(refusal.evidence.contains("subject.py\", line 3 in f"), "{body}: {}", refusal.evidence);
    }
    for body in ["os.sched_setaffinity(0, os.sched_getaffinity(0))", "open('/tmp/kiln-test-python', 'w')"] {
        let why = failed(bare(&python, folder.path(), body, Confinement::Compiler).ask(Ask::Call));
        assert!(why.contains("PermissionError"), "{body}: {why}");
    }
}

#[test]
fn arrays_work_in_a_confined_worker() {
    let Some(python) = with_numpy() else { return };
    let mut subject = Subject::confined(&python, IN_PLACE, Confinement::Processor);
    subject.call();
    assert_eq!(subject.y(), doubled());
}
