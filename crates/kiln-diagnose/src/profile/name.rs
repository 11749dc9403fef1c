//! A kernel's name for people: without what its function returns and its parameters.

/// The name without `void ` and without the parameter list, which is the last parenthesis group outside of angle brackets and other
/// parentheses. Namespaces and template arguments stay, with the parentheses in them.
pub(crate) fn shown(kernel: &str) -> &str {
    let name = kernel.trim();
    let name = name.strip_prefix("void ").unwrap_or(name).trim_start();
    match parameters(name) {
        Some(start) if start > 0 => name[..start].trim_end(),
        _ => name,
    }
}

/// Where the parameter list begins. `(anonymous namespace)::` is no list: a name follows it.
fn parameters(name: &str) -> Option<usize> {
    let (mut round, mut angle, mut last) = (0usize, 0usize, None);
    let mut before = ' ';
    for (at, letter) in name.char_indices() {
        match letter {
            '(' => {
                if round == 0 && angle == 0 && !name[at..].starts_with("(anonymous namespace)") {
                    last = Some(at);
                }
                round += 1;
            }
            ')' => round = round.saturating_sub(1),
            // Comparisons and arrows within parentheses open and close nothing.
            '<' if round == 0 => angle += 1,
            '>' if round == 0 && before != '-' => angle = angle.saturating_sub(1),
            _ => {}
        }
        before = letter;
    }
    last
}

/// A kernel's name without return type, namespaces, template arguments and parameters.
pub(crate) fn base(kernel: &str) -> &str {
    let name = shown(kernel);
    let (mut round, mut angle, mut opening) = (0usize, 0usize, None);
    for (at, letter) in name.char_indices() {
        match letter {
            '(' => round += 1,
            ')' => round = round.saturating_sub(1),
            '<' if round == 0 => {
                opening = if angle == 0 { Some(at) } else { opening };
                angle += 1;
            }
            '>' if round == 0 => angle = angle.saturating_sub(1),
            _ => {}
        }
    }
    let end = opening.filter(|_| name.ends_with('>')).unwrap_or(name.len());
    name[..end].trim().rsplit([':', ' ']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_parameter_list_is_cut() {
        for (kernel, name, short) in [
            ("recur32(const float *, float *)", "recur32", "recur32"),
            ("void (anonymous namespace)::k<float>(float *, int)", "(anonymous namespace)::k<float>", "k"),
            ("void at::native::elementwise<(int)4, Add>(int)", "at::native::elementwise<(int)4, Add>", "elementwise"),
            ("void f<(bool)(1 > 0)>(void (*)(int), A<int>)", "f<(bool)(1 > 0)>", "f"),
            ("void g<a::(anonymous namespace)::B>(T1 *)", "g<a::(anonymous namespace)::B>", "g"),
            ("ns::plain", "ns::plain", "plain"),
            ("(anonymous namespace)::bare", "(anonymous namespace)::bare", "bare"),
            ("(anonymous namespace)::bare()", "(anonymous namespace)::bare", "bare"),
            ("", "", ""),
        ] {
            assert_eq!((shown(kernel), base(kernel)), (name, short), "{kernel}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(kernel in "[a(<>):, é]{0,30}") {
            let _ = (shown(&kernel), base(&kernel));
        }
    }
}
