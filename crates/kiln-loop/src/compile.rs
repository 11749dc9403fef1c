//! From a kernel file to what the compiler is asked: sources, flags, the configuration and the variant as defines, and the
//! generated caller.

use camino::Utf8PathBuf;
use kiln_build::{Passing, Request, shim};
use kiln_core::{Config, Fault};
use kiln_spec::{Argument, Dtype, ElementType, Role, Selection};

use crate::kernel::Kernel;

/// The request for a candidate.
pub(crate) fn request(kernel: &Kernel<'_>, config: &Config) -> Result<Request, Fault> {
    let selection = &kernel.selection;
    let entry = selection.target.entry.as_ref().or(selection.spec.entry.as_ref());
    let entry = entry.ok_or_else(|| Fault::new("building", "the kernel file names no entry"))?;
    let sources = selection.target.sources.iter().map(|s| kernel.folder.join(s)).collect();
    request_of(kernel, sources, entry, config.clone())
}

/// The request for any C function that takes the kernel's arguments.
pub(crate) fn request_of(
    kernel: &Kernel<'_>,
    sources: Vec<Utf8PathBuf>,
    entry: &str,
    config: Config,
) -> Result<Request, Fault> {
    let selection = &kernel.selection;
    let passing: Vec<Passing> =
        selection.spec.arguments.iter().map(|a| passing(selection, a)).collect::<Result<_, _>>()?;
    let compile = &selection.target.compile;
    let mut flags: Vec<String> = Vec::new();
    for (name, dtype) in &selection.variant {
        if let Some(c_type) = c_type(*dtype) {
            flags.push(format!("-D{name}={c_type}"));
        }
        flags.push(format!("-D{name}_{}=1", dtype.name()));
    }
    flags.extend(compile.flags.iter().cloned());
    Ok(Request {
        sources,
        includes: compile.include.iter().map(|i| kernel.folder.join(i)).collect(),
        std: compile.std.clone(),
        flags,
        config,
        shim: shim(entry, &passing),
    })
}

fn passing(selection: &Selection<'_>, argument: &Argument) -> Result<Passing, Fault> {
    if argument.role != Role::Scalar {
        return Ok(Passing::Pointer);
    }
    let dtype = match &argument.kind.element {
        ElementType::Dtype(dtype) => Some(*dtype),
        ElementType::Variable(name) => selection.variant.iter().find(|(n, _)| n == name).map(|(_, d)| *d),
    };
    let c_type = dtype.and_then(c_type).ok_or_else(|| {
        let dtype = dtype.map_or("of unknown type", Dtype::name);
        Fault::new("building", format!("scalar {} is {dtype}, which C has no type for", argument.name))
            .hint("pass it as f32, f64 or an integer")
    })?;
    Ok(Passing::Value(c_type))
}

/// What a dtype is called in C.
fn c_type(dtype: Dtype) -> Option<&'static str> {
    Some(match dtype {
        Dtype::F64 => "double",
        Dtype::F32 => "float",
        Dtype::F16 => "_Float16",
        Dtype::BF16 => "__bf16",
        Dtype::F8E4M3 | Dtype::F8E5M2 => return None,
        Dtype::I64 => "int64_t",
        Dtype::I32 => "int32_t",
        Dtype::I16 => "int16_t",
        Dtype::I8 => "int8_t",
        Dtype::U64 => "uint64_t",
        Dtype::U32 => "uint32_t",
        Dtype::U16 => "uint16_t",
        Dtype::U8 => "uint8_t",
        Dtype::Bool => "bool",
    })
}
