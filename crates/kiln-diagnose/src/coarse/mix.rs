//! What a stretch of code for x86-64 consists of. In: instructions. Out: counts of arithmetic by width, of accesses to the stack, of calls, and of
//! sums that each wait for their own last value.

use std::collections::BTreeMap;

use serde::Serialize;

use super::assembly::Instruction;
use super::stride::{bytes, touched};

/// What a loop consists of.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Mix {
    /// Floating-point arithmetic on one element at a time.
    pub scalar: usize,
    /// Arithmetic on vectors.
    pub packed: usize,
    /// Bits of the widest vector that is computed with; 0 for none.
    pub vector_bits: u32,
    /// Bits of an element that is computed with.
    pub element_bits: u32,
    /// Instructions that read or write the stack.
    pub stack: usize,
    /// Instructions that read or write other memory.
    pub memory: usize,
    /// Functions that are called.
    pub calls: Vec<String>,
    /// Registers that are only ever changed by arithmetic on their own last value.
    pub chains: usize,
    /// The longest such sequence of one step, in instructions.
    pub chain_length: usize,
    /// Operations of one step; a product with a sum is two.
    pub operations: usize,
    /// Instructions that lock the memory they change.
    pub locked: usize,
    /// Conversions from float to double, and back.
    pub widened: usize,
    /// See `widened`.
    pub narrowed: usize,
    /// Bytes of the cache lines that one step touches.
    pub line_bytes: u64,
    /// Bytes of them that it uses.
    pub used_bytes: u64,
    /// Bits of the narrowest access to memory; 0 for none.
    #[serde(skip)]
    pub access_bits: u32,
    /// Instructions that only move parts of vectors.
    #[serde(skip)]
    pub moved: usize,
}

impl Mix {
    /// Elements that one pass computes.
    pub(super) fn lanes(&self) -> usize {
        let each = self.vector_bits.checked_div(self.element_bits).map_or(1, |lanes| lanes.max(1) as usize);
        self.scalar + self.packed * each
    }

    /// Bits that it computes with at once: of vectors, of elements, or of accesses where nothing is computed.
    pub(super) fn width(&self) -> u32 {
        match (self.packed > 0 && self.packed >= self.scalar, self.element_bits) {
            (true, _) => self.vector_bits,
            (false, 0) => self.access_bits,
            (false, bits) => bits,
        }
    }

    /// All of its arithmetic.
    pub(super) fn arithmetic(&self) -> usize {
        self.scalar + self.packed
    }
}

/// What an instruction computes with.
struct Arithmetic {
    packed: bool,
    element_bits: u32,
}

/// Names without the `v` of three operands and without the suffix.
const FLOATING: [&str; 7] = ["add", "sub", "mul", "div", "max", "min", "sqrt"];
/// What moves parts of vectors.
const MOVES: [&str; 5] = ["extract", "insert", "perm", "unpck", "shuf"];
const FUSED: [&str; 4] = ["fmadd", "fmsub", "fnmadd", "fnmsub"];

fn arithmetic(name: &str) -> Option<Arithmetic> {
    let stem = name.strip_prefix('v').unwrap_or(name);
    let (stem, packed, element_bits) =
        [("ps", true, 32), ("pd", true, 64), ("ph", true, 16), ("ss", false, 32), ("sd", false, 64)]
            .into_iter()
            .find_map(|(suffix, packed, bits)| Some((stem.strip_suffix(suffix)?, packed, bits)))?;
    let known = FLOATING.contains(&stem) || FUSED.iter().any(|fused| stem.starts_with(fused));
    known.then_some(Arithmetic { packed, element_bits })
}

/// Bits of a vector register, and its number.
fn vector(operand: &str) -> Option<(u32, &str)> {
    let operand = operand.split(['{', ' ']).next()?;
    [("zmm", 512), ("ymm", 256), ("xmm", 128)]
        .into_iter()
        .find_map(|(prefix, bits)| Some((bits, operand.strip_prefix(prefix)?)))
}

/// Whether an operand lies on the stack. Only in functions with a frame does rbp point there.
pub(super) fn on_stack(operand: &str, frame: bool) -> bool {
    operand.contains("[rsp") || (frame && operand.contains("[rbp-"))
}

/// Whether a function keeps a frame in rbp.
pub(super) fn has_frame(code: &[Instruction]) -> bool {
    code.iter().any(|own| own.name == "mov" && own.operands == ["rbp", "rsp"])
}

/// Counts what a loop consists of, in a function with or without a frame.
pub(super) fn mix(code: &[&Instruction], frame: bool) -> Mix {
    let (line_bytes, used_bytes) = touched(code, frame);
    let mut found = Mix { line_bytes, used_bytes, ..Mix::default() };
    // Of each register how often it is summed up in, and whether anything else writes it.
    let mut sums: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
    for own in code {
        if own.is_call() {
            found.calls.push(own.target.as_ref().map_or_else(|| "a pointer".to_string(), |(_, name)| name.clone()));
        }
        // An address that is only computed is no access.
        if own.name != "lea" && !own.name.starts_with("nop") {
            found.stack += usize::from(own.operands.iter().any(|operand| on_stack(operand, frame)));
            found.memory += usize::from(own.operands.iter().any(|o| o.contains('[') && !on_stack(o, frame)));
            for bits in own.operands.iter().filter_map(|operand| Some(8 * u32::try_from(bytes(operand)?).ok()?)) {
                found.access_bits = if found.access_bits == 0 { bits } else { found.access_bits.min(bits) };
            }
        }
        found.locked += usize::from(own.locked);
        let plain = own.name.strip_prefix('v').unwrap_or(&own.name);
        found.widened += usize::from(matches!(plain, "cvtss2sd" | "cvtps2pd"));
        found.narrowed += usize::from(matches!(plain, "cvtsd2ss" | "cvtpd2ps"));
        found.moved += usize::from(MOVES.iter().any(|name| plain.starts_with(name)));
        let Some((bits, register)) = own.operands.first().and_then(|operand| vector(operand)) else { continue };
        let sum = sums.entry(register).or_default();
        let Some(Arithmetic { packed, element_bits }) = arithmetic(&own.name) else {
            sum.1 |= writes(own);
            continue;
        };
        found.element_bits = found.element_bits.max(element_bits);
        if packed {
            found.packed += 1;
            found.vector_bits = found.vector_bits.max(bits);
        } else {
            found.scalar += 1;
        }
        let each = if packed { (bits / element_bits).max(1) as usize } else { 1 };
        let fused = FUSED.iter().any(|name| own.name.contains(name));
        found.operations += if fused { 2 * each } else { each };
        let two = own.operands.len() == 2 && !own.name.contains("sqrt");
        let again = own.operands.iter().skip(1).any(|operand| vector(operand).is_some_and(|(_, n)| n == register));
        // 231 adds to its destination; 132 and 213 multiply it.
        match fused || two || again {
            true => sum.0 += 1,
            false => sum.1 = true,
        }
    }
    let chains = sums.values().filter(|(count, other)| *count > 0 && !other).map(|(count, _)| *count);
    (found.chains, found.chain_length) = chains.fold((0, 0), |(all, most), count| (all + 1, most.max(count)));
    found
}

/// Whether an instruction changes its first operand.
fn writes(own: &Instruction) -> bool {
    !(own.name.contains("comis") || own.name.contains("ptest") || own.name.contains("vtest"))
}

#[cfg(test)]
mod tests {
    use super::super::assembly::functions;
    use super::*;

    fn of(lines: &[&str]) -> Mix {
        let text: String = lines.iter().enumerate().map(|(n, line)| format!("  {n:x}:\t{line}\n")).collect();
        let code = functions(&format!("0000000000000000 <k>:\n{text}"));
        mix(&code[0].code.iter().collect::<Vec<_>>(), true)
    }

    #[test]
    fn arithmetic_is_counted_by_width() {
        let found =
            of(&["vmulss xmm0,xmm1,DWORD PTR [rax]", "vaddpd zmm1,zmm2,zmm3", "vpaddd ymm0,ymm1,ymm2", "add rax,0x4"]);
        assert_eq!((found.scalar, found.packed, found.vector_bits, found.element_bits), (1, 1, 512, 64));
        assert_eq!((found.stack, found.memory, found.chains), (0, 1, 0));
    }

    #[test]
    fn conversions_locks_and_operations_are_counted() {
        let found = of(&[
            "vcvtps2pd ymm0,xmm0",
            "vextractf128 xmm1,ymm0,0x1",
            "vfmadd231pd ymm0,ymm4,ymm5",
            "vcvtpd2ps xmm0,ymm0",
            "lock add DWORD PTR [rip+0x2f08],0x1",
            "vmulss xmm6,xmm6,xmm7",
        ]);
        assert_eq!((found.widened, found.narrowed, found.moved, found.locked), (1, 1, 1, 1));
        assert_eq!((found.operations, found.width()), (9, 256));
        let copies = of(&["movss xmm0,DWORD PTR [rdi]", "movss DWORD PTR [rsp+0x10],xmm0"]);
        assert_eq!((copies.width(), copies.operations), (32, 0));
    }

    #[test]
    fn the_stack_is_not_other_memory_and_addresses_are_no_accesses() {
        let found = of(&[
            "vmovaps YMMWORD PTR [rsp+0x40],ymm2",
            "vfmadd231ps ymm0,ymm1,YMMWORD PTR [rbp-0x30]",
            "lea rax,[rsp+0x8]",
            "mov rbx,QWORD PTR [rdi+rax*8]",
            "call 1030 <expf@plt>",
            "call rax",
        ]);
        assert_eq!((found.stack, found.memory), (2, 1));
        assert_eq!(found.calls, ["expf", "a pointer"]);
    }

    #[test]
    fn a_chain_is_a_register_that_only_sums_up() {
        // One sum, loaded before the loop; what is loaded anew in each step is none.
        let found = of(&["vmovups ymm1,YMMWORD PTR [rax]", "vaddps ymm1,ymm1,ymm3", "vaddps ymm0,ymm0,ymm1"]);
        assert_eq!((found.chains, found.chain_length), (1, 1));
        let fused = of(&["vfmadd231ps ymm0,ymm4,ymm5", "vfmadd231ps ymm1,ymm4,ymm5", "vfmadd231ps ymm0,ymm6,ymm7"]);
        assert_eq!((fused.chains, fused.chain_length), (2, 2));
        let old = of(&["movups xmm2,XMMWORD PTR [rax]", "addps xmm1,xmm2", "sqrtps xmm3,xmm2"]);
        assert_eq!((old.chains, old.chain_length), (1, 1));
    }
}
