//! Why CUDA source may hang, found without a compiler. In: the source. Out: the first barrier under a condition that
//! depends on the thread, else the first loop in device code that waits for memory to change. A variable depends on the
//! thread if it was computed from `threadIdx` or from such a variable. Used only once a program is known to hang: a kernel
//! that works may have either.

use super::super::code::{parenthesis, squeezed, without_comments};
use crate::sanitizer::function_name;

/// A place that may hang.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suspect {
    /// What it is.
    pub(super) kind: Kind,
    /// From 1.
    pub(super) line: u32,
    /// What it depends on.
    pub(super) condition: String,
    /// The function it is in.
    pub(super) function: String,
}

/// What may hang, the likeliest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A barrier of the block that only some threads reach.
    Barrier,
    /// A named barrier that waits for more threads than reach it.
    Named,
    /// A call of the whole warp that only some lanes reach.
    Warp,
    /// A loop that waits for memory to change.
    Loop,
}

/// Calls that name all lanes of the warp.
const WHOLE_WARP: [&str; 5] = ["__syncwarp()", "_sync(0xffffffff", "__syncwarp(0xffffffff", "_sync(~0", "_sync(-1"];
const BARRIERS: [&str; 6] =
    ["__syncthreads", "bar.sync 0", "barrier.sync 0", "bar.sync\t0", "bar.cta.sync", "block.sync("];
const NAMED: [&str; 4] = ["bar.sync ", "barrier.sync ", "bar.cta.sync ", "barrier.cta.sync "];
const WAITS: [&str; 6] = ["atomic", "volatile", "ld.acquire", "flag", "lock", "*"];

/// A block of code.
#[derive(Default)]
struct Scope {
    /// The condition on the thread under which it runs.
    condition: Option<String>,
    /// Whether it is the branch of an `if`, whose `else` has the same condition.
    is_if: bool,
    /// The condition of the last `if` in it.
    last_if: Option<String>,
}

/// Looks through a source.
pub(super) fn suspect(source: &str) -> Option<Suspect> {
    let mut scan = Scan::default();
    let mut depth = 0_u32;
    let mut quoted = false;
    let text = without_comments(source);
    let mut line = 1;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        match c {
            '\n' => {
                line += 1;
                scan.statement.push(' ');
                // A directive ends with its line.
                if scan.statement.trim_start().starts_with('#') {
                    scan.statement.clear();
                }
                quoted = false;
            }
            ';' if depth == 0 && !quoted => scan.end(None),
            '{' if depth == 0 && !quoted => scan.end(Some(())),
            '}' if depth == 0 && !quoted => scan.leave(),
            _ => {
                if scan.statement.trim().is_empty() {
                    scan.line = line;
                }
                scan.statement.push(c);
                if scan.barrier_line.is_none() && BARRIERS.iter().any(|barrier| scan.statement.ends_with(barrier)) {
                    scan.barrier_line = Some(line);
                }
            }
        }
        if scan.found.is_some() {
            break;
        }
    }
    scan.found.or(scan.named).or(scan.warp).or(scan.waiting)
}

#[derive(Default)]
struct Scan {
    scopes: Vec<Scope>,
    statement: String,
    /// Where the statement begins.
    line: u32,
    barrier_line: Option<u32>,
    /// Names of variables that depend on the thread.
    tainted: Vec<String>,
    function: String,
    on_device: bool,
    found: Option<Suspect>,
    named: Option<Suspect>,
    warp: Option<Suspect>,
    waiting: Option<Suspect>,
}

impl Scan {
    /// Ends a statement; with a scope, one that opens a block.
    fn end(&mut self, opens: Option<()>) {
        let statement = std::mem::take(&mut self.statement);
        let barrier_line = self.barrier_line.take();
        if self.scopes.is_empty() {
            self.begin_function(&statement);
        }
        let outer = self.scopes.last().and_then(|scope| scope.condition.clone());
        let (own, is_if, body) = self.conditions(statement.trim());
        let condition = own.clone().or(outer);
        self.taint(body);
        if let (Some(line), Some(condition)) = (barrier_line, &condition) {
            let function = self.function.clone();
            self.found = Some(Suspect { kind: Kind::Barrier, line, condition: condition.clone(), function });
        }
        if let Some(condition) = &condition
            && self.named.is_none()
            && let (Some(waits), Some(come)) = (expected(body), bound(condition))
            && come < waits
        {
            let (line, function) = (self.line, self.function.clone());
            self.named = Some(Suspect { kind: Kind::Named, line, condition: condition.clone(), function });
        }
        if let Some(condition) = &condition
            && self.warp.is_none()
            && WHOLE_WARP.iter().any(|call| body.to_ascii_lowercase().contains(call))
        {
            let (line, function) = (self.line, self.function.clone());
            self.warp = Some(Suspect { kind: Kind::Warp, line, condition: condition.clone(), function });
        }
        if let Some(scope) = self.scopes.last_mut()
            && is_if
        {
            scope.last_if.clone_from(&own);
        }
        if opens.is_some() {
            self.scopes.push(Scope { condition, is_if, last_if: None });
        }
    }

    fn leave(&mut self) {
        self.end(None);
        if let Some(closed) = self.scopes.pop()
            && let Some(parent) = self.scopes.last_mut()
            && closed.is_if
            && parent.condition != closed.condition
        {
            parent.last_if = closed.condition;
        }
    }

    fn begin_function(&mut self, header: &str) {
        self.on_device = header.contains("__global__") || header.contains("__device__");
        if header.contains('(') {
            self.function = function_name(header);
            self.tainted.clear();
        }
    }

    /// The conditions a statement begins with: the first that depends on the thread, whether the last is an `if`, the rest.
    fn conditions<'a>(&mut self, mut text: &'a str) -> (Option<String>, bool, &'a str) {
        let mut found = None;
        let mut is_if = false;
        loop {
            let word = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
            match word {
                "else" => {
                    let last = self.scopes.last().and_then(|scope| scope.last_if.clone());
                    found = found.or(last);
                    text = text[4..].trim_start();
                }
                "if" | "for" | "while" | "switch" => {
                    let Some((inside, rest)) = parenthesis(&text[word.len()..]) else { return (found, is_if, text) };
                    is_if = word == "if";
                    self.taint(inside);
                    let condition = inside.split(';').nth(usize::from(word == "for")).unwrap_or(inside).trim();
                    if self.depends(condition) {
                        found = found.or_else(|| Some(squeezed(condition)));
                    }
                    if word == "while" && self.on_device && self.waiting.is_none() && waits(condition) {
                        let (line, function) = (self.line, self.function.clone());
                        self.waiting =
                            Some(Suspect { kind: Kind::Loop, line, condition: squeezed(condition), function });
                    }
                    text = rest.trim_start();
                }
                "do" => text = text[2..].trim_start(),
                _ => return (found, is_if, text),
            }
        }
    }

    fn depends(&self, text: &str) -> bool {
        text.contains("threadIdx")
            || text
                .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .any(|word| self.tainted.iter().any(|name| name == word))
    }

    /// Remembers variables that an assignment makes depend on the thread.
    fn taint(&mut self, text: &str) {
        for part in text.split([';', ',']) {
            let Some((left, right)) = part.split_once('=') else { continue };
            let left = left.trim_end_matches(['+', '-', '*', '/', '%', '|', '&', '^', ' ']);
            if left.ends_with(['<', '>', '!', ']']) || right.starts_with('=') || !self.depends(right) {
                continue;
            }
            let name = left.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
            if !name.is_empty() && !self.depends(name) {
                self.tainted.push(name.into());
            }
        }
    }
}

/// How many threads a named barrier waits for: `bar.sync 1, 96`.
fn expected(statement: &str) -> Option<u64> {
    let (_, after) = NAMED.iter().find_map(|name| statement.split_once(name))?;
    let (_, count) = after.split_once(',')?;
    let digits: String = count.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// How many threads a condition such as `t < 64` lets through.
fn bound(condition: &str) -> Option<u64> {
    let (_, limit) = condition.split_once('<')?;
    limit.trim().parse().ok()
}

/// Whether a loop with this condition waits for someone else.
fn waits(condition: &str) -> bool {
    matches!(condition, "1" | "true") || WAITS.iter().any(|word| condition.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &str) -> Option<(Kind, u32, String)> {
        let source = format!("#include <x>\n__global__ void k(int* x, int n) {{\n{body}\n}}\n");
        suspect(&source).map(|suspect| {
            assert_eq!(suspect.function, "k");
            (suspect.kind, suspect.line, suspect.condition)
        })
    }

    #[test]
    fn barriers_under_conditions_on_the_thread_are_found() {
        for (body, condition, line) in [
            ("if (threadIdx.x < n) { x[0] = 1; __syncthreads(); }", "threadIdx.x < n", 3),
            (
                "int t = threadIdx.x;\nfor (int b = 0; b < n; b += 64) {\nif (b + t < n) { x[t] = 1; __syncthreads(); }\n}",
                "b + t < n",
                5,
            ),
            ("int t = threadIdx.x, w = t / 32;\nif (w == 0)\n  __syncthreads();", "w == 0", 5),
            ("for (int i = threadIdx.x; i < n; i += 32) {\n  __syncthreads();\n}", "i < n", 4),
            ("if (threadIdx.x & 1) { x[0] = 1; } else { __syncthreads(); }", "threadIdx.x & 1", 3),
            ("if (threadIdx.x > 1) asm volatile(\"bar.sync 0;\" ::: \"memory\");", "threadIdx.x > 1", 3),
        ] {
            assert_eq!(found(body), Some((Kind::Barrier, line, condition.into())), "{body}");
        }
    }

    #[test]
    fn uniform_barriers_are_fine() {
        for body in [
            "int t = threadIdx.x; x[t] = 1; __syncthreads();",
            "for (int b = 0; b < n; b++) { __syncthreads(); }",
            "if (n > 3) __syncthreads();",
            "if (threadIdx.x < n) { x[0] = 1; } __syncthreads();",
            "if (threadIdx.x < n) x[0] = 1; __syncthreads();",
            "// if (threadIdx.x < n) __syncthreads();",
            "/* if (threadIdx.x < n) { __syncthreads(); */",
            "if (threadIdx.x < 64) asm volatile(\"bar.sync 1, 64;\");",
        ] {
            assert_eq!(found(body), None, "{body}");
        }
    }

    #[test]
    fn calls_of_the_whole_warp_need_the_whole_warp() {
        let condition = "threadIdx.x < 16".to_owned();
        assert_eq!(
            found("if (threadIdx.x < 16) { __syncwarp(0xFFFFFFFF); }"),
            Some((Kind::Warp, 3, condition.clone()))
        );
        assert_eq!(
            found("if (threadIdx.x < 16) n = __shfl_down_sync(0xffffffff, n, 1);"),
            Some((Kind::Warp, 3, condition))
        );
        assert_eq!(found("if (threadIdx.x < 16) __syncwarp(0x0000ffff);"), None);
    }

    #[test]
    fn named_barriers_need_all_the_threads_they_count() {
        let asm = |count: u32| format!("if (threadIdx.x < 64) asm volatile(\"bar.sync 1, {count};\" ::: \"memory\");");
        assert_eq!(found(&asm(96)), Some((Kind::Named, 3, "threadIdx.x < 64".into())));
        assert_eq!(found(&asm(64)), None);
        assert_eq!(found("asm volatile(\"bar.sync 1, 96;\");"), None);
    }

    #[test]
    fn a_loop_that_waits_is_found() {
        assert_eq!(found("while (*flag == 0) {}"), Some((Kind::Loop, 3, "*flag == 0".into())));
        assert_eq!(
            found("do { n++; } while (atomicAdd(x, 0) == 0);"),
            Some((Kind::Loop, 3, "atomicAdd(x, 0) == 0".into()))
        );
        assert_eq!(suspect("int main() { while (lock) {} }"), None, "on the host");
    }
}
