//! The Python module of the package. In: a plan. Out: `__init__.py`, written for this kernel so that a call of a known shape does no
//! more than it must: look up the shape, allocate the outputs, set the pointers, launch. Everything else is in the runtime files
//! beside it, which are the same for every kernel.

use kiln_core::Value;
use kiln_spec::{Argument, Dtype, ElementType, Implementation, Role, TargetKind};

use crate::operation::export::Plan;
use crate::operation::export::header::{c_kind, given_dims};
use crate::operation::export::interface::{Given, Parameter, one_line, python};
use crate::operation::export::names::variable;
use crate::operation::export::parts::suffix;
use crate::operation::export::rules::limits;

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
            let tensors = dict(interface.tensors().iter().map(|n| pair(n)).collect());
            let numbers = dict(interface.numbers().iter().map(|n| pair(n)).collect());
            format!(
                "{}\n{}from .{runtime} import Kernel\n\n__all__ = [\"{name}\"]\n_kernel = Kernel(__file__)\n\n\n\
                 def {}:\n{}    return _kernel.call({tensors}, {}, {numbers})\n",
                docstring(plan),
                if interface.stated().is_empty() { "" } else { "from . import table as _table\n" },
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

/// An entry of a dict: the kernel file's name, and the parameter.
fn pair(name: &str) -> String {
    format!("\"{name}\": {}", variable(name))
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
        text += &format!("    {}: {}\n", variable(&parameter.name), parameter.about.replace('"', "'"));
    }
    let description = plan.file.spec.description.iter().flat_map(|words| words.trim().lines()).map(str::to_string);
    let lines: Vec<String> = description.chain(limits(plan)).collect();
    if !lines.is_empty() {
        text += "\n";
    }
    for line in lines {
        text += &format!("    {}\n", line.replace('"', "'"));
    }
    text + "    \"\"\"\n"
}

/// Dimensions that parameters state, as a dict; each of the type it has in the workloads.
fn stated(plan: &Plan<'_>) -> String {
    let kinds = given_dims(plan);
    let pairs = plan.interface.stated().into_iter().map(|(name, dim)| {
        let kind = kinds.iter().find(|(known, _)| **known == *dim).map_or("", |(_, kind)| kind);
        let default = plan.interface.parameters.iter().find(|p| p.name == name).and_then(|p| p.default.as_ref());
        let is_flag = matches!(default, Some(Some(Value::Bool(_))));
        let own = variable(name);
        let value = match kind {
            "int64_t" if is_flag => format!("_table.flag(\"{name}\", {own})"),
            "int64_t" => format!("_table.whole(\"{name}\", {own})"),
            "bool" => format!("bool(_table.flag(\"{name}\", {own}))"),
            "double" => format!("float({own})"),
            _ => format!("str({own})"),
        };
        format!("\"{dim}\": {value}")
    });
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
}

fn cuda(plan: &Plan<'_>) -> String {
    let (name, interface) = (&plan.interface.name, &plan.interface);
    let dict: Vec<String> = interface.tensors().iter().map(|t| pair(t)).collect();
    let tensors: Vec<String> = interface.tensors().into_iter().map(variable).collect();
    let numbers: Vec<String> = interface.numbers().into_iter().map(variable).collect();
    let names: Vec<String> = interface.parameters.iter().map(|p| variable(&p.name)).collect();
    let mut key: Vec<String> = tensors
        .iter()
        .map(|t| format!("{t}.shape, {t}.stride(), {t}.dtype, {t}.get_device(), {t}.requires_grad"))
        .collect();
    let given = interface.stated();
    key.extend(given.iter().map(|(name, _)| variable(name)));
    // Launches on two streams or of two graphs must not share what a kernel keeps: each stream and each capture has its own copy.
    key.extend(plan.stateful.then(|| "_on, _graph".to_string()));
    let passed: Vec<&str> = tensors.iter().chain(&numbers).map(String::as_str).chain(["_on"]).collect();
    let first = tensors.first().map_or("0".into(), |t| format!("{t}.get_device()"));
    let graph = if plan.stateful { "        _graph = _capturing() and _kernel.capture(_on)\n" } else { "" };
    // What has no shape or cannot be looked up gets the message that says so.
    let find = format!(
        "    try:\n        _on = _stream({first})\n{graph}        _key = ({},)\n        _call = _prepared.calls.get(_key)\n    \
         except Exception:\n        _kernel.checked({{{1}}}), {2}\n        raise\n    if _call is None:\n        \
         _call = _kernel.prepare(_prepared.calls, _key, {{{1}}}, {2}, _bind)\n",
        key.join(",\n                "),
        dict.join(", "),
        stated(plan),
    );
    // The call before this one: its tensors' kind in one comparison, what was stated, its stream.
    let mut last: Vec<String> = vec!["_check".into(), "_index".into(), "_call".into()];
    last.extend(given.iter().map(|(name, _)| format!("{name}_was")));
    let mut same = vec![format!("_check({})", tensors.join(", "))];
    same.extend(given.iter().map(|(name, _)| format!("{} == {name}_was", variable(name))));
    let stream = if plan.stateful {
        last.push("_on_was".into());
        same.push("(_on := _stream(_index)) == _on_was and not _capturing()".into());
        ""
    } else {
        "        _on = _stream(_index)\n"
    };
    let mut kept =
        vec![format!("_cuda.guard(_call, _prepared.last, ({},))", tensors.join(", ")), first, "_call".into()];
    kept.extend(given.iter().map(|(name, _)| variable(name)));
    // What a capture launches is not what an eager call of its stream launches.
    kept.extend(plan.stateful.then(|| "None if _graph else _on".to_string()));
    let launch = format!("_call({})", passed.join(", "));
    let direct = format!(
        "    {} = _prepared.last\n    if {}:\n{stream}        return {launch}\n    if _cuda.traced({}):\n        \
         return _op({})\n{find}    _prepared.last = ({})\n    return {launch}\n",
        last.join(", "),
        same.join(" and "),
        tensors.join(", "),
        names.join(", "),
        kept.join(", "),
    );
    format!(
        "{}\nimport threading\n\nimport torch\n\nfrom . import cuda as _cuda\n{table}\n__all__ = [\"{name}\"]\n\
         _kernel = _cuda.Kernel(__file__)\n_compiling, _stream{capturing} = torch.compiler.is_compiling, _cuda.current_stream{capturing_is}\n\n\n\
         class _Prepared(threading.local):\n    \"\"\"Calls of known shapes, each thread's own: a launch is set up in place.\"\"\"\n\n    \
         def __init__(self):\n        self.calls, self.last = {{}}, (_cuda.never,) + (None,) * {others}\n\n\n_prepared = _Prepared()\n\n\n\
         def {signature}:\n{about}    if _compiling():\n        return _op({all})\n{direct}\n\n{bind}\n\n\
         def _implementation({defaulted}):\n{find}    return {launch}\n\n\n\
         def _fake({defaulted}):\n    return _kernel.fake({{{dict}}}, {stated}, {{{numbers}}})\n\n\n\
         _op = _cuda.register(\"kiln_{name}\", \"{schema}\", {name}, _implementation, _fake)\n",
        docstring(plan),
        others = last.len() - 1,
        signature = interface.signature(),
        about = about(plan),
        all = names.join(", "),
        defaulted = interface.python_parameters(),
        bind = binds(plan),
        dict = dict.join(", "),
        stated = stated(plan),
        numbers = interface.numbers().iter().map(|n| pair(n)).collect::<Vec<_>>().join(", "),
        table = if given.is_empty() { "" } else { "from . import table as _table\n" },
        capturing = if plan.stateful { ", _capturing" } else { "" },
        capturing_is = if plan.stateful { ", _cuda.capturing" } else { "" },
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

/// The function that makes a call of an implementation. Pointers, descriptors, numbers and the stream stay in place until another comes.
fn bind(plan: &Plan<'_>, part: &Implementation, name: &str) -> String {
    let spec = &plan.file.spec;
    let tensors = plan.interface.tensors();
    let (taken, held) = (plan.taken(part), plan.held(part));
    let maps: Vec<&Argument> = taken.iter().copied().filter(|a| a.role == Role::Tensormap).collect();
    let described = |name: &str| maps.iter().filter_map(|map| map.tensormap.as_ref()).any(|map| map.tensor == *name);
    // An output that is not returned, and that the kernel takes as null, is not made.
    let skipped = |a: &Argument| {
        let named = |list: &[String]| list.iter().any(|name| **name == *a.name);
        let zeroed = part.launches.iter().any(|launch| launch.zero.iter().any(|name| **name == *a.name));
        named(&spec.export.nullable) && !named(&plan.interface.returns) && !described(&a.name) && !zeroed
    };
    let made: Vec<&Argument> =
        held.iter().copied().filter(|a| matches!(a.role, Role::Out | Role::Scratch) && !skipped(a)).collect();
    let parameters = plan.interface.numbers();
    let numbers: Vec<&str> = parameters.iter().copied().filter(|number| part.takes(number)).collect();
    let words = |name: &str| held.iter().any(|buffer| *buffer.name == *name);
    let mut text = format!(
        "def {name}(plan):\n    \"\"\"A call of shapes that are known: what is set for each call, and nothing else.\"\"\"\n    \
         _fresh, _launch = plan.fresh, plan.driver.launch\n    \
         _arguments, _index, _moved, _several = plan.arguments, plan.index, bool(plan.copied), plan.several\n",
    );
    for buffer in tensors.iter().copied().filter(|name| words(name)).chain(made.iter().map(|a| &*a.name)) {
        text += &format!("    {buffer}_word = plan.words[\"{buffer}\"]\n");
    }
    for argument in &made {
        text += &format!("    {0}_shape, {0}_strides, {0}_dtype = plan.made[\"{0}\"]\n", argument.name);
    }
    for number in &numbers {
        text += &format!(
            "    {number}_slot = plan.numbers[\"{number}\"]\n    {number}_own, {number}_set = {number}_slot.value, False\n"
        );
    }
    for map in &maps {
        text += &format!("    {0}_encode = plan.maps[\"{0}\"].encode\n", map.name);
    }
    for number in 0..part.launches.len() {
        text += &format!("    config_{number}, launch_{number}, kernel_{number} = plan.launches[{number}]\n");
    }
    let mut kept: Vec<String> = tensors.iter().map(|tensor| format!("{tensor}_at")).collect();
    kept.push("_on_at".into());
    text += &format!("    {} = None\n", kept.join(" = "));
    kept.extend(numbers.iter().map(|number| format!("{number}_set")));
    // Numbers that a rule of the kernel file is about: judged where they are other than before.
    let ruled: Vec<&str> = parameters.iter().copied().filter(|n| plan.rules.iter().any(|rule| rule.names(n))).collect();
    if !ruled.is_empty() {
        kept.push("_held".into());
        text += "    _held = None\n";
    }
    let passed = tensors.iter().chain(&parameters).map(|name| variable(name)).chain(["_on".into()]);
    let passed: Vec<String> = passed.collect();
    text += &format!("\n    def call({}):\n        nonlocal {}\n", passed.join(", "), kept.join(", "));
    if !ruled.is_empty() {
        let pairs: Vec<String> = ruled.iter().map(|number| pair(number)).collect();
        let ruled: Vec<String> = ruled.into_iter().map(variable).collect();
        text += &format!(
            "        if _held != ({0},):\n            plan.hold({{{1}}})\n            _held = ({0},)\n",
            ruled.join(", "),
            pairs.join(", ")
        );
    }
    for tensor in &tensors {
        text += &format!("        {tensor}_ptr = {}.data_ptr()\n", variable(tensor));
    }
    // Other pointers than before: checked, set and described.
    let other: Vec<String> = tensors.iter().map(|tensor| format!(" or {tensor}_ptr != {tensor}_at")).collect();
    text += &format!("        if _moved{}:\n            if _moved{}:\n", other.concat(), misaligned(plan, &tensors));
    for tensor in &tensors {
        text += &format!(
            "                {0} = plan.place(\"{tensor}\", {0})\n                {tensor}_ptr = {0}.data_ptr()\n",
            variable(tensor)
        );
    }
    let encode = |text: &mut String, tensor: &str, indent: &str| {
        for map in maps.iter().filter(|map| map.tensormap.as_ref().is_some_and(|map| map.tensor == tensor)) {
            *text += &format!("{indent}{}_encode({tensor}_ptr)\n", map.name);
        }
    };
    for tensor in &tensors {
        text += &format!("            if {tensor}_ptr != {tensor}_at:\n");
        // Known again only once its descriptors are made.
        text += &format!("                {tensor}_at = None\n");
        if words(tensor) {
            text += &format!("                {tensor}_word.value = {tensor}_ptr\n");
        }
        encode(&mut text, tensor, "                ");
        text += &format!("                {tensor}_at = {tensor}_ptr\n");
    }
    for argument in &made {
        let (own, it) = (&argument.name, variable(&argument.name));
        text += &format!(
            "        {it} = _fresh({own}_shape, {own}_strides, {own}_dtype)\n        if _several and {it}.get_device() != _index:\n            \
             {it} = plan.empty({own}_shape, {own}_strides, {own}_dtype)\n"
        );
        if described(own) {
            text += &format!("        {own}_word.value = {own}_ptr = {it}.data_ptr()\n");
            encode(&mut text, own, "        ");
        } else {
            text += &format!("        {own}_word.value = {it}.data_ptr()\n");
        }
    }
    for number in &numbers {
        let argument = spec.arguments.iter().find(|a| *a.name == **number);
        let plain = argument.is_some_and(
            |a| matches!(&a.kind.element, ElementType::Dtype(d) if !matches!(d, Dtype::F16 | Dtype::BF16)),
        );
        let it = variable(number);
        let value = if plain { it.clone() } else { format!("plan.number(\"{number}\", {it})") };
        text += &format!(
            "        if {it} is not None or {number}_set:\n            \
             {number}_slot.value, {number}_set = ({number}_own, False) if {it} is None else ({value}, True)\n"
        );
    }
    text += "        if _on != _on_at:\n";
    for number in 0..part.launches.len() {
        text += &format!("            config_{number}.stream = _on\n");
    }
    text += "            _on_at = _on\n";
    for (number, launch) in part.launches.iter().enumerate() {
        for name in &launch.zero {
            text += &format!(
                "        plan.driver.check(\"cuMemsetD8Async\", plan.driver.zero({name}_word.value, 0, plan.bytes[\"{name}\"], _on))\n"
            );
        }
        text += &format!(
            "        _code = _launch(launch_{number}, kernel_{number}, _arguments, None)\n        \
             if _code:\n            plan.failed(_code, launch_{number}, kernel_{number})\n"
        );
    }
    match plan.interface.returns.as_slice() {
        [] => {}
        names => {
            let names: Vec<String> = names.iter().map(|name| variable(name)).collect();
            text += &format!("        return {}\n", names.join(", "));
        }
    }
    text + "\n    return call\n"
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
        format!(
            "{kind} {}{}",
            variable(&p.name),
            default.map_or(String::new(), |value| format!("={}", value.replace('"', "'")))
        )
    };
    let parameters: Vec<String> = plan.interface.parameters.iter().map(&mut parameter).collect();
    let returns = match plan.interface.returns.len() {
        0 => "()".into(),
        1 => "Tensor".into(),
        count => format!("({})", vec!["Tensor"; count].join(", ")),
    };
    format!("{}({}) -> {returns}", plan.interface.name, parameters.join(", "))
}
