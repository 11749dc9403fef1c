//! A disassembly to instructions. In: what `objdump -d --no-show-raw-insn -M intel` prints of a library for x86-64. Out: functions with their
//! instructions, and where each jumps to. Lines it does not know are passed over.

/// One instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Its address in the file.
    pub address: u64,
    /// Its name, such as `vfmadd231ps`.
    pub name: String,
    /// Its operands, the destination first.
    pub operands: Vec<String>,
    /// The address that it jumps to or calls, and what lies there.
    pub target: Option<(u64, String)>,
    /// Whether it has the memory it changes to itself: `lock add`, or `xchg` with memory.
    pub locked: bool,
}

impl Instruction {
    /// Whether it calls a function.
    pub fn is_call(&self) -> bool {
        self.name == "call"
    }

    /// Whether it may jump.
    pub fn is_jump(&self) -> bool {
        self.name.starts_with('j')
    }
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its symbol.
    pub name: String,
    /// Its instructions, in order.
    pub code: Vec<Instruction>,
}

/// Every function of a disassembly.
pub fn functions(disassembly: &str) -> Vec<Function> {
    let mut found: Vec<Function> = Vec::new();
    for line in disassembly.lines() {
        // 0000000000001110 <naive>:
        if let Some((_, name)) = line.strip_suffix(">:").and_then(|head| head.split_once(" <")) {
            found.push(Function { name: name.into(), code: Vec::new() });
        } else if let (Some(function), Some(instruction)) = (found.last_mut(), instruction(line)) {
            function.code.push(instruction);
        }
    }
    found.retain(|function| !function.code.is_empty());
    found
}

/// `    112d:    jle    14db <naive+0x3cb>`.
fn instruction(line: &str) -> Option<Instruction> {
    let (address, rest) = line.split_once(':')?;
    let address = u64::from_str_radix(address.trim(), 16).ok()?;
    let text = rest.split('#').next()?.trim();
    let mut words = text.splitn(2, char::is_whitespace);
    let mut name = words.next().filter(|name| !name.is_empty())?;
    let mut operands = words.next().unwrap_or_default().trim();
    let mut locked = false;
    // Prefixes: `bnd jmp`, `rep stos`, `notrack jmp`.
    while matches!(name, "bnd" | "rep" | "repz" | "repnz" | "lock" | "notrack" | "data16" | "cs") {
        locked |= name == "lock";
        let mut words = operands.splitn(2, char::is_whitespace);
        name = words.next().unwrap_or_default();
        operands = words.next().unwrap_or_default().trim();
    }
    let target = operands.split_once(" <").and_then(|(place, symbol)| {
        let symbol = symbol.trim_end_matches('>').split(['+', '@']).next()?;
        Some((u64::from_str_radix(place.trim(), 16).ok()?, symbol.to_string()))
    });
    let operands = operands.split(',').map(|operand| operand.trim().to_string()).filter(|operand| !operand.is_empty());
    let operands: Vec<String> = operands.collect();
    locked |= name == "xchg" && operands.iter().any(|operand| operand.contains('['));
    Some(Instruction { address, name: name.into(), operands, target, locked })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "\nk.so:     file format elf64-x86-64\n\nDisassembly of section .text:\n\n\
        0000000000001110 <naive>:\n    1110:\tpush   rbp\n    1111:\tvfmadd231ps ymm0,ymm1,YMMWORD PTR [rax+rcx*4+0x20]\n    \
        112d:\tjle    14db <naive+0x3cb>\n    1130:\tcall   1030 <memset@plt>\n    \
        1138:\tmov    rax,QWORD PTR [rip+0x2fc5]        # 3fd0 <x@Base>\n    113f:\tbnd jmp 1110 <naive>\n\n\
        0000000000001150 <empty>:\n";

    #[test]
    fn instructions_have_operands_and_targets() {
        let found = functions(TEXT);
        assert_eq!((found.len(), found[0].name.as_str(), found[0].code.len()), (1, "naive", 6));
        let code = &found[0].code;
        assert_eq!(code[1].operands, ["ymm0", "ymm1", "YMMWORD PTR [rax+rcx*4+0x20]"]);
        assert_eq!(code[2].target, Some((0x14db, "naive".into())));
        assert_eq!((code[3].is_call(), code[3].target.clone()), (true, Some((0x1030, "memset".into()))));
        assert_eq!((code[4].target.as_ref(), code[4].operands.len()), (None, 2));
        assert_eq!((code[5].name.as_str(), code[5].is_jump()), ("jmp", true));
    }

    #[test]
    fn locked_instructions_are_marked() {
        let text = "0000000000000010 <k>:\n  10:\tlock add DWORD PTR [rip+0x2f08],0x1        # 4028 <c>\n  \
            14:\txchg   eax,DWORD PTR [rdi]\n  18:\txchg   ax,ax\n  1a:\tadd    eax,0x1\n";
        let code = &functions(text)[0].code;
        assert_eq!(code.iter().map(|own| own.locked).collect::<Vec<_>>(), [true, true, false, false]);
        assert_eq!(code[0].name, "add");
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "([0-9a-f]{1,4}|:|\t| |<k>:|call|jmp|bnd|,|\\+|é|#|\n){0,60}") {
            functions(&text);
        }
    }
}
