//! A C, C++ or CUDA source. In: its name and text, and what is defined from outside. Out: its kernels with their parameters, and
//! the numbers that may be tuned. A function whose parameters cannot be read keeps the reason instead.

use std::collections::{BTreeMap, BTreeSet};

use kiln_core::{Place, Report};

use crate::source::c_types::{Aliases, CType, c_type};
use crate::source::conditional::{Macro, preprocess, value};
use crate::source::declared::{Definition, closing, declared};
use crate::source::found::{ConstantArray, Fixed};
use crate::source::lex::{Kind, Token};
use crate::source::text::{joined, split_commas};

/// A parameter of a function.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Whether it is a pointer.
    pub pointer: bool,
    /// Whether what it points to is constant.
    pub constant: bool,
    /// Its number's type; none where it is a template's type or one that kiln does not know.
    pub kind: Option<CType>,
    /// Its type as the file writes it, without `const` and `*`.
    pub written: String,
}

/// A parameter of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateParameter {
    /// Its name.
    pub name: String,
    /// Whether it is a type.
    pub is_type: bool,
    /// Whether it is `bool`.
    pub is_bool: bool,
    /// Its default as the file writes it.
    pub default: Option<String>,
}

/// A function that could be a kernel.
#[derive(Debug, Clone)]
pub struct CFunction {
    /// Its name with its namespaces.
    pub name: String,
    /// Its line, from 1.
    pub line: usize,
    /// Whether it has `__global__`.
    pub global: bool,
    /// Whether it has `static`.
    pub hidden: bool,
    /// Whether other languages can call it by its name.
    pub extern_c: bool,
    /// What it returns.
    pub returns: String,
    /// The parameters of its template.
    pub template: Vec<TemplateParameter>,
    /// What stands in `__launch_bounds__`.
    pub bounds: Option<String>,
    /// Its parameters, or why they cannot be read.
    pub parameters: Result<Vec<Parameter>, String>,
    /// Its body.
    pub body: Vec<Token>,
}

/// A source.
#[derive(Debug, Default)]
pub struct CFile {
    /// Functions with a body, in order.
    pub functions: Vec<CFunction>,
    /// Macros that stand for a number.
    pub macros: Vec<(Macro, i64)>,
    /// Names that conditions ask for and nobody defines.
    pub free: Vec<(String, usize)>,
    /// `constexpr` numbers.
    pub fixed: Vec<Fixed>,
    /// Arrays in constant memory.
    pub constants: Vec<ConstantArray>,
    /// Every word of the file.
    pub words: BTreeSet<String>,
}

/// Reads a source.
pub fn read_c(text: &str, outside: &BTreeMap<String, String>) -> CFile {
    let done = preprocess(text, outside);
    let mut declared = declared(&done.tokens);
    for (name, text) in &done.defines {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if !words.is_empty() {
            declared.aliases.entry(name.clone()).or_insert(words);
        }
    }
    let mut file = CFile { free: done.free.clone(), ..CFile::default() };
    let numbers = done.macros.iter().filter_map(|m| Some((m.clone(), value(&m.text, &done.defines)?)));
    file.macros = numbers.filter(|(m, _)| !m.text.is_empty()).collect();
    for tokens in &declared.constants {
        constant(tokens, &done.defines, &mut file);
    }
    file.words = done.tokens.iter().filter(|t| t.kind == Kind::Word).map(|t| t.text.clone()).collect();
    file.words.extend(done.macros.iter().map(|m| m.name.clone()));
    file.functions = declared.functions.iter().filter_map(|d| function(d, &declared.aliases)).collect();
    file
}

fn constant(tokens: &[Token], defines: &BTreeMap<String, String>, file: &mut CFile) {
    let line = tokens.first().map_or(1, |t| t.line);
    if tokens.iter().any(|t| t.is("__constant__")) {
        let declaration: Vec<Token> = tokens
            .iter()
            .filter(|t| !["__constant__", "static", "extern", "__device__"].contains(&&*t.text))
            .cloned()
            .collect();
        let name = declaration.iter().take_while(|t| !t.is("[") && !t.is("=")).filter(|t| t.kind == Kind::Word).last();
        let declaration = joined(&declaration);
        file.constants.extend(name.map(|name| ConstantArray { name: name.text.clone(), declaration, line }));
        return;
    }
    let Some(equals) = tokens.iter().position(|t| t.is("=")) else { return };
    let (left, right) = tokens.split_at(equals);
    let whole =
        left.iter().any(|t| ["int", "unsigned", "size_t", "auto", "long", "uint32_t", "int32_t"].contains(&&*t.text));
    let plain = !left.iter().any(|t| t.is("*") || t.is("[") || t.is("("));
    let value = value(&joined(&right[1..]), defines);
    if let (true, true, Some(name), Some(value)) = (whole, plain, left.last(), value) {
        file.fixed.push(Fixed { name: name.text.clone(), value, line, how: "constexpr" });
    }
}

const ATTRIBUTES: [&str; 3] = ["__launch_bounds__", "__cluster_dims__", "__attribute__"];
const QUALIFIERS: [&str; 11] = [
    "static",
    "inline",
    "extern",
    "\"C\"",
    "__global__",
    "__forceinline__",
    "__host__",
    "__device__",
    "__noinline__",
    "constexpr",
    "__inline__",
];

fn function(definition: &Definition, aliases: &Aliases) -> Option<CFunction> {
    // What stands in brackets behind an attribute is no parameter.
    let (mut head, mut bounds, mut at): (Vec<Token>, Option<String>, usize) = (Vec::new(), None, 0);
    while let Some(token) = definition.head.get(at) {
        if ATTRIBUTES.contains(&token.text.as_str()) && definition.head.get(at + 1).is_some_and(|t| t.is("(")) {
            let end = closing(&definition.head, at + 1);
            if token.is("__launch_bounds__") {
                bounds = Some(joined(&definition.head[at + 2..end.saturating_sub(1).max(at + 2)]));
            }
            at = end;
            continue;
        }
        head.push(token.clone());
        at += 1;
    }
    while let Some(end) = macro_call(&head) {
        head.drain(..end);
    }
    let open = head.iter().position(|t| t.is("("))?;
    let name = head.get(open.checked_sub(1)?).filter(|t| t.kind == Kind::Word)?;
    let mut path: Vec<&str> = definition.scope.iter().map(String::as_str).collect();
    path.push(&name.text);
    let returns: Vec<Token> = head[..open - 1].iter().filter(|t| !QUALIFIERS.contains(&&*t.text)).cloned().collect();
    let end = closing(&head, open);
    let inside = &head[open + 1..end.saturating_sub(1).max(open + 1)];
    let template = definition.template.as_deref().map(template_parameters).unwrap_or_default();
    let parameters = split_commas(inside).into_iter().map(|p| parameter(p, aliases)).collect::<Result<Vec<_>, _>>();
    Some(CFunction {
        name: path.join("::"),
        line: name.line,
        global: head.iter().any(|t| t.is("__global__")),
        // `float x[static 4]` is a parameter's.
        hidden: head[..open].iter().any(|t| t.is("static")),
        extern_c: definition.extern_c,
        returns: joined(&returns),
        template,
        bounds,
        parameters: parameters.map(|p| p.into_iter().flatten().collect()),
        body: definition.body.clone(),
    })
}

/// Where a macro's call ends that stands before a function, without a semicolon: `REGISTER(x) void f() {`.
fn macro_call(head: &[Token]) -> Option<usize> {
    let called = head.first().is_some_and(|t| t.kind == Kind::Word) && head.get(1).is_some_and(|t| t.is("("));
    let end = if called { closing(head, 1) } else { return None };
    let goes_on = head.get(end).is_some_and(|t| t.kind == Kind::Word);
    (goes_on && head[end..].iter().any(|t| t.is("("))).then_some(end)
}

fn template_parameters(tokens: &[Token]) -> Vec<TemplateParameter> {
    let read = |tokens: &[Token]| {
        let equals = tokens.iter().position(|t| t.is("=")).unwrap_or(tokens.len());
        let (left, right) = tokens.split_at(equals);
        let name = left.iter().rfind(|t| t.kind == Kind::Word)?;
        Some(TemplateParameter {
            name: name.text.clone(),
            is_type: left.iter().any(|t| t.is("typename") || t.is("class")),
            is_bool: left.iter().any(|t| t.is("bool")),
            default: right.get(1..).filter(|r| !r.is_empty()).map(joined),
        })
    };
    split_commas(tokens).into_iter().filter_map(read).collect()
}

/// Words that say nothing about a parameter's type.
const SILENT: [&str; 9] = [
    "const",
    "volatile",
    "__restrict__",
    "restrict",
    "__restrict",
    "__grid_constant__",
    "struct",
    "register",
    "__const__",
];

/// Reads a parameter; none for `void`. The error says why kiln cannot pass it.
fn parameter(tokens: &[Token], aliases: &Aliases) -> Result<Option<Parameter>, String> {
    let equals = tokens.iter().position(|t| t.is("=")).unwrap_or(tokens.len());
    let tokens = &tokens[..equals];
    if tokens.is_empty() || (tokens.len() == 1 && tokens[0].is("void")) {
        return Ok(None);
    }
    let shown = joined(tokens);
    if tokens.iter().any(|t| t.is("(") || t.is("...")) {
        return Err(format!("the parameter `{shown}` is neither a pointer nor a number"));
    }
    let bracket = tokens.iter().position(|t| t.is("[")).unwrap_or(tokens.len());
    let array = bracket < tokens.len();
    let declared = &tokens[..bracket];
    let named = declared.iter().rposition(|t| t.kind == Kind::Word && !SILENT.contains(&&*t.text));
    let Some(named) = named.filter(|at| *at > 0 && at + 1 == declared.len()) else {
        return Err(format!("the parameter `{shown}` has no name"));
    };
    let kind = &declared[..named];
    let stars = kind.iter().filter(|t| t.is("*")).count() + usize::from(array);
    let first_star = kind.iter().position(|t| t.is("*")).unwrap_or(kind.len());
    let constant = kind[..first_star].iter().any(|t| t.is("const"));
    let words: Vec<String> =
        kind.iter().filter(|t| !t.is("*") && !SILENT.contains(&&*t.text)).map(|t| t.text.clone()).collect();
    if words.is_empty() {
        return Err(format!("the parameter `{shown}` has no name"));
    }
    if stars > 1 {
        return Err(format!("the parameter `{shown}` is a pointer to pointers; kiln passes tensors and numbers"));
    }
    if kind.iter().any(|t| t.is("&")) {
        return Err(format!("the parameter `{shown}` is a reference; kiln passes tensors and numbers"));
    }
    Ok(Some(Parameter {
        name: declared[named].text.clone(),
        pointer: stars == 1,
        constant,
        kind: c_type(&words, aliases),
        written: words.join(" ").replace(" :: ", "::"),
    }))
}

/// The kernel that is meant. Refuses a file without one, an unknown name, and a choice that was not made.
pub fn chosen<'a>(
    name: &str,
    text: &str,
    functions: &[&'a CFunction],
    entry: Option<&str>,
    what: &str,
) -> Result<&'a CFunction, Report> {
    let names = || functions.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(entry) = entry {
        let fits = |f: &&&CFunction| f.name == entry || f.name.rsplit("::").next() == Some(entry);
        let found: Vec<_> = functions.iter().filter(fits).collect();
        return found.first().copied().copied().ok_or_else(|| {
            let label = if functions.is_empty() {
                format!("the file has no {what}")
            } else {
                format!("expected one of {}", names())
            };
            let near = kiln_core::nearest(entry, functions.iter().map(|f| f.name.as_str()));
            Report::error(format!("{name} has no {what} `{entry}`"))
                .label(label)
                .maybe_hint(near.map(|n| format!("did you mean {n}?")))
        });
    }
    match functions {
        [] => Err(Report::error(format!("{name} has no {what}"))),
        [only] => Ok(only),
        [first, ..] => {
            let line = text.lines().take(first.line.saturating_sub(1)).map(|l| l.len() + 1).sum::<usize>();
            let width = text.lines().nth(first.line.saturating_sub(1)).map_or(0, str::len);
            Err(Report::error(format!("{name} has {} kernels", functions.len()))
                .at(Place::of(name, text, line..line + width))
                .label("expected one, or the name of one")
                .hint(format!("choose with --entry: {}", names())))
        }
    }
}
