//! How a CUDA kernel is launched: blocks and threads from a script, from `__launch_bounds__`, or by the names of tunables.

use kiln_core::Value;

use crate::source::c_file::CFunction;
use crate::source::found::{FoundLaunch, FoundTunable};
use crate::source::guess::{axis, is_threads};
use crate::source::shapes::Dims;
use crate::source::tuner::TunerCall;

/// The launch that a script describes. Dimensions are those of the problem's size, x first.
pub(crate) fn scripted(call: &TunerCall, problem: &[String]) -> FoundLaunch {
    let mut launch = FoundLaunch { dynamic_shared: call.dynamic_shared, ..FoundLaunch::default() };
    for (at, size) in problem.iter().enumerate() {
        let divisors: Vec<String> =
            call.divisors(at).iter().map(|d| whole_division(d, &mut launch.questions)).collect();
        launch.grid.push(match (divisors.is_empty(), size == "1") {
            (true, _) => size.clone(),
            (false, true) => "1".into(),
            (false, false) => format!("ceildiv({size}, {})", divisors.join(" * ")),
        });
    }
    let mut block: Vec<String> =
        call.block_size_names.iter().map(|name| if call.has(name) { name.clone() } else { "1".into() }).collect();
    while block.len() > 1 && block.last().is_some_and(|b| b == "1") {
        block.pop();
    }
    if !call.block_size_names.iter().any(|name| call.has(name)) {
        block = vec!["256".into()];
        launch.questions.push("How many threads has a block? The script names no tunable for it.".into());
    }
    while launch.grid.len() > 1 && launch.grid.last().is_some_and(|g| g == "1") {
        launch.grid.pop();
    }
    launch.block = block;
    launch
}

/// Kernel Tuner divides with `/`; a grid is made of integers.
fn whole_division(divisor: &str, questions: &mut Vec<String>) -> String {
    let whole = divisor.replace("//", "/").replace('/', "//");
    if whole.contains("//") {
        questions.push(format!("The grid is divided by `{divisor}`: is that an integer for every configuration?"));
    }
    let simple = whole.chars().all(|c| c.is_alphanumeric() || c == '_');
    if simple { whole } else { format!("({whole})") }
}

/// The axes that a kernel asks for, of `threadIdx` or `blockIdx`.
fn axes(function: &CFunction, of: &str) -> usize {
    let named = |axis: &str| function.body.windows(3).any(|w| w[0].is(of) && w[1].is(".") && w[2].is(axis));
    if named("z") {
        3
    } else if named("y") {
        2
    } else {
        1
    }
}

/// A launch by guess; may add a tunable where none is about threads.
pub(crate) fn guessed(
    function: &CFunction,
    tunables: &mut Vec<FoundTunable>,
    dims: &Dims,
    free: &dyn Fn(&str) -> bool,
) -> FoundLaunch {
    let mut launch = FoundLaunch { dynamic_shared: dynamic_shared(function), ..FoundLaunch::default() };
    let along = axes(function, "threadIdx");
    let mut block: Vec<String> = vec!["1".into(); along];
    let threads: Vec<&FoundTunable> = tunables.iter().filter(|t| is_threads(&t.name)).collect();
    let by_axis: Vec<(usize, String)> = threads.iter().filter_map(|t| Some((axis(&t.name)?, t.name.clone()))).collect();
    let bounds = function.bounds.as_deref().map(|b| b.split(',').next().unwrap_or(b).trim().to_owned());
    let usable = |text: &str| {
        let known = |word: &str| word.parse::<i64>().is_ok() || tunables.iter().any(|t| t.name == word);
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).all(known)
    };
    if !by_axis.is_empty() {
        for (at, name) in by_axis {
            if at >= block.len() {
                block.resize(at + 1, "1".into());
            }
            block[at] = name;
        }
    } else if let Some(bounds) = bounds.filter(|b| usable(b)) {
        block[0] = bounds;
    } else if let Some(tunable) = threads.first() {
        block[0] = tunable.name.clone();
        let small = matches!(tunable.default, Value::Int(v) if v <= 32);
        if along == 2 && small {
            block[1] = tunable.name.clone();
        }
    } else if let Some(warps) = tunables.iter().find(|t| t.name.to_ascii_lowercase().contains("warps")) {
        block[0] = format!("32 * {}", warps.name);
    } else {
        let name =
            ["THREADS", "BLOCK_THREADS", "KILN_THREADS"].into_iter().find(|n| free(n)).unwrap_or("KILN_BLOCK_THREADS");
        tunables.push(FoundTunable {
            name: name.into(),
            values: [64, 128, 256, 512, 1024].map(Value::Int).to_vec(),
            default: Value::Int(256),
            questions: vec!["How many threads may a block have? No tunable of the source is about it.".into()],
        });
        block[0] = name.into();
    }
    let grid_axes = axes(function, "blockIdx");
    let names: Vec<&str> = dims.iter().map(|(n, _)| n.as_str()).rev().collect();
    let blocks = |at: usize| match (names.get(at), block.get(at).filter(|b| *b != "1")) {
        (Some(name), Some(block)) => format!("ceildiv({name}, {block})"),
        (Some(name), None) => (*name).to_owned(),
        (None, _) => "1".to_owned(),
    };
    launch.grid = (0..grid_axes).map(blocks).collect();
    if grid_axes == 1 && names.len() > 1 {
        launch.grid =
            vec![format!("ceildiv({}, {})", names.iter().rev().copied().collect::<Vec<_>>().join(" * "), block[0])];
    }
    launch.questions.push("How many blocks are launched, and how many threads has each?".into());
    launch.block = block;
    launch
}

/// `extern __shared__ float buffer[];`
fn dynamic_shared(function: &CFunction) -> bool {
    function.body.windows(2).any(|w| w[0].is("extern") && (w[1].is("__shared__") || w[1].is("__align__")))
}
