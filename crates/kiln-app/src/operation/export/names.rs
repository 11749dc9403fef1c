//! Names that a package can have. In: a name of the kernel file. Out: one that Python, C and the package's own files leave free:
//! with `_` behind it where they do not. An argument `in` of a C kernel is `in_` in Python.

/// Keywords of Python.
const PYTHON: &str = "False None True and as assert async await break class continue def del elif else except finally for from \
                      global if import in is lambda nonlocal not or pass raise return try while with yield";
/// Keywords of C and C++, and `main`.
const C: &str = "auto bool case catch char const constexpr default delete do double enum explicit export extern false float friend \
                 goto inline int long main mutable namespace new noexcept operator private protected public register short signed \
                 sizeof static struct switch template this throw true typedef typename union unsigned using virtual void volatile";
/// Modules that a package imports, which one of that name would hide, and folders that it has.
const TAKEN: &str = "bin build contextlib ctypes importlib include itertools json kiln kiln_wheel lib math numpy os re source src \
                     sys tests threading torch triton";

fn lists(words: &str, name: &str) -> bool {
    words.split_whitespace().any(|word| word == name)
}

/// What a parameter is called in Python.
pub(super) fn variable(name: &str) -> String {
    if lists(PYTHON, name) { format!("{name}_") } else { name.into() }
}

/// Why a package cannot have a name, which is its function's too; none where it can.
pub(super) fn objection(name: &str) -> Option<&'static str> {
    if lists(PYTHON, name) {
        Some("Python reserves the word")
    } else if lists(C, name) {
        Some("C and C++ reserve the word")
    } else {
        lists(TAKEN, name).then_some("the package needs a module or a folder of this name")
    }
}

/// A name that C and Python can have, and a package too.
pub(super) fn package_name(name: &str) -> String {
    let name = super::interface::identifier(name);
    if objection(&name).is_some() { format!("{name}_") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_taken_get_an_underscore() {
        assert_eq!(["in", "x", "lambda"].map(variable), ["in_", "x", "lambda_"]);
        let packages =
            [("class", "class_"), ("int", "int_"), ("numpy", "numpy_"), ("src", "src_"), ("soft-max", "soft_max")];
        packages.iter().for_each(|(name, expected)| assert_eq!(package_name(name), *expected));
    }
}
