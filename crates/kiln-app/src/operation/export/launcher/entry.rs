//! The C function that a caller of a CUDA package links: it reads the call, checks it, lays its arguments out and launches. In: a plan. Out:
//! its source.

use kiln_spec::{Argument, Role};

use super::kind;
use crate::operation::export::Plan;
use crate::operation::export::expression::variable;
use crate::operation::export::header::given_dims;

/// The C function.
pub(super) fn entry(plan: &Plan<'_>) -> String {
    let name = &plan.interface.name;
    let mut text = format!(
        "extern \"C\" const char *{name}_error(void) {{ return words.c_str(); }}\n\n\
         extern \"C\" CUresult {name}(const {name}_call *call, CUstream stream) {{\n    try {{\n        if (!call) invalid(\"the call is null\");\n        Dims dims;\n"
    );
    for (dim, kind) in given_dims(plan) {
        let dim = variable(&dim);
        match kind {
            "const char *" => text += &format!("        dims.{dim} = call->{dim} ? call->{dim} : \"\";\n"),
            _ => text += &format!("        dims.{dim} = call->{dim};\n"),
        }
    }
    let mut index = String::from("0");
    for (variable, dtypes) in &plan.target.variants {
        index = format!("({index}) * {} + int(call->{variable})", dtypes.len());
    }
    text += &format!(
        "        const int chosen = {index};\n        if (chosen < 0 || chosen >= int(sizeof variants / sizeof *variants)) \
         invalid(\"no such dtype\");\n        const Variant &variant = variants[chosen];\n        valid(dims, variant);\n        if (without(dims, variant, call, stream)) return CUDA_SUCCESS;\n\
         \x20       const Prepared &ready = prepare(dims, chosen, stream);\n"
    );
    let buffers: Vec<String> = plan.buffers().iter().map(|a| format!("call->{}", a.name)).collect();
    let called: Vec<String> = plan.buffers().iter().map(|a| format!("\"{}\"", a.name)).collect();
    text += &format!(
        "        CUdeviceptr buffers[] = {{{}}};\n        const char *const called[] = {{{}}};\n        \
         for (int at : ready.geometry.held)\n            if (!buffers[at]) invalid(std::string(called[at]) + \" is null\");\n",
        buffers.join(", "),
        called.join(", ")
    );
    let scalars: Vec<&Argument> = plan.file.spec.arguments.iter().filter(|a| a.role == Role::Scalar).collect();
    let maps = plan.file.spec.arguments.iter().filter(|a| a.role == Role::Tensormap).count();
    text += &format!(
        "        alignas(8) unsigned char numbers[{}][8];\n        CUtensorMap maps[{}];\n        (void)numbers, (void)maps;\n",
        scalars.len().max(1),
        maps.max(1)
    );
    // Numbers as the rules see them.
    let ruled: Vec<String> = plan
        .interface
        .numbers()
        .iter()
        .map(|name| {
            let at = scalars.iter().position(|scalar| *scalar.name == **name).unwrap_or_default();
            match plan.interface.parameters.iter().find(|p| p.name == *name).is_some_and(|p| p.default.is_some()) {
                true => format!(", call->{name} ? *call->{name} : ready.geometry.numbers[{at}].d"),
                false => format!(", call->{name}"),
            }
        })
        .collect();
    text += &format!("        valid_numbers(dims, variant{});\n", ruled.concat());
    for (at, scalar) in scalars.iter().enumerate() {
        let given = plan
            .interface
            .parameters
            .iter()
            .find(|p| p.name == *scalar.name && plan.interface.numbers().contains(&p.name.as_str()));
        let value = match given {
            Some(p) if p.default.is_some() => {
                format!("call->{0} ? number(*call->{0}) : ready.geometry.numbers[{at}]", scalar.name)
            }
            Some(_) => format!("number(call->{})", scalar.name),
            None => format!("ready.geometry.numbers[{at}]"),
        };
        text += &format!("        store(numbers[{at}], {}, {value});\n", kind(scalar));
    }
    for at in 0..maps {
        text += &format!(
            "        encode(&maps[{at}], ready.geometry.maps[{at}], buffers[ready.geometry.maps[{at}].tensor]);\n"
        );
    }
    let mut counts = [0_usize; 3];
    let mut next = |which: usize, name: &str| {
        counts[which] += 1;
        format!("{name}[{}]", counts[which] - 1)
    };
    let mut places: Vec<String> = Vec::new();
    for argument in &plan.file.spec.arguments {
        places.push(match argument.role {
            Role::Scalar => next(0, "numbers"),
            Role::Tensormap => next(1, "&maps"),
            _ => next(2, "&buffers"),
        });
    }
    text + &format!(
        "        void *all[] = {{{}}};\n        void *arguments[sizeof all / sizeof *all];\n        \
         for (size_t i = 0; i < ready.geometry.taken.size(); i++) arguments[i] = all[ready.geometry.taken[i]];\n        \
         for (size_t i = 0; i < ready.functions.size(); i++)\n            \
         launch(ready.geometry.launches[i], ready.functions[i], arguments, buffers, stream);\n        return CUDA_SUCCESS;\n    \
         }} catch (const Error &error) {{\n        words = error.what();\n        return error.code;\n    }} catch (const std::exception &error) {{\n        \
         words = error.what();\n        return CUDA_ERROR_UNKNOWN;\n    }}\n}}\n",
        if places.is_empty() { "nullptr".into() } else { places.join(", ") },
    )
}
