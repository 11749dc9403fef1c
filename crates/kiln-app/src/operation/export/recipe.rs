//! How the package is built and installed: the Makefile, pyproject.toml with its backend, the README. In: a plan. Out: their texts.

use kiln_spec::TargetKind;

use crate::operation::export::builds::Binary;
use crate::operation::export::names::variable;
use crate::operation::export::rules::limits;
use crate::operation::export::sources::{Sources, flags};
use crate::operation::export::{Plan, slashed};

/// What a kernel that keeps something from launch to launch needs.
const STATE: &str = "\nThe kernel keeps a variable on the device from launch to launch. Each stream, and each capture into a CUDA graph, has its own copy of the module\n\
                     (some 100 KB), so that calls on several streams and replays of several graphs do not share it. From C, do not run two instances of one captured\n\
                     graph at the same time.\n";

/// The version that packages have: an export is not a release.
const VERSION: &str = "0.1.0";

/// The wheel's backend, which needs nothing but Python.
pub(super) fn backend(plan: &Plan<'_>) -> String {
    let requires = match plan.target.kind {
        TargetKind::Cuda => "[\"torch>=2.4\"]",
        TargetKind::Cpu => "[\"numpy\"]",
        TargetKind::Python => "[]",
    };
    include_str!("native/kiln_wheel.py")
        .replace("@NAME@", &plan.interface.name)
        .replace("@VERSION@", VERSION)
        .replace("@SUMMARY@", &format!("{}, tuned and exported by kiln", plan.file.spec.name))
        .replace("@REQUIRES@", requires)
        .replace("@PLAIN@", if plan.target.kind == TargetKind::Cpu { "False" } else { "True" })
}

pub(super) fn pyproject(plan: &Plan<'_>) -> String {
    format!(
        "# kiln_wheel.py builds the wheel: `pip wheel .` works offline and needs no other package.\n[build-system]\n\
         requires = []\nbuild-backend = \"kiln_wheel\"\nbackend-path = [\".\"]\n\n[project]\nname = \"{}\"\nversion = \"{VERSION}\"\n",
        plan.interface.name
    )
}

/// The generated source of a binary.
pub(super) fn source_name(plan: &Plan<'_>, number: usize, sources: &Sources) -> String {
    let binary = plan.binaries.get(number);
    let units = binary.map(|binary| sources.of(plan.part_of(&binary.config)).units).unwrap_or_default();
    let extension = units.first().and_then(|unit| unit.extension()).unwrap_or("c");
    format!("{}_{number}.{extension}", plan.interface.name)
}

pub(super) fn makefile(plan: &Plan<'_>, sources: &Sources) -> String {
    match plan.target.kind {
        TargetKind::Cuda => for_cuda(plan, sources),
        _ => for_c(plan, sources),
    }
}

fn includes(plan: &Plan<'_>, binary: &Binary, sources: &Sources) -> String {
    sources
        .of(plan.part_of(&binary.config))
        .includes
        .iter()
        .map(|folder| format!(" -Isrc/{}", slashed(folder)))
        .collect()
}

fn quoted(flags: Vec<String>) -> String {
    flags.iter().map(|flag| format!(" '{}'", flag.replace('\'', "'\\''").replace('$', "$$"))).collect()
}

fn for_cuda(plan: &Plan<'_>, sources: &Sources) -> String {
    let name = &plan.interface.name;
    let products: Vec<String> =
        (0..plan.binaries.len()).filter_map(|i| Some(format!("{name}/{}", plan.product_name(i)?))).collect();
    let mut text = format!(
        "# `make` builds lib/lib{name}.a: the launcher with the cubins in it. Programs link it with -lcuda and need no CUDA toolkit at\n\
         # run time. `make cubins` compiles the kernels again, with nvcc.\n\
         CUDA_HOME ?= /usr/local/cuda\nNVCC ?= $(CUDA_HOME)/bin/nvcc\nCXXFLAGS ?= -O2\nCUBINS = {}\n\n\
         lib/lib{name}.a: build/{name}.o build/{name}_cubins.o\n\t@mkdir -p lib\n\t$(AR) rcs $@ $^\n\n\
         build/{name}.o: src/{name}.cpp src/kiln_launch.hpp include/{name}.h\n\t@mkdir -p build\n\t\
         $(CXX) $(CXXFLAGS) -std=c++17 -fPIC -Wall -Wextra -Iinclude -Isrc -I$(CUDA_HOME)/include -c $< -o $@\n\n\
         build/{name}_cubins.o: src/{name}_cubins.S $(CUBINS)\n\t@mkdir -p build\n\t$(CXX) -fPIC -Wa,-I{name} -c $< -o $@\n\n\
         .PHONY: cubins clean\ncubins:\n",
        products.join(" "),
    );
    for (number, binary) in plan.binaries.iter().enumerate() {
        let (arch, flags) = (binary.arch.map_or("", |arch| arch.name()), own_flags(binary));
        text += &format!(
            "\t$(NVCC) -cubin -arch={arch}{}{flags} -o {name}/{} src/{}\n",
            includes(plan, binary, sources),
            plan.product_name(number).unwrap_or_default(),
            source_name(plan, number, sources),
        );
    }
    text + "\nclean:\n\trm -rf build lib\n"
}

fn own_flags(binary: &Binary) -> String {
    binary.request.as_ref().map_or(String::new(), |request| quoted(flags(request)))
}

fn for_c(plan: &Plan<'_>, sources: &Sources) -> String {
    let name = &plan.interface.name;
    let all: Vec<String> =
        (0..plan.binaries.len()).filter_map(|i| Some(format!("{name}/{}", plan.product_name(i)?))).collect();
    let copied: Vec<String> = sources.files.iter().map(|(path, _)| format!("src/{}", slashed(path))).collect();
    let mut text = format!(
        "# `make -B` compiles every configuration again, for the processor of this machine.\n\
         CFLAGS ?= -O3 -march=native\nSOURCES = {}\n\nall: {}\n",
        copied.join(" "),
        all.join(" "),
    );
    for (number, binary) in plan.binaries.iter().enumerate() {
        let source = source_name(plan, number, sources);
        text += &format!(
            "\n{name}/{}: src/{source} src/{name}_{number}_call.c $(SOURCES)\n\t$(CC) $(CFLAGS) -fPIC -shared{}{} -o $@ src/{source} src/{name}_{number}_call.c -lm\n",
            plan.product_name(number).unwrap_or_default(),
            includes(plan, binary, sources),
            own_flags(binary),
        );
    }
    text + "\n.PHONY: all\n"
}

/// The functions of a C kernel in words; several where implementations have their own.
fn functions(plan: &Plan<'_>) -> String {
    let mut names: Vec<String> = plan.parts().into_iter().map(|part| format!("`{}()`", plan.entry(part))).collect();
    names.dedup();
    names.join(" and ")
}

/// Dtypes that share tuned rows.
fn same_sizes(plan: &Plan<'_>) -> String {
    let mut text = String::new();
    for (variable, dtypes) in &plan.target.variants {
        let mut told = Vec::new();
        for dtype in dtypes {
            let same: Vec<&str> =
                dtypes.iter().filter(|other| other.bytes() == dtype.bytes()).map(|other| other.name()).collect();
            if same.len() > 1 && !told.contains(&dtype.bytes()) {
                told.push(dtype.bytes());
                let names = same.join(" and ");
                text +=
                    &format!("What was tuned for one dtype of {variable} serves others of the same size: {names}.\n");
            }
        }
    }
    text
}

/// What the folder holds and how each part is used.
pub(super) fn readme(plan: &Plan<'_>) -> String {
    let (name, spec, kind) = (&plan.interface.name, &plan.file.spec, plan.target.kind);
    let mut text = format!(
        "# {name}\n\n{}Exported by kiln {} from the kernel `{}`, target `{}`.\n\n## Python\n\n```python\nfrom {name} import {name}\n\n\
         {} = {}\n```\n\n",
        spec.description.as_ref().map_or(String::new(), |d| format!("{}\n\n", d.trim())),
        env!("CARGO_PKG_VERSION"),
        spec.name,
        kind.name(),
        if plan.interface.returns.is_empty() {
            "_".into()
        } else {
            plan.interface.returns.iter().map(|name| variable(name)).collect::<Vec<_>>().join(", ")
        },
        plan.interface.signature(),
    );
    for parameter in &plan.interface.parameters {
        text += &format!("- `{}`: {}\n", variable(&parameter.name), parameter.about);
    }
    let limits = limits(plan);
    if !limits.is_empty() {
        text += &format!("\n{}\n", limits.join("\n"));
    }
    text += &match kind {
        TargetKind::Cuda => format!(
            "\nTensors are on a CUDA device. Outputs are allocated by torch, launches go to torch's current stream, and nothing waits. The first call of a\n\
             shape chooses a configuration and loads its cubin; make one before a CUDA graph is captured. Under `torch.compile` the call becomes the\n\
             operation `torch.ops.kiln_{name}.{name}`. There is no backward: inputs that require a gradient are refused in grad mode, and a backward\n\
             through the operation raises. Inputs that lie otherwise than the kernel wants them are copied first. Needs libcuda and torch; nothing is\n\
             compiled.\n{}",
            if plan.stateful { STATE } else { "" }
        ),
        TargetKind::Cpu => "\nArrays are NumPy's. The libraries were compiled for the processor they were exported on: `make -B` compiles them for another.\n".into(),
        TargetKind::Python => format!(
            "\nThe tunables of the nearest tuned shape are passed to the function in `{name}/source`. `table.json` holds them.\n"
        ),
    };
    text += "\n```sh\npip install .                  # or put this folder on PYTHONPATH\npip wheel . --no-deps          # a wheel; works offline\n\
         python -m unittest discover tests   # compares it with the kernel's reference\n```\n";
    text += &match kind {
        TargetKind::Cuda => format!(
            "\n## C and C++\n\n```sh\nmake CUDA_HOME=/usr/local/cuda   # lib/lib{name}.a, to be linked with -lcuda\n```\n\n`include/{name}.h` declares `{name}()`: fill in {} \
             `{name}_call` with dimensions, dtypes and device addresses and pass a stream of the current context.\n",
            if name.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" },
        ),
        TargetKind::Cpu => format!(
            "\n## C\n\n`include/{name}.h` declares {}; each library in `{name}/bin` has it with one configuration. `src/{name}_N` fixes the configuration of library N.\n",
            functions(plan),
        ),
        TargetKind::Python => String::new(),
    };
    text += "\n## Configurations\n\nThe row of the nearest shape whose configuration is valid serves a call; distance is counted in doublings of dimensions.\n";
    text += &same_sizes(plan);
    text += "\n| architecture | variant | tuned for | configuration |\n|---|---|---|---|\n";
    for row in &plan.rows {
        let variant: Vec<String> = row.variant.iter().map(|(n, d)| format!("{n}={}", d.name())).collect();
        text += &format!(
            "| {} | {} | {} | {} |\n",
            row.arch.map_or("-", |arch| arch.name()),
            if variant.is_empty() { "-".into() } else { variant.join(" ") },
            if row.workload.is_empty() { "every other shape" } else { &row.workload },
            row.config,
        );
    }
    plan.unchecked.iter().for_each(|note| text += &format!("\nNote: {note}.\n"));
    if !plan.left_out.is_empty() {
        text += "\nNot in the package, for a gate of the kernel file refused it:\n\n";
        plan.left_out.iter().for_each(|note| text += &format!("- {note}\n"));
    }
    text
}
