//! Inputs with a meaning: indices, sorted keys, masks. In: an argument whose `init` names a Python function, and a seed. Out:
//! its numbers, from `function(shape, dims, seed)` called in a process of its own. Refuses another shape, and numbers that
//! the argument's type does not hold.

use camino::Utf8Path;
use kiln_core::{Config, Fault, Outcome, Refusal, Value, Workload};
use kiln_judge::{Signature, Slot, Tensor, gather};
use kiln_spec::{Dtype, Role};

use crate::bench::Bench;
use crate::kernel::Kernel;
use crate::questions::layout::Layout;
use crate::questions::outside::is_float;
use crate::workers::seat::Spot;
use crate::workers::subject::Subject;

/// Calls the function as the worker calls any other.
const CALLER: &str = include_str!("filling.py");

impl Kernel<'_> {
    /// Whether an argument is filled by a Python function.
    pub(crate) fn has_fillings(&self) -> bool {
        self.selection.spec.arguments.iter().any(|argument| argument.function.is_some())
    }
}

/// The numbers of one argument.
pub(crate) fn filled(bench: &Bench<'_>, slot: &Slot, workload: Option<&Workload>, seed: u64) -> Result<Tensor, Fault> {
    let Some(callable) = &slot.function else {
        return Err(Fault::new(format!("filling {}", slot.name), "no function is named for it"));
    };
    let what = format!("filling {} with {}:{}", slot.name, callable.file, callable.function);
    let python = bench.python.as_ref().map_err(Clone::clone)?;
    let path = bench.kernel.folder.join(&callable.file);
    if !path.is_file() {
        let fault = Fault::new(&what, format!("{path}: no such file"));
        return Err(fault.hint("init names a file relative to the kernel file"));
    }
    let path = path.canonicalize_utf8().map_err(|e| Fault::new(&what, e))?;
    let dims: serde_json::Map<String, serde_json::Value> =
        workload.iter().flat_map(|w| &w.dims).map(|(name, value)| (name.to_string(), json(value))).collect();
    let (shape, function) = (&slot.shape, &callable.function);
    let request = serde_json::json!({
        "path": path.as_str(), "function": function, "shape": shape, "dims": dims, "seed": seed >> 1, "name": slot.name,
        "dtype": slot.dtype.name(), "kind": if is_float(slot.dtype) { "numbers" } else { "integers" },
    });
    let folder = tempfile::tempdir().map_err(|e| Fault::new(&what, e))?;
    let file = Utf8Path::from_path(folder.path())
        .ok_or_else(|| Fault::new(&what, "the folder for temporary files is not UTF-8"))?
        .join("filling.py");
    let text = format!("REQUEST = {}\n{CALLER}", serde_json::Value::String(request.to_string()));
    fs_err::write(&file, text).map_err(|e| Fault::new(&what, e))?;
    let (interpreter, function) = (python.interpreter.clone(), "fill".to_owned());
    let subject =
        Subject::Python { interpreter, file, function, config: Config::default(), device: false, ahead: None };

    // Floats in double precision, as functions make them; they are rounded here.
    let dtype = if is_float(slot.dtype) { Dtype::F64 } else { slot.dtype };
    let own = Slot { role: Role::Out, dtype, alignment: dtype.bytes() as usize, ..slot.clone() };
    let layout = Layout::new(Signature { slots: vec![own.clone()] })?;
    let arena = layout.arena()?;
    let failed = |refusal: Refusal| Fault::new(&what, refusal.measured);
    let mut seat = match bench.seating().take_to_ask(&subject)? {
        Outcome::Passed(seat) => seat,
        Outcome::Refused(refusal) => return Err(failed(refusal)),
    };
    for step in [seat.map(&layout, layout.slots.clone(), &arena, Vec::new(), (Spot::Same, 1))?, seat.call()?] {
        if let Outcome::Refused(refusal) = step {
            return Err(failed(refusal));
        }
    }
    let place = &layout.slots[0];
    let bytes = &arena.bytes()[place.offset..place.offset + place.bytes];
    let tensor = Tensor::read(dtype, &own.shape, &gather(&own, bytes));
    if let Some(at) = tensor.data.iter().position(|v| !v.is_finite()) {
        return Err(Fault::new(&what, format!("element {at} is {}", tensor.data[at])));
    }
    Ok(Tensor::read(slot.dtype, &slot.shape, &tensor.bytes(slot.dtype)))
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Int(v) => (*v).into(),
        Value::Float(v) => (*v).into(),
        Value::Bool(v) => (*v).into(),
        Value::Str(v) => v.to_string().into(),
    }
}
