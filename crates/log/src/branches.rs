//! How the branches are named that people see: in their repository, and on the server.
//!
//! Knows nothing of refs that exist. In the private store branches have names of their own, which never change.

pub mod check;

use pleach_domain::id::BatchNumber;
use pleach_system::text::placeholder::{TemplatePart, template_parts};
use serde::{Deserialize, Serialize};

pub use check::{PatternFault, check};

const PREFIX: &str = "prefix";
const BATCH: &str = "batch";
const TASK: &str = "task";
const SLUG: &str = "slug";

const SLUG_WORDS: usize = 5;
const SLUG_LENGTH: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchNames {
    pub prefix: String,
    pub task: String,
    pub batch: String,
}

impl Default for BranchNames {
    /// As batches were named before anybody could choose.
    fn default() -> Self {
        Self {
            prefix: "pleach".to_owned(),
            task: "{{prefix}}/task-{{batch}}/{{task}}".to_owned(),
            batch: "{{prefix}}/batch-{{batch}}".to_owned(),
        }
    }
}

impl BranchNames {
    pub fn batch(&self, number: BatchNumber) -> String {
        self.fill(&self.batch, number, "", "")
    }

    /// The branch of a task, by what it is called in refs and by its title.
    pub fn task(&self, number: BatchNumber, segment: &str, title: &str) -> String {
        self.fill(&self.task, number, segment, &slug(title))
    }

    /// The branch of work that is brought back.
    pub fn recovered(&self, number: BatchNumber, segment: &str) -> String {
        format!("{}/recovered-{number}/{segment}", self.prefix)
    }

    /// A name in each folder that there will be branches in, as far as that is known without a batch.
    pub fn places(&self) -> Vec<String> {
        let fixed = |pattern: &str| {
            let filled = self.filled_prefix(pattern);
            let folders = filled.split('/').take_while(|part| !part.contains("{{"));
            folders.chain(["batch"]).collect::<Vec<_>>().join("/")
        };
        let mut all = vec![fixed(&self.batch), fixed(&self.task)];
        all.push(format!("{}/batch", self.prefix));
        all.dedup();
        all
    }

    fn filled_prefix(&self, pattern: &str) -> String {
        let pieces = template_parts(pattern).into_iter();
        let filled = pieces.map(|piece| match piece {
            TemplatePart::Placeholder { name: PREFIX, .. } => self.prefix.as_str(),
            TemplatePart::Text(text) | TemplatePart::Placeholder { written: text, .. } => text,
        });
        filled.collect()
    }

    fn fill(&self, pattern: &str, number: BatchNumber, segment: &str, slug: &str) -> String {
        let number = number.to_string();
        let pieces = template_parts(pattern).into_iter();
        let filled = pieces.map(|piece| match piece {
            TemplatePart::Placeholder { name: PREFIX, .. } => self.prefix.as_str(),
            TemplatePart::Placeholder { name: BATCH, .. } => &number,
            TemplatePart::Placeholder { name: TASK, .. } => segment,
            TemplatePart::Placeholder { name: SLUG, .. } => slug,
            TemplatePart::Text(text) | TemplatePart::Placeholder { written: text, .. } => text,
        });
        filled.collect()
    }
}

fn slug(title: &str) -> String {
    let mut slug = String::new();
    let words = title.split(|c: char| !c.is_ascii_alphanumeric());
    for word in words.filter(|word| !word.is_empty()).take(SLUG_WORDS) {
        if !slug.is_empty() && slug.len() + word.len() >= SLUG_LENGTH {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        let word = word.to_ascii_lowercase();
        slug.push_str(&word[..word.len().min(SLUG_LENGTH)]);
    }
    if slug.is_empty() {
        return TASK.to_owned();
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_patterns() {
        let usual = BranchNames::default();
        assert_eq!(usual.batch(BatchNumber(3)), "pleach/batch-3");
        assert_eq!(usual.task(BatchNumber(3), "2.1", ""), "pleach/task-3/2.1");
        assert_eq!(usual.recovered(BatchNumber(3), "1"), "pleach/recovered-3/1");
        assert_eq!(usual.places(), ["pleach/batch"]);
        let own = BranchNames {
            prefix: "team/bot".to_owned(),
            task: "{{ prefix }}/{{batch}}/t-{{task}}".to_owned(),
            batch: "hedge/{{batch}}/all".to_owned(),
        };
        assert_eq!(own.batch(BatchNumber(3)), "hedge/3/all");
        assert_eq!(own.task(BatchNumber(3), "a", ""), "team/bot/3/t-a");
        assert_eq!(own.recovered(BatchNumber(3), "a"), "team/bot/recovered-3/a");
        assert_eq!(own.places(), ["hedge/batch", "team/bot/batch"]);
    }

    #[test]
    fn a_slug_is_a_few_words_of_the_title() {
        let names = BranchNames {
            task: "{{prefix}}/{{batch}}/{{task}}-{{slug}}".to_owned(),
            ..BranchNames::default()
        };
        let of = |title: &str| names.task(BatchNumber(3), "2.1", title);
        assert_eq!(of("Open on Sundays!"), "pleach/3/2.1-open-on-sundays");
        assert_eq!(of("a/b: `c` (d) e f g"), "pleach/3/2.1-a-b-c-d-e");
        assert_eq!(of("…"), "pleach/3/2.1-task");
        assert_eq!(of("größe"), "pleach/3/2.1-gr-e");
        let long = of("Internationalization of extraordinarily long words");
        assert_eq!(long, "pleach/3/2.1-internationalization-of");
        assert_eq!(
            of(&"x".repeat(99)).len(),
            "pleach/3/2.1-".len() + SLUG_LENGTH
        );
    }
}
