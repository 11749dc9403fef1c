//! A uniform way to call any C function: a few generated lines, compiled together with the source, that unpack an array of
//! pointers into the entry's own arguments. So the caller needs no knowledge of C calling conventions.

/// How one argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// A buffer: the pointer itself.
    Pointer,
    /// A number by value, of this C type; the array points to where it lies.
    Value(&'static str),
}

/// The name of the generated function, `void kiln_call(void **arguments)`.
pub const SHIM_SYMBOL: &str = "kiln_call";

/// The C source that calls `entry`.
pub fn shim(entry: &str, arguments: &[Passing]) -> String {
    let list = |f: &dyn Fn(usize, &Passing) -> String| -> String {
        arguments.iter().enumerate().map(|(i, a)| f(i, a)).collect::<Vec<_>>().join(", ")
    };
    let types = list(&|_, a| match a {
        Passing::Pointer => "void *".into(),
        Passing::Value(kind) => (*kind).into(),
    });
    let values = list(&|i, a| match a {
        Passing::Pointer => format!("arguments[{i}]"),
        Passing::Value(kind) => format!("*({kind} *)arguments[{i}]"),
    });
    let types = if types.is_empty() { "void".into() } else { types };
    format!(
        "#include <stdbool.h>\n#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\
         void {entry}({types});\nvoid {SHIM_SYMBOL}(void **arguments) {{\n    (void)arguments;\n    {entry}({values});\n}}\n\
         #ifdef __cplusplus\n}}\n#endif\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_unpacked_in_order() {
        let text =
            shim("softmax", &[Passing::Pointer, Passing::Pointer, Passing::Value("int64_t"), Passing::Value("float")]);
        assert!(text.contains("void softmax(void *, void *, int64_t, float);"));
        assert!(
            text.contains("softmax(arguments[0], arguments[1], *(int64_t *)arguments[2], *(float *)arguments[3]);")
        );
        assert!(shim("nothing", &[]).contains("void nothing(void);"));
    }
}
