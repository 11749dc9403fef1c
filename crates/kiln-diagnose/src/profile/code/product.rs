//! Whether a kernel multiplies matrices. In: its body. Out: whether a statement sums products of elements of two arrays at different
//! indices, in any of the forms that people write: `s += a[i][k] * b[k][j]`, `s = s + ...`, `s = fma(..., s)`, through variables.

/// Whether a body has such a statement.
pub(super) fn is_in(body: &str) -> bool {
    statements(body).any(|one| is_product(one, body))
}

fn statements(body: &str) -> impl Iterator<Item = &str> {
    body.split([';', '{', '}'])
}

/// Whether a statement adds the product of two elements of different arrays to what it assigns.
fn is_product(statement: &str, body: &str) -> bool {
    if let (None, Some((to, call))) = (statement.split_once("+="), statement.split_once("fma")) {
        let factors = call.split_once('(').and_then(|(_, rest)| accumulated(to, rest));
        return factors.is_some_and(|(left, right)| of_matrices(left, right, body));
    }
    let Some(sum) = summed(statement) else { return false };
    let product = |(left, right): (&str, &str)| of_matrices(left, right, body);
    terms(sum).any(|term| factors(term).or_else(|| given(term, body, factors)).is_some_and(product))
}

/// The factors of a product. A star that it begins with is that of a pointer.
fn factors(term: &str) -> Option<(&str, &str)> {
    let term = term.trim_start();
    let pointer = usize::from(term.starts_with('*'));
    let (left, right) = split_outside(term.get(pointer..)?, '*')?;
    Some((term.get(..pointer + left.len())?, right))
}

/// What a statement adds to a sum: `to += sum`, `to = to + sum`, `to = sum + to`.
fn summed(statement: &str) -> Option<&str> {
    if let Some((_, sum)) = statement.split_once("+=") {
        return Some(sum);
    }
    let (to, sum) = statement.split_once('=')?;
    let (to, letter) = (to.trim_end(), |c: char| c.is_alphanumeric() || c == '_');
    let same = |term: &str| to.strip_suffix(term).filter(|before| !term.is_empty() && !before.ends_with(letter));
    terms(sum).any(|term| same(term.trim()).is_some()).then_some(sum)
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The terms of a sum.
fn terms(sum: &str) -> impl Iterator<Item = &str> {
    parts(sum, '+')
}

/// A text between letters outside of brackets.
fn parts(text: &str, letter: char) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (part, more) = split_outside(text, letter).map_or((text, None), |(part, more)| (part, Some(more)));
        rest = more;
        Some(part)
    })
}

/// Whether two factors are elements of different arrays at different indices. A matrix that a thread holds alone and multiplies by itself is no
/// work for tensor cores.
fn of_matrices(left: &str, right: &str, body: &str) -> bool {
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
    plain(to).ends_with(&plain(addend)).then_some((left, right)).filter(|_| !addend.trim().is_empty())
}

/// A text at the first of a letter outside of brackets.
fn split_outside(text: &str, letter: char) -> Option<(&str, &str)> {
    let mut depth = 0i32;
    let (at, _) = text.char_indices().find(|(_, c)| {
        // A text may begin within brackets: the last part of a loop's head.
        depth = (depth + i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'))).max(0);
        *c == letter && depth == 0
    })?;
    Some((text.get(..at)?, text.get(at + letter.len_utf8()..)?))
}

/// The array and the indices of a factor; of a variable or its member those of the element that it was given.
fn element<'a>(factor: &'a str, body: &'a str) -> Option<(&'a str, &'a str)> {
    let name = factor.trim().split('.').next()?.trim_end();
    if is_name(name) { given(name, body, indexed) } else { indexed(factor) }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic()) && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// What a variable was given, where it has a form.
fn given<'a, T>(name: &str, body: &'a str, form: fn(&'a str) -> Option<T>) -> Option<T> {
    let name = Some(name.trim()).filter(|name| is_name(name))?;
    let of = |statement: &'a str| {
        let (left, right) = statement.split_once('=')?;
        left.trim_end().strip_suffix(name)?.chars().next_back().filter(|c| !c.is_alphanumeric() && *c != '_')?;
        form(right)
    };
    statements(body).flat_map(|statement| parts(statement, ',')).find_map(of)
}

/// The name before a text's outermost brackets, and what stands between them.
fn indexed(text: &str) -> Option<(&str, &str)> {
    // *(A + i) is A[i].
    if let Some(inner) = text.trim().strip_prefix("*(").and_then(|rest| rest.strip_suffix(')')) {
        return split_outside(inner, '+').map(|(name, at)| (name.trim(), at.trim()));
    }
    let (open, close) = (text.find('[')?, text.rfind(']')?);
    let name = text.get(..open)?.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    Some((name, text.get(open + 1..close)?.trim()))
}
