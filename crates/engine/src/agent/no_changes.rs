//! Finds out whether an agent that changed nothing said that nothing was needed.
//!
//! Knows the words that the prompt asks for, in output of programs and in entries of a driver.

use pleach_driver::{Conclusion, Entry};
use pleach_system::text::last_line::plain;

const MARK: &str = "NO CHANGES NEEDED:";

/// So many lines at the end of what an agent says count: some tell what they took after their last word.
const LAST_LINES: usize = 20;

/// The longest reason that is kept.
const LONGEST: usize = 300;

/// Why nothing had to be changed, if the end of an agent's output says so.
pub fn no_changes_needed(output: &[u8]) -> Option<String> {
    let output = String::from_utf8_lossy(output);
    let said: Vec<String> = output.lines().flat_map(words_of).collect();
    let mut last = said.iter().rev().filter(|line| !line.is_empty());
    let reason = last
        .by_ref()
        .take(LAST_LINES)
        .find_map(|line| reason(line))?;
    Some(reason.chars().take(LONGEST).collect())
}

/// What the agent itself says in a line of its log; what its tools say is not its word.
fn words_of(line: &str) -> Vec<String> {
    let text = match serde_json::from_str(line) {
        Ok(Entry::Text { text }) => text,
        Ok(Entry::Result(Conclusion { message, .. })) => message,
        Ok(_) => return Vec::new(),
        Err(_) => line.to_owned(),
    };
    text.lines().map(plain).collect()
}

fn reason(line: &str) -> Option<&str> {
    // As a heading, in a list, as a quotation, in bold or as code.
    let line = line.trim_matches(|c: char| c.is_whitespace() || "#*_`>-".contains(c));
    let start = line.get(..MARK.len())?;
    // What closes the mark, where that alone is bold.
    let reason = line[MARK.len()..].trim_matches(|c: char| c.is_whitespace() || "*_".contains(c));
    (start.eq_ignore_ascii_case(MARK) && !reason.is_empty()).then_some(reason)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(output: &str, expected: Option<&str>) {
        let found = no_changes_needed(output.as_bytes());
        assert_eq!(found.as_deref(), expected, "{output}");
    }

    #[test]
    fn a_line_at_the_end_that_says_why_counts() {
        check(
            "looking\nNO CHANGES NEEDED: it is there already\n",
            Some("it is there already"),
        );
        check(
            "**NO CHANGES NEEDED:** done in 1.1\n\ntokens: 12\n",
            Some("done in 1.1"),
        );
        check("> no changes needed: `a.rs` has it", Some("`a.rs` has it"));
        check("\u{1b}[1mNO CHANGES NEEDED: bold\u{1b}[0m", Some("bold"));
    }

    #[test]
    fn a_word_without_a_reason_or_in_the_middle_does_not() {
        check("", None);
        check("NO CHANGES NEEDED:", None);
        check("NO CHANGES NEEDED", None);
        check("I say NO CHANGES NEEDED: never", None);
        check(
            &format!("NO CHANGES NEEDED: early\n{}", "more\n".repeat(20)),
            None,
        );
    }

    #[test]
    fn an_agent_that_repeats_its_prompt_has_not_said_it() {
        let plan = pleach_formats::read("- [ ] Dig\n").plan;
        let prompt = crate::prompt::prompt(&plan, &plan.tasks[0], None, None);
        assert!(prompt.contains(MARK), "{prompt}");
        check(&prompt, None);
        check(crate::prompt::CHANGED_NOTHING, None);
    }

    #[test]
    fn entries_of_a_driver_count_by_what_the_agent_says() {
        let text = json!({"type": "text", "text": "I looked.\n\nNO CHANGES NEEDED: all there"});
        let tool = json!({"type": "tool_result", "id": "1", "status": "completed", "output": "NO CHANGES NEEDED: x"});
        check(&format!("{text}\n"), Some("all there"));
        check(&format!("{tool}\n"), None);
    }
}
