//! What must hold for every text.

use pleach_system::text::neutral_text::{BREAK, block, code, cut, escaped, neutral};
use proptest::prelude::*;

use super::super::{LONGEST_BODY, body};
use super::rendered::Rendered;
use super::{check_harmless, check_rows, everywhere};

/// Pieces that mean something to somebody, next to any others.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec![
            "@", "#", "!", "&", "1", "12", "a", "B", "GH-", "ENG-", "fixes", "Closes", "resolves",
            " ", "  ", "\n", "\n\n", "\t", ":", "://", "http", "https://a.b/c/issues/1", "www.",
            "[", "]", "(", ")", "![", "](", "<", ">", "<b>", "<!--", "-->", "|", "\\", "`", "``",
            "```", "~~~", "*", "**", "_", "__", "~~", "$", "$$", "-", "- ", "1. ", "+", "=", "===",
            "---", "# ", "> ", "/", "/merge", "&#64;", "&lt;", "{", "}", "^", "%", "\"", "'",
            ":+1:", "\u{202e}", "\u{200b}", "\u{2060}", "\u{200d}", "\u{0}", "\r", "\u{85}",
            "owner/repo", "é", "世", "🌱", "\u{301}", "[x]", "[^1]", "{{", "{%", "::", "w",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[ -~]{0,6}",
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

fn without_breaks(text: &str) -> String {
    text.chars().filter(|c| *c != BREAK).collect()
}

/// What Markdown shows for one line.
fn shown(markdown: &str) -> String {
    Rendered::of(&format!("x {markdown} y"))
        .text
        .trim()
        .to_owned()
}

proptest! {
    #[test]
    fn no_text_means_anything(text in text()) {
        check_harmless(&text);
    }

    #[test]
    fn text_is_shown_as_it_was_written(text in text()) {
        let neutral = neutral(&text);
        prop_assert_eq!(pleach_system::text::neutral_text::neutral(&neutral), neutral.clone());
        let expected = format!("x {neutral} y");
        prop_assert_eq!(shown(&escaped(&text)), expected.clone());
        if !neutral.is_empty() {
            prop_assert_eq!(shown(&code(&text)), expected);
        }
        let plain: Vec<&str> = text.split_whitespace().collect();
        if text.chars().all(|c| c.is_ascii_graphic() || c == ' ') {
            prop_assert_eq!(without_breaks(&neutral), plain.join(" "));
        }
    }

    #[test]
    fn a_block_ends_where_it_should(text in text()) {
        let seen = Rendered::of(&format!("{}\nafter\n", block(&text, 5)));
        prop_assert_eq!(seen.blocks, 1);
        prop_assert!(seen.text.trim_end().ends_with("after"));
        prop_assert_eq!(seen.strange, Vec::<String>::new());
    }

    #[test]
    fn what_is_cut_is_short_enough(text in text(), most in 1_usize..40) {
        let cut = cut(&text, most);
        prop_assert!(cut.chars().count() <= most);
        prop_assert!(cut == text || cut.ends_with('…'));
    }

    #[test]
    fn no_body_is_too_long(text in text(), times in 1_usize..60) {
        let mut account = everywhere(&text.repeat(times));
        account.tasks = std::iter::repeat_n(account.tasks, 5).flatten().collect();
        let body = body(&account);
        prop_assert!(body.len() <= LONGEST_BODY, "{}", body.len());
        let seen = Rendered::of(&body);
        check_rows(&account, &seen);
        prop_assert_eq!(seen.strange, Vec::<String>::new());
    }
}

#[test]
fn hidden_characters_are_marked_and_breaks_of_our_own_are_not() {
    let hidden = "pay \u{202e}live\u{ad} @ann 👨\u{200d}👩";
    let expected = "pay ⟨U+202E⟩live⟨U+00AD⟩ @\u{200b}ann 👨\u{200d}👩";
    assert_eq!(neutral(hidden), expected);
    assert_eq!(neutral(expected), expected);
}
