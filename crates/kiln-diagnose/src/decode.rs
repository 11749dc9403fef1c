//! From bytes to text. In: a file. Out: its text. PowerShell writes UTF-16 where it redirects output, with or without a mark at the
//! start; bytes that are no text become replacement characters.

/// Reads a file's bytes as text.
pub fn decoded(bytes: &[u8]) -> String {
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ if is_wide(bytes) => wide(bytes, u16::from_le_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

fn wide(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    String::from_utf16_lossy(&units)
}

/// Text in UTF-16 without a mark: every other byte of its start is zero.
fn is_wide(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(64)];
    start.len() >= 4 && start.chunks_exact(2).all(|pair| pair[0] != 0 && pair[1] == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_gives_the_same_text() {
        let text = "========= COMPUTE-SANITIZER\r\n";
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decoded(text.as_bytes()), text);
        assert_eq!(decoded(&le), text);
        assert_eq!(decoded(&[&[0xff, 0xfe], le.as_slice()].concat()), text);
        assert_eq!(decoded(&[&[0xfe, 0xff], be.as_slice()].concat()), text);
        assert_eq!(decoded(&[&[0xef, 0xbb, 0xbf], text.as_bytes()].concat()), text);
        assert_eq!(decoded(&[0xc3, 0x28]), "\u{fffd}(");
        assert_eq!(decoded(&[]), "");
    }
}
