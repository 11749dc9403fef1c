//! Where views lie on the page of `kiln serve`. In: what is to be seen. Out: the path and the query of its address. Ids and names are
//! encoded, so that a kernel's name leads nowhere else.

use std::fmt;

/// A view by its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// The list of studies, with the query of its filter.
    Studies(String),
    /// A study by its id, with the query of its filter.
    Study(String, String),
    /// Why a study's configuration won.
    Why(String),
    /// A kernel by its name.
    Kernel(String),
    /// Two studies or runs beside each other.
    Compare(String, String),
    /// Every session.
    Sessions,
    /// A session by its id.
    Session(String),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queried = |f: &mut fmt::Formatter<'_>, path: String, query: &str| match query {
            "" => f.write_str(&path),
            query => write!(f, "{path}?{query}"),
        };
        match self {
            Address::Studies(query) => queried(f, "/".into(), query),
            Address::Study(id, query) => queried(f, format!("/study/{}", encoded(id)), query),
            Address::Why(id) => write!(f, "/study/{}/why", encoded(id)),
            Address::Kernel(name) => write!(f, "/kernel/{}", encoded(name)),
            Address::Compare(a, b) => write!(f, "/compare?a={}&b={}", encoded(a), encoded(b)),
            Address::Sessions => f.write_str("/sessions"),
            Address::Session(id) => write!(f, "/session/{}", encoded(id)),
        }
    }
}

/// One segment of a path, or one value of a query.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => encoded.push(byte.into()),
            b'.' if !text.trim_matches('.').is_empty() => encoded.push('.'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_segment() {
        assert_eq!(Address::Kernel("a/../b?c#d".into()).to_string(), "/kernel/a%2F..%2Fb%3Fc%23d");
        assert_eq!(Address::Kernel("..".into()).to_string(), "/kernel/%2E%2E");
        assert_eq!(Address::Study("abcd0123".into(), "top=5".into()).to_string(), "/study/abcd0123?top=5");
        assert_eq!(Address::Compare("a".into(), "b&c".into()).to_string(), "/compare?a=a&b=b%26c");
    }
}
