//! Finds places such as `{{title}}` in a text.
//!
//! Knows nothing of which names mean something.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplatePart<'t> {
    Text(&'t str),
    Placeholder { name: &'t str, written: &'t str },
}

/// A text in pieces; what is between braces and is no plain name stays text.
pub fn template_parts(text: &str) -> Vec<TemplatePart<'_>> {
    let mut pieces = Vec::new();
    let (mut begun, mut at) = (0, 0);
    while let Some(open) = text[at..].find("{{").map(|found| at + found) {
        let Some(inside) = text[open + 2..].split_once("}}").map(|(inside, _)| inside) else {
            break;
        };
        let name = inside.trim_matches(' ');
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if name.is_empty() || !name.bytes().all(is_plain) {
            at = open + 1;
            continue;
        }
        let end = open + 2 + inside.len() + 2;
        pieces.push(TemplatePart::Text(&text[begun..open]));
        let written = &text[open..end];
        pieces.push(TemplatePart::Placeholder { name, written });
        (begun, at) = (end, end);
    }
    pieces.push(TemplatePart::Text(&text[begun..]));
    pieces.retain(|piece| *piece != TemplatePart::Text(""));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let shown = template_parts(text).into_iter().map(|piece| match piece {
            TemplatePart::Text(text) => text.to_owned(),
            TemplatePart::Placeholder { name, .. } => format!("<{name}>"),
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{text}");
        let written = template_parts(text).into_iter().map(|piece| match piece {
            TemplatePart::Text(text) | TemplatePart::Placeholder { written: text, .. } => text,
        });
        assert_eq!(written.collect::<String>(), text);
    }

    #[test]
    fn names_between_double_braces_are_places_and_nothing_else_is() {
        check("", &[]);
        check("a {{b}} c", &["a ", "<b>", " c"]);
        check("{{a}}{{ b }}", &["<a>", "<b>"]);
        check("{{{a}}}", &["{", "<a>", "}"]);
        check(
            "{{a.b}} {{}} {{ x y }} {{é}}",
            &["{{a.b}} {{}} {{ x y }} {{é}}"],
        );
        check("{{open {{a}}", &["{{open ", "<a>"]);
        check("{{ never closed", &["{{ never closed"]);
        check("é{{a}}é", &["é", "<a>", "é"]);
    }
}
