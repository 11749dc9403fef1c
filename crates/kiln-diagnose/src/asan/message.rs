//! The words of UndefinedBehaviorSanitizer: whether a message is whole. In: what follows `runtime error:`, and whether the log ends in
//! it. Half a message could be of another cause than the whole, so it is told by how messages begin and end.

/// How messages begin, and what they may end with; with nothing, they end with a number, which may go on.
const FORMS: [(&str, &[&str]); 32] = [
    ("signed integer overflow: ", &["'"]),
    ("unsigned integer overflow: ", &["'"]),
    ("negation of ", &["to itself"]),
    ("division by zero", &["division by zero"]),
    ("division of ", &["'"]),
    ("shift exponent ", &["is negative", "'"]),
    ("left shift of negative value ", &[]),
    ("left shift of ", &["'"]),
    ("index ", &["'"]),
    ("load of misaligned address ", &["alignment"]),
    ("load of null pointer of type ", &["'"]),
    ("load of address ", &["'"]),
    ("load of value ", &["'"]),
    ("store to misaligned address ", &["alignment"]),
    ("store to null pointer of type ", &["'"]),
    ("store to address ", &["'"]),
    ("member access within misaligned address ", &["alignment"]),
    ("member access within ", &["'"]),
    ("member call on misaligned address ", &["alignment"]),
    ("member call on ", &["'"]),
    ("reference binding to misaligned address ", &["alignment"]),
    ("reference binding to ", &["'"]),
    ("null pointer passed as argument ", &["never be null"]),
    ("null pointer returned from function ", &["return null"]),
    ("applying ", &["null pointer"]),
    ("pointer index expression ", &[]),
    ("addition of unsigned offset ", &[]),
    ("subtraction of unsigned offset ", &[]),
    ("variable length array bound evaluates to ", &[]),
    ("execution reached ", &["program point", "returning a value"]),
    ("passing zero to ", &["argument"]),
    ("implicit conversion from type ", &[")"]),
];

/// A value outside a type: the message begins with the value.
const OUTSIDE: &str = " is outside the range of representable values of type ";

/// Whether nothing is missing of a message. `cut` says that the log ends in it.
pub(super) fn is_whole(message: &str, cut: bool) -> bool {
    if message.is_empty() || FORMS.iter().any(|(start, _)| start.len() > message.len() && start.starts_with(message)) {
        return false;
    }
    if let Some((_, kind)) = message.split_once(OUTSIDE.trim_end()) {
        return kind.trim().len() > 2 && kind.ends_with('\'');
    }
    let form = FORMS.iter().filter(|(start, _)| message.starts_with(start)).max_by_key(|(start, _)| start.len());
    match form {
        // It ends with a number.
        Some((start, [])) => !cut && message.len() > start.len(),
        Some((_, ends)) => {
            ends.iter().any(|end| message.ends_with(end)) && message.matches('\'').count().is_multiple_of(2)
        }
        // What begins with a number is the start of `... is outside the range of ...`.
        None => !cut && !message.starts_with(|c: char| c.is_ascii_digit() || c == '-'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: [&str; 16] = [
        "signed integer overflow: 65536 * 65536 cannot be represented in type 'int'",
        "negation of -2147483648 cannot be represented in type 'int'; cast to an unsigned type to negate this value to itself",
        "division by zero",
        "shift exponent 40 is too large for 32-bit type 'int'",
        "shift exponent -1 is negative",
        "left shift of 1073741824 by 2 places cannot be represented in type 'int'",
        "index 8 out of bounds for type 'int [8]'",
        "load of misaligned address 0x602000000011 for type 'const int32_t', which requires 4 byte alignment",
        "load of value 7, which is not a valid value for type '_Bool'",
        "store to null pointer of type 'float'",
        "load of address 0x7ffcc3539d10 with insufficient space for an object of type 'const float'",
        "member access within null pointer of type 'struct S'",
        "null pointer passed as argument 1, which is declared to never be null",
        "1e+30 is outside the range of representable values of type 'int'",
        "execution reached an unreachable program point",
        "applying non-zero offset 4 to null pointer",
    ];

    #[test]
    fn whole_messages_are_known_by_their_end() {
        for message in WHOLE {
            assert!(is_whole(message, true) && is_whole(message, false), "{message}");
            for end in (0..message.len()).filter(|end| message.is_char_boundary(*end)) {
                let part = message[..end].trim_end();
                assert!(!is_whole(part, true), "{part}");
                assert!(!is_whole(part, false), "{part}");
            }
        }
    }

    #[test]
    fn a_number_at_the_end_may_go_on() {
        let message = "variable length array bound evaluates to non-positive value -5";
        assert!(is_whole(message, false) && !is_whole(message, true));
        assert!(is_whole("a kind of tomorrow", false) && !is_whole("a kind of tomor", true));
    }
}
