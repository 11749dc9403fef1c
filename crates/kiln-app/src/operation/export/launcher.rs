//! The C++ launcher of a CUDA package: the kernel file's expressions as C++, tables of configurations, shapes and binaries, and the
//! function that chooses and launches. In: a plan. Out: the source, and the assembly that puts the cubins into the library.

mod entry;

use kiln_core::Value;
use kiln_spec::{Argument, ElementType, Formula, Implementation, Launch, Role, TensorMap};

use crate::failure::Failure;
use crate::operation::export::Plan;
use crate::operation::export::expression::{Names, cpp, variable};
use crate::operation::export::header::{c_kind, given_dims};
use crate::operation::export::interface::one_line;
use crate::operation::export::parts::suffix;
use crate::operation::export::rules::{checks, compiled_for};
use crate::operation::export::table::{configs, device_names, instance_dims};
use entry::entry;

/// What is the same for every kernel: the choice among rows.
const CHOOSING: &str = include_str!("native/choosing.cpp");

/// The source of the launcher.
pub(super) fn launcher(plan: &Plan<'_>) -> Result<String, Failure> {
    let name = &plan.interface.name;
    let images: String =
        (0..plan.binaries.len()).map(|i| format!("extern const unsigned char {name}_cubin_{i}[];\n")).collect();
    Ok(format!(
        "/* Launches {name}: chooses the configuration tuned for the nearest shape and puts it on a stream. Made by kiln {}. */\n\
         #include \"{name}.h\"\n\n#include <algorithm>\n\n#include \"kiln_launch.hpp\"\n\nusing namespace kiln;\n\n\
         extern \"C\" {{\n{images}}}\n\nnamespace {{\n\n{}\n{}\n{}\n{}\n{}\n}} // namespace\n\n{}",
        env!("CARGO_PKG_VERSION"),
        types(plan),
        tables(plan),
        checks(plan)?,
        geometries(plan)?,
        CHOOSING
            .replace(
                "COMPILED",
                &format!("{:?}", compiled_for(plan).join(" ").replace("Compiled", "compiled").trim_end_matches('.'))
            )
            .replace("NAME", name)
            .replace("STATEFUL", if plan.stateful { "true" } else { "false" }),
        entry(plan),
    ))
}

/// Dims, configurations, dtypes and architectures as structs.
fn types(plan: &Plan<'_>) -> String {
    let mut text = String::from("struct Dims {\n");
    let dims = given_dims(plan);
    for (dim, kind) in &dims {
        text += &format!(
            "    {} {}{};\n",
            owned(kind),
            variable(dim),
            if owned(kind) == "std::string" { "" } else { " = 0" }
        );
    }
    let tied: Vec<String> = dims.iter().map(|(dim, _)| variable(dim)).collect();
    text += &format!("    auto tie() const {{ return std::tie({}); }}\n}};\n\n", tied.join(", "));
    for part in plan.parts() {
        text += &format!("struct Config_{} {{\n", suffix(part));
        for tunable in &part.tunables {
            text += &format!("    {} {};\n", c_kind(&tunable.values), variable(&tunable.name));
        }
        text += "};\n\n";
    }
    text += "/* A configuration: its implementation, and its place among that one's. */\n\
             struct Config {\n    int implementation, place;\n};\n\nstruct Variant {\n";
    for (name, _) in &plan.target.variants {
        text += &format!("    Type {name};\n    const char *{name}_name;\n");
    }
    text += "};\n\nstruct Arch {\n    int major, minor;\n    bool plain;\n";
    for name in device_names(plan) {
        text += &format!("    int64_t {name};\n");
    }
    text + "};\n\n/* A configuration and the shape it was tuned for; any: it serves every shape. */\n\
            struct Row {\n    int arch, variant, config;\n    bool any;\n    Dims dims;\n};\n"
}

fn owned(kind: &str) -> &str {
    if kind == "const char *" { "std::string" } else { kind }
}

fn tables(plan: &Plan<'_>) -> String {
    let (configs, variants, archs) = (configs(plan), variants(plan), archs(plan));
    let (mut text, mut places) = (String::new(), vec![String::new(); configs.len()]);
    for (number, part) in plan.parts().into_iter().enumerate() {
        let own = configs.iter().enumerate().filter(|(_, config)| plan.part_of(config).name == part.name);
        let mut values = String::new();
        for (place, (at, config)) in own.enumerate() {
            let constants: Vec<String> = config.tunables().iter().map(|(_, value)| constant(value)).collect();
            values += &format!("    {{{}}},\n", constants.join(", "));
            places[at] = format!("    {{{number}, {place}}},\n");
        }
        text += &format!("[[maybe_unused]] const Config_{0} configs_{0}[] = {{\n{values}}};\n\n", suffix(part));
    }
    text += &format!("const Config configs[] = {{\n{}}};\n\n", places.concat());
    let dtypes = |variant: &Vec<(String, String)>| {
        let parts: Vec<String> = variant.iter().map(|(_, d)| format!("Type::{}, \"{d}\"", type_word(d))).collect();
        format!("    {{{}}},\n", parts.join(", "))
    };
    text += &format!("const Variant variants[] = {{\n{}}};\n\n", variants.iter().map(dtypes).collect::<String>());
    text += "const Arch archs[] = {\n";
    for arch in &archs {
        let ((major, minor), plain) = (arch.compute_capability(), arch.feature_suffix().is_none());
        let limits: String =
            device_names(plan).iter().map(|name| format!(", {}", arch.get(name).unwrap_or_default())).collect();
        text += &format!("    {{{major}, {minor}, {plain}{limits}}}, /* {arch} */\n");
    }
    text += "};\n\nconst std::vector<Row> &rows() {\n    static const std::vector<Row> all = {\n";
    for row in &plan.rows {
        let words: Vec<(String, String)> =
            row.variant.iter().map(|(n, d)| (n.to_string(), d.name().to_string())).collect();
        let place = |found: Option<usize>| found.map_or("-1".into(), |at| at.to_string());
        let config = configs.iter().position(|known| **known == row.config);
        let (Some(_), Some(_)) = (config, row.arch) else { continue };
        let of = |dim: &str| {
            let value = row.dims.as_ref().and_then(|dims| dims.iter().find(|(n, _)| **n == *dim));
            value.map_or("{}".into(), |(_, value)| constant(value))
        };
        let dims: Vec<String> = given_dims(plan).iter().map(|(dim, _)| of(dim)).collect();
        text += &format!(
            "        {{{}, {}, {}, {}, {{{}}}}}, /* {} */\n",
            place(archs.iter().position(|arch| Some(*arch) == row.arch)),
            place(variants.iter().position(|known| *known == words)),
            place(config),
            row.dims.is_none(),
            dims.join(", "),
            if row.workload.is_empty() { "every shape" } else { &row.workload },
        );
    }
    text += "    };\n    return all;\n}\n\nconst std::vector<Binary> &binaries() {\n    static const std::vector<Binary> all = {\n";
    for (number, binary) in plan.binaries.iter().enumerate() {
        let words: Vec<(String, String)> =
            binary.variant.iter().map(|(n, d)| (n.to_string(), d.name().to_string())).collect();
        let symbols: Vec<String> = binary.symbols.iter().map(|(e, s)| format!("{{{e:?}, {s:?}}}")).collect();
        let at = |found: Option<usize>| found.unwrap_or_default();
        text += &format!(
            "        {{{}, {}, {}, {}_cubin_{number}, {{{}}}}},\n",
            at(archs.iter().position(|arch| Some(*arch) == binary.arch)),
            at(variants.iter().position(|known| *known == words)),
            at(configs.iter().position(|known| **known == binary.config)),
            plan.interface.name,
            symbols.join(", "),
        );
    }
    text += "    };\n    return all;\n}\n";
    let apart: Vec<String> =
        given_dims(plan).iter().map(|(dim, _)| format!("apart(a.{0}, b.{0})", variable(dim))).collect();
    let apart = if apart.is_empty() { "0".into() } else { apart.join(" + ") };
    let same = same_instance(plan);
    let alike = plan.target.variants.iter().map(|(n, _)| format!(" && bytes_of(own.{n}) == bytes_of(variant.{n})"));
    text + &format!(
        "\ndouble distance(const Dims &a, const Dims &b) {{\n    (void)a, (void)b;\n    return {apart};\n}}\n\n\
         /* Whether a row is for this instance of the kernel and for elements of the same sizes. */\n\
         bool serves(const Row &row, const Dims &dims, const Variant &variant) {{\n    if (row.variant < 0) return false;\n    \
         [[maybe_unused]] const Variant &own = variants[row.variant];\n    (void)dims, (void)variant;\n    return {same}{};\n}}\n",
        alike.collect::<String>()
    )
}

/// Whether a row is for the kernels of a shape: dimensions that stand in the names of its implementation's kernels are the same.
fn same_instance(plan: &Plan<'_>) -> String {
    let of = |part: &Implementation| -> String {
        let same = instance_dims(plan, part).into_iter().map(|dim| format!("row.dims.{0} == dims.{0}", variable(&dim)));
        let same: Vec<String> = same.collect();
        if same.is_empty() { "true".into() } else { same.join(" && ") }
    };
    let mut each: Vec<String> = plan.parts().into_iter().map(of).collect();
    if each.iter().all(|other| *other == each[0]) {
        each.truncate(1);
    }
    let last = each.pop().unwrap_or_else(|| "true".into());
    if each.is_empty() && last == "true" {
        return last;
    }
    let chosen = each.iter().enumerate().rev().fold(format!("({last})"), |rest, (number, same)| {
        format!("(configs[row.config].implementation == {number} ? ({same}) : {rest})")
    });
    format!("(row.any || {chosen})")
}

fn archs(plan: &Plan<'_>) -> Vec<kiln_device::Arch> {
    let mut found = Vec::new();
    for arch in plan.binaries.iter().filter_map(|binary| binary.arch) {
        if !found.contains(&arch) {
            found.push(arch);
        }
    }
    found
}

/// Every combination of dtypes, in the order of the enums.
fn variants(plan: &Plan<'_>) -> Vec<Vec<(String, String)>> {
    let split = |words: String| -> Vec<(String, String)> {
        let pairs = words.split(',').filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, dtype)| (name.to_string(), dtype.to_string())).collect()
    };
    plan.target.dtype_combinations().into_iter().map(split).collect()
}

fn constant(value: &Value) -> String {
    match value {
        Value::Str(text) => format!("{:?}", &**text),
        Value::Float(v) => format!("{v:?}"),
        other => other.to_string(),
    }
}

fn type_word(dtype: &str) -> &str {
    if dtype == "bool" { "boolean" } else { dtype }
}

/// The functions that evaluate every expression, one for each implementation, and the one that chooses among them.
fn geometries(plan: &Plan<'_>) -> Result<String, Failure> {
    let (parts, mut text) = (plan.parts(), String::new());
    for part in &parts {
        text += &geometry(plan, part)?;
        text += "\n";
    }
    text += "Geometry geometry(const Dims &dims, const Variant &variant, const Config &config, const Arch &arch) {\n    \
             switch (config.implementation) {\n";
    for (number, part) in parts.iter().enumerate() {
        let case = if number + 1 == parts.len() { "default".into() } else { format!("case {number}") };
        text += &format!(
            "    {case}: return geometry_{0}(dims, variant, configs_{0}[config.place], arch);\n",
            suffix(part)
        );
    }
    Ok(text + "    }\n}\n")
}

fn geometry(plan: &Plan<'_>, part: &Implementation) -> Result<String, Failure> {
    let target = plan.target;
    let flags = part.tunables.iter().filter(|t| c_kind(&t.values) == "bool").map(|t| &*t.name);
    let names = Names { derived: part.derived.iter().map(|d| &*d.name).collect(), flags: flags.collect() };
    let print = |formula: &Formula| cpp(formula, &names);
    let list = |formulas: &[Formula], of: &str| -> Result<String, Failure> {
        let parts = formulas.iter().map(|f| Ok(format!("{of}({})", print(f)?))).collect::<Result<Vec<_>, Failure>>()?;
        Ok(parts.join(", "))
    };
    let mut text = format!(
        "/* Whether a configuration is valid on a shape, and what is launched then. */\n\
         Geometry geometry_{0}(const Dims &dims, const Variant &variant, const Config_{0} &config, const Arch &arch) {{\n",
        suffix(part)
    );
    let mut bind = |name: &str, kind: &str, value: String| {
        text += &format!("    [[maybe_unused]] const {kind} {} = {value};\n", variable(name));
    };
    let view = |kind: &'static str| if kind == "const char *" { "std::string_view" } else { kind };
    for (dim, kind) in given_dims(plan) {
        bind(&dim, view(kind), format!("dims.{}", variable(&dim)));
    }
    for (dim, value) in &plan.interface.fixed {
        bind(dim, view(c_kind(std::slice::from_ref(value))), constant(value));
    }
    for tunable in &part.tunables {
        bind(&tunable.name, view(c_kind(&tunable.values)), format!("config.{}", variable(&tunable.name)));
    }
    for (name, _) in &target.variants {
        bind(name, "std::string_view", format!("variant.{name}_name"));
        bind(&format!("{name}.bytes"), "int64_t", format!("int64_t(bytes_of(variant.{name}))"));
    }
    for name in device_names(plan) {
        bind(&format!("device.{name}"), "int64_t", format!("arch.{name}"));
    }
    text += "    (void)dims, (void)variant, (void)config, (void)arch;\n";
    for derived in &part.derived {
        let (name, value) = (variable(&derived.name), print(&derived.formula)?);
        text += &format!("    [[maybe_unused]] const auto {name} = [&] {{ return {value}; }};\n");
    }
    text += "    Geometry found;\n";
    for constraint in &part.constraints {
        match print(&constraint.formula) {
            Ok(rule) => {
                let why = format!("`{}` does not hold", one_line(&constraint.formula));
                text += &format!("    if (!truth({rule})) return refused(found, {why:?});\n");
            }
            // What does not depend on a shape was judged when the package was made.
            Err(_) => text += &format!("    /* {}: {} */\n", constraint.name, one_line(&constraint.formula)),
        }
    }
    text += "    found.allowed = true;\n";
    for launch in &part.launches {
        text += &launched(plan, part, launch, &list)?;
    }
    for argument in plan.file.spec.arguments.iter().filter(|a| a.role == Role::Scalar) {
        let value = argument.value.as_ref().map_or(Ok("INT64_C(0)".into()), print)?;
        text += &format!("    found.numbers.push_back(number({value})); /* {} */\n", argument.name);
    }
    for (argument, map) in plan.file.spec.arguments.iter().filter_map(|a| Some((a, a.tensormap.as_ref()?))) {
        text += &match part.takes(&argument.name) {
            true => described(plan, argument, map, &print, &list)?,
            false => format!("    found.maps.push_back({{}}); /* {}: not taken */\n", argument.name),
        };
    }
    let places = plan.file.spec.arguments.iter().enumerate().filter(|(_, argument)| part.takes(&argument.name));
    let places: Vec<String> = places.map(|(at, _)| at.to_string()).collect();
    text += &format!("    found.taken = {{{}}};\n", places.join(", "));
    // Buffers that must be there.
    let buffers = plan.buffers();
    let held = plan.held(part).into_iter().filter(|held| !plan.is_nullable(&held.name));
    let held = held.filter_map(|held| buffers.iter().position(|buffer| buffer.name == held.name));
    let held: Vec<String> = held.map(|at| at.to_string()).collect();
    text += &format!("    found.held = {{{}}};\n", held.join(", "));
    Ok(text + "    return launchable(found);\n}\n")
}

type Lists<'f> = dyn Fn(&[Formula], &str) -> Result<String, Failure> + 'f;

fn launched(plan: &Plan<'_>, part: &Implementation, launch: &Launch, list: &Lists<'_>) -> Result<String, Failure> {
    let axes = |formulas: &[Formula]| -> Result<String, Failure> {
        let mut sides = list(formulas, "side")?;
        (formulas.len()..3).for_each(|_| sides += if sides.is_empty() { "1u" } else { ", 1u" });
        Ok(sides)
    };
    let shared = launch.shared.as_ref().map_or(Ok("0u".into()), |f| list(std::slice::from_ref(f), "side"))?;
    let buffers = plan.buffers();
    let mut zero = Vec::new();
    for name in &launch.zero {
        let Some(at) = buffers.iter().position(|a| *a.name == **name) else { continue };
        let argument = buffers[at];
        let sides = list(&argument.kind.shape, "int64_t")?.replace(", ", " * ");
        zero.push(format!("{{{at}, size_t({sides}) * bytes_of({})}}", kind(argument)));
    }
    let entry = filled(plan, part, &plan.entry_of(part, launch));
    Ok(format!(
        "    found.launches.push_back({{{entry}, {{{}}}, {{{}}}, {shared}, {{{}}}, {}, {}, {{{}}}}});\n",
        axes(&launch.grid)?,
        axes(&launch.block)?,
        axes(&launch.cluster)?,
        launch.cooperative,
        !launch.cluster.is_empty(),
        zero.join(", "),
    ))
}

/// A kernel's name with values for the names in braces.
fn filled(plan: &Plan<'_>, part: &Implementation, entry: &str) -> String {
    let text = |name: &str| {
        let string = given_dims(plan).iter().any(|(dim, kind)| **dim == *name && *kind == "const char *")
            || part.tunables.iter().any(|t| *t.name == *name && c_kind(&t.values) == "const char *");
        let name = variable(name);
        if string { format!("std::string({name})") } else { format!("std::to_string({name})") }
    };
    let mut parts = Vec::new();
    for (number, piece) in entry.split('{').enumerate() {
        match piece.split_once('}') {
            Some((name, rest)) if number > 0 => {
                parts.push(text(name.trim()));
                parts.push(format!("{rest:?}"));
            }
            _ => parts.push(format!("std::string({piece:?})")),
        }
    }
    parts.join(" + ")
}

fn described(
    plan: &Plan<'_>,
    argument: &Argument,
    map: &TensorMap,
    print: &dyn Fn(&Formula) -> Result<String, Failure>,
    list: &Lists<'_>,
) -> Result<String, Failure> {
    let buffers = plan.buffers();
    let Some(at) = buffers.iter().position(|a| *a.name == *map.tensor) else { return Ok(String::new()) };
    let tensor = buffers[at];
    let (shape, box_shape) = (list(&tensor.kind.shape, "int64_t")?, list(&map.box_shape, "int64_t")?);
    let strides = match tensor.strides.as_slice() {
        [] => {
            let packed = |axis: usize| -> Result<String, Failure> {
                let inner = list(&tensor.kind.shape[axis + 1..], "int64_t")?.replace(", ", " * ");
                Ok(if inner.is_empty() { "INT64_C(1)".into() } else { inner })
            };
            (0..tensor.kind.shape.len()).map(packed).collect::<Result<Vec<_>, _>>()?.join(", ")
        }
        stated => list(stated, "int64_t")?,
    };
    let when = map.when.as_ref().map_or(Ok("true".into()), |f| Ok::<_, Failure>(format!("truth({})", print(f)?)))?;
    let swizzle = ["none", "32B", "64B", "128B"].iter().position(|word| *word == map.swizzle).unwrap_or_default();
    let promotion = ["none", "64B", "128B", "256B"].iter().position(|word| *word == map.promotion).unwrap_or_default();
    Ok(format!(
        "    found.maps.push_back({{{at}, {}, {{{shape}}}, {{{strides}}}, {{}}, {swizzle}, {promotion}}}); /* {} */\n\
         \x20   if ({when}) found.maps.back().box = {{{box_shape}}};\n",
        kind(tensor),
        argument.name,
    ))
}

/// An argument's element type in C++.
pub(super) fn kind(argument: &Argument) -> String {
    match &argument.kind.element {
        ElementType::Dtype(dtype) => format!("Type::{}", type_word(dtype.name())),
        ElementType::Variable(name) => format!("variant.{name}"),
    }
}

/// Cubins in the library's read-only data.
pub(super) fn cubins(plan: &Plan<'_>) -> String {
    let mut text =
        String::from("/* The cubins, as they are. The assembler finds them by -I. */\n    .section .rodata\n");
    for number in 0..plan.binaries.len() {
        let (name, file) = (&plan.interface.name, plan.product_name(number).unwrap_or_default());
        text += &format!(
            "    .global {name}_cubin_{number}\n    .balign 64\n{name}_cubin_{number}:\n    .incbin \"{file}\"\n"
        );
    }
    text + "    .section .note.GNU-stack,\"\",%progbits\n"
}
