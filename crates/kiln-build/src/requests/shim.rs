//! A uniform way to call any C function: a few generated lines, compiled together with the source, that unpack an array of
//! pointers into the entry's own arguments. So the caller needs no knowledge of C calling conventions.

/// How one argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// A buffer: the pointer itself.
    Pointer,
    /// A number by value, of this C type; the array points to where it lies.
    Value(&'static str),
    /// Not at all: the entry does not take it.
    Omitted,
}

/// The name of the generated function, `void kiln_call(void **arguments)`.
pub const SHIM_SYMBOL: &str = "kiln_call";

/// The generated function is found by name, whatever flags such as -fvisibility=hidden say of all others.
const VISIBLE: &str = "__attribute__((visibility(\"default\")))";

/// The C source that calls `entry`.
pub fn shim(entry: &str, arguments: &[Passing]) -> String {
    let list = |f: &dyn Fn(usize, &Passing) -> String| -> String {
        taken(arguments).map(|(i, a)| f(i, a)).collect::<Vec<_>>().join(", ")
    };
    let types = list(&|_, a| a.c_type().into());
    let values = list(&|i, a| a.unpacked(i));
    let types = if types.is_empty() { "void".into() } else { types };
    format!(
        "#include <stdbool.h>\n#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\
         void {entry}({types});\n{VISIBLE}\nvoid {SHIM_SYMBOL}(void **arguments) {{\n    (void)arguments;\n    {entry}({values});\n}}\n\
         #ifdef __cplusplus\n}}\n#endif\n"
    )
}

/// The source that calls a host function which launches by itself: it takes the stream to launch on behind the kernel's
/// arguments, and returns 0 or an error's number. The generated function is `int kiln_call(void **arguments, void *stream)`.
pub fn launcher_shim(entry: &str, arguments: &[Passing]) -> String {
    let types: String = taken(arguments).map(|(_, a)| format!("{}, ", a.c_type())).collect();
    let values: String = taken(arguments).map(|(i, a)| format!("{}, ", a.unpacked(i))).collect();
    format!(
        "#include <stdbool.h>\n#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\
         int {entry}({types}void *);\n{VISIBLE}\nint {SHIM_SYMBOL}(void **arguments, void *stream) {{\n    (void)arguments;\n    \
         return {entry}({values}stream);\n}}\n#ifdef __cplusplus\n}}\n#endif\n"
    )
}

/// What the entry takes, each with its place in the array.
fn taken(arguments: &[Passing]) -> impl Iterator<Item = (usize, &Passing)> {
    arguments.iter().enumerate().filter(|(_, passing)| **passing != Passing::Omitted)
}

impl Passing {
    fn c_type(&self) -> &'static str {
        match self {
            Passing::Pointer | Passing::Omitted => "void *",
            Passing::Value(kind) => kind,
        }
    }

    /// The argument of this number, taken from the array.
    fn unpacked(&self, number: usize) -> String {
        match self {
            Passing::Pointer | Passing::Omitted => format!("arguments[{number}]"),
            Passing::Value(kind) => format!("*({kind} *)arguments[{number}]"),
        }
    }
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
        assert!(text.contains("__attribute__((visibility(\"default\")))\nvoid kiln_call("), "{text}");
    }

    #[test]
    fn launchers_get_the_stream_last() {
        let text = launcher_shim("gemm", &[Passing::Pointer, Passing::Value("int64_t")]);
        assert!(text.contains("int gemm(void *, int64_t, void *);"), "{text}");
        assert!(text.contains("return gemm(arguments[0], *(int64_t *)arguments[1], stream);"), "{text}");
    }
}
