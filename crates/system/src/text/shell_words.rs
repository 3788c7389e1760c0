//! Words as a shell takes them, for commands that people are to copy.

/// A word that a shell leaves as it is, in quotes where it needs them.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+{}".contains(c);
    // `{a,b}` and `{1..3}` are several words, and one that begins so may be a variable or a program.
    let expands = word.contains('{') && (word.contains(',') || word.contains(".."));
    if !word.is_empty() && word.chars().all(is_plain) && !expands && !word.starts_with('=') {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Words as one line that no other words give.
pub fn line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_every_word_as_it_is() {
        for word in [
            "1.2",
            "pleach/task-1/AUTH-14",
            "a b",
            "",
            "it's",
            "a;touch x",
            "$(id)",
            "`id`",
            "a\nb",
            "*",
            "~",
            "{a,b}",
            "{1..3}",
            "{{prompt_file}}",
            "=ls",
            "#",
            "ü",
            "!!",
            "a&b|c>d<e",
            "\\",
        ] {
            let script = format!("printf %s {}", quoted(word));
            for shell in ["sh", "bash"] {
                let Ok(said) = std::process::Command::new(shell)
                    .args(["-c", &script])
                    .output()
                else {
                    continue;
                };
                assert_eq!(String::from_utf8_lossy(&said.stdout), word, "{shell}");
            }
        }
    }

    #[test]
    fn plain_words_have_no_quotes_and_lines_are_told_apart() {
        let words = |words: &[&str]| {
            line(
                &words
                    .iter()
                    .map(|word| (*word).to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(words(&["a", "b c"]), "a 'b c'");
        assert_eq!(words(&["a", "b", "c"]), "a b c");
        assert_eq!(words(&["it's", ""]), "'it'\\''s' ''");
        assert_eq!(
            words(&["--x=y", "{{prompt_file}}"]),
            "--x=y {{prompt_file}}"
        );
    }
}
