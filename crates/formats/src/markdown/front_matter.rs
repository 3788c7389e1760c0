//! Finds where the Markdown of a file begins.
//!
//! Knows byte order marks and front matter, nothing behind them.

/// The offset behind a byte order mark and front matter.
pub(super) fn body_start(text: &str) -> usize {
    let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let body = &text[bom..];
    let fence = if body.starts_with("---") {
        "---"
    } else {
        "+++"
    };
    let mut lines = body.split_inclusive('\n');
    let opens = lines.next().is_some_and(|line| line.trim_end() == fence);
    // A file may also just begin with a rule; front matter begins with a key.
    let has_key = lines.clone().next().is_some_and(is_key);
    if !(opens && has_key) {
        return bom;
    }
    let mut offset = bom + body.find('\n').map_or(body.len(), |at| at + 1);
    for line in lines {
        offset += line.len();
        if line.trim_end() == fence {
            return offset;
        }
    }
    bom
}

fn is_key(line: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let behind = line.trim_start_matches(is_name);
    let name = &line[..line.len() - behind.len()];
    !name.is_empty() && !name.starts_with('-') && behind.trim_start().starts_with([':', '='])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_told_from_rules() {
        let body = |text: &'static str| &text[body_start(text)..];
        assert_eq!(body("---\ntitle: x\n---\nbody"), "body");
        assert_eq!(body("\u{feff}+++\ntitle = 1\n+++\nbody"), "body");
        assert_eq!(
            body("---\n## Phase 1: Set up\n---\n"),
            "---\n## Phase 1: Set up\n---\n"
        );
        assert_eq!(body("---\n- a: b\n---\n"), "---\n- a: b\n---\n");
        assert_eq!(
            body("---\ntitle: never closed\n"),
            "---\ntitle: never closed\n"
        );
    }
}
