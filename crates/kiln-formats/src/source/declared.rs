//! The declarations at the top of a C or C++ file: functions with their bodies, templates, names of types, constants. In: tokens
//! after the preprocessor. Out: each declaration. Bodies of classes are passed over.

use crate::source::c_types::Aliases;
use crate::source::lex::{Kind, Token};

/// A function with a body, before its parameters are read.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    /// Namespaces around it.
    pub(crate) scope: Vec<String>,
    /// Whether it is inside or behind `extern "C"`.
    pub(crate) extern_c: bool,
    /// The tokens between the brackets of `template <...>`.
    pub(crate) template: Option<Vec<Token>>,
    /// Everything before the body.
    pub(crate) head: Vec<Token>,
    /// The body without its braces.
    pub(crate) body: Vec<Token>,
}

/// What a file declares.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub(crate) functions: Vec<Definition>,
    pub(crate) aliases: Aliases,
    /// Declarations with `__constant__`, `constexpr` or `const`.
    pub(crate) constants: Vec<Vec<Token>>,
}

/// The index behind the bracket that closes the one at `open`; the end where none does.
pub(crate) fn closing(tokens: &[Token], open: usize) -> usize {
    let pairs = [("(", ")"), ("{", "}"), ("[", "]"), ("<", ">")];
    let Some((opening, closing)) = tokens.get(open).and_then(|t| pairs.iter().find(|(o, _)| t.is(o))) else {
        return open;
    };
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.is(opening) {
            depth += 1;
        } else if token.is(closing) {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    tokens.len()
}

enum Scope {
    Named(Vec<String>),
    ExternC,
}

/// Reads the declarations.
pub(crate) fn declared(tokens: &[Token]) -> Declared {
    let mut found = Declared::default();
    let mut scopes: Vec<Scope> = Vec::new();
    let mut template: Option<Vec<Token>> = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.is("}") {
            scopes.pop();
            at += 1;
        } else if token.is(";") {
            at += 1;
        } else if token.is("template") && tokens.get(at + 1).is_some_and(|t| t.is("<")) {
            let end = closing(tokens, at + 1);
            template = Some(tokens[at + 2..end.saturating_sub(1).max(at + 2)].to_vec());
            at = end;
        } else if let Some((scope, behind)) = opened(tokens, at) {
            scopes.push(scope);
            at = behind;
        } else {
            at = declaration(tokens, at, &scopes, template.take(), &mut found);
        }
    }
    found
}

/// A namespace or a block of `extern "C"` that opens here.
fn opened(tokens: &[Token], at: usize) -> Option<(Scope, usize)> {
    let is = |i: usize, text: &str| tokens.get(i).is_some_and(|t| t.is(text));
    if is(at, "extern") && tokens.get(at + 1).is_some_and(|t| t.text == "\"C\"") && is(at + 2, "{") {
        return Some((Scope::ExternC, at + 3));
    }
    let namespace = is(at, "namespace") || (is(at, "inline") && is(at + 1, "namespace"));
    if !namespace {
        return None;
    }
    let brace = (at..tokens.len()).find(|i| is(*i, "{") || is(*i, ";") || is(*i, "="))?;
    let names =
        tokens[at..brace].iter().filter(|t| t.kind == Kind::Word && !["namespace", "inline"].contains(&&*t.text));
    is(brace, "{").then(|| (Scope::Named(names.map(|t| t.text.clone()).collect()), brace + 1))
}

/// Reads one declaration and gives the index behind it.
fn declaration(
    tokens: &[Token],
    start: usize,
    scopes: &[Scope],
    template: Option<Vec<Token>>,
    found: &mut Declared,
) -> usize {
    let (mut at, mut assigned) = (start, false);
    while let Some(token) = tokens.get(at) {
        if token.is(";") || token.is("}") {
            remember(&tokens[start..at], found);
            return if token.is(";") { at + 1 } else { at };
        }
        if token.is("{") {
            let end = closing(tokens, at);
            let head = &tokens[start..at];
            // An initialiser or a class: the declaration goes on to its semicolon.
            let class =
                head.iter().any(|t| ["struct", "class", "union", "enum"].contains(&&*t.text)) && !is_function(head);
            if assigned || class || !is_function(head) {
                at = end;
                continue;
            }
            let names =
                scopes.iter().filter_map(|s| if let Scope::Named(names) = s { Some(names.clone()) } else { None });
            let behind_c = head.iter().any(|t| t.is("extern")) && head.iter().any(|t| t.text == "\"C\"");
            found.functions.push(Definition {
                scope: names.flatten().collect(),
                extern_c: behind_c || scopes.iter().any(|s| matches!(s, Scope::ExternC)),
                template,
                head: head.to_vec(),
                body: tokens[(at + 1).min(end)..end.saturating_sub(1).max((at + 1).min(end))].to_vec(),
            });
            return end;
        }
        assigned |= token.is("=");
        at = if token.is("(") { closing(tokens, at) } else { at + 1 };
    }
    tokens.len()
}

/// Whether a declaration's head ends with a list of parameters, which may have defaults.
fn is_function(head: &[Token]) -> bool {
    let open = head.iter().position(|t| t.is("("));
    open.is_some_and(|open| !head[..open].iter().any(|t| t.is("="))) && !head.iter().any(|t| t.is("operator"))
}

fn remember(tokens: &[Token], found: &mut Declared) {
    let words = |tokens: &[Token]| tokens.iter().map(|t| t.text.clone()).collect::<Vec<_>>();
    match tokens {
        [first, middle @ .., last]
            if first.is("typedef") && last.kind == Kind::Word && !middle.iter().any(|t| t.is("*") || t.is("{")) =>
        {
            found.aliases.insert(last.text.clone(), words(middle));
        }
        [first, name, equals, rest @ ..] if first.is("using") && equals.is("=") && !rest.iter().any(|t| t.is("*")) => {
            found.aliases.insert(name.text.clone(), words(rest));
        }
        _ if tokens.iter().any(|t| ["__constant__", "constexpr", "const"].contains(&&*t.text)) => {
            found.constants.push(tokens.to_vec());
        }
        _ => {}
    }
}
