//! The C compiler: is there one that answers?

use crate::doctor::Finding;
use kiln_build::Compiler;

const ID: &str = "compiler";
const WHY: &str = "every configuration of the cpu target is compiled on its own";

/// Asks it for its version; nothing is compiled.
pub(crate) fn look() -> Finding {
    match Compiler::find() {
        Ok(compiler) => Finding::ok(ID, WHY, compiler.version()),
        Err(fault) => {
            let fix = fault.hint.unwrap_or("install gcc or clang, or set CC".into());
            Finding::fail(ID, WHY, format!("{}: {}", fault.what, fault.why), fix)
        }
    }
}
