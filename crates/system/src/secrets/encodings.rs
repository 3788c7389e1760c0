//! The other ways in which a value comes to be written: in addresses, in JSON, in base64.
//!
//! Knows nothing of what is secret.

use std::fmt::Write as _;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A shorter piece of an encoding stands in too many other texts.
const SHORTEST: usize = 8;

/// What programs leave as it is in an address: RFC 3986, Python's `quote`, `encodeURIComponent`, `encodeURI`, forms.
const SAFE: [&[u8]; 5] = [
    b"-._~",
    b"-._~/",
    b"-._~!*'()",
    b"-._~!*'();,/?:@&=+$#",
    b"-._* ",
];

/// What writers of JSON escape besides what they must: nothing, PHP's slashes, Python's foreign letters, both, HTML.
const ESCAPED: [fn(char) -> bool; 5] = [
    |_| false,
    |c| c == '/',
    |c| !c.is_ascii(),
    |c| c == '/' || !c.is_ascii(),
    |c| matches!(c, '<' | '>' | '&'),
];

/// A value and every other way to write it, each once.
pub(super) fn all(value: &[u8]) -> Vec<Vec<u8>> {
    let mut ways = vec![value.to_vec(), in_hex(value)];
    ways.push(ways[1].to_ascii_uppercase());
    for safe in SAFE {
        let address = in_address(value, safe);
        ways.push(with_small_digits(&address));
        ways.push(address);
    }
    for escaped in ESCAPED {
        let json = in_json(value, escaped);
        // What an agent says in JSON stands in entries of ours, which are JSON too.
        ways.push(in_json(&json, |_| false));
        ways.push(json);
    }
    for before in 0..3 {
        let way = in_base64(value, before);
        let for_addresses = |byte: &u8| match byte {
            b'+' => b'-',
            b'/' => b'_',
            other => *other,
        };
        ways.push(way.iter().map(for_addresses).collect());
        ways.push(way);
    }
    ways.retain(|way| way.len() >= SHORTEST);
    ways.sort();
    ways.dedup();
    ways
}

fn in_hex(value: &[u8]) -> Vec<u8> {
    let digits = value
        .iter()
        .flat_map(|byte| format!("{byte:02x}").into_bytes());
    digits.collect()
}

/// With a percent sign in front of whatever means something in an address.
fn in_address(value: &[u8], safe: &[u8]) -> Vec<u8> {
    let mut written = Vec::with_capacity(value.len());
    for byte in value {
        match byte {
            // Only forms keep it, and write it so.
            b' ' if safe.contains(byte) => written.push(b'+'),
            _ if safe.contains(byte) || byte.is_ascii_alphanumeric() => written.push(*byte),
            _ => written.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
    written
}

/// The same with `%2f` for `%2F`.
fn with_small_digits(address: &[u8]) -> Vec<u8> {
    let mut written = address.to_vec();
    for at in 0..address.len() {
        // What is safe is never a percent sign.
        if address[at] == b'%' {
            written[at + 1..at + 3].make_ascii_lowercase();
        }
    }
    written
}

/// As the inside of a string, with some letters escaped that need not be.
fn in_json(value: &[u8], escaped: fn(char) -> bool) -> Vec<u8> {
    let text = String::from_utf8_lossy(value);
    let quoted = serde_json::Value::from(text.as_ref()).to_string();
    let mut written = String::new();
    for letter in quoted[1..quoted.len() - 1].chars() {
        match letter {
            '/' if escaped('/') => written.push_str("\\/"),
            _ if escaped(letter) => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    write!(written, "\\u{unit:04x}").expect("writing to a string works");
                }
            }
            _ => written.push(letter),
        }
    }
    written.into_bytes()
}

/// The letters that follow from the value alone, whatever stands behind it and however many bytes (modulo 3) in front.
fn in_base64(value: &[u8], before: usize) -> Vec<u8> {
    let bits = value.len() * 8;
    // Where the first letter begins that has no bit of what is in front.
    let skipped = (6 - before * 8 % 6) % 6;
    let bit = |at: usize| value[at / 8] >> (7 - at % 8) & 1;
    let starts = (skipped..bits).step_by(6).filter(|start| start + 6 <= bits);
    starts
        .map(|start| {
            let number = (start..start + 6).fold(0, |number, at| number << 1 | bit(at));
            BASE64[usize::from(number)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(value: &str) -> Vec<String> {
        let ways = all(value.as_bytes()).into_iter();
        ways.map(|way| String::from_utf8(way).unwrap()).collect()
    }

    #[test]
    fn a_value_is_known_in_all_its_ways() {
        let ways = texts("pa\"ss w/ör+d");
        for way in [
            "pa\"ss w/ör+d",
            "pa%22ss%20w%2F%C3%B6r%2Bd",
            "pa%22ss%20w%2f%c3%b6r%2bd",
            "pa%22ss%20w/%C3%B6r%2Bd",
            "pa%22ss%20w/%C3%B6r+d",
            "pa%22ss+w%2F%C3%B6r%2Bd",
            "706122737320772fc3b6722b64",
            "706122737320772FC3B6722B64",
            r#"pa\"ss w\/ör+d"#,
            r#"pa\"ss w/\u00f6r+d"#,
            r#"pa\\\"ss w\\/\\u00f6r+d"#,
            "pa\\\"ss w/ör+d",
            r#"pa\\\"ss w/ör+d"#,
        ] {
            assert!(ways.iter().any(|known| known == way), "{way}: {ways:?}");
        }
    }

    /// Made with `base64` of what is on the left.
    #[test]
    fn base64_is_known_wherever_the_value_begins_and_whatever_follows() {
        let ways = texts("hunter2hunter2");
        for written in [
            "aHVudGVyMmh1bnRlcjI=",
            "aHVudGVyMmh1bnRlcjIK",
            "YW5uOmh1bnRlcjJodW50ZXIy",
            "dXNlcjpodW50ZXIyaHVudGVyMg==",
            "eDpodW50ZXIyaHVudGVyMgo=",
        ] {
            let is_known = ways.iter().any(|way| written.contains(way.as_str()));
            assert!(is_known, "{written}: {ways:?}");
        }
        assert!(!ways.contains(&"hunter2".to_owned()));
    }
}
