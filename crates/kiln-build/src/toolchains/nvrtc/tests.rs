//! What is believed of a process that compiles, and when it is replaced; with a script in its place.

use super::*;

struct Bench {
    folder: tempfile::TempDir,
    nvrtc: Nvrtc,
}

fn bench(most: u64) -> Bench {
    let program = Utf8PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/builder.sh"));
    let builders = Builders::with(&program, most);
    let nvrtc = Nvrtc { builders, library: "none".into(), toolkit: None, version: "13.0".into(), bytes: 0 };
    Bench { folder: tempfile::tempdir().unwrap(), nvrtc }
}

impl Bench {
    /// Compiles a source of that name; whether it passed, or the fault.
    fn compile(&self, name: &str) -> Result<bool, Fault> {
        let root = Utf8PathBuf::from_path_buf(self.folder.path().to_owned()).unwrap();
        let request = Request {
            sources: vec![root.join(name)],
            arch: Some("sm_90a".into()),
            entries: vec!["f".into()],
            ..Request::default()
        };
        let work = root.join("work");
        fs_err::create_dir_all(&work).unwrap();
        let stopped = AtomicBool::new(false);
        let (limits, started) = (BuildLimits::default(), Instant::now());
        let watch = Watch { limits, on_silence: &|_| {}, stopped: &stopped, started };
        let built = self.nvrtc.compile(&request, &work, &watch)?;
        Ok(matches!(built, Outcome::Passed(_)))
    }

    /// Which process made each compilation: 0 for the first, 1 for the second.
    fn processes(&self) -> Vec<usize> {
        let text = std::fs::read_to_string(self.folder.path().join("processes")).unwrap_or_default();
        let mut known: Vec<&str> = Vec::new();
        let mut numbers = Vec::new();
        for id in text.lines() {
            if !known.contains(&id) {
                known.push(id);
            }
            numbers.extend(known.iter().position(|other| *other == id));
        }
        numbers
    }
}

#[test]
fn a_process_compiles_so_many_times_and_is_then_replaced() {
    let bench = bench(3);
    for name in ["good.cu", "wrong.cu", "good.cu", "good.cu"] {
        assert_eq!(bench.compile(name).unwrap(), name == "good.cu");
    }
    assert_eq!(bench.processes(), [0, 0, 0, 1]);
    let each = self::bench(1);
    assert!(each.compile("good.cu").unwrap() && each.compile("good.cu").unwrap());
    assert_eq!(each.processes(), [0, 1]);
}

#[test]
fn what_an_earlier_compilation_may_have_caused_is_tried_again_in_a_new_process() {
    let bench = bench(500);
    assert!(bench.compile("good.cu").unwrap());
    assert!(bench.compile("harmed.cu").unwrap());
    assert_eq!(bench.processes(), [0, 0, 1]);
    // The same from a new one is believed, and that one is not asked again.
    for (times, name) in ["broken.cu", "fault.cu", "nonsense.cu", "exits.cu"].into_iter().enumerate() {
        let (before, last) = (bench.processes().len(), 2 * times + 1);
        let heard = bench.compile(name);
        match name {
            "broken.cu" => assert!(!heard.unwrap()),
            "fault.cu" => assert_eq!(heard.unwrap_err().why, "no library"),
            "nonsense.cu" => assert!(heard.unwrap_err().why.contains("is no answer")),
            _ => assert!(heard.unwrap_err().what.contains("exit code 5")),
        }
        assert!(bench.compile("good.cu").unwrap());
        assert_eq!(bench.processes()[before..], [last, last + 1, last + 2], "{name}");
    }
}

#[test]
fn copies_and_threads_share_processes() {
    let bench = bench(500);
    assert!(bench.compile("good.cu").unwrap());
    let copy = Bench { folder: tempfile::tempdir().unwrap(), nvrtc: bench.nvrtc.clone() };
    assert_eq!(copy.nvrtc, bench.nvrtc);
    std::thread::scope(|scope| scope.spawn(|| copy.compile("good.cu").unwrap()).join().unwrap());
    assert!(bench.compile("good.cu").unwrap());
    let process = |bench: &Bench| std::fs::read_to_string(bench.folder.path().join("processes")).unwrap();
    assert_eq!(process(&bench), process(&copy).repeat(2));
}

#[test]
fn another_kilns_process_is_not_understood() {
    let builders = Builders::with(Utf8Path::new("/bin/echo"), 500);
    let fault = version(&builders, Utf8Path::new("none")).unwrap_err();
    assert!(fault.why.contains("it greeted with `worker nvrtc`"), "{}", fault.why);
}
