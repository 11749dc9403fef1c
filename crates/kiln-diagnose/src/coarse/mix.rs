//! What a stretch of code for x86-64 consists of. In: instructions. Out: counts of arithmetic by width, of accesses to the stack, of calls, and of
//! sums that each wait for their own last value.

use std::collections::BTreeMap;

use serde::Serialize;

use super::assembly::Instruction;

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
}

impl Mix {
    /// Elements that one pass computes.
    pub(super) fn lanes(&self) -> usize {
        let each = self.vector_bits.checked_div(self.element_bits).map_or(1, |lanes| lanes.max(1) as usize);
        self.scalar + self.packed * each
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
fn on_stack(operand: &str, frame: bool) -> bool {
    operand.contains("[rsp") || (frame && operand.contains("[rbp-"))
}

/// Whether a function keeps a frame in rbp.
pub(super) fn has_frame(code: &[Instruction]) -> bool {
    code.iter().any(|own| own.name == "mov" && own.operands == ["rbp", "rsp"])
}

/// Counts what a loop consists of, in a function with or without a frame.
pub(super) fn mix(code: &[&Instruction], frame: bool) -> Mix {
    let mut found = Mix::default();
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
        }
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
        let fused = FUSED.iter().any(|name| own.name.contains(name));
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
