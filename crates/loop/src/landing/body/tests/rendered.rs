//! A text as a forge would see it: parsed as Markdown with everything switched on, and searched for words.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What a text became.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    pub(super) text: String,
    /// The cells of each row of a table, the head included.
    pub(super) rows: Vec<Vec<String>>,
    pub(super) items: usize,
    pub(super) headings: usize,
    pub(super) rules: usize,
    pub(super) blocks: usize,
    /// What no text of ours becomes.
    pub(super) strange: Vec<String>,
}

/// The only markup that is ours.
const OUR_HTML: [&str; 3] = [
    "<details>",
    "<summary>Prompts and changed files</summary>",
    "</details>",
];

impl Rendered {
    pub(super) fn of(text: &str) -> Self {
        let mut seen = Self::default();
        let options = Options::all().difference(Options::ENABLE_SMART_PUNCTUATION);
        for event in Parser::new_ext(text, options) {
            seen.take(event);
        }
        // What comes after the table is in none of its cells.
        seen.rows.pop();
        seen
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Text(text) | Event::Code(text) => {
                self.text.push_str(&text);
                if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) {
                    cell.push_str(&text);
                }
            }
            Event::End(TagEnd::Table) => self.rows.push(Vec::new()),
            Event::Rule => self.rules += 1,
            Event::Html(html) if OUR_HTML.contains(&html.trim()) => {}
            Event::Start(tag) => self.start(tag),
            Event::SoftBreak | Event::HardBreak | Event::End(_) => self.text.push('\n'),
            other => self.strange.push(format!("{other:?}")),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            Tag::TableCell => self.rows.last_mut().unwrap().push(String::new()),
            Tag::Item => self.items += 1,
            Tag::Heading { .. } => self.headings += 1,
            Tag::CodeBlock(_) => self.blocks += 1,
            Tag::Paragraph | Tag::List(None) | Tag::Table(_) | Tag::HtmlBlock | Tag::Strong => {}
            other => self.strange.push(format!("{other:?}")),
        }
    }
}

pub(super) fn is_mention(text: &str) -> bool {
    let mut after = text.split('@').skip(1);
    after.any(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

const KEYWORDS: [&str; 24] = [
    "close",
    "closes",
    "closed",
    "closing",
    "fix",
    "fixes",
    "fixed",
    "fixing",
    "resolve",
    "resolves",
    "resolved",
    "resolving",
    "implement",
    "implements",
    "implemented",
    "implementing",
    "related to",
    "relates to",
    "references",
    "refs",
    "see",
    "reopens",
    "reopen",
    "for",
];

/// A place where a word that closes or links stands before something that it can close.
pub(super) fn reference_after_keyword(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    for keyword in KEYWORDS {
        for (place, _) in lower.match_indices(keyword) {
            let rest = &lower[place + keyword.len()..];
            let object = rest.trim_start_matches([':', ' ', '\n', '(', '\\', '"']);
            if is_reference(object) {
                return Some(object.chars().take(40).collect());
            }
        }
    }
    None
}

/// Whether text begins with `#1`, `!1`, `owner/repo#1`, `GH-1` or an address.
fn is_reference(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    let object = text.trim_start_matches(is_name);
    let is_numbered = |sign: char| {
        let rest = object.strip_prefix(sign);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let word: String = text.chars().take_while(|c| is_name(*c)).collect();
    let is_key = word
        .strip_prefix("gh-")
        .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()));
    ['#', '!', '&'].into_iter().any(is_numbered) || is_key || object.starts_with("://")
}
