//! What a kernel needs of the device, read from the assembler's words. In: the log of nvcc or NVRTC with `ptxas -v`. Out:
//! registers, spills, stack and static shared memory of each kernel in it. Lines it does not know are passed over.

/// The resources of one kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usage {
    /// Its symbol in the cubin.
    pub symbol: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of registers put aside in local memory, by a thread; those of functions it may call included.
    pub spill_stores: u64,
    /// Bytes of them fetched back.
    pub spill_loads: u64,
    /// Bytes of stack of a thread, called functions included.
    pub stack: u64,
    /// Bytes of static shared memory of a block, without what the system reserves.
    pub shared: u64,
    /// Barriers of a block.
    pub barriers: u32,
    /// Whether the assembler had to run wgmma instructions one after another.
    pub wgmma_serialized: bool,
}

/// Stack frame, spill stores and spill loads of a function.
type Frame = (u64, u64, u64);

/// The kernels of a log, in its order.
pub fn usage(log: &str) -> Vec<Usage> {
    let mut kernels: Vec<Usage> = Vec::new();
    let mut serialized: Vec<&str> = Vec::new();
    let mut called: Vec<Frame> = Vec::new();
    let mut described = "";
    for line in log.lines() {
        if let Some(symbol) = behind(line, "Compiling entry function '").and_then(|rest| rest.split('\'').next()) {
            kernels.push(Usage { symbol: symbol.into(), ..Usage::default() });
        } else if let Some(symbol) = behind(line, "Function properties for ") {
            described = symbol.trim();
        } else if let Some(frame) = frame(line) {
            match kernels.iter_mut().rev().find(|kernel| kernel.symbol == described) {
                Some(kernel) => (kernel.stack, kernel.spill_stores, kernel.spill_loads) = frame,
                None => called.push(frame),
            }
        } else if let Some((rest, kernel)) = behind(line, ": Used ").zip(kernels.last_mut()) {
            totals(rest, kernel);
        } else if is_serialized(line) {
            serialized.extend(line.rsplit('\'').nth(1));
        }
    }
    for kernel in &mut kernels {
        kernel.wgmma_serialized = serialized.contains(&kernel.symbol.as_str());
        // A function that is called is listed by itself, without its callers. One that spills has a stack, and then so has
        // every kernel that calls it.
        for (_, stores, loads) in called.iter().filter(|_| kernel.stack > 0) {
            kernel.spill_stores = kernel.spill_stores.saturating_add(*stores);
            kernel.spill_loads = kernel.spill_loads.saturating_add(*loads);
        }
    }
    kernels
}

/// Whether a line says that wgmma instructions wait for each other.
pub(crate) fn is_serialized(line: &str) -> bool {
    line.contains("wgmma") && line.contains("serialized")
}

fn behind<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    line.split_once(mark).map(|(_, rest)| rest)
}

/// `0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads`; NVRTC puts `ptxas         .` in front.
fn frame(line: &str) -> Option<Frame> {
    let mut parts = line.split(',');
    let stack = parts.next()?.trim_end().strip_suffix(" bytes stack frame")?.split_whitespace().last()?;
    let stores = parts.next()?.trim().strip_suffix(" bytes spill stores")?;
    let loads = parts.next()?.trim().strip_suffix(" bytes spill loads")?;
    Some((stack.parse().ok()?, stores.parse().ok()?, loads.parse().ok()?))
}

/// `32 registers, used 1 barriers, 936 bytes cumulative stack size, 8320 bytes smem, 364 bytes cmem[0]`: what is zero may be
/// left out.
fn totals(rest: &str, kernel: &mut Usage) {
    for part in rest.split(',') {
        let part = part.trim();
        let part = part.strip_prefix("used ").unwrap_or(part);
        let Some((number, what)) = part.split_once(' ') else { continue };
        let Ok(number) = number.parse::<u64>() else { continue };
        let narrow = u32::try_from(number).unwrap_or(u32::MAX);
        match what {
            "registers" => kernel.registers = narrow,
            "barriers" => kernel.barriers = narrow,
            "bytes cumulative stack size" => kernel.stack = kernel.stack.max(number),
            "bytes smem" => kernel.shared = number,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_log_is_read_whatever_stands_around_it() {
        let log = "k.cu(3): warning #177-D: unused\nptxas info    : 0 bytes gmem\n\
                   ptxas info    : Compiling entry function '_Z4gemmPf' for 'sm_90a'\n\
                   ptxas info    : Function properties for _Z4gemmPf\n\
                   \x20   936 bytes stack frame, 2780 bytes spill stores, 2592 bytes spill loads\n\
                   ptxas info    : Used 32 registers, used 1 barriers, 936 bytes cumulative stack size, 8320 bytes smem\n";
        let expected = Usage {
            symbol: "_Z4gemmPf".into(),
            registers: 32,
            spill_stores: 2780,
            spill_loads: 2592,
            stack: 936,
            shared: 8320,
            barriers: 1,
            wgmma_serialized: false,
        };
        assert_eq!(usage(log), [expected]);
        assert_eq!(usage(""), []);
    }

    /// Logs of one source with `-maxrregcount=32`, as the compilers of CUDA 13.0 write them.
    const LOGS: [(&str, u64, u64, u64); 6] = [
        (include_str!("../../tests/logs/nvcc_sm_80.log"), 240, 244 + 192, 260 + 272),
        (include_str!("../../tests/logs/nvcc_sm_89.log"), 240, 240 + 276, 256 + 348),
        (include_str!("../../tests/logs/nvcc_sm_90a.log"), 248, 252 + 224, 264 + 304),
        (include_str!("../../tests/logs/nvrtc_sm_80.log"), 232, 228 + 192, 240 + 272),
        (include_str!("../../tests/logs/nvrtc_sm_89.log"), 216, 216 + 276, 232 + 348),
        (include_str!("../../tests/logs/nvrtc_sm_90a.log"), 216, 216 + 224, 228 + 304),
    ];

    #[test]
    fn real_logs_are_read_and_called_functions_counted() {
        for (log, stack, spill_stores, spill_loads) in LOGS {
            let kernels = usage(log);
            let symbols: Vec<&str> = kernels.iter().map(|kernel| kernel.symbol.as_str()).collect();
            assert_eq!(symbols, ["indexed", "spills", "calls"]);
            let expected = Usage {
                symbol: "spills".into(),
                registers: 32,
                spill_stores,
                spill_loads,
                stack,
                shared: 1024,
                barriers: 1,
                wgmma_serialized: false,
            };
            assert_eq!(kernels[1], expected);
            assert_eq!((kernels[0].registers, kernels[0].stack, kernels[0].shared), (31, 128, 0));
        }
    }

    #[test]
    fn serialized_wgmma_is_seen() {
        let kernels = usage(include_str!("../../tests/logs/nvcc_wgmma_sm_90a.log"));
        assert_eq!(kernels.len(), 1);
        assert!(kernels[0].wgmma_serialized && kernels[0].registers == 30 && kernels[0].spill_stores == 0);
    }

    /// Pieces of real lines, so that random text gets past the first comparison.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("ptxas info    : Compiling entry function '".to_string()),
            Just("ptxas info    : Function properties for ".to_string()),
            Just(" bytes stack frame, ".to_string()),
            Just(" bytes spill stores, ".to_string()),
            Just(" bytes spill loads".to_string()),
            Just("ptxas info    : Used ".to_string()),
            Just(" registers, used ".to_string()),
            Just(" bytes smem".to_string()),
            Just("wgmma serialized '".to_string()),
            Just("\n".to_string()),
            Just("'".to_string()),
            Just(u64::MAX.to_string()),
            any::<u64>().prop_map(|n| n.to_string()),
            ".{0,6}",
        ];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fall(text in prop_oneof![pieces(), "(?s).{0,300}"]) {
            let kernels = usage(&text);
            prop_assert!(kernels.len() <= text.matches("Compiling entry function").count());
        }
    }
}
