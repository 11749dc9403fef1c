//! Several implementations of one target: what each takes from the file and the target, and which of them compete.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_core::Config;
use kiln_device::Arch;
use kiln_spec::{Choice, KernelSpec, Selection, parse, read_tuned};

const FILE: &str = r#"
[kernel]
name = "k"
entry = "k"
[tunables]
A = [1, 2]
[default]
A = 1
[derived]
twice = "2 * A"
[target.cuda]
compile = { flags = ["-O3"], std = "c++17" }
defines = { WIDTH = 4, HEIGHT = 8 }
[target.cuda.tunables]
B = [8, 16]
[target.cuda.default]
B = 8
[target.cuda.constraints]
common = "A < 9"
[[target.cuda.launches]]
grid = "N"
block = "B"
[target.cuda.implementation.portable]
source = "portable.cu"
archs = ["sm_80+"]
[target.cuda.implementation.hopper]
source = "hopper.cu"
entry = "h<{D}>"
archs = ["sm_90a"]
compile = { flags = ["-lineinfo"] }
defines = { WIDTH = 16 }
arguments = ["x", "y"]
[target.cuda.implementation.hopper.tunables]
A = [2, 4]
STAGES = [2, 3]
[target.cuda.implementation.hopper.default]
A = 4
STAGES = 2
[target.cuda.implementation.hopper.derived]
bytes = "twice * STAGES"
[target.cuda.implementation.hopper.constraints]
fits = "bytes <= 32"
[[target.cuda.implementation.hopper.launches]]
grid = "N // STAGES"
block = 128
[target.cpu]
source = "k.c"
[[arguments]]
name = "x"
type = "f32[N]"
role = "in"
[[arguments]]
name = "y"
type = "f32[N]"
role = "out"
[[arguments]]
name = "n"
type = "i64"
role = "scalar"
value = "N"
[[workloads]]
name = "w"
dims = { N = 64, D = 8 }
"#;

fn spec() -> KernelSpec {
    let (spec, warnings) = parse("k.toml", FILE.as_bytes()).unwrap_or_else(|reports| panic!("{}", reports[0]));
    assert!(warnings.is_empty(), "{}", warnings[0]);
    spec
}

fn names(selection: &Selection<'_>) -> Vec<String> {
    selection.implementations.iter().map(|one| one.name.as_deref().unwrap_or("-").to_string()).collect()
}

#[test]
fn each_has_the_words_of_the_file_the_target_and_its_own() {
    let spec = spec();
    let [portable, hopper] = &spec.targets[0].implementations[..] else { panic!("two") };
    let tunables = |one: &kiln_spec::Implementation| {
        one.tunables.iter().map(|t| format!("{} {:?}", t.name, t.values.len())).collect::<Vec<_>>()
    };
    assert_eq!(
        (tunables(portable), tunables(hopper)),
        (vec!["A 2".into(), "B 2".into()], vec!["A 2".to_string(), "B 2".into(), "STAGES 2".into()])
    );
    assert_eq!(portable.stated_default().unwrap().to_string(), "implementation=portable,A=1,B=8");
    assert_eq!(hopper.stated_default().unwrap().to_string(), "implementation=hopper,A=4,B=8,STAGES=2");
    let rules =
        |one: &kiln_spec::Implementation| one.constraints.iter().map(|c| c.name.to_string()).collect::<Vec<_>>();
    assert_eq!((rules(portable), rules(hopper)), (vec!["common".into()], vec!["common".to_string(), "fits".into()]));
    assert_eq!((portable.compile.flags.len(), hopper.compile.flags.len()), (1, 2));
    assert_eq!(hopper.compile.std.as_deref(), Some("c++17"));
    let width =
        |one: &kiln_spec::Implementation| one.compile.defines.iter().find(|(n, _)| n == "WIDTH").unwrap().1.clone();
    assert_eq!((width(portable), width(hopper)), ("4".to_string(), "16".to_string()));
    assert_eq!(portable.launches[0].block[0].expression.text(), "B");
    assert_eq!(hopper.launches[0].block[0].expression.text(), "128");
    assert!(portable.takes("n") && !hopper.takes("n") && hopper.takes("y"));
    // Another target of the file is as it always was.
    let [plain] = &spec.targets[1].implementations[..] else { panic!("one") };
    assert_eq!((plain.name.as_deref(), plain.stated_default().unwrap().to_string().as_str()), (None, "A=1"));
}

#[test]
fn those_compete_that_run_on_the_architecture_and_were_asked_for() {
    let spec = spec();
    let choose = |arch, implementation| {
        spec.select(Choice { arch: Some(arch), implementation, ..Choice::default() }).map(|s| (names(&s), s.remarks()))
    };
    assert_eq!(choose("sm_90a", None).unwrap().0, ["portable", "hopper"]);
    let (here, remarks) = choose("sm_89", None).unwrap();
    assert_eq!(here, ["portable"]);
    assert_eq!(remarks, ["implementation hopper is left out: it runs on sm_90a, not on sm_89"]);
    assert_eq!(choose("sm_90a", Some("hopper")).unwrap().0, ["hopper"]);
    let report = choose("sm_75", None).unwrap_err();
    assert_eq!(report.message, "no implementation of target.cuda runs on sm_75");
    assert_eq!(report.label, "portable runs on sm_80+; hopper runs on sm_90a");
    let report = choose("sm_80", Some("hopper")).unwrap_err();
    assert_eq!(report.message, "implementation hopper of target.cuda does not run on sm_80");
    assert_eq!(report.hint.as_deref(), Some("--implementation portable runs there"));
    let report = choose("sm_80", Some("hoper")).unwrap_err();
    assert_eq!(
        (report.message.as_str(), report.hint.as_deref()),
        ("there is no implementation `hoper`", Some("did you mean hopper?"))
    );
    // A target without any has none to choose.
    let cpu = spec.select(Choice { target: Some("cpu"), implementation: Some("hopper"), ..Choice::default() });
    assert_eq!(cpu.unwrap_err().label, "the kernel file defines no implementation");
}

#[test]
fn a_configuration_is_of_one_of_them() {
    let spec = spec();
    let selection = spec.select(Choice { arch: Some("sm_90a"), ..Choice::default() }).unwrap();
    let of = |text: &str| selection.implementation(&Config::parse(text).unwrap()).name.clone().unwrap().to_string();
    assert_eq!(
        (of("implementation=hopper,A=4"), of("A=1"), of("")),
        ("hopper".into(), "portable".into(), "portable".into())
    );
    assert!(selection.recorded_config("implementation=hopper,A=4,B=8,STAGES=3").is_some());
    for other in ["implementation=portable,A=1,B=8,STAGES=2", "A=1,B=8", "implementation=hopper,A=1,B=8,STAGES=2"] {
        assert!(selection.recorded_config(other).is_none(), "{other}");
    }
    // What baselines are given is the target's to say.
    assert!(selection.passes(&Config::default(), "n"));
    assert!(!selection.passes(&Config::parse("implementation=hopper,A=4,B=8,STAGES=2").unwrap(), "n"));
    // Derived values are those of the implementation.
    let config = Config::parse("implementation=hopper,A=4,B=8,STAGES=3").unwrap();
    let resolver = kiln_spec::Resolver::new(&selection, spec.workloads.first(), Some(&config));
    assert_eq!(resolver.value("bytes").unwrap().to_string(), "24");
    let config = Config::parse("implementation=portable,A=2,B=8").unwrap();
    assert!(kiln_spec::Resolver::new(&selection, spec.workloads.first(), Some(&config)).value("bytes").is_none());
}

#[test]
fn tuned_entries_are_of_one_of_them_and_serve_where_it_runs() {
    let mut spec = spec();
    let entry = |config: &str| {
        format!("[[tuned]]\narch = \"sm_90a\"\nworkload = \"w\"\ndims = {{ N = 64, D = 8 }}\nconfig = {{ {config} }}\n")
    };
    let table = entry("implementation = \"hopper\", A = 2, B = 16, STAGES = 3")
        + &entry("A = 1, B = 8")
        + &entry("implementation = \"gone\", A = 1");
    let (entries, warnings) = read_tuned("tuned.toml", table.as_bytes(), &spec.targets[0]).unwrap();
    assert_eq!((entries.len(), warnings.len()), (1, 2));
    assert_eq!(warnings[0].message, "it names no implementation of the kernel (portable, hopper)");
    spec.targets[0].tuned.entries = entries;
    let begins = |implementation| {
        let choice = Choice { arch: Some(Arch::SM_90A.name()), implementation, ..Choice::default() };
        spec.select(choice).unwrap().default_config(&|_| true).unwrap().to_string()
    };
    assert_eq!(begins(None), "implementation=hopper,A=2,B=16,STAGES=3");
    assert_eq!(begins(Some("portable")), "implementation=portable,A=1,B=8");
}
