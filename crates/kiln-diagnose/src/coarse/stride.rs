//! How much of the cache lines that a loop touches it uses. In: the loop's instructions. Out: bytes of lines and bytes used in one step. An access
//! whose address moves by an amount that the code does not show counts as if all of its line were used.

use std::collections::{BTreeMap, BTreeSet};

use super::assembly::Instruction;
use super::mix::on_stack;

const LINE: i64 = 64;

/// Registers, each with its factor.
type Registers = Vec<(String, i64)>;

/// Where an access is: registers, each with its factor, and a number of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Address {
    registers: Registers,
    offset: i64,
}

/// Bytes of cache lines that one step touches, and those that it uses.
pub(super) fn touched(code: &[&Instruction], frame: bool) -> (u64, u64) {
    let steps = steps(code);
    // Accesses through the same registers: where they begin, and how long they are.
    let mut streams: BTreeMap<Registers, BTreeSet<(i64, i64)>> = BTreeMap::new();
    let accesses = code.iter().filter(|own| own.name != "lea" && !own.name.starts_with("nop"));
    for operand in accesses.flat_map(|own| &own.operands).filter(|operand| !on_stack(operand, frame)) {
        if let (Some(address), Some(bytes)) = (address(operand), bytes(operand)) {
            streams.entry(address.registers).or_default().insert((address.offset, bytes));
        }
    }
    let (mut lines, mut used) = (0, 0);
    for (registers, accesses) in &streams {
        let step = registers.iter().try_fold(0i64, |sum, (register, factor)| {
            Some(sum + factor * steps.get(register.as_str()).copied().unwrap_or(Some(0))?)
        });
        let own: i64 = accesses.iter().map(|(_, bytes)| bytes).sum();
        let apart: BTreeSet<i64> = accesses.iter().map(|(offset, _)| offset.div_euclid(LINE)).collect();
        let fetched = step.map_or(own, |step| step.abs().min(LINE * apart.len() as i64)).max(own);
        lines += fetched.unsigned_abs();
        used += own.unsigned_abs();
    }
    (lines, used)
}

/// By how much each register that the loop changes moves in a step; none where the code does not show it.
fn steps<'c>(code: &[&'c Instruction]) -> BTreeMap<&'c str, Option<i64>> {
    let mut found: BTreeMap<&str, Option<i64>> = BTreeMap::new();
    for own in code {
        if matches!(own.name.as_str(), "cmp" | "test" | "push" | "nop" | "nopw" | "nopl") || own.is_jump() {
            continue;
        }
        let Some(register) = own.operands.first().map(|operand| whole(operand)) else { continue };
        let second = own.operands.get(1).map(String::as_str).unwrap_or_default();
        let by = match own.name.as_str() {
            "add" => number(second),
            "sub" => number(second).map(|by| -by),
            "inc" => Some(1),
            "dec" => Some(-1),
            "lea" => {
                address(second).filter(|from| from.registers == [(register.to_string(), 1)]).map(|from| from.offset)
            }
            _ => None,
        };
        let known = found.entry(register).or_insert(Some(0));
        *known = known.zip(by).map(|(sum, by)| sum.saturating_add(by));
    }
    found
}

/// The 64 bits of which a register of 32 is a half.
fn whole(register: &str) -> &str {
    const HALVES: [(&str, &str); 8] = [
        ("eax", "rax"),
        ("ebx", "rbx"),
        ("ecx", "rcx"),
        ("edx", "rdx"),
        ("esi", "rsi"),
        ("edi", "rdi"),
        ("ebp", "rbp"),
        ("esp", "rsp"),
    ];
    let half = HALVES.iter().find(|(half, _)| *half == register).map(|(_, whole)| *whole);
    half.unwrap_or_else(|| register.strip_suffix('d').filter(|name| name.starts_with('r')).unwrap_or(register))
}

/// `DWORD PTR [rdi+rax*4-0x20]`; none where there is no address, or one of many elements (a gather).
fn address(operand: &str) -> Option<Address> {
    let (_, inner) = operand.split_once('[')?;
    let inner = inner.split(']').next()?.replace('-', "+-");
    let mut found = Address { registers: Vec::new(), offset: 0 };
    for term in inner.split('+').filter(|term| !term.is_empty()) {
        if let Some(offset) = number(term) {
            found.offset = found.offset.checked_add(offset)?;
            continue;
        }
        let (register, factor) = term.split_once('*').unwrap_or((term, "1"));
        (!register.contains("mm")).then_some(())?;
        found.registers.push((whole(register).to_string(), factor.parse().ok().filter(|factor| *factor <= 8)?));
    }
    found.registers.sort();
    Some(found)
}

fn number(text: &str) -> Option<i64> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let value = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()? as i64,
        None => text.parse().ok()?,
    };
    // Offsets are 32 bits.
    (value.unsigned_abs() < 1 << 32 || value < 0).then(|| value.checked_mul(sign)).flatten()
}

/// Bytes of an access.
pub(super) fn bytes(operand: &str) -> Option<i64> {
    const SIZES: [(&str, i64); 7] = [
        ("BYTE ", 1),
        ("WORD ", 2),
        ("DWORD ", 4),
        ("QWORD ", 8),
        ("XMMWORD ", 16),
        ("YMMWORD ", 32),
        ("ZMMWORD ", 64),
    ];
    SIZES.iter().find(|(name, _)| operand.starts_with(name)).map(|(_, bytes)| *bytes)
}

#[cfg(test)]
mod tests {
    use super::super::assembly::functions;
    use super::*;
    use proptest::prelude::*;

    fn of(lines: &[&str]) -> (u64, u64) {
        let text: String = lines.iter().enumerate().map(|(n, line)| format!("  {n:x}:\t{line}\n")).collect();
        let code = functions(&format!("0000000000000000 <k>:\n{text}"));
        let code = code.first().map_or(&[][..], |function| &function.code);
        touched(&code.iter().collect::<Vec<_>>(), false)
    }

    #[test]
    fn one_float_of_each_line_is_a_sixteenth_of_it() {
        // y[i] = 2 * x[16 * i].
        let strided = of(&[
            "vmovss xmm0,DWORD PTR [rdi]",
            "add    rsi,0x4",
            "add    rdi,0x40",
            "vaddss xmm0,xmm0,xmm0",
            "vmovss DWORD PTR [rsi-0x4],xmm0",
            "cmp    rsi,rax",
            "jne    0 <k>",
        ]);
        assert_eq!(strided, (68, 8));
        let scaled = of(&["vmovss xmm0,DWORD PTR [rdi+rax*4]", "lea    rax,[rax+0x10]", "jne    0 <k>"]);
        assert_eq!(scaled, (64, 4));
        // One field of a struct of four.
        assert_eq!(of(&["vaddss xmm0,xmm0,DWORD PTR [rdi]", "add    rdi,0x10"]), (16, 4));
    }

    #[test]
    fn whole_lines_and_unknown_steps_waste_nothing() {
        let whole = ["vmovups ymm0,YMMWORD PTR [rdi]", "vmovups ymm1,YMMWORD PTR [rdi+0x20]", "add    rdi,0x40"];
        assert_eq!(of(&whole), (64, 64));
        assert_eq!(of(&["vmovss xmm0,DWORD PTR [rdi]", "add    rdi,rdx"]), (4, 4));
        assert_eq!(of(&["vmovss xmm0,DWORD PTR [rdi]", "mov    rdi,QWORD PTR [rdi+0x8]"]), (12, 12));
        assert_eq!(of(&["vgatherdps ymm0,DWORD PTR [rdi+ymm1*4],ymm2", "add    rdi,0x400"]), (0, 0));
        // The stack is no stream.
        assert_eq!(of(&["vmovss xmm0,DWORD PTR [rsp+0x40]"]), (0, 0));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "([0-9a-f]{1,4}|:\t|DWORD PTR |\\[|\\]|rdi|eax|\\*4|-0x|\\+0x|add |lea |,|é|\n){0,60}") {
            of(&text.lines().collect::<Vec<_>>());
        }
    }
}
