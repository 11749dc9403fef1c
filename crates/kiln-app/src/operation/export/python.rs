//! The Python module of the package. In: a plan. Out: `__init__.py`, written for this kernel so that a call of a known shape does no
//! more than it must: look up the shape, allocate the outputs, set the pointers, launch. Everything else is in the runtime files
//! beside it, which are the same for every kernel.

use kiln_core::Value;
use kiln_spec::{Argument, Dtype, ElementType, Implementation, Role, TargetKind};

use crate::operation::export::Plan;
use crate::operation::export::header::{c_kind, given_dims};
use crate::operation::export::interface::{Given, Parameter, one_line, python};
use crate::operation::export::parts::suffix;

/// Runtime files that every package has, by name; those of `kiln.tuned` are shared with it.
const SHARED: [(&str, &str); 4] = [
    ("distance.py", include_str!("../../../../../python/kiln/distance.py")),
    ("expressions.py", include_str!("../../../../../python/kiln/expressions.py")),
    ("scalars.py", include_str!("runtime/scalars.py")),
    ("table.py", include_str!("runtime/table.py")),
];

/// Runtime files of a target.
pub(super) fn runtime(kind: TargetKind) -> Vec<(&'static str, &'static str)> {
    let own: &[(&str, &str)] = match kind {
        TargetKind::Cuda => {
            &[("cuda.py", include_str!("runtime/cuda.py")), ("driver.py", include_str!("runtime/driver.py"))]
        }
        TargetKind::Cpu => &[("cpu.py", include_str!("runtime/cpu.py"))],
        TargetKind::Python => &[("python.py", include_str!("runtime/python.py"))],
    };
    SHARED.into_iter().chain(own.iter().copied()).collect()
}

/// The module's text.
pub(super) fn module(plan: &Plan<'_>) -> String {
    match plan.target.kind {
        TargetKind::Cuda => cuda(plan),
        kind => {
            let (name, interface) = (&plan.interface.name, &plan.interface);
            let runtime = if kind == TargetKind::Cpu { "cpu" } else { "python" };
            let dict = |pairs: Vec<String>| format!("{{{}}}", pairs.join(", "));
            let tensors = dict(interface.tensors().iter().map(|n| format!("\"{n}\": {n}")).collect());
            let numbers = dict(interface.numbers().iter().map(|n| format!("\"{n}\": {n}")).collect());
            format!(
                "{}\nfrom .{runtime} import Kernel\n\n__all__ = [\"{name}\"]\n_kernel = Kernel(__file__)\n\n\n\
                 def {}:\n{}    return _kernel.call({tensors}, {}, {numbers})\n",
                docstring(plan),
                interface.signature(),
                about(plan),
                stated(plan),
            )
        }
    }
}

fn docstring(plan: &Plan<'_>) -> String {
    let spec = &plan.file.spec;
    let words = spec.description.as_ref().map_or(String::new(), |d| format!(" {}", d.trim().replace('"', "'")));
    format!(
        "\"\"\"{}.{words} Made by kiln {} from {}.\"\"\"\n",
        plan.interface.name,
        env!("CARGO_PKG_VERSION"),
        spec.name
    )
}

/// The function's own description.
fn about(plan: &Plan<'_>) -> String {
    let mut text = String::from("    \"\"\"");
    let returned: Vec<String> = plan
        .interface
        .returns
        .iter()
        .map(|name| {
            let argument = plan.file.spec.arguments.iter().find(|a| *a.name == **name);
            let sides = argument.map_or(Vec::new(), |a| a.kind.shape.iter().map(one_line).collect());
            format!("{name} [{}]", sides.join(", "))
        })
        .collect();
    let returned = if returned.is_empty() { "nothing".into() } else { returned.join(" and ") };
    text += &format!("Returns {returned}.\n\n");
    for parameter in &plan.interface.parameters {
        text += &format!("    {}: {}\n", parameter.name, parameter.about.replace('"', "'"));
    }
    text + "    \"\"\"\n"
}

/// Dimensions that parameters state, as a dict; each of the type it has in the workloads.
fn stated(plan: &Plan<'_>) -> String {
    let kinds = given_dims(plan);
    let pairs = plan.interface.stated().into_iter().map(|(name, dim)| {
        let kind = kinds.iter().find(|(known, _)| **known == *dim).map_or("", |(_, kind)| kind);
        let convert = match kind {
            "int64_t" => "int",
            "bool" => "bool",
            "double" => "float",
            _ => "str",
        };
        format!("\"{dim}\": {convert}({name})")
    });
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
}

fn cuda(plan: &Plan<'_>) -> String {
    let (name, interface) = (&plan.interface.name, &plan.interface);
    let tensors = interface.tensors();
    let names: Vec<&str> = interface.parameters.iter().map(|p| p.name.as_str()).collect();
    let mut key: Vec<String> = tensors
        .iter()
        .map(|t| format!("{t}.shape, {t}.stride(), {t}.dtype, {t}.get_device(), {t}.requires_grad"))
        .collect();
    key.extend(interface.stated().iter().map(|(name, _)| (*name).to_string()));
    // Launches on two streams must not share what a kernel keeps: each stream has a copy of its own.
    key.extend(tensors.first().filter(|_| plan.stateful).map(|t| format!("_cuda.current_stream({t}.get_device())")));
    let passed: Vec<&str> = tensors.iter().copied().chain(interface.numbers()).collect();
    let dict: Vec<String> = tensors.iter().map(|t| format!("\"{t}\": {t}")).collect();
    let call = format!(
        "    key = ({},)\n    call = _prepared.calls.get(key)\n    if call is None:\n        \
         call = _kernel.prepare(_prepared.calls, key, {{{}}}, {}, _bind)\n    return call({})\n",
        key.join(",\n           "),
        dict.join(", "),
        stated(plan),
        passed.join(", "),
    );
    format!(
        "{}\nimport threading\n\nimport torch\n\nfrom . import cuda as _cuda\n\n__all__ = [\"{name}\"]\n\
         _kernel = _cuda.Kernel(__file__)\n_compiling = torch.compiler.is_compiling\n\n\n\
         class _Prepared(threading.local):\n    \"\"\"Calls of known shapes, each thread's own: a launch is set up in place.\"\"\"\n\n    \
         def __init__(self):\n        self.calls = {{}}\n\n\n_prepared = _Prepared()\n\n\n\
         def {signature}:\n{about}    if _compiling():\n        return _op({all})\n{call}\n\n{bind}\n\n\
         def _implementation({defaulted}):\n{call}\n\n\
         def _fake({defaulted}):\n    return _kernel.fake({{{dict}}}, {stated})\n\n\n\
         _op = _cuda.register(\"kiln_{name}\", \"{schema}\", _implementation, _fake)\n",
        docstring(plan),
        signature = interface.signature(),
        about = about(plan),
        all = names.join(", "),
        defaulted = interface.python_parameters(),
        bind = binds(plan),
        dict = dict.join(", "),
        stated = stated(plan),
        schema = schema(plan),
    )
}

/// The function that makes a call of known shapes from a plan; where there are several implementations, one for each.
fn binds(plan: &Plan<'_>) -> String {
    match plan.parts().as_slice() {
        [only] => bind(plan, only, "_bind"),
        parts => {
            let names: Vec<String> = parts.iter().map(|part| format!("_bind_{}", suffix(part))).collect();
            let functions: Vec<String> = parts.iter().zip(&names).map(|(part, name)| bind(plan, part, name)).collect();
            let pairs: Vec<String> =
                parts.iter().zip(&names).map(|(part, name)| format!("\"{}\": {name}", suffix(part))).collect();
            format!(
                "{}\n\n_binds = {{{}}}\n\n\ndef _bind(plan):\n    return _binds[plan.part[\"name\"]](plan)\n",
                functions.join("\n\n"),
                pairs.join(", ")
            )
        }
    }
}

/// The function that makes a call of an implementation.
fn bind(plan: &Plan<'_>, part: &Implementation, name: &str) -> String {
    let spec = &plan.file.spec;
    let tensors = plan.interface.tensors();
    let (taken, held) = (plan.taken(part), plan.held(part));
    let made: Vec<&Argument> = held.iter().copied().filter(|a| matches!(a.role, Role::Out | Role::Scratch)).collect();
    let parameters = plan.interface.numbers();
    let numbers: Vec<&str> = parameters.iter().copied().filter(|number| part.takes(number)).collect();
    let mut text = format!(
        "def {name}(plan):\n    \"\"\"A call of shapes that are known: what is set for each call, and nothing else.\"\"\"\n    \
         empty, like, stream, launch = torch.empty_strided, torch.empty_like, _cuda.current_stream, plan.driver.launch\n    \
         arguments, device, index, moved = plan.arguments, plan.device, plan.index, bool(plan.copied)\n",
    );
    for buffer in &held {
        text += &format!("    {0}_word = plan.words[\"{0}\"]\n", buffer.name);
    }
    for argument in &made {
        text += &format!("    {0}_shape, {0}_strides, {0}_dtype = plan.made[\"{0}\"]\n", argument.name);
        if let Some(input) = twin(plan, argument) {
            text += &format!("    {0}_like = plan.alike(\"{0}\", \"{input}\")\n", argument.name);
        }
    }
    for number in &numbers {
        text += &format!("    {number}_slot = plan.numbers[\"{number}\"]\n    {number}_own = {number}_slot.value\n");
    }
    let maps: Vec<&Argument> = taken.iter().copied().filter(|a| a.role == Role::Tensormap).collect();
    for map in &maps {
        text += &format!("    {0}_encode, {0}_at = plan.maps[\"{0}\"].encode, None\n", map.name);
    }
    for number in 0..part.launches.len() {
        text += &format!("    config_{number}, launch_{number}, kernel_{number} = plan.launches[{number}]\n");
    }
    let passed: Vec<&str> = tensors.iter().copied().chain(parameters.iter().copied()).collect();
    text += &format!("\n    def call({}):\n", passed.join(", "));
    if !maps.is_empty() {
        let places: Vec<String> = maps.iter().map(|map| format!("{}_at", map.name)).collect();
        text += &format!("        nonlocal {}\n", places.join(", "));
    }
    for tensor in &tensors {
        text += &format!("        {tensor}_ptr = {tensor}.data_ptr()\n");
    }
    text += &format!("        if moved{}:\n", misaligned(plan, &tensors));
    for tensor in &tensors {
        text += &format!(
            "            {tensor} = plan.place(\"{tensor}\", {tensor})\n            {tensor}_ptr = {tensor}.data_ptr()\n"
        );
    }
    for argument in &made {
        let own = format!("empty({0}_shape, {0}_strides, dtype={0}_dtype, device=device)", argument.name);
        let own = match twin(plan, argument) {
            Some(input) => format!("like({input}) if {}_like else {own}", argument.name),
            None => own,
        };
        text += &format!("        {} = {own}\n", argument.name);
    }
    for buffer in &held {
        let own = if tensors.contains(&&*buffer.name) {
            format!("{}_ptr", buffer.name)
        } else {
            format!("{}.data_ptr()", buffer.name)
        };
        text += &format!("        {}_word.value = {own}\n", buffer.name);
    }
    for number in &numbers {
        let argument = spec.arguments.iter().find(|a| *a.name == **number);
        let plain = argument.is_some_and(
            |a| matches!(&a.kind.element, ElementType::Dtype(d) if !matches!(d, Dtype::F16 | Dtype::BF16)),
        );
        let value = if plain { (*number).to_string() } else { format!("plan.number(\"{number}\", {number})") };
        text += &format!("        {number}_slot.value = {number}_own if {number} is None else {value}\n");
    }
    for map in &maps {
        let tensor = map.tensormap.as_ref().map_or("", |map| map.tensor.as_str());
        text += &format!(
            "        if {0}_at != {tensor}_word.value:\n            {0}_at = {tensor}_word.value\n            {0}_encode({0}_at)\n",
            map.name
        );
    }
    text += "        on = stream(index)\n";
    for (number, launch) in part.launches.iter().enumerate() {
        for name in &launch.zero {
            text += &format!(
                "        plan.driver.check(\"cuMemsetD8Async\", plan.driver.zero({name}_word.value, 0, plan.bytes[\"{name}\"], on))\n"
            );
        }
        text += &format!(
            "        config_{number}.stream = on\n        code = launch(launch_{number}, kernel_{number}, arguments, None)\n        \
             if code:\n            plan.failed(code, launch_{number}, kernel_{number})\n"
        );
    }
    match plan.interface.returns.as_slice() {
        [] => {}
        names => text += &format!("        return {}\n", names.join(", ")),
    }
    text + "\n    return call\n"
}

/// An input of an output's type and layout: to allocate one like it takes two thirds of the time.
fn twin<'p>(plan: &'p Plan<'_>, output: &Argument) -> Option<&'p str> {
    let texts = |argument: &Argument| -> Vec<String> {
        argument.kind.shape.iter().chain(&argument.strides).map(one_line).collect()
    };
    let same = |a: &&Argument| a.kind.element == output.kind.element && texts(a) == texts(output);
    let inputs = plan.file.spec.arguments.iter().filter(|a| matches!(a.role, Role::In | Role::Inout));
    inputs.into_iter().find(same).map(|argument| &*argument.name)
}

/// Whether an input begins where the kernel cannot read it.
fn misaligned(plan: &Plan<'_>, tensors: &[&str]) -> String {
    let mut groups: Vec<(u64, Vec<String>)> = Vec::new();
    for tensor in tensors {
        let argument = plan.file.spec.arguments.iter().find(|a| *a.name == **tensor);
        let Some(alignment) = argument.and_then(|a| a.alignment).filter(|bytes| bytes.is_power_of_two() && *bytes > 1)
        else {
            continue;
        };
        let pointer = format!("{tensor}_ptr");
        match groups.iter_mut().find(|(known, _)| *known == alignment) {
            Some((_, pointers)) => pointers.push(pointer),
            None => groups.push((alignment, vec![pointer])),
        }
    }
    groups.iter().map(|(bytes, pointers)| format!(" or ({}) & {}", pointers.join(" | "), bytes - 1)).collect()
}

/// The operation as torch declares it.
fn schema(plan: &Plan<'_>) -> String {
    let kinds = given_dims(plan);
    // Each argument that is written has a letter of its own.
    let mut letters = 'a'..='z';
    let mut parameter = |p: &Parameter| {
        let kind = match &p.given {
            Given::Tensor(true) => format!("Tensor({}!)", letters.next().unwrap_or('z')),
            Given::Tensor(false) => "Tensor".into(),
            Given::Number => {
                let argument = plan.file.spec.arguments.iter().find(|a| *a.name == *p.name);
                let whole = argument.is_some_and(|a| {
                    matches!(&a.kind.element, ElementType::Dtype(d) if !matches!(d, Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::BF16))
                });
                format!("{}{}", if whole { "int" } else { "float" }, if p.default == Some(None) { "?" } else { "" })
            }
            Given::Dim(dim) => match (&p.default, kinds.iter().find(|(known, _)| known == dim)) {
                (Some(Some(Value::Bool(_))), _) => "bool".into(),
                (_, Some((_, kind))) => match *kind {
                    "int64_t" => "int".into(),
                    "bool" => "bool".into(),
                    "double" => "float".into(),
                    _ => "str".into(),
                },
                _ => c_kind(&[]).into(),
            },
        };
        let default = p.default.as_ref().map(|value| value.as_ref().map_or("None".into(), python));
        format!("{kind} {}{}", p.name, default.map_or(String::new(), |value| format!("={}", value.replace('"', "'"))))
    };
    let parameters: Vec<String> = plan.interface.parameters.iter().map(&mut parameter).collect();
    let returns = match plan.interface.returns.len() {
        0 => "()".into(),
        1 => "Tensor".into(),
        count => format!("({})", vec!["Tensor"; count].join(", ")),
    };
    format!("{}({}) -> {returns}", plan.interface.name, parameters.join(", "))
}
