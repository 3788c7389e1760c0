//! Text with a checksum behind it: whatever is torn, changed or half written is no such text.

use pleach_system::text::hash::hash;

pub(super) fn seal(text: &str) -> String {
    format!("{text}\n#{}\n", hash([text]))
}

/// The text, if it is whole; blanks behind it fill a file that is written over in place.
pub(super) fn unseal(bytes: &[u8]) -> Option<&str> {
    let sealed = std::str::from_utf8(bytes).ok()?;
    let sealed = sealed.trim_end_matches(' ').strip_suffix('\n')?;
    let (text, sum) = sealed.rsplit_once("\n#")?;
    (hash([text]) == sum).then_some(text)
}
