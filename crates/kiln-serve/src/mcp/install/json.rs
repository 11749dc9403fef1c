//! An entry in a JSON file that people write too: comments and commas at the end of a list may be in it. In: the text, a section, a name, the entry.
//! Out: the text with the entry; everything else as it was, to the byte. Refuses, with the line, what is not JSON with comments, what is
//! no object where one should be, and a section or an entry that is there twice.

use serde_json::{Map, Value, json};

/// Keys of an entry that the user decides about: they are written only where they are missing.
const THEIRS: [&str; 2] = ["env", "enabled"];
/// Lists and objects inside each other at most.
const DEEPEST: usize = 100;

/// A value and where it lies.
struct Node {
    start: usize,
    end: usize,
    kind: Kind,
}

enum Kind {
    Object(Vec<Member>),
    List(Vec<Node>),
    Other(Value),
}

/// A member of an object: its name, where that begins, its value.
struct Member {
    name: String,
    start: usize,
    value: Node,
}

/// The entries of a section by name; none where there is no section.
pub(super) fn entries(text: &str, section: &str) -> Result<Map<String, Value>, String> {
    let root = document(text)?;
    let found = root.as_ref().map(|root| root.child(text, section)).transpose()?.flatten();
    if let Some(found) = found {
        // One that is there twice is refused, whichever of them a client would read.
        found.members().into_iter().flatten().try_for_each(|own| found.child(text, &own.name).map(drop))?;
    }
    match found.map(Node::value) {
        None => Ok(Map::new()),
        Some(Value::Object(all)) => Ok(all),
        Some(_) => Err(format!("{section} is no object")),
    }
}

/// The text with the entry. What the entry has already and kiln does not write stays, unless it is to be `replaced` as a whole.
pub(super) fn with_entry(
    text: &str,
    section: &str,
    name: &str,
    entry: &Value,
    replaced: bool,
) -> Result<String, String> {
    let Some(there) = entries(text, section)?.remove(name).filter(|_| !replaced) else {
        return with_value(text, &[section, name], entry);
    };
    let there = there.as_object().ok_or_else(|| format!("{section}.{name} is no object"))?;
    let mut new = text.to_string();
    for (key, value) in entry.as_object().into_iter().flatten() {
        let stays = there.get(key).is_some_and(|own| own == value || THEIRS.contains(&key.as_str()));
        if !stays {
            new = with_value(&new, &[section, name, key], value)?;
        }
    }
    Ok(new)
}

/// The text with a value at the end of a path of names; objects on the way are made.
fn with_value(text: &str, path: &[&str], value: &Value) -> Result<String, String> {
    let nested = |names: &[&str]| names.iter().rev().fold(value.clone(), |inner, name| json!({ *name: inner }));
    let Some(root) = document(text)? else { return Ok(format!("{:#}\n", nested(path))) };
    let mut node = &root;
    for (at, name) in path.iter().enumerate() {
        match node.child(text, name)? {
            Some(child) => node = child,
            None => return Ok(inserted(text, node, name, &nested(&path[at + 1..]))),
        }
    }
    let shown = indented(value, indent(text, node.start));
    Ok(format!("{}{shown}{}", &text[..node.start], &text[node.end..]))
}

/// The text with a new last member of an object.
fn inserted(text: &str, object: &Node, name: &str, value: &Value) -> String {
    let members = object.members().unwrap_or_default();
    let inside = object.start + 1;
    let (at, before, indented_by) = match members.last() {
        Some(last) => {
            // A comma at the end, where there is one, stays in use.
            let end = last.value.end;
            let comma = Reader { text: &text[end..object.end], at: 0, depth: 0 }.comma();
            let (at, before) = comma.map_or((end, ","), |at| (end + at, ""));
            (at, before, indent(text, last.start).to_string())
        }
        None => (inside, "", format!("{}  ", indent(text, inside))),
    };
    let shown = indented(value, &indented_by);
    let own = format!("{before}\n{indented_by}{}: {shown}", Value::from(name));
    // An object that had nothing in it gets a line for its end.
    let tail = if members.is_empty() { format!("\n{}", indent(text, inside)) } else { String::new() };
    let rest = if members.is_empty() { text[at..].trim_start() } else { &text[at..] };
    format!("{}{own}{tail}{rest}", &text[..at])
}

/// What the line that holds this place begins with.
fn indent(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let own = &text[line..];
    &own[..own.len() - own.trim_start_matches([' ', '\t']).len()]
}

fn indented(value: &Value, by: &str) -> String {
    format!("{value:#}").replace('\n', &format!("\n{by}"))
}

/// `line 3`.
fn line(text: &str, at: usize) -> String {
    format!("line {}", 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count())
}

/// The whole text as one object; none where there is nothing in it.
fn document(text: &str) -> Result<Option<Node>, String> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    if text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() {
        return Ok(None);
    }
    let read = |reader: &mut Reader<'_>| {
        if reader.text.starts_with('\u{feff}') {
            reader.at = '\u{feff}'.len_utf8();
        }
        reader.blank()?;
        if reader.next() != Some(b'{') {
            return Err(reader.expected("`{`"));
        }
        let root = reader.value()?;
        reader.blank()?;
        if reader.at < reader.text.len() { Err(reader.expected("the end of the file")) } else { Ok(root) }
    };
    read(&mut reader).map(Some).map_err(|why| format!("{}: {why}", line(text, reader.at)))
}

impl Node {
    fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The value of a member; refuses what is no object, and a name that is there twice.
    fn child(&self, text: &str, name: &str) -> Result<Option<&Node>, String> {
        let at = |start| line(text, start);
        let members =
            self.members().ok_or_else(|| format!("{}: expected an object that may hold {name}", at(self.start)))?;
        let mut found = members.iter().filter(|member| member.name == name);
        let first = found.next();
        match found.next() {
            Some(second) => Err(format!("{}: {name} is there a second time", at(second.start))),
            None => Ok(first.map(|member| &member.value)),
        }
    }

    fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => {
                members.iter().map(|member| (member.name.clone(), member.value.value())).collect::<Map<_, _>>().into()
            }
            Kind::List(all) => all.iter().map(Node::value).collect(),
            Kind::Other(value) => value.clone(),
        }
    }
}

/// Reads JSON with comments, and remembers where things are.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expected(&self, what: &str) -> String {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(found) => format!("expected {what}, found `{found}`"),
            None => format!("expected {what}, but the file ends"),
        }
    }

    /// Passes over blanks and comments.
    fn blank(&mut self) -> Result<(), String> {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.at += blank;
            let rest = &rest[blank..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(inner) = rest.strip_prefix("/*") {
                self.at += inner.find("*/").ok_or("a comment does not end")? + 4;
            } else {
                return Ok(());
            }
        }
    }

    /// Behind the next comma, if that comes next.
    fn comma(&mut self) -> Option<usize> {
        self.blank().ok()?;
        (self.next() == Some(b',')).then_some(self.at + 1)
    }

    fn value(&mut self) -> Result<Node, String> {
        let start = self.at;
        let kind = match self.next() {
            Some(b'{') => Kind::Object(self.all(b'}', Reader::member)?),
            Some(b'[') => Kind::List(self.all(b']', Reader::value)?),
            Some(b'"') => Kind::Other(self.string()?.into()),
            _ => Kind::Other(self.word()?),
        };
        Ok(Node { start, end: self.at, kind })
    }

    /// What stands between brackets, with commas between.
    fn all<T>(&mut self, close: u8, one: fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("more than {DEEPEST} lists and objects are inside each other"));
        }
        let mut all = Vec::new();
        loop {
            self.blank()?;
            if self.next() == Some(close) {
                self.at += 1;
                self.depth -= 1;
                return Ok(all);
            }
            all.push(one(self)?);
            self.blank()?;
            match self.next() {
                Some(b',') => self.at += 1,
                Some(found) if found == close => {}
                _ => return Err(self.expected(&format!("`,` or `{}`", char::from(close)))),
            }
        }
    }

    fn member(&mut self) -> Result<Member, String> {
        let start = self.at;
        if self.next() != Some(b'"') {
            return Err(self.expected("a name in quotes"));
        }
        let name = self.string()?;
        self.blank()?;
        if self.next() != Some(b':') {
            return Err(self.expected("`:`"));
        }
        self.at += 1;
        self.blank()?;
        Ok(Member { name, start, value: self.value()? })
    }

    fn string(&mut self) -> Result<String, String> {
        let begin = self.at;
        let mut end = begin + 1;
        loop {
            match self.text.as_bytes().get(end) {
                Some(b'\\') => end += 2,
                Some(b'"') => break,
                Some(b'\n') | None => return Err("a string does not end".into()),
                Some(_) => end += 1,
            }
        }
        let text = serde_json::from_str(&self.text[begin..=end])
            .map_err(|_| "a string has an escape or a character that JSON does not know".to_string())?;
        self.at = end + 1;
        Ok(text)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Value, String> {
        let rest = &self.text[self.at..];
        let word = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len())];
        let read = serde_json::from_str(word).ok();
        // One that is too large for this reader is a number all the same.
        let huge = || is_number(word).then(|| Value::from(word));
        let value = read.or_else(huge).ok_or_else(|| self.expected("a value"))?;
        self.at += word.len();
        Ok(value)
    }
}

/// Whether a word is a number as JSON writes it.
fn is_number(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = word.split_once(['e', 'E']).map_or((word, None), |(own, rest)| (own, Some(rest)));
    let (whole, part) = mantissa.split_once('.').map_or((mantissa, None), |(own, rest)| (own, Some(rest)));
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && part.is_none_or(digits)
        && exponent.is_none_or(|rest| digits(rest.strip_prefix(['+', '-']).unwrap_or(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str) -> String {
        with_entry(text, "s", "kiln", &json!({ "command": "kiln", "args": ["mcp"] }), false).unwrap()
    }

    #[test]
    fn comments_and_commas_at_the_end_stay() {
        let old = "// mine\n{\n\t/* a } */\n\t\"a\": \"}\\\"\", // b\n\t\"s\": {\n\t\t\"x\": { \"command\": \"y\" }, // last\n\t},\n}\n";
        let new = edited(old);
        assert!(new.starts_with("// mine\n{\n\t/* a } */\n\t\"a\": \"}\\\"\", // b\n\t\"s\": {\n\t\t\"x\": { \"command\": \"y\" },\n\t\t\"kiln\": {"), "{new}");
        assert!(new.ends_with(" // last\n\t},\n}\n"), "{new}");
        assert_eq!(edited(&new), new);
    }

    #[test]
    fn an_entry_of_an_older_kiln_is_replaced_and_nothing_else() {
        let old = "{\"s\":{\"kiln\":{\"command\":\"old\",\"args\":[]},\"z\":[1,{\"s\":2}]},\"n\":1e400}";
        let new = edited(old);
        assert!(
            new.ends_with(",\"z\":[1,{\"s\":2}]},\"n\":1e400}") && new.contains("\"kiln\"") && !new.contains("old"),
            "{new}"
        );
        for (old, is) in [
            ("{}", json!({ "s": { "kiln": { "command": "kiln", "args": ["mcp"] } } })),
            ("{ \"s\": {} }", json!({ "s": { "kiln": { "command": "kiln", "args": ["mcp"] } } })),
            ("{\"a\":[]}", json!({ "a": [], "s": { "kiln": { "command": "kiln", "args": ["mcp"] } } })),
            (" \n", json!({ "s": { "kiln": { "command": "kiln", "args": ["mcp"] } } })),
        ] {
            let new = edited(old);
            assert_eq!(serde_json::from_str::<Value>(&new).unwrap(), is, "{new}");
        }
    }

    #[test]
    fn what_the_user_wrote_into_the_entry_stays() {
        let old = "{\"s\": {\n  \"kiln\": {\n    \"command\": \"old\", // mine\n    \"args\": [ \"mcp\" ],\n    \"env\": { \"KEY\": \"1\" },\n    \"disabled\": true,\n  }\n}}";
        let entry = json!({ "type": "stdio", "command": "kiln", "args": ["mcp"], "env": {} });
        let new = with_entry(old, "s", "kiln", &entry, false).unwrap();
        let expected = old.replace("old", "kiln").replace("true,", "true,\n    \"type\": \"stdio\"");
        assert_eq!(new, expected);
        assert_eq!(with_entry(&new, "s", "kiln", &entry, false).unwrap(), new);
        assert_eq!(entries(&new, "s").unwrap()["kiln"]["env"], json!({ "KEY": "1" }));
        let whole = with_entry(old, "s", "kiln", &entry, true).unwrap();
        assert_eq!(entries(&whole, "s").unwrap()["kiln"], entry);
    }

    #[test]
    fn what_is_broken_is_refused() {
        for old in [
            "{",
            "{\"s\"",
            "{\"s\":}",
            "{\"s\": {\"a\": \"",
            "/* ",
            "/*/ {}",
            "{} {}",
            "{\"s\": 3}",
            "{\"s\": {\"kiln\": 3}}",
            "3",
            "{\"a\" 3}",
            "{\"a\":1 \"b\":2}",
            "{,}",
            "{\"a\": [1,,2]}",
            "{\"a\": [1 2]}",
            "{\"a\": [1}",
            "{\"a\": tru}",
            "{\"a\": 01}",
            "{\"a\": \"\\q\"}",
            "{\"s\": {\"x\": {\"command\": \"y\" \"args\": []}}}",
            "{\"s\": {}, \"s\": {}}",
            "{\"s\": {\"kiln\": {}, \"kiln\": {}}}",
            &format!("{{\"a\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000)),
        ] {
            let short: String = old.chars().take(60).collect();
            assert!(with_entry(old, "s", "kiln", &json!({}), false).is_err(), "{short}");
        }
    }

    #[test]
    fn a_slash_outside_of_a_string_is_refused_with_its_line() {
        let old = "{\n  \"s\": {},\n  \"path\": /bin/foo\n}";
        assert_eq!(with_entry(old, "s", "kiln", &json!({}), false).unwrap_err(), "line 3: expected a value, found `/`");
    }
}
