//! An entry in a JSON file that people write too: comments and commas at the end of a list may be in it. In: the text, a section, a name, the entry.
//! Out: the text with the entry; everything else as it was, to the byte. Refuses what is no object where one should be.

use serde_json::{Value, json};

/// A member of an object: where its name begins, where its value begins and ends.
struct Member {
    name: String,
    start: usize,
    value: usize,
    end: usize,
}

/// An object: where its inside begins and ends, and its members.
struct Object {
    inside: usize,
    end: usize,
    members: Vec<Member>,
}

/// The text with the entry.
pub(super) fn with_entry(text: &str, section: &str, name: &str, entry: &Value) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(format!("{:#}\n", json!({ section: { name: entry } })));
    }
    let mut reader = Reader { text, at: 0 };
    reader.blank()?;
    let root = reader.object()?;
    reader.blank()?;
    if reader.at < text.len() {
        return Err(format!("there is more behind the object, at byte {}", reader.at));
    }
    let new = match root.members.iter().find(|member| member.name == section) {
        None => inserted(text, &root, section, &json!({ name: entry })),
        Some(member) => {
            let inner = Reader { text, at: member.value }.object().map_err(|why| format!("{section}: {why}"))?;
            match inner.members.iter().find(|own| own.name == name) {
                None => inserted(text, &inner, name, entry),
                Some(own) => {
                    let shown = indented(entry, indent(text, own.start));
                    format!("{}{shown}{}", &text[..own.value], &text[own.end..])
                }
            }
        }
    };
    // Where it was plain JSON, nothing but the entry may differ.
    if let Ok(mut old) = serde_json::from_str::<Value>(text) {
        old[section][name] = entry.clone();
        if serde_json::from_str::<Value>(&new).ok().as_ref() != Some(&old) {
            return Err("its form is not understood".into());
        }
    }
    Ok(new)
}

/// The text with a new last member of an object.
fn inserted(text: &str, object: &Object, name: &str, value: &Value) -> String {
    let (at, before, indented_by) = match object.members.last() {
        Some(last) => {
            // A comma at the end, where there is one, stays in use.
            let rest = &text[last.end..object.end];
            let comma = Reader { text: rest, at: 0 }.comma();
            let (at, before) = comma.map_or((last.end, ","), |at| (last.end + at, ""));
            (at, before, indent(text, last.start).to_string())
        }
        None => (object.inside, "", format!("{}  ", indent(text, object.inside))),
    };
    let shown = indented(value, &indented_by);
    let own = format!("{before}\n{indented_by}{}: {shown}", Value::from(name));
    // An object that had nothing in it gets a line for its end.
    let tail = if object.members.is_empty() { format!("\n{}", indent(text, object.inside)) } else { String::new() };
    let rest = if object.members.is_empty() { text[at..].trim_start() } else { &text[at..] };
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

/// Reads just enough to know where things are.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes over blanks and comments.
    fn blank(&mut self) -> Result<(), String> {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']).len();
            self.at += blank;
            let rest = &rest[blank..];
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").ok_or("a comment does not end")? + 2;
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

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.next() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(format!("expected `{}` at byte {}", char::from(byte), self.at))
    }

    fn object(&mut self) -> Result<Object, String> {
        self.expect(b'{')?;
        let mut object = Object { inside: self.at, end: self.at, members: Vec::new() };
        loop {
            self.blank()?;
            if self.next() == Some(b'}') {
                object.end = self.at;
                self.at += 1;
                return Ok(object);
            }
            let start = self.at;
            self.string()?;
            let name = serde_json::from_str(&self.text[start..self.at]).map_err(|e| e.to_string())?;
            self.blank()?;
            self.expect(b':')?;
            self.blank()?;
            let value = self.at;
            self.value()?;
            object.members.push(Member { name, start, value, end: self.at });
            self.blank()?;
            match self.next() {
                Some(b',') => self.at += 1,
                Some(b'}') => {}
                _ => return Err(format!("expected `,` or `}}` at byte {}", self.at)),
            }
        }
    }

    fn string(&mut self) -> Result<(), String> {
        self.expect(b'"')?;
        loop {
            match self.next() {
                Some(b'\\') => self.at += 2,
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => self.at += 1,
                None => return Err("a string does not end".into()),
            }
        }
    }

    /// Passes over a value of any kind: brackets are counted, not descended into.
    fn value(&mut self) -> Result<(), String> {
        let begin = self.at;
        let mut open: usize = 0;
        loop {
            match self.next() {
                None => return Err("it ends too early".into()),
                Some(b'"') => self.string()?,
                Some(b'/') => self.blank()?,
                Some(b'{' | b'[') => {
                    open += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if open > 0 => {
                    open -= 1;
                    self.at += 1;
                }
                Some(b',' | b'}' | b']') if open == 0 => break,
                Some(b' ' | b'\t' | b'\r' | b'\n') if open == 0 && self.at > begin => break,
                Some(_) => self.at += 1,
            }
            if open == 0 && matches!(self.text.as_bytes().get(self.at - 1), Some(b'}' | b']' | b'"')) {
                break;
            }
        }
        if self.at == begin { Err(format!("a value is missing at byte {begin}")) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str) -> String {
        with_entry(text, "s", "kiln", &json!({ "command": "kiln", "args": ["mcp"] })).unwrap()
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
    fn what_is_broken_is_refused() {
        for old in [
            "{",
            "{\"s\"",
            "{\"s\":}",
            "{\"s\": {\"a\": \"",
            "/* ",
            "{} {}",
            "{\"s\": 3}",
            "3",
            "{\"a\" 3}",
            "{\"a\":1 \"b\":2}",
        ] {
            assert!(with_entry(old, "s", "kiln", &json!({})).is_err(), "{old}");
        }
    }
}
