//! A kernel.toml, and for Python a launch.py, from what was found. Every guess has a line that begins with `# ?` above it.

use kiln_core::Value;

use crate::source::found::{Found, FoundTarget};
use crate::source::python::{PlainFunction, TritonKernel};

/// What a question begins with.
pub const QUESTION: &str = "# ?";

/// The questions of a text, each with its line.
pub fn questions(text: &str) -> Vec<(usize, String)> {
    let asked = |(at, line): (usize, &str)| Some((at + 1, line.trim_start().strip_prefix(QUESTION)?.trim().to_owned()));
    text.lines().enumerate().filter_map(asked).collect()
}

struct Text(String);

impl Text {
    fn line(&mut self, text: impl AsRef<str>) {
        self.0.push_str(text.as_ref());
        self.0.push('\n');
    }

    fn ask(&mut self, questions: &[String]) {
        for question in questions {
            // A question is one line, whatever it quotes.
            self.line(format!("{QUESTION} {}", question.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    }
}

/// The kernel.toml.
pub fn kernel_toml(found: &Found, from: &str) -> String {
    let mut text = Text(String::new());
    text.line(format!(
        "# From {}. A line with `{QUESTION}` is a question: answer it in the line below, then remove it.",
        one_line(from)
    ));
    text.line("# Reference of every key: docs/kernel-toml.md in kiln's repository.");
    text.ask(&found.questions);
    constants(found, &mut text);
    text.line("\n[kernel]");
    text.line(format!("name = {}", quoted(&found.name)));
    text.line(format!("entry = {}", quoted(&found.entry)));
    if found.host {
        text.line("host = true");
    }
    text.line("\n[tunables]");
    for tunable in &found.tunables {
        text.ask(&tunable.questions);
        text.line(format!("{} = {}", tunable.name, list(&tunable.values)));
    }
    for fixed in &found.fixed {
        let values = list(&crate::source::guess::around(&fixed.name, fixed.value));
        text.line(format!(
            "{QUESTION} {} is {} by {} in line {}. Should it be tuned? Then write `#ifndef {0}`, `#define {0} {1}`, `#endif` there, and here",
            fixed.name, fixed.value, fixed.how, fixed.line
        ));
        text.line(format!("# {} = {values}", fixed.name));
    }
    text.line("\n[default]");
    for tunable in &found.tunables {
        text.line(format!("{} = {}", tunable.name, toml(&tunable.default)));
    }
    if !found.constraints.is_empty() {
        text.line("\n[constraints]");
        for (name, expression) in &found.constraints {
            text.line(format!("{name} = {}", quoted(expression)));
        }
    }
    target(found, &mut text);
    for argument in &found.arguments {
        text.line("");
        text.ask(&argument.questions);
        text.line("[[arguments]]");
        text.line(format!("name = {}", quoted(&argument.name)));
        let shape = if argument.shape.is_empty() { String::new() } else { format!("[{}]", argument.shape.join(", ")) };
        text.line(format!("type = {}", quoted(&format!("{}{shape}", argument.dtype))));
        text.line(format!("role = {}", quoted(argument.role)));
        if argument.role == "scalar" {
            text.line(format!("value = {}", argument.value));
        }
    }
    text.line(format!("\n{QUESTION} Which problems does it run on, smallest first? Sizes that no block divides are worth a workload with use = \"check\"."));
    text.line("[[workloads]]");
    text.line("name = \"first\"");
    let dims: Vec<String> = found.dims.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if !dims.is_empty() {
        text.line(format!("dims = {{ {} }}", dims.join(", ")));
    }
    let outputs: Vec<&str> =
        found.arguments.iter().filter(|a| a.role.contains("out")).map(|a| a.name.as_str()).collect();
    let outputs = if outputs.is_empty() {
        text.line(format!("\n{QUESTION} Which argument does it write its answer to? kiln found none; what a function returns is not compared."));
        "answer".into()
    } else {
        text.line("");
        outputs.join(", ")
    };
    text.line(format!(
        "{QUESTION} What is the correct {outputs}? A builtin operation, or a function in Python that computes it plainly."
    ));
    text.line("# [reference]\n# python = \"reference.py:reference\"");
    text.line(format!("\n{QUESTION} What is there to beat?"));
    text.line("# [baselines]\n# mine = \"baseline.py:baseline\"");
    text.0
}

/// Constant memory is asked about: what fills it is not in the source.
fn constants(found: &Found, text: &mut Text) {
    for constant in &found.constants {
        text.ask(&[format!(
            "`{}` in line {} is constant memory, which the program around the kernel fills: add an argument with role = \"constant\" for it, or it stays zero.",
            constant.declaration, constant.line
        )]);
    }
}

fn target(found: &Found, text: &mut Text) {
    let name = match found.target {
        FoundTarget::Cuda => "cuda",
        FoundTarget::Cpu => "cpu",
        FoundTarget::Python | FoundTarget::PythonCuda => "python",
    };
    text.line(format!("\n[target.{name}]"));
    match found.sources.as_slice() {
        [] => {}
        [one] => text.line(format!("source = {}", quoted(one))),
        many => text.line(format!("source = [{}]", many.iter().map(|s| quoted(s)).collect::<Vec<_>>().join(", "))),
    }
    if found.target == FoundTarget::PythonCuda {
        text.line("device = \"cuda\"");
    }
    if !found.kernels.is_empty() {
        text.line(format!("kernels = [{}]", found.kernels.iter().map(|k| quoted(k)).collect::<Vec<_>>().join(", ")));
    }
    if found.target == FoundTarget::Cuda {
        text.line("archs = [\"sm_80\", \"sm_89\", \"sm_90a\"]");
    }
    let flags = found.flags.iter().map(|f| quoted(f)).collect::<Vec<_>>().join(", ");
    let flags = (!found.flags.is_empty()).then(|| format!("flags = [{flags}]"));
    let settings: Vec<String> =
        flags.into_iter().chain(found.compiler.map(|c| format!("compiler = {}", quoted(c)))).collect();
    if !settings.is_empty() {
        text.line(format!("compile = {{ {} }}", settings.join(", ")));
    }
    let Some(launch) = &found.launch else { return };
    text.line("");
    text.ask(&launch.questions);
    text.line("[[target.cuda.launches]]");
    let extent = |parts: &[String]| format!("[{}]", parts.iter().map(|p| quoted(p)).collect::<Vec<_>>().join(", "));
    text.line(format!("grid = {}", extent(&launch.grid)));
    text.line(format!("block = {}", extent(&launch.block)));
    if launch.dynamic_shared {
        text.line(format!("{QUESTION} How many bytes of dynamic shared memory does it need?"));
        text.line("shared = 0");
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

fn toml(value: &Value) -> String {
    match value {
        Value::Int(v) => v.to_string(),
        Value::Float(v) => format!("{v:?}"),
        Value::Bool(v) => v.to_string(),
        Value::Str(v) => quoted(v),
    }
}

/// The values of a tunable; a long row of equal steps as a range.
fn list(values: &[Value]) -> String {
    let whole: Option<Vec<i64>> = values.iter().map(|v| if let Value::Int(v) = v { Some(*v) } else { None }).collect();
    if let Some([first, second, .., last]) = whole.as_deref().filter(|w| w.len() > 8) {
        let step = second.saturating_sub(*first);
        if step > 0
            && values.windows(2).all(|w| matches!(w, [Value::Int(a), Value::Int(b)] if b.saturating_sub(*a) == step))
        {
            return format!("{{ from = {first}, to = {last}, step = {step} }}");
        }
    }
    format!("[{}]", values.iter().map(toml).collect::<Vec<_>>().join(", "))
}

/// How a launch.py finds the user's file: a module beside it, or in another folder.
fn imports(folder: &str, module: &str, name: &str) -> String {
    let path = if folder.is_empty() { String::new() } else { format!(", {folder:?}") };
    format!(
        "import importlib.util\nimport os\n\n_path = os.path.join(os.path.dirname(os.path.abspath(__file__)){path}, {module:?})\n\
         _spec = importlib.util.spec_from_file_location(\"from_{name}\", _path)\n_module = importlib.util.module_from_spec(_spec)\n\
         _spec.loader.exec_module(_module)\n"
    )
}

/// A launch.py for a kernel in Triton. `folder` is where `module` lies, seen from the launch.py.
pub fn launch_py(kernel: &TritonKernel, found: &Found, folder: &str, module: &str) -> String {
    let name = &kernel.name;
    let mut text = format!(
        "\"\"\"Launches {name} of {module} the way kiln calls a Python function. A line with `{QUESTION}` is a question.\"\"\"\n\n{}\n\
         import torch  # noqa: F401, kiln passes tensors to files that import torch\nimport triton\n\n{name} = _module.{name}{}\n\n\n",
        imports(folder, module, name),
        if kernel.wrappers > 0 {
            format!("{}  # below its other decorators: kiln chooses the configuration", ".fn".repeat(kernel.wrappers))
        } else {
            String::new()
        }
    );
    let tunables: Vec<&str> = found.tunables.iter().map(|t| t.name.as_str()).collect();
    text.push_str(&format!("def launch(inputs, scalars, outputs, *, {}):\n", tunables.join(", ")));
    let output = found.arguments.iter().find(|a| a.role.contains("out")).or(found.arguments.first());
    let like = output.map_or("None".to_owned(), |a| format!("{}[{:?}]", table(a.role), a.name));
    let blocks: Vec<&str> = tunables.iter().filter(|t| t.to_ascii_uppercase().contains("BLOCK")).copied().collect();
    let axis = |at: usize| match (kernel.axes, blocks.get(at)) {
        (1, Some(block)) => format!("triton.cdiv(like.numel(), {block})"),
        (_, Some(block)) => format!("triton.cdiv(like.shape[{at}], {block})"),
        (1, None) => "like.shape[0]".to_owned(),
        _ => "1".to_owned(),
    };
    text.push_str(&format!("    like = {like}\n    {QUESTION} How many programs are launched?\n"));
    text.push_str(&format!(
        "    grid = ({},)\n",
        (0..kernel.axes.clamp(1, 3)).map(axis).collect::<Vec<_>>().join(", ")
    ));
    text.push_str(&format!("    {name}[grid](\n"));
    for parameter in kernel.parameters.iter().filter(|p| !p.computed) {
        let value = match found.arguments.iter().find(|a| a.name == parameter.name) {
            Some(argument) => format!("{}[{:?}]", table(argument.role), argument.name),
            None => parameter.name.clone(),
        };
        text.push_str(&format!("        {}={value},\n", parameter.name));
    }
    text.push_str("        num_warps=num_warps,\n        num_stages=num_stages,\n    )\n");
    text
}

fn table(role: &str) -> &'static str {
    match role {
        "in" => "inputs",
        "scalar" => "scalars",
        _ => "outputs",
    }
}

/// A launch.py for a plain function with another calling convention.
pub fn call_py(function: &PlainFunction, found: &Found, folder: &str, module: &str) -> String {
    let name = &function.name;
    let torch = if found.target == FoundTarget::PythonCuda {
        "import torch  # noqa: F401, kiln passes tensors to files that import torch\n"
    } else {
        ""
    };
    let tunables: Vec<&str> = found.tunables.iter().map(|t| t.name.as_str()).collect();
    let known = |parameter: &&str| function.keyword.iter().chain(&function.positional).any(|n| n == parameter);
    let by_name = tunables.iter().filter(|t| known(t)).map(|t| format!("{t}={t}"));
    let call: Vec<String> = match function.is_called_by_kiln() {
        true => ["inputs", "scalars", "outputs"].map(String::from).into_iter().chain(by_name).collect(),
        false => {
            let arguments = found.arguments.iter().filter(|a| function.positional.contains(&a.name));
            arguments.map(|a| format!("{}[{:?}]", table(a.role), a.name)).chain(by_name).collect()
        }
    };
    let result = if function.returns { "return " } else { "" };
    format!(
        "\"\"\"Calls {name} of {module} the way kiln calls a Python function. A line with `{QUESTION}` is a question.\"\"\"\n\n{}{torch}\n\n\
         def launch(inputs, scalars, outputs, *, {}):\n    {QUESTION} Is this the right call? A result that is returned goes into the only output.\n    {result}_module.{name}({})\n",
        imports(folder, module, name),
        tunables.join(", "),
        call.join(", ")
    )
}
