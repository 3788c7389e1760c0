//! Codes for colours in the output of programs, which may stand in the middle of a value.
//!
//! Knows them as terminals read them and as JSON writes them. Knows nothing of what is secret.

const ESCAPE: u8 = 0x1b;

/// The same within a string of JSON, behind one backslash or, in a string within a string, more.
const IN_JSON: &[u8] = b"u001b";

pub(super) fn are_in(bytes: &[u8]) -> bool {
    bytes.contains(&ESCAPE) || four(bytes, *b"u001")
}

/// Whether four bytes stand somewhere; all places are compared without a branch, which is what makes it fast.
fn four(bytes: &[u8], wanted: [u8; 4]) -> bool {
    let Some(length) = bytes.len().checked_sub(3) else {
        return false;
    };
    let at = |shift: usize| &bytes[shift..shift + length];
    let places = at(0).iter().zip(at(1)).zip(at(2)).zip(at(3));
    let any = places.fold(0, |any, (((a, b), c), d)| {
        let is = |byte: &u8, number: usize| u8::from(*byte == wanted[number]);
        any | (is(a, 0) & is(b, 1) & is(c, 2) & is(d, 3))
    });
    any != 0
}

fn begins_in_json(bytes: &[u8]) -> bool {
    let begin = bytes.get(..IN_JSON.len());
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case(IN_JSON))
}

pub(super) fn without(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        if let Some(length) = code_length(rest) {
            rest = &rest[length..];
        } else {
            plain.push(*first);
            rest = after;
        }
    }
    plain
}

/// How long the code is that some bytes begin with.
fn code_length(bytes: &[u8]) -> Option<usize> {
    let slashes = bytes.iter().take_while(|byte| **byte == b'\\').count();
    let begin = match bytes.first()? {
        &ESCAPE => 1,
        b'\\' if begins_in_json(&bytes[slashes..]) => slashes + IN_JSON.len(),
        _ => return None,
    };
    let code = bytes[begin..].strip_prefix(b"[")?;
    let is_parameter = |byte: &&u8| (0x20..0x40).contains(*byte);
    let parameters = code.iter().take_while(is_parameter).count();
    let is_last = |byte: &u8| (0x40..0x7f).contains(byte);
    let has_end = code.get(parameters).is_some_and(is_last);
    has_end.then_some(begin + 1 + parameters + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_go_and_everything_else_stays() {
        for (text, plain) in [
            ("a\x1b[1;31mb\x1b[0mc", "abc"),
            ("a\x1b[?25lb\x1b[Kc", "abc"),
            (r"a\u001b[31mb\\u001B[0mc", "abc"),
            ("a\x1b]0;title\x07b \x1b", "a\x1b]0;title\x07b \x1b"),
            (r"a\n\u00e9[1m\u001b", r"a\n\u00e9[1m\u001b"),
        ] {
            let found = without(text.as_bytes());
            assert_eq!(String::from_utf8_lossy(&found), plain, "{text}");
        }
        assert!(are_in(b"\x1b[m") && are_in(br"\\u001b[m"));
        assert!(!are_in(br"\u00e9[m \") && !are_in(b"u00") && are_in(b"u001"));
    }
}
