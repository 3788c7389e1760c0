//! The other ways in which a value comes to be written: in addresses, in JSON, in base64.
//!
//! Knows nothing of what is secret.

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A shorter piece of an encoding stands in too many other texts.
const SHORTEST: usize = 8;

/// A value and every other way to write it, each once.
pub(super) fn all(value: &[u8]) -> Vec<Vec<u8>> {
    let json = in_json(value);
    // What an agent says in JSON stands in entries of ours, which are JSON too.
    let json_in_json = in_json(&json);
    let mut ways = vec![value.to_vec(), in_address(value), json, json_in_json];
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

/// With a percent sign in front of whatever means something in an address.
fn in_address(value: &[u8]) -> Vec<u8> {
    let mut written = Vec::with_capacity(value.len());
    for byte in value {
        match byte {
            b'-' | b'.' | b'_' | b'~' => written.push(*byte),
            _ if byte.is_ascii_alphanumeric() => written.push(*byte),
            _ => written.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
    written
}

/// As the inside of a string.
fn in_json(value: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(value);
    let quoted = serde_json::Value::from(text.as_ref()).to_string();
    quoted.as_bytes()[1..quoted.len() - 1].to_vec()
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
