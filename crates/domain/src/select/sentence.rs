//! Tells a selection from a sentence that happens to have `all` or `failed` in it.
//!
//! Knows words and what stands between them.

use super::{SelectionError, TextRange};

/// How tasks are chosen, for somebody who wrote something else.
const WAYS: &str = "select tasks by id (1.1), range (1.1-1.3), phase:1, label:backend, next:3, failed or all; \
                    a new task has to be added to the plan first";

/// Refuses a text that is no selection, or in which a keyword stands among other words.
pub(super) fn check_is_selection(
    text: &str,
    places: &[TextRange],
    is_id: &impl Fn(&str) -> bool,
) -> Result<(), SelectionError> {
    let word = |place: &TextRange| &text[place.clone()];
    let has_blanks = text.trim().contains(char::is_whitespace);
    let stranger = places.iter().find(|place| !may_choose(word(place), is_id));
    if let Some(place) = stranger.filter(|_| has_blanks) {
        return Err(SelectionError {
            message: format!("`{}` is not a selection", text.trim()),
            hint: WAYS.to_owned(),
            text: text.to_owned(),
            place: place.clone(),
        });
    }
    for pair in places.windows(2) {
        let keyword = pair
            .iter()
            .find(|place| is_keyword(word(place)) && !is_id(word(place)));
        let is_parted = text[pair[0].end..pair[1].start].contains(',');
        if let Some(place) = keyword.filter(|_| !is_parted) {
            let words: Vec<&str> = places.iter().map(word).collect();
            return Err(SelectionError {
                message: format!("`{}` must stand alone or between commas", word(place)),
                hint: format!("write {}", words.join(",")),
                text: text.to_owned(),
                place: place.clone(),
            });
        }
    }
    Ok(())
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "all" | "failed")
}

/// Whether a word can be an id, a range or a keyword at all.
fn may_choose(word: &str, is_id: &impl Fn(&str) -> bool) -> bool {
    let is_named_way = ["phase:", "p:", "label:", "next:"]
        .iter()
        .any(|way| word.starts_with(way));
    let has_number = word.contains(|c: char| c.is_ascii_digit());
    is_keyword(word) || is_named_way || has_number || is_id(word)
}
