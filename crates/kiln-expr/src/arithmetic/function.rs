//! The functions an expression may call.

use std::fmt;

/// A built-in function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// The least argument.
    Min,
    /// The greatest argument.
    Max,
    /// The magnitude.
    Abs,
    /// The quotient rounded up, `-(-a // b)`.
    CeilDiv,
    /// To the nearest integer, halves to even; with a second argument, to that many decimals.
    Round,
    /// Towards zero.
    Int,
    /// To a double.
    Float,
    /// The square root.
    Sqrt,
    /// The binary logarithm.
    Log2,
    /// Extra wavefronts of a warp's access to shared memory: bytes from thread to thread, bytes of each.
    BankConflicts,
    /// Sectors of global memory that a warp's access touches: the same.
    Sectors,
}

impl Function {
    /// All of them, with their names and how many arguments they take.
    pub const ALL: [(Function, &'static str, usize, usize); 11] = [
        (Function::Min, "min", 2, usize::MAX),
        (Function::Max, "max", 2, usize::MAX),
        (Function::Abs, "abs", 1, 1),
        (Function::CeilDiv, "ceildiv", 2, 2),
        (Function::Round, "round", 1, 2),
        (Function::Int, "int", 1, 1),
        (Function::Float, "float", 1, 1),
        (Function::Sqrt, "sqrt", 1, 1),
        (Function::Log2, "log2", 1, 1),
        (Function::BankConflicts, "bank_conflicts", 2, 2),
        (Function::Sectors, "sectors", 2, 2),
    ];

    /// The function called `name`.
    pub fn named(name: &str) -> Option<Function> {
        Function::ALL.iter().find(|(_, n, ..)| *n == name).map(|(f, ..)| *f)
    }

    fn row(self) -> (Function, &'static str, usize, usize) {
        // Every variant stands in the table; the first row is never reached by another.
        Function::ALL.iter().copied().find(|(f, ..)| *f == self).unwrap_or(Function::ALL[0])
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The fewest and the most arguments it takes.
    pub fn arity(self) -> (usize, usize) {
        let (_, _, least, most) = self.row();
        (least, most)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
