//! Writes text into addresses so that it means itself.

use std::fmt::Write as _;

/// A text as one piece of a path or as the value in a query.
pub(super) fn escaped(text: &str) -> String {
    keeping(text, "")
}

/// A text whose slashes separate pieces of a path.
pub(super) fn escaped_path(text: &str) -> String {
    keeping(text, "/")
}

fn keeping(text: &str, kept: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
        if is_plain || kept.as_bytes().contains(&byte) {
            escaped.push(byte.into());
        } else {
            write!(escaped, "%{byte:02X}").expect("writing to a string works");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_means_something_is_left() {
        assert_eq!(
            escaped("a/b&c=d é#?%+~"),
            "a%2Fb%26c%3Dd%20%C3%A9%23%3F%25%2B~"
        );
        assert_eq!(escaped_path("a b/../c"), "a%20b/../c");
    }
}
