//! The header of the package. In: a plan. Out: for CUDA the call as a struct and the function that launches it, for C the function of
//! the sources as it is.

use std::sync::Arc;

use kiln_core::{Value, Workload};
use kiln_spec::{Argument, Dtype, ElementType, Implementation, Role, TargetKind};

use crate::operation::export::Plan;
use crate::operation::export::expression::variable;
use crate::operation::export::interface::{dims, identifier, one_line};
use crate::operation::export::rules::limits;

/// The header's text.
pub(super) fn header(plan: &Plan<'_>) -> String {
    let name = &plan.interface.name;
    let guard = format!("KILN_{}_H", name.to_uppercase());
    let (first, body) = match plan.target.kind {
        TargetKind::Cuda => ("#include <cuda.h>\n", launched(plan)),
        _ => ("", called(plan)),
    };
    format!(
        "/* {}: made by kiln {} from {}. README.md says how to use it. */\n#ifndef {guard}\n#define {guard}\n\n{first}\
         #include <stdbool.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{body}\n\
         #ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
        name,
        env!("CARGO_PKG_VERSION"),
        plan.file.spec.name,
    )
}

/// Dimensions that a caller gives, with what C calls their type: all but those with one value everywhere.
pub(super) fn given_dims(plan: &Plan<'_>) -> Vec<(Arc<str>, &'static str)> {
    let target = plan.target.kind.name();
    let workloads: Vec<&Workload> = plan.file.spec.workloads.iter().filter(|w| w.is_for(target)).collect();
    let fixed = |name: &str| plan.interface.fixed.iter().any(|(known, _)| **known == *name);
    let given = dims(&workloads).into_iter().filter(|(name, _)| !fixed(name));
    given.map(|(name, values)| (name, c_kind(&values))).collect()
}

/// What C calls the type of values.
pub(super) fn c_kind(values: &[Value]) -> &'static str {
    let all = |is: fn(&Value) -> bool| values.iter().all(is);
    if all(|v| matches!(v, Value::Int(_))) {
        "int64_t"
    } else if all(|v| matches!(v, Value::Bool(_))) {
        "bool"
    } else if all(|v| matches!(v, Value::Str(_))) {
        "const char *"
    } else {
        "double"
    }
}

/// The struct of a call and the function that launches it.
fn launched(plan: &Plan<'_>) -> String {
    let name = &plan.interface.name;
    let mut text = String::new();
    for (variable, dtypes) in &plan.target.variants {
        let names: Vec<String> = dtypes.iter().map(|d| format!("{name}_{variable}_{}", d.name())).collect();
        text += &format!("/* Dtypes of {variable}. */\ntypedef enum {{ {} }} {name}_{variable};\n\n", names.join(", "));
    }
    text += "/* One call. Tensors are addresses on the device; strides are those of the kernel file. */\ntypedef struct {\n";
    for (dim, kind) in given_dims(plan) {
        let values = plan.interface.layouts.iter().find(|(known, _)| *known == dim).map(|(_, values)| values);
        let words = values.map_or(String::new(), |values| {
            let words: Vec<String> = values.iter().map(ToString::to_string).collect();
            format!(" /* {} */", words.join(" or "))
        });
        let gap = if kind.ends_with('*') { "" } else { " " };
        text += &format!("    {kind}{gap}{};{words}\n", variable(&dim));
    }
    for (variable, _) in &plan.target.variants {
        text += &format!("    {name}_{variable} {variable};\n");
    }
    for argument in plan.buffers() {
        let role = Role::ALL.iter().find(|(_, role)| *role == argument.role).map_or("", |(word, _)| word);
        let sides: Vec<String> = argument.kind.shape.iter().map(one_line).collect();
        let null = if plan.is_nullable(&argument.name) { "; 0: not written" } else { "" };
        let (name, element, sides) = (&argument.name, element(argument), sides.join(", "));
        text += &format!("    CUdeviceptr {name}; /* {element}[{sides}], {role}{null} */\n");
    }
    for number in plan.interface.parameters.iter().filter(|p| plan.interface.numbers().contains(&p.name.as_str())) {
        match number.default {
            Some(_) => text += &format!("    const double *{}; /* NULL: {} */\n", number.name, about(&number.about)),
            None => text += &format!("    double {};\n", number.name),
        }
    }
    let limits: String = limits(plan).iter().map(|line| format!(" * {line}\n")).collect();
    text + &format!(
        "}} {name}_call;\n\n/* Launches a call on a stream of the current context and returns at once. Not CUDA_SUCCESS: see {name}_error().\n{limits} */\n\
         CUresult {name}(const {name}_call *call, CUstream stream);\n\n\
         /* What went wrong in the last call of this thread that failed. */\nconst char *{name}_error(void);\n"
    )
}

fn about(words: &str) -> &str {
    words.strip_prefix("None: ").unwrap_or(words)
}

fn element(argument: &Argument) -> &str {
    match &argument.kind.element {
        ElementType::Dtype(dtype) => dtype.name(),
        ElementType::Variable(name) => name,
    }
}

/// The function of the sources, once for each combination of dtypes and each implementation that differs; the first is declared unless another one is chosen.
fn called(plan: &Plan<'_>) -> String {
    // A declaration with the words that choose it: implementations may share one.
    let mut declared: Vec<(String, String)> = Vec::new();
    for binary in &plan.binaries {
        let part = plan.part_of(&binary.config);
        let words: Vec<&str> =
            part.name.as_deref().into_iter().chain(binary.variant.iter().map(|(_, d)| d.name())).collect();
        let declaration = format!("void {}({});\n", plan.entry(part), c_parameters(plan, part, &binary.variant));
        if !declared.iter().any(|(_, known)| *known == declaration) {
            declared.push((words.join("_"), declaration));
        }
    }
    let mut text =
        format!("/* Every library in {}/bin has this function, with one configuration each.\n", plan.interface.name);
    text += &limits(plan).iter().map(|line| format!(" * {line}\n")).collect::<String>();
    text += " */\n";
    let several = declared.len() > 1;
    for (number, (words, declaration)) in declared.iter().enumerate() {
        if several {
            let keyword = if number == 0 { "if" } else { "elif" };
            let chosen = identifier(&format!("KILN_{}_{words}", plan.interface.name)).to_uppercase();
            text += &format!("#{keyword} defined({chosen})\n");
        }
        text += declaration;
    }
    if several {
        text += "#endif\n";
    }
    text
}

/// The function's parameters in C.
fn c_parameters(plan: &Plan<'_>, part: &Implementation, variant: &[(Arc<str>, Dtype)]) -> String {
    let one = |argument: &Argument| {
        let dtype = match &argument.kind.element {
            ElementType::Dtype(dtype) => Some(*dtype),
            ElementType::Variable(name) => variant.iter().find(|(n, _)| n == name).map(|(_, d)| *d),
        };
        let word = dtype.and_then(c_type).unwrap_or("void");
        match argument.role {
            Role::Scalar => format!("{word} {}", argument.name),
            Role::In => format!("const {word} *{}", argument.name),
            _ => format!("{word} *{}", argument.name),
        }
    };
    let parameters: Vec<String> = plan.taken(part).into_iter().map(one).collect();
    if parameters.is_empty() { "void".into() } else { parameters.join(", ") }
}

fn c_type(dtype: Dtype) -> Option<&'static str> {
    Some(match dtype {
        Dtype::F64 => "double",
        Dtype::F32 => "float",
        Dtype::F16 => "_Float16",
        Dtype::I64 => "int64_t",
        Dtype::I32 => "int32_t",
        Dtype::I16 => "int16_t",
        Dtype::I8 => "int8_t",
        Dtype::U64 => "uint64_t",
        Dtype::U32 => "uint32_t",
        Dtype::U16 => "uint16_t",
        Dtype::U8 => "uint8_t",
        Dtype::Bool => "bool",
        Dtype::BF16 | Dtype::F8E4M3 | Dtype::F8E5M2 => return None,
    })
}

impl Plan<'_> {
    /// Whether the kernel takes a null pointer for an output.
    pub(super) fn is_nullable(&self, name: &str) -> bool {
        self.file.spec.export.nullable.iter().any(|known| *known == *name)
    }

    /// Arguments that are buffers, in order.
    pub(super) fn buffers(&self) -> Vec<&Argument> {
        let is = |argument: &&Argument| !matches!(argument.role, Role::Scalar | Role::Tensormap);
        self.file.spec.arguments.iter().filter(is).collect()
    }
}
