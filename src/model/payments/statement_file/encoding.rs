//! The bytes of a file as text: UTF-8, UTF-16 or Windows-1252.
//!
//! ISO-8859-1 is read as Windows-1252, which has the same letters and more, as in browsers. Files in other code pages
//! are refused, because a wrong guess would change names unnoticed.

/// The characters of Windows-1252 from 0x80 to 0x9F; its five unassigned bytes stay control characters.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Decodes a file. A byte-order mark and the file's own declaration come first; other bytes are UTF-8, or else Windows-1252.
pub(crate) fn decode(bytes: &[u8]) -> Result<String, String> {
    if let Some(bytes) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return utf8(bytes);
    }
    if let Some(bytes) = bytes.strip_prefix(b"\xff\xfe") {
        return utf16(bytes, u16::from_le_bytes);
    }
    if let Some(bytes) = bytes.strip_prefix(b"\xfe\xff") {
        return utf16(bytes, u16::from_be_bytes);
    }
    match declared(bytes).as_deref() {
        None => {}
        Some("utf-8" | "utf8" | "us-ascii" | "usascii" | "unicode" | "ascii") => {
            return utf8(bytes);
        }
        Some(
            "iso-8859-1" | "iso8859-1" | "latin1" | "windows-1252" | "cp1252" | "1252" | "8859-1",
        ) => {
            return Ok(windows(bytes));
        }
        Some(other) => {
            let detail = format!("expected UTF-8, ISO-8859-1 or Windows-1252, but found {other}");
            return Err(super::mistake("", 0, detail).to_string());
        }
    }
    Ok(core::str::from_utf8(bytes).map_or_else(|_| windows(bytes), str::to_owned))
}

/// The encoding that XML (`encoding="…"`) and OFX (`CHARSET:…`) declare in their first lines, in lower case.
fn declared(bytes: &[u8]) -> Option<String> {
    let head: String = bytes.iter().take(400).map(|byte| char::from(*byte)).collect();
    let head = head.to_ascii_lowercase();
    let value = |start: usize, ends: &[char]| {
        let rest = head[start..].trim_start();
        let end = rest.find(ends).unwrap_or(rest.len());
        Some(rest[..end].trim().to_owned()).filter(|name| !name.is_empty() && name != "none")
    };
    if head.trim_start().starts_with("<?xml") {
        let declaration = &head[..head.find("?>")?];
        let at = declaration.find("encoding")? + "encoding".len();
        let at = at + declaration[at..].find(['"', '\''])? + 1;
        return value(at, &['"', '\'']);
    }
    if head.trim_start().starts_with("ofxheader") {
        let at = head.find("charset:")? + "charset:".len();
        return value(at, &['\r', '\n', ' ', '<']);
    }
    None
}

fn utf8(bytes: &[u8]) -> Result<String, String> {
    core::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let good = String::from_utf8_lossy(good);
        super::mistake(&good, good.len(), "expected UTF-8").to_string()
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, String> {
    let units = bytes.chunks(2).map(|pair| pair.try_into().map_or(0xd800, unit));
    let mut text = String::new();
    for one in char::decode_utf16(units) {
        let Ok(one) = one else {
            return Err(super::mistake(&text, text.len(), "expected UTF-16").to_string());
        };
        text.push(one);
    }
    Ok(text)
}

fn windows(bytes: &[u8]) -> String {
    let letter = |byte: &u8| match byte {
        0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
        other => char::from(*other),
    };
    bytes.iter().map(letter).collect()
}
