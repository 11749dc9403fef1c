//! What the source of a kernel says where metrics cannot: whether loads take members out of elements, and whether it multiplies
//! matrices. In: a source and a kernel's name. Out: hints. They choose between causes that counters show alike, and never name one
//! alone, because a source may hold several variants.

mod product;

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
        body.match_indices("].").any(|(at, _)| body[at + 2..].starts_with(|c: char| c.is_alphabetic()) && taken(at))
            || takes_structures(&source, body, base_name(kernel));
    let half = ["half", "bfloat16"].iter().any(|name| body.contains(name));
    let product = ["for", "while"].iter().any(|word| body.contains(word)) && product::is_in(body);
    Some(Hints { members, product, half })
}

/// The names of the pointers among a kernel's parameters, of every definition.
fn pointers<'a>(body: &'a str, name: &str) -> Vec<&'a str> {
    parameters(body, name).filter_map(last_word).collect()
}

/// The pointers among a kernel's parameters, of every definition.
fn parameters<'a>(body: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let lists = body.match_indices(name).filter_map(move |(at, _)| {
        let rest = body[at + name.len()..].trim_start().strip_prefix('(')?;
        split_closed(rest)
    });
    lists.flat_map(|list| list.split(',')).filter(|parameter| parameter.contains(['*', '[']))
}

/// Whether a kernel is given an array of a structure that the source defines, however its members are then reached: by a reference, a pointer, a
/// copy or a function. One with a single member is no structure to speak of.
fn takes_structures(source: &str, body: &str, name: &str) -> bool {
    let of_structure = |parameter: &str| {
        let words = parameter.split(['*', '[']).next().unwrap_or_default();
        words.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| has_members(source, word))
    };
    parameters(body, name).any(of_structure)
}

/// Whether the source defines a structure of this name with several members.
fn has_members(source: &str, name: &str) -> bool {
    let defined = |(at, _): (usize, &str)| {
        let (before, after) = (&source[..at], &source[at + name.len()..]);
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        let whole = !before.ends_with(letter) && !after.starts_with(letter);
        let head = before.rsplit([';', '{', '}']).next().unwrap_or_default();
        let of_structure = head.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "struct");
        let members = match after.trim_start().strip_prefix('{') {
            Some(rest) if of_structure => rest.split('}').next(),
            // typedef struct { ... } name;
            _ if after.trim_start().starts_with(';') && before.trim_end().ends_with('}') => {
                before.rfind("struct").and_then(|open| before[open..].split_once('{')).map(|(_, members)| members)
            }
            _ => None,
        };
        whole && members.is_some_and(|members| members.matches([';', ',']).count() > 1)
    };
    !name.is_empty() && source.match_indices(name).any(defined)
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

    /// The counters show the same whichever way members are reached.
    #[test]
    fn members_of_a_structure_that_the_source_defines() {
        let all = |structure: &str, body: &str| {
            let source =
                format!("{structure}\n__global__ void k(const P* __restrict__ p, float* y, int n) {{ {body} }}");
            hints(&source, "k(const P *, float *, int)").unwrap().members
        };
        let structure = "struct P { float x, vx; int id; };";
        for body in [
            "const P& q = p[i]; y[i] = q.x;",
            "auto q = p[i]; y[i] = q.x;",
            "const P* q = p + i; y[i] = q->x;",
            "y[i] = (p + i)->x;",
            "y[i] = speed(p, i);",
        ] {
            assert!(all(structure, body), "{body}");
            assert!(all("typedef struct { float x; float vx; } P;", body), "{body}");
            assert!(all("struct alignas(16) P\n{\n  float x;\n  float vx;\n};", body), "{body}");
            assert!(!all("struct P { float x; };", body), "one member");
            assert!(!all("using P = float;", body), "no structure");
            assert!(!all("struct Pair { float x, vx; };", body), "another structure");
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
            "for (;;) s = s + A[r * n + k] * B[k * n + c];",
            "for (;;) acc[i][j] = A[r * n + k] * B[k * n + c] + acc[i][j];",
            "int k = 0; while (k < n) { s += A[r][k] * B[k][c]; k++; }",
            "for (;;) { float2 a = A[r][k], b = B[k][c]; s += a.x * b.x + a.y * b.y; }",
            "for (;;) { float t = A[r][k] * B[k][c]; s += t; }",
            "for (;;) s += *(A + r * n + k) * *(B + k * n + c);",
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
            "for (;;) float acc = a[r][k] * b[k][c] + c;",
            "for (;;) y[i] = a * x[i] + b[j];",
            "for (;;) { float2 a = A[i], b = B[i]; s += a.x * b.x + a.y * b.y; }",
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
