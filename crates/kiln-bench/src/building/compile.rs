//! From a kernel file to what the compiler is asked: sources, flags, the configuration and the variant as defines, and the
//! generated caller. Tunables may stand in flags and in the names of kernels too.

use camino::Utf8PathBuf;
use kiln_build::{Passing, Request, launcher_shim, shim};
use kiln_core::{Config, Fault, Value};
use kiln_spec::{Argument, Dtype, ElementType, Role, Selection, TargetKind};

use crate::kernel::Kernel;

/// The request for a candidate.
pub fn request(kernel: &Kernel<'_>, config: &Config) -> Result<Request, Fault> {
    let implementation = kernel.selection.implementation(config);
    let sources = implementation.sources.iter().map(|s| kernel.folder.join(s)).collect();
    if kernel.selection.target.kind == TargetKind::Cuda && !implementation.host {
        let (entries, variables) = (entries(kernel, config)?, variables(&kernel.selection, config));
        return Ok(Request { entries, variables, ..plain(kernel, sources, config.clone()) });
    }
    request_of(kernel, sources, kernel.entry(config)?, config.clone())
}

/// The request for any host function that takes the kernel's arguments: on a cuda target, one that launches by itself.
pub(crate) fn request_of(
    kernel: &Kernel<'_>,
    sources: Vec<Utf8PathBuf>,
    entry: &str,
    config: Config,
) -> Result<Request, Fault> {
    let selection = &kernel.selection;
    let passing: Vec<Passing> =
        selection.spec.arguments.iter().map(|a| passing(selection, a, &config)).collect::<Result<_, _>>()?;
    let host = selection.target.kind == TargetKind::Cuda;
    let shim = if host { launcher_shim(entry, &passing) } else { shim(entry, &passing) };
    Ok(Request { shim, host, ..plain(kernel, sources, config) })
}

/// What every request says.
fn plain(kernel: &Kernel<'_>, sources: Vec<Utf8PathBuf>, config: Config) -> Request {
    let selection = &kernel.selection;
    let compile = &selection.implementation(&config).compile;
    // Which implementation it is shows in what is built, and is no tunable.
    let config = config.tunables();
    let mut flags: Vec<String> = Vec::new();
    for (name, dtype) in &selection.variant {
        let word = if selection.target.kind == TargetKind::Cuda { cuda_type(*dtype) } else { c_type(*dtype) };
        flags.extend(word.map(|word| format!("-D{name}={word}")));
        flags.push(format!("-D{name}_{}=1", dtype.name()));
    }
    flags.extend(compile.defines.iter().map(|(name, text)| format!("-D{name}={}", config.fill(text))));
    flags.extend(compile.flags.iter().filter_map(|flag| given(flag, &config)));
    Request {
        sources,
        includes: compile.include.iter().map(|i| kernel.folder.join(i)).collect(),
        std: compile.std.clone(),
        flags,
        config,
        arch: selection.arch.map(|arch| arch.name().to_string()),
        ..Request::default()
    }
}

/// A flag under a configuration: values for names in braces, and nothing where `if NAME` does not hold.
fn given(flag: &str, config: &Config) -> Option<String> {
    let (flag, condition) = flag.rsplit_once(" if ").map_or((flag, None), |(flag, name)| (flag, Some(name.trim())));
    let holds = match condition.and_then(|name| config.get(name)) {
        Some(Value::Bool(holds)) => *holds,
        Some(Value::Int(number)) => *number != 0,
        Some(Value::Float(number)) => *number != 0.0,
        Some(Value::Str(word)) => !word.is_empty(),
        // Without a configuration (a baseline, a reference) nothing is switched on.
        None => condition.is_none(),
    };
    holds.then(|| config.fill(flag.trim()))
}

/// The kernels of all launches, each once.
fn entries(kernel: &Kernel<'_>, config: &Config) -> Result<Vec<String>, Fault> {
    let fault = |report| Fault::new(format!("naming the kernels of {config}"), report);
    kiln_judge::entries(&kernel.selection, config).map_err(fault)
}

/// The variables that hold constants.
fn variables(selection: &Selection<'_>, config: &Config) -> Vec<String> {
    let taken = selection.spec.arguments.iter().filter(|argument| selection.passes(config, &argument.name));
    let constants = taken.filter(|argument| argument.role == Role::Constant);
    constants.map(|argument| variable(argument).to_owned()).collect()
}

/// The variable of a constant.
pub(crate) fn variable(argument: &Argument) -> &str {
    argument.symbol.as_deref().unwrap_or(&argument.name)
}

fn passing(selection: &Selection<'_>, argument: &Argument, config: &Config) -> Result<Passing, Fault> {
    if !selection.passes(config, &argument.name) {
        return Ok(Passing::Omitted);
    }
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

/// What a dtype is called in CUDA, by headers the source includes.
fn cuda_type(dtype: Dtype) -> Option<&'static str> {
    Some(match dtype {
        Dtype::F16 => "__half",
        Dtype::BF16 => "__nv_bfloat16",
        Dtype::F8E4M3 => "__nv_fp8_e4m3",
        Dtype::F8E5M2 => "__nv_fp8_e5m2",
        // Without headers, which NVRTC has none of.
        Dtype::I64 => "long long",
        Dtype::I32 => "int",
        Dtype::I16 => "short",
        Dtype::I8 => "signed char",
        Dtype::U64 => "unsigned long long",
        Dtype::U32 => "unsigned int",
        Dtype::U16 => "unsigned short",
        Dtype::U8 => "unsigned char",
        other => return c_type(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_follow_the_configuration() {
        let config = Config::parse("REGISTERS=64,FAST=true,MODE=slow").unwrap_or_default();
        assert_eq!(given("--maxrregcount={REGISTERS}", &config).as_deref(), Some("--maxrregcount=64"));
        assert_eq!(given("--use_fast_math if FAST", &config).as_deref(), Some("--use_fast_math"));
        assert_eq!(given("--use_fast_math if SLOW", &config), None);
        assert_eq!(given("-DX={unknown}", &config).as_deref(), Some("-DX={unknown}"));
    }
}
