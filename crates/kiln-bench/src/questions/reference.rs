//! Whole answers of attention, computed by kiln's own kernel on the GPU, in a process of its own: the processor takes seconds
//! for each. In: inputs. Out: the outputs, in double precision or as exactly as 16 bits can tell. Refuses what is not
//! attention, and whatever the GPU has no room for; the processor computes it then.

use std::sync::{Mutex, OnceLock};

use camino::Utf8PathBuf;
use kiln_core::{Config, Fault, Outcome, Refusal};
use kiln_judge::{Builtin, Coverage, Heads, Inputs, Rules, Signature, Slot, Tensor, encode};
use kiln_run::{Arena, Launch};
use kiln_spec::{Dtype, Role};

use crate::bench::Bench;
use crate::questions::layout::Layout;
use crate::workers::seat::{Seat, Spot};
use crate::workers::seating::Seating;
use crate::workers::subject::Subject;

/// The kernel, as a text that the driver compiles.
const TEXT: &str = include_str!("reference/attention.ptx");
/// Its name, its threads, and how many queries and columns a block has.
const KERNEL: &str = "kiln_attention";
const THREADS: u32 = 256;
const TILE: usize = 64;

/// A process that computes answers, started when it is first asked. One question at a time.
pub(crate) struct DeviceReference {
    seating: Seating,
    rules: Rules,
    seat: Mutex<Option<(Seat, tempfile::TempDir)>>,
    /// Why it could not, the first time.
    pub(crate) failed: OnceLock<Fault>,
}

impl Bench<'_> {
    /// Where all of every answer is wanted and there is a GPU to compute it.
    pub(crate) fn device_reference(&self, coverage: Coverage) -> Option<DeviceReference> {
        let able = self.gpu.is_some() && self.rules.builtin() == Some(Builtin::Attention);
        (able && coverage == Coverage::Every).then(|| DeviceReference {
            seating: self.seating().clone(),
            rules: self.rules.clone(),
            seat: Mutex::default(),
            failed: OnceLock::new(),
        })
    }
}

impl DeviceReference {
    /// The right outputs for these inputs.
    pub(crate) fn answer(&self, signature: &Signature, inputs: &Inputs) -> Result<Vec<Tensor>, Fault> {
        // What failed once is not tried again: each try may take as long as the answer does here.
        if let Some(fault) = self.failed.get() {
            return Err(fault.clone());
        }
        let answer = self.computed(signature, inputs).and_then(|outputs| {
            let right = self.rules.agree(signature, inputs, &outputs);
            right.then_some(outputs).ok_or_else(|| fault("it is not what the processor computes"))
        });
        if let Err(fault) = &answer {
            let _ = self.failed.set(fault.clone());
        }
        answer
    }

    fn computed(&self, signature: &Signature, inputs: &Inputs) -> Result<Vec<Tensor>, Fault> {
        let Some(heads) = self.rules.attention(signature, inputs).filter(|heads| heads.v_width > 0) else {
            return Err(fault("the reference is another one"));
        };
        let outputs: Vec<&Slot> = signature.outputs().map(|(_, slot)| slot).collect();
        let layout = Layout::new(call(&heads, signature, outputs.first().map(|slot| slot.dtype)))?;
        let mut arena = layout.arena()?;
        let tensors: Vec<&Tensor> = inputs.tensors().map(|(_, tensor)| tensor).collect();
        for (number, (slot, place)) in layout.signature.slots.iter().zip(&layout.slots).enumerate() {
            let bytes = match (slot.scalar, tensors.get(number)) {
                (Some(value), _) => encode(slot.dtype, &[value]),
                (None, Some(tensor)) => tensor.bytes(slot.dtype),
                (None, None) => continue,
            };
            arena.bytes_mut()[place.offset..place.offset + place.bytes].copy_from_slice(&bytes);
        }
        let blocks = u32::try_from(heads.all.saturating_mul(heads.queries.div_ceil(TILE)));
        let columns = u32::try_from(heads.v_width.div_ceil(TILE));
        let (Ok(blocks), Ok(columns)) = (blocks, columns) else { return Err(fault("it is too large")) };
        let grid = [blocks, columns, 1];
        let launch = Launch { symbol: KERNEL.into(), grid, block: [THREADS, 1, 1], ..Launch::default() };
        self.call(&layout, &mut arena, launch)?;
        let results = layout.signature.slots.iter().zip(&layout.slots).filter(|(slot, _)| slot.is_output());
        let results = results.take(outputs.len()).map(|(slot, place)| {
            Tensor::read(slot.dtype, &slot.shape, &arena.bytes()[place.offset..place.offset + place.bytes])
        });
        let results = results.zip(&outputs).map(|(tensor, slot)| Tensor { shape: slot.shape.clone(), ..tensor });
        Ok(results.collect())
    }

    /// One call in the process that is there, or in a new one.
    fn call(&self, layout: &Layout, arena: &mut Arena, launch: Launch) -> Result<(), Fault> {
        let refused = |refusal: Refusal| fault(format!("{} ({})", refusal.measured, refusal.gate));
        let mut kept = self.seat.lock().map_err(|_| fault("a thread ended before its time"))?;
        let (mut seat, folder) = match kept.take() {
            Some(kept) => kept,
            None => self.start()?,
        };
        let steps = || -> Result<Outcome<()>, Fault> {
            passed!(seat.map(layout, layout.slots.clone(), arena, vec![launch], (Spot::Same, 1))?);
            passed!(seat.lay_here(layout, arena)?);
            passed!(seat.call()?);
            seat.fetch()
        };
        match steps()? {
            Outcome::Passed(()) => *kept = Some((seat, folder)),
            Outcome::Refused(refusal) => return Err(refused(refusal)),
        }
        Ok(())
    }

    fn start(&self) -> Result<(Seat, tempfile::TempDir), Fault> {
        let folder = tempfile::tempdir().map_err(fault)?;
        let path = Utf8PathBuf::from_path_buf(folder.path().join("attention.ptx"));
        let path = path.map_err(|path| fault(format!("{} is not UTF-8", path.display())))?;
        fs_err::write(&path, TEXT).map_err(fault)?;
        let (key, config, symbols, usage) = (String::new(), Config::default(), Vec::new(), Vec::new());
        let subject = Subject::Cubin { path, key, config, symbols, usage, laid: None };
        match self.seating.take_alone(&subject)? {
            Outcome::Passed(seat) => Ok((seat, folder)),
            Outcome::Refused(refusal) => Err(fault(format!("{} ({})", refusal.measured, refusal.gate))),
        }
    }
}

fn fault(why: impl std::fmt::Display) -> Fault {
    Fault::new("computing the correct answer on the GPU", why)
}

/// The kernel's arguments. Floats hold every narrower number, and halves tell no more than floats do of an answer.
fn call(heads: &Heads, signature: &Signature, output: Option<Dtype>) -> Signature {
    let inputs = signature.slots.iter().filter(|slot| slot.is_input());
    let (wide_in, wide_out) =
        (inputs.clone().any(|slot| slot.dtype == Dtype::F64), !matches!(output, Some(Dtype::F16 | Dtype::BF16)));
    let dtype = |wide: bool| if wide { Dtype::F64 } else { Dtype::F32 };
    let mut slots: Vec<Slot> =
        inputs.map(|slot| Slot::packed(&slot.name, Role::In, dtype(wide_in), &slot.shape)).collect();
    let rows = heads.all * heads.queries;
    slots.push(Slot::packed("o", Role::Out, dtype(wide_out), &[rows, heads.v_width]));
    slots.push(Slot::packed("lse", Role::Out, Dtype::F64, &[rows]));
    let numbers = [heads.heads, heads.kv_heads, heads.queries, heads.keys, heads.width, heads.v_width];
    let numbers = numbers.into_iter().chain([heads.causal, wide_in, wide_out].map(usize::from));
    slots.extend(numbers.map(|number| Slot::number("number", Dtype::I64, number as f64)));
    slots.push(Slot::number("scale", Dtype::F64, heads.scale));
    Signature { slots }
}
