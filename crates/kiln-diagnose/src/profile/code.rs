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

/// Reads a source for one kernel.
pub fn hints(source: &str, kernel: &str) -> Hints {
    let source = without_comments(source);
    let Some(body) = body(&source, base_name(kernel)) else { return Hints::default() };
    let members = body.match_indices("].").any(|(at, _)| body[at + 2..].starts_with(|c: char| c.is_alphabetic()));
    let half = ["half", "bfloat16"].iter().any(|name| body.contains(name));
    let product = body.contains("for") && statements(body).any(|one| is_product(one, body));
    Hints { members, product, half }
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

/// Whether a statement adds the product of two different elements.
fn is_product(statement: &str, body: &str) -> bool {
    let factors = match (statement.split_once("+="), statement.split_once("fma")) {
        (Some((_, sum)), _) => sum.split_once('*'),
        (None, Some((_, call))) => call.split_once('(').and_then(|(_, rest)| split_at_top(rest)),
        _ => None,
    };
    let Some((left, right)) = factors else { return false };
    match (indices_of(left, body), indices_of(right, body)) {
        (Some(left), Some(right)) => left != right,
        _ => false,
    }
}

/// The first two arguments of a call.
fn split_at_top(arguments: &str) -> Option<(&str, &str)> {
    let mut depth = 0i32;
    let mut cuts = arguments.char_indices().filter(|(_, c)| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        *c == ',' && depth == 0
    });
    let (first, second) = (cuts.next()?.0, cuts.next()?.0);
    Some((arguments.get(..first)?, arguments.get(first + 1..second)?))
}

/// The indices of a factor; of a variable those of the element that it was given.
fn indices_of<'a>(factor: &'a str, body: &'a str) -> Option<&'a str> {
    let name = factor.trim();
    if !name.starts_with(|c: char| c.is_alphabetic()) || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return indices(factor);
    }
    let given = |statement: &'a str| {
        let (left, right) = statement.split_once('=')?;
        left.trim_end().strip_suffix(name)?.chars().next_back().filter(|c| !c.is_alphanumeric() && *c != '_')?;
        indices(right)
    };
    statements(body).flat_map(|statement| statement.split(',')).find_map(given)
}

/// What stands between a text's outermost brackets.
fn indices(text: &str) -> Option<&str> {
    text.get(text.find('[')? + 1..text.rfind(']')?).map(str::trim)
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
                "int other() {{ return q[0].x; }}\n__global__ void k(int n) {{ {body} }}\nint main() {{ k<<<1, 2>>>(3); }}"
            ),
            "k(int)",
        )
    }

    #[test]
    fn members_of_elements() {
        assert!(of("p[i].x += p[i].vx * dt;").members);
        assert!(!of("x[i] += vx[i] * 1.5f; // p[i].x").members);
        assert!(!of("y[i] = s[0].5f;").members);
    }

    #[test]
    fn products_of_matrices() {
        for yes in [
            "for (;;) acc[i][j] += x[i] * y[j];",
            "for (;;) s += __half2float(a[ty][k]) * __half2float(b[k][tx]);",
            "for (;;) s = fmaf(A[r * n + k], B[k * n + c], s);",
            "for (;;) { float a = A[r * n + k], b = B[k * n + c]; s += a * b; }",
        ] {
            assert!(of(yes).product, "{yes}");
        }
        for no in [
            "for (;;) s += x[i] * x[i];",
            "for (;;) s += a[i] * b[i];",
            "s += a[i] * b[j];",
            "for (;;) v = fmaf(v, a, b);",
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
