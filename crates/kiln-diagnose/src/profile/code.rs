//! What the source of a kernel says where metrics cannot: whether loads take members out of elements, and whether it multiplies
//! matrices. In: a source and a kernel's name. Out: hints. They choose between causes that counters show alike, and never name one
//! alone, because a source may hold several variants.

use super::ptxas::base_name;

/// Hints from the source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints {
    /// `p[i].x`: one member of an element of an array.
    pub members: bool,
    /// `sum += a[i][k] * b[k][j]` in a loop: a product of matrices.
    pub product: bool,
    /// Elements of two bytes.
    pub half: bool,
}

/// Reads a source for one kernel; none if it does not define that kernel, and so says nothing about it.
pub fn hints(source: &str, kernel: &str) -> Option<Hints> {
    let source = without_comments(source);
    let body = body(&source, base_name(kernel))?;
    let pointers = pointers(body, base_name(kernel));
    let taken = |at: usize| array_of(&body[..at]).is_some_and(|array| pointers.contains(&array));
    let members =
        body.match_indices("].").any(|(at, _)| body[at + 2..].starts_with(|c: char| c.is_alphabetic()) && taken(at));
    let half = ["half", "bfloat16"].iter().any(|name| body.contains(name));
    let product = body.contains("for") && statements(body).any(|one| is_product(one, body));
    Some(Hints { members, product, half })
}

/// The names of the pointers among a kernel's parameters, of every definition.
fn pointers<'a>(body: &'a str, name: &str) -> Vec<&'a str> {
    let lists = body.match_indices(name).filter_map(|(at, _)| {
        let rest = body[at + name.len()..].trim_start().strip_prefix('(')?;
        split_closed(rest)
    });
    let all = lists.flat_map(|list| list.split(',')).filter(|parameter| parameter.contains(['*', '[']));
    all.filter_map(last_word).collect()
}

/// The name of a parameter.
fn last_word(parameter: &str) -> Option<&str> {
    let before = parameter.split('[').next()?;
    before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').find(|word| !word.is_empty())
}

/// What stands before the parenthesis that closes one opened before the text.
fn split_closed(text: &str) -> Option<&str> {
    let mut depth = 1i32;
    let (at, _) = text.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth == 0
    })?;
    text.get(..at)
}

/// The array whose index ends where the text does.
fn array_of(before: &str) -> Option<&str> {
    let mut depth = 1i32;
    let (open, _) = before.char_indices().rev().find(|(_, c)| {
        depth += i32::from(*c == ']') - i32::from(*c == '[');
        depth == 0
    })?;
    before
        .get(..open)?
        .trim_end()
        .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
        .filter(|name| !name.is_empty())
}

/// Every definition of a kernel, from its name to the closing brace of the last.
fn body<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let mut from = None;
    let mut to = 0;
    for (at, _) in source.match_indices(name).filter(|_| !name.is_empty()) {
        let before = source[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let head = &source[at + name.len()..];
        if !before || !head.trim_start().starts_with('(') {
            continue;
        }
        let (Some(open), end) = (head.find('{'), head.find(';').unwrap_or(head.len())) else { continue };
        if open > end {
            continue;
        }
        let mut depth = 0usize;
        let close = head[open..].char_indices().find(|(_, c)| {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        from = from.or(Some(at));
        to = at + name.len() + close.map_or(head.len(), |(more, _)| open + more);
    }
    source.get(from?..to)
}

fn statements(body: &str) -> impl Iterator<Item = &str> {
    body.split([';', '{', '}'])
}

/// Whether a statement adds the product of two elements of different arrays to what it assigns.
fn is_product(statement: &str, body: &str) -> bool {
    let factors = match (statement.split_once("+="), statement.split_once("fma")) {
        (Some((_, sum)), _) => split_outside(sum, '*'),
        (None, Some((to, call))) => call.split_once('(').and_then(|(_, rest)| accumulated(to, rest)),
        _ => None,
    };
    let Some((left, right)) = factors else { return false };
    // A matrix that a thread holds alone and multiplies by itself is no work for tensor cores.
    match (element(left, body), element(right, body)) {
        (Some(left), Some(right)) => left.1 != right.1 && left.0 != right.0 && !gathers(left.1) && !gathers(right.1),
        _ => false,
    }
}

/// Whether an index is read from an array itself: a sparse product.
fn gathers(indices: &str) -> bool {
    let opens = indices.match_indices('[').map(|(at, _)| indices[..at].chars().next_back());
    opens.into_iter().any(|before| before != Some(']'))
}

/// The factors of `to = fma(x, y, to)`; none if it is added to something else.
fn accumulated<'a>(to: &str, arguments: &'a str) -> Option<(&'a str, &'a str)> {
    let (left, rest) = split_outside(arguments, ',')?;
    let (right, addend) = split_outside(rest, ',')?;
    let addend = addend.rsplit_once(')').map_or(addend, |(addend, _)| addend);
    let to = to.rsplit_once('=')?.0.trim_end();
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    plain(to).ends_with(&plain(addend)).then_some((left, right)).filter(|_| !addend.trim().is_empty())
}

/// A text at the first of a letter outside of brackets.
fn split_outside(text: &str, letter: char) -> Option<(&str, &str)> {
    let mut depth = 0i32;
    let (at, _) = text.char_indices().find(|(_, c)| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        *c == letter && depth == 0
    })?;
    Some((text.get(..at)?, text.get(at + letter.len_utf8()..)?))
}

/// The array and the indices of a factor; of a variable those of the element that it was given.
fn element<'a>(factor: &'a str, body: &'a str) -> Option<(&'a str, &'a str)> {
    let name = factor.trim();
    if !name.starts_with(|c: char| c.is_alphabetic()) || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return indexed(factor);
    }
    let given = |statement: &'a str| {
        let (left, right) = statement.split_once('=')?;
        left.trim_end().strip_suffix(name)?.chars().next_back().filter(|c| !c.is_alphanumeric() && *c != '_')?;
        indexed(right)
    };
    statements(body).flat_map(|statement| statement.split(',')).find_map(given)
}

/// The name before a text's outermost brackets, and what stands between them.
fn indexed(text: &str) -> Option<(&str, &str)> {
    let (open, close) = (text.find('[')?, text.rfind(']')?);
    let name = text.get(..open)?.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    Some((name, text.get(open + 1..close)?.trim()))
}

fn without_comments(source: &str) -> String {
    let lines = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(body: &str) -> Hints {
        hints(
            &format!(
                "int other() {{ return q[0].x; }}\n__global__ void k(const P *__restrict__ p, float4 r[], int n) {{ {body} }}\nint main() {{ k<<<1, 2>>>(3); }}"
            ),
            "k(int)",
        )
        .unwrap()
    }

    #[test]
    fn members_of_elements() {
        assert!(of("p[i].x += p[i].vx * dt;").members);
        assert!(!of("x[i] += vx[i] * 1.5f; // p[i].x").members);
        assert!(!of("y[i] = s[0].5f;").members);
    }

    #[test]
    fn members_count_in_arrays_that_a_kernel_is_given() {
        assert!(of("y[i] = p[index[i]].x + r[0].y;").members);
        assert!(of("y[i] = r [i].y;").members);
        for no in ["P own[4]; own[i].x = 1;", "__shared__ P s[32]; y[i] = s[t].x;", "y[i] = view.p2[i].x;", "y[n].x"] {
            assert!(!of(no).members, "{no}");
        }
    }

    #[test]
    fn a_source_without_the_kernel_says_nothing() {
        assert_eq!(hints("__global__ void other(P *p) { p[0].x = 1; }", "k(int)"), None);
        assert_eq!(hints("__global__ void k(P *p);", "k(int)"), None, "a declaration is no body");
        assert_eq!(hints("", "k(int)"), None);
    }

    #[test]
    fn products_of_matrices() {
        for yes in [
            "for (;;) acc[i][j] += x[i] * y[j];",
            "for (;;) s += __half2float(a[ty][k]) * __half2float(b[k][tx]);",
            "for (;;) s = fmaf(A[r * n + k], B[k * n + c], s);",
            "for (;;) { float a = A[r * n + k], b = B[k * n + c]; s += a * b; }",
            "for (;;) acc[i][j] += q[ty + 16 * i][d] * k[tx + 16 * j][d];",
        ] {
            assert!(of(yes).product, "{yes}");
        }
        for no in [
            "for (;;) s += x[i] * x[i];",
            "for (;;) s += a[i] * b[i];",
            "s += a[i] * b[j];",
            "for (;;) v = fmaf(v, a, b);",
            "for (;;) s += val[at] * x[col[at]];",
            "float a = x[i] * 0.1f; for (k = 0; k < 8; k++) v[k] = fmaf(v[k], a, b);",
            "for (;;) t = fmaf(a[r * 8 + k], a[k * 8 + c], t);",
        ] {
            assert!(!of(no).product, "{no}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(source in "([a-z]{1,3}|[\\[\\](){};,.*+=é/\\n ]|fma|for){0,80}", kernel in "[a-z]{0,2}") {
            let _ = hints(&source, &kernel);
        }
    }
}
