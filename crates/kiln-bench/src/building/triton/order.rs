//! What Triton is asked to compile: a function, its tunables, and its arguments without memory, for every workload that is
//! tuned for. All of it is part of the build's key.

use kiln_build::Request;
use kiln_core::{Config, Fault};
use kiln_device::Arch;
use kiln_judge::{Signature, Slot};
use kiln_run::{AheadSlot, Compilation, Gpu};
use kiln_spec::{Dtype, Role};
use serde_json::json;

use crate::kernel::Kernel;
use crate::questions::layout::role_name;

/// The request for a configuration.
pub(crate) fn request(kernel: &Kernel<'_>, config: &Config, arch: Arch, gpu: Option<&Gpu>) -> Result<Request, Fault> {
    let (file, symbol) = kernel.python_entry(config)?;
    let file = file.canonicalize_utf8().unwrap_or(file);
    let (major, minor) = arch.compute_capability();
    let mut workloads: Vec<_> = kernel.selection.workloads.iter().map(|workload| Some(*workload)).collect();
    if workloads.is_empty() {
        workloads.push(None);
    }
    let slots = |workload| {
        let signature = Signature::under(&kernel.selection, workload, config);
        signature.map(|signature| signature.slots.iter().map(slot).collect::<Vec<AheadSlot>>())
    };
    let compilation = Compilation {
        library: file.to_string(),
        symbol,
        config: json!(config.tunables()),
        capability: 10 * major + minor,
        properties: properties(arch, gpu),
        workloads: workloads
            .into_iter()
            .map(slots)
            .collect::<Result<_, _>>()
            .map_err(|report| Fault::new(format!("laying out the arguments of {config}"), report))?,
    };
    let order = serde_json::to_string(&compilation).map_err(|e| Fault::new("ordering a compilation", e))?;
    let mut sources = vec![file];
    sources.extend(kernel.selection.implementation(config).sources.iter().map(|source| kernel.folder.join(source)));
    Ok(Request { sources, order, arch: Some(arch.name().into()), ..Request::default() })
}

fn slot(slot: &Slot) -> AheadSlot {
    let whole = slot.whole.as_ref().map_or(&slot.shape, |whole| &whole.shape);
    let value = match slot.scalar {
        _ if slot.role != Role::Scalar => serde_json::Value::Null,
        Some(value) if slot.dtype == Dtype::Bool => json!(value != 0.0),
        Some(value) if is_whole(slot.dtype) => json!(value as i64),
        value => json!(value),
    };
    AheadSlot {
        name: slot.name.clone(),
        role: role_name(slot.role).into(),
        dtype: slot.dtype.name().into(),
        shape: whole.clone(),
        strides: (!slot.lies_packed()).then(|| slot.strides.clone()),
        value,
    }
}

fn is_whole(dtype: Dtype) -> bool {
    use Dtype::{I8, I16, I32, I64, U8, U16, U32, U64};
    matches!(dtype, I64 | I32 | I16 | I8 | U64 | U32 | U16 | U8)
}

/// What functions ask of a GPU before they launch, by Triton's names and by PyTorch's.
fn properties(arch: Arch, gpu: Option<&Gpu>) -> serde_json::Value {
    let (limits, (major, minor)) = (arch.limits(), arch.compute_capability());
    let mut known = json!({
        "max_shared_mem": limits.smem_per_block,
        "max_num_regs": limits.regs_per_block,
        "warpSize": limits.warp_size,
        "major": major,
        "minor": minor,
        "warp_size": limits.warp_size,
        "max_threads_per_multi_processor": limits.threads_per_sm,
        "regs_per_multiprocessor": limits.regs_per_sm,
        "shared_memory_per_block_optin": limits.smem_per_block,
        "shared_memory_per_multiprocessor": limits.smem_per_sm,
    });
    if let (Some(gpu), Some(known)) = (gpu, known.as_object_mut()) {
        known.insert("name".into(), json!(gpu.name));
        known.insert("multiprocessor_count".into(), json!(gpu.sms));
        known.insert("multi_processor_count".into(), json!(gpu.sms));
        known.insert("total_memory".into(), json!(gpu.memory));
        known.insert("L2_cache_size".into(), json!(gpu.l2));
    }
    known
}
