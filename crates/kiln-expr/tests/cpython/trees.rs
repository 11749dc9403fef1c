//! Random expressions as trees, random values for their names, and damage to their texts.

use kiln_core::Value;
use kiln_expr::Function;

/// SplitMix64: the same cases on every machine and with every version of every crate.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Int,
    Float,
    Bool,
    Str,
}

/// The names and their kinds; `m` has another one in every row.
pub(crate) const NAMES: [(&str, Option<Kind>); 11] = [
    ("a", Some(Kind::Int)),
    ("B_2", Some(Kind::Int)),
    ("dev.smem", Some(Kind::Int)),
    ("x", Some(Kind::Float)),
    ("_y", Some(Kind::Float)),
    ("dev.clock.ghz", Some(Kind::Float)),
    ("p", Some(Kind::Bool)),
    ("flag", Some(Kind::Bool)),
    ("s", Some(Kind::Str)),
    ("größe", Some(Kind::Str)),
    ("m", None),
];
pub(crate) const INTS: [i64; 15] =
    [0, 1, -1, 2, -2, 3, 7, 16, 128, 1 << 31, -(1 << 31), 1 << 53, -(1 << 53), i64::MAX, i64::MIN];
pub(crate) const FLOATS: [f64; 28] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    0.1,
    2.675,
    1e16,
    1e22,
    1e300,
    -1e300,
    f64::MAX,
    f64::MIN,
    1e-300,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    2147483648.0,
    9007199254740992.0,
    9223372036854775808.0,
    -9223372036854775808.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];
pub(crate) const STRINGS: [&str; 9] = ["", "a", "b", "ab", "xor", "é", "a'b", "\"\\", "\n\t"];

/// What to edit texts with.
pub(crate) const DAMAGE: &str = "0123456789__..eExXobfj+-*/%<>=()[],'\"\\ a!";
pub(crate) const DAMAGE_WORDS: &str = "~and~ ~or~ ~not~ ~in~ ~not~in~ ~if~ ~else~ ~in~[ ~in~( ~in~(1) ~in~(1,) ]~ )~ 1_0 1_e5 1e_5 \
                            1e5_0 0x_f 0_0 07 00.5 1e5 .5e-3 5.e+1 1.__5 1_.5 9223372036854775808 -9223372036854775808 \
                            min( round( -- +- ** //";

/// How far the values of a case go.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Nature {
    /// As in a tuning problem: powers of two, fractions above zero.
    Tame,
    /// Around zero.
    Small,
    /// Anything, the ends of every range first.
    Wild,
}

pub(crate) fn random_value(random: &mut Random, kind: Kind, nature: Nature) -> Value {
    match kind {
        Kind::Bool => Value::Bool(random.chance(50)),
        Kind::Str => Value::from(*random.pick(&STRINGS)),
        Kind::Int if nature == Nature::Tame => Value::Int(1 << random.below(9)),
        Kind::Int if nature == Nature::Small => Value::Int(random.below(12) as i64 - 4),
        Kind::Int if random.chance(40) => Value::Int(random.below(40) as i64 - 12),
        Kind::Int if random.chance(30) => Value::Int(random.next() as i64 >> random.below(64)),
        Kind::Int => Value::Int(random.pick(&INTS).saturating_add(random.below(7) as i64 - 3)),
        Kind::Float if nature == Nature::Tame => Value::Float((1 + random.below(64)) as f64 / 8.0),
        Kind::Float if nature == Nature::Small => Value::Float((random.below(15) as f64 - 6.0) / 2.0),
        Kind::Float if random.chance(30) => {
            Value::Float((random.below(4000) as f64 - 1000.0) / *random.pick(&[8.0, 100.0]))
        }
        Kind::Float if random.chance(20) => Value::Float(f64::from_bits(random.next())),
        Kind::Float => Value::Float(*random.pick(&FLOATS)),
    }
}

/// An expression before it is written down.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) form: Form,
    pub(crate) parts: Vec<Tree>,
    /// Brackets more than needed, spaces, commas: what must not matter.
    pub(crate) style: u8,
}

#[derive(Debug, Clone)]
pub(crate) enum Form {
    /// A name or a literal, as written.
    Leaf(String),
    /// `-`, `+` or `not`.
    Unary(&'static str),
    /// An arithmetic sign, `and` or `or`.
    Binary(&'static str),
    /// One sign fewer than parts.
    Chain(Vec<&'static str>),
    /// A chain that ends in `in` or `not in`; the parts behind it are the list.
    Member(Vec<&'static str>, &'static str),
    /// Parts as written: then, condition, otherwise.
    If,
    Call(&'static str),
}

impl Tree {
    pub(crate) fn leaf(text: impl Into<String>) -> Tree {
        Tree { form: Form::Leaf(text.into()), parts: vec![], style: 0 }
    }

    pub(crate) fn text(&self) -> String {
        self.write(0)
    }

    /// How tightly it binds: 0 for the conditional up to 9 for an atom.
    pub(crate) fn level(&self) -> u8 {
        match &self.form {
            Form::Leaf(text) if text.starts_with('-') => 7,
            Form::Leaf(_) | Form::Call(_) => 9,
            Form::If => 0,
            Form::Binary("or") => 1,
            Form::Binary("and") => 2,
            Form::Unary("not") => 3,
            Form::Chain(_) | Form::Member(..) => 4,
            Form::Binary("+" | "-") => 5,
            Form::Binary("**") => 8,
            Form::Binary(_) => 6,
            Form::Unary(_) => 7,
        }
    }

    pub(crate) fn write(&self, least: u8) -> String {
        let space = if self.style & 1 == 0 { " " } else { "" };
        let list = |parts: &[Tree]| {
            let comma = if self.style & 2 == 0 { ", " } else { "," };
            parts.iter().map(|p| p.write(0)).collect::<Vec<_>>().join(comma)
        };
        let chain = |signs: &[&str]| {
            let mut text = self.parts[0].write(5);
            for (sign, part) in signs.iter().zip(&self.parts[1..]) {
                text += &format!("{space}{sign}{space}{}", part.write(5));
            }
            text
        };
        let text = match &self.form {
            Form::Leaf(text) => text.clone(),
            Form::Unary("not") => format!("not {}", self.parts[0].write(3)),
            Form::Unary(sign) => {
                format!("{sign}{}{}", if self.style & 12 == 0 { " " } else { "" }, self.parts[0].write(7))
            }
            Form::Binary(sign) => {
                let (left, right) = match *sign {
                    "or" => (1, 2),
                    "and" => (2, 3),
                    "+" | "-" => (5, 6),
                    "**" => (9, 7),
                    _ => (6, 7),
                };
                let space = if left < 5 { " " } else { space };
                format!("{}{space}{sign}{space}{}", self.parts[0].write(left), self.parts[1].write(right))
            }
            Form::Chain(signs) => chain(signs),
            Form::Member(signs, word) => {
                let items = &self.parts[signs.len() + 1..];
                let (open, close) = if self.style & 8 == 0 { ("[", "]") } else { ("(", ")") };
                // A tuple of one needs its comma.
                let one = !items.is_empty() && (self.style & 4 == 0 || close == ")" && items.len() == 1);
                format!("{} {word} {open}{}{}{close}", chain(signs), list(items), if one { "," } else { "" })
            }
            Form::If => {
                let [then, condition, otherwise] = &self.parts[..] else { unreachable!() };
                format!("{} if {} else {}", then.write(1), condition.write(1), otherwise.write(0))
            }
            Form::Call(name) => format!("{name}({})", list(&self.parts)),
        };
        let extra = self.style >> 4 == 0;
        if self.level() < least || extra && !matches!(self.form, Form::Leaf(_)) { format!("({text})") } else { text }
    }

    /// Every tree with one part replaced by something simpler.
    pub(crate) fn smaller(&self) -> Vec<Tree> {
        let mut found: Vec<Tree> = self.parts.clone();
        if !matches!(&self.form, Form::Leaf(text) if text == "0" || text == "1") {
            found.extend(["0", "1"].map(Tree::leaf));
        }
        if let Form::Leaf(text) = &self.form {
            let without =
                |i: usize| text.chars().enumerate().filter(|(j, _)| *j != i).map(|(_, c)| c).collect::<String>();
            found.extend((0..text.chars().count()).map(|i| Tree::leaf(without(i))));
        }
        // Fewer arguments and list items, where there may be fewer.
        let least = match &self.form {
            Form::Call("min" | "max") => 2,
            Form::Call("round") => 1,
            Form::Member(signs, _) => signs.len() + 1,
            _ => usize::MAX,
        };
        if self.parts.len() > least {
            let mut tree = self.clone();
            tree.parts.pop();
            found.push(tree);
        }
        // A shorter chain.
        let mut tree = self.clone();
        if let Form::Chain(signs) | Form::Member(signs, _) = &mut tree.form
            && self.parts.len() > 2
            && signs.pop().is_some()
        {
            tree.parts.remove(0);
            found.push(tree);
        }
        for (i, part) in self.parts.iter().enumerate() {
            found.extend(part.smaller().into_iter().map(|smaller| {
                let mut tree = self.clone();
                tree.parts[i] = smaller;
                tree
            }));
        }
        found
    }

    pub(crate) fn forms(&self, note: &mut impl FnMut(&str)) {
        match &self.form {
            Form::Leaf(text) => note(if NAMES.iter().any(|(n, _)| n == text) { text } else { "other text" }),
            Form::Unary(sign) => note(&format!("unary {sign}")),
            Form::Binary(sign) => note(sign),
            Form::Chain(signs) => {
                signs.iter().for_each(|s| note(s));
                note(if signs.len() > 1 { "a chain" } else { "a comparison" });
            }
            Form::Member(signs, word) => {
                note(word);
                note(if signs.is_empty() { "membership" } else { "membership in a chain" });
            }
            Form::If => note("if"),
            Form::Call("round") if self.parts.len() == 2 => note("round to digits"),
            Form::Call(name) => note(name),
        }
        self.parts.iter().for_each(|p| p.forms(note));
    }
}

/// Grows trees that mostly make sense: operands are of the right kind but for a few.
pub(crate) struct Grow<'a> {
    pub(crate) random: &'a mut Random,
    pub(crate) nature: Nature,
}

impl Grow<'_> {
    pub(crate) fn tree(&mut self, form: Form, parts: Vec<Tree>) -> Tree {
        Tree { form, parts, style: self.random.next() as u8 }
    }

    pub(crate) fn any(&mut self, depth: usize) -> Tree {
        if self.random.chance(12) { self.string(depth) } else { self.number(depth) }
    }

    /// An operand that should be a number, and nearly always is.
    pub(crate) fn operand(&mut self, depth: usize) -> Tree {
        if self.random.chance(2) { self.string(depth) } else { self.number(depth) }
    }

    pub(crate) fn number(&mut self, depth: usize) -> Tree {
        if depth == 0 || self.random.chance(10) {
            return self.number_leaf();
        }
        let depth = depth - 1;
        match self.random.below(100) {
            0..40 => {
                let sign = *self.random.pick(&["+", "-", "*", "/", "//", "%", "**", "+", "*", "//", "%"]);
                let left = self.operand(depth);
                // Powers of powers overflow; mostly keep exponents small.
                let right = match sign {
                    "**" if self.random.chance(70) => Tree::leaf(self.random.below(5).to_string()),
                    _ => self.operand(depth),
                };
                self.tree(Form::Binary(sign), vec![left, right])
            }
            40..46 => {
                let sign = *self.random.pick(&["-", "-", "+", "not"]);
                let operand = self.operand(depth);
                self.tree(Form::Unary(sign), vec![operand])
            }
            46..58 => self.chain(depth),
            58..65 => self.member(depth),
            65..72 => {
                let word = *self.random.pick(&["and", "or"]);
                let parts = vec![self.any(depth), self.operand(depth)];
                self.tree(Form::Binary(word), parts)
            }
            72..79 => {
                let parts = vec![self.operand(depth), self.any(depth), self.operand(depth)];
                self.tree(Form::If, parts)
            }
            _ => self.call(depth),
        }
    }

    pub(crate) fn chain(&mut self, depth: usize) -> Tree {
        let count = *self.random.pick(&[1, 1, 1, 2, 2, 3]);
        let signs: Vec<&str> = (0..count).map(|_| *self.random.pick(&["==", "!=", "<", "<=", ">", ">="])).collect();
        let strings = self.random.chance(12);
        let parts = (0..=count).map(|_| if strings { self.string(depth) } else { self.operand(depth) }).collect();
        self.tree(Form::Chain(signs), parts)
    }

    pub(crate) fn member(&mut self, depth: usize) -> Tree {
        let word = *self.random.pick(&["in", "not in"]);
        let led = *self.random.pick(&[0, 0, 0, 1, 2]);
        let signs: Vec<&str> = (0..led).map(|_| *self.random.pick(&["==", "<=", "<", ">"])).collect();
        let strings = self.random.chance(25);
        let count = led + 1 + self.random.below(5);
        let parts = (0..count)
            .map(|i| match (strings, i > led && self.random.chance(50)) {
                (true, _) => self.string(depth),
                (_, true) => self.number_leaf(),
                _ => self.operand(depth),
            })
            .collect();
        self.tree(Form::Member(signs, word), parts)
    }

    pub(crate) fn call(&mut self, depth: usize) -> Tree {
        let name = *self.random.pick(&Function::ALL.map(|(_, name, ..)| name));
        let mut parts = vec![self.operand(depth)];
        match name {
            "min" | "max" => parts.extend((0..1 + self.random.below(3)).map(|_| self.operand(depth))),
            "ceildiv" => parts.push(self.operand(depth)),
            "bank_conflicts" | "sectors" => parts.push(if self.random.chance(80) {
                Tree::leaf(self.random.pick(&["1", "2", "4", "8", "16", "3"]).to_string())
            } else {
                self.operand(depth)
            }),
            "round" if self.random.chance(50) => parts.push(if self.random.chance(80) {
                Tree::leaf(self.random.pick(&["0", "1", "2", "3", "7", "15", "20", "300", "400", "True"]).to_string())
            } else {
                self.operand(depth)
            }),
            _ => {}
        }
        self.tree(Form::Call(name), parts)
    }

    pub(crate) fn string(&mut self, depth: usize) -> Tree {
        if depth == 0 || self.random.chance(60) {
            return Tree::leaf(match self.random.below(3) {
                0 => "s".into(),
                1 => "größe".into(),
                _ => {
                    let text = *self.random.pick(&STRINGS);
                    let quote = *self.random.pick(&['\'', '"']);
                    let escaped: String = text
                        .chars()
                        .map(|c| match c {
                            '\n' => "\\n".into(),
                            '\t' => "\\t".into(),
                            c if c == quote || c == '\\' => format!("\\{c}"),
                            c => c.to_string(),
                        })
                        .collect();
                    format!("{quote}{escaped}{quote}")
                }
            });
        }
        let depth = depth - 1;
        let parts = vec![self.string(depth), self.string(depth)];
        match self.random.below(5) {
            0 => self.tree(Form::Binary("+"), parts),
            1 => self.tree(Form::Binary("and"), parts),
            2 => self.tree(Form::Call("min"), parts),
            3 => self.tree(Form::Call("max"), parts),
            _ => {
                let [then, otherwise] = parts.try_into().expect("two");
                let condition = self.any(depth);
                self.tree(Form::If, vec![then, condition, otherwise])
            }
        }
    }

    pub(crate) fn number_leaf(&mut self) -> Tree {
        Tree::leaf(match self.random.below(10) {
            0..2 => self.int_literal(),
            2 => self.float_literal(),
            3 if self.random.chance(30) => self.random.pick(&["True", "False"]).to_string(),
            4 if self.random.chance(25) => "m".into(),
            5 if self.random.chance(40) => self.random.pick(&["p", "flag"]).to_string(),
            6..8 => self.random.pick(&["x", "_y", "dev.clock.ghz"]).to_string(),
            _ => self.random.pick(&["a", "B_2", "dev.smem"]).to_string(),
        })
    }

    pub(crate) fn int_literal(&mut self) -> String {
        let value = match random_value(self.random, Kind::Int, self.nature) {
            Value::Int(v) if v == i64::MIN => return v.to_string(),
            Value::Int(v) => v.unsigned_abs(),
            _ => unreachable!(),
        };
        match self.random.below(12) {
            0 => format!("{value:#x}"),
            1 => format!("{value:#b}"),
            2 => format!("0O{value:o}"),
            3 if value > 999 => format!("{}_{:03}", value / 1000, value % 1000),
            _ => value.to_string(),
        }
    }

    pub(crate) fn float_literal(&mut self) -> String {
        let value = match random_value(self.random, Kind::Float, self.nature) {
            Value::Float(v) if v.is_finite() => v.abs(),
            Value::Float(_) => return "1e400".into(),
            _ => unreachable!(),
        };
        match self.random.below(6) {
            0 => format!("{value:e}").replace('e', ".0e").replacen(".0e", if value == 0.0 { ".0e" } else { "e" }, 1),
            1 if value < 1.0 && value > 1e-4 => format!("{value:?}").trim_start_matches('0').into(),
            2 if value.fract() == 0.0 && value < 1e15 => format!("{value:.0}."),
            3 if value < 1e15 => format!("{value:.3}"),
            // The shortest decimal, and one that lies between two doubles.
            4 if value < 1e15 => format!("{value:.25}"),
            _ => format!("{value:?}"),
        }
    }
}
