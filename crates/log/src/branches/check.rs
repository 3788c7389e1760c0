//! Whether patterns give names that git takes and that do not get into each other's way.
//!
//! Decides by the patterns alone; which branches exist is looked at elsewhere.

use pleach_domain::id::BatchNumber;
use pleach_system::text::placeholder::{TemplatePart, template_parts};

use super::{BATCH, BranchNames, PREFIX, SLUG, TASK};

/// Git writes a lock beside each file of a ref, and names end with a number where they are taken.
const LONGEST_PART: usize = 240;

const LOCK: &str = ".lock";

/// Ids that are awkward in some pattern: the end of a lock's name, the folder of all refs, as long as can be.
const SEGMENTS: [&str; 4] = [
    "63",
    "lock",
    "refs",
    "a123456789012345678901234567890123456789-1234567",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternFault {
    pub key: &'static str,
    pub why: String,
}

pub fn check(names: &BranchNames) -> Vec<PatternFault> {
    let mut faults = Vec::new();
    let mut add = |key, result: Result<(), String>| {
        faults.extend(result.map_err(|why| PatternFault { key, why }).err());
    };
    let prefix = check_prefix(names);
    let is_prefix_good = prefix.is_ok();
    add("branch_prefix", prefix);
    add(
        "task_branch",
        check_places(&names.task, &[BATCH, TASK], &[SLUG]),
    );
    add("batch_branch", check_places(&names.batch, &[BATCH], &[]));
    if is_prefix_good {
        add("task_branch", check_names(names, BranchKind::Tasks));
        add("batch_branch", check_names(names, BranchKind::Batches));
    }
    if faults.is_empty() {
        check_clashes(names, &mut faults);
    }
    // One thing at a time: a name that is wrong for a missing place is no news.
    faults.sort_by_key(|fault| fault.key);
    faults.dedup_by(|later, first| later.key == first.key);
    faults
}

#[derive(Debug, Clone, Copy)]
enum BranchKind {
    Tasks,
    Batches,
}

fn check_prefix(names: &BranchNames) -> Result<(), String> {
    let prefix = &names.prefix;
    if prefix.contains("{{") {
        return Err("cannot contain {{…}}: use them in task_branch and batch_branch".to_owned());
    }
    if prefix.is_empty() {
        return Err("is empty; use a prefix for branches, such as \"pleach\"".to_owned());
    }
    is_name(&names.recovered(BatchNumber(1), "1")).map_err(|why| not_taken(prefix, why))
}

fn not_taken(name: &str, why: &str) -> String {
    format!("gives {name:?}, which is not a valid branch name: {why}")
}

/// The places of a pattern: known ones, all that are needed, and apart from each other.
fn check_places(pattern: &str, needed: &[&str], also: &[&str]) -> Result<(), String> {
    let pieces = template_parts(pattern);
    let mut before: Option<(&str, bool)> = None;
    for piece in &pieces {
        match piece {
            TemplatePart::Text(text) if text.contains("{{") || text.contains("}}") => {
                return Err(format!("has unmatched braces in {text:?}"));
            }
            TemplatePart::Text(text) => {
                if let Some((_, is_apart)) = &mut before {
                    *is_apart |= text.bytes().any(|byte| !byte.is_ascii_digit());
                }
            }
            TemplatePart::Placeholder { name: PREFIX, .. } => before = None,
            TemplatePart::Placeholder { name, written }
                if !needed.contains(name) && !also.contains(name) =>
            {
                let known = [&[PREFIX], needed, also].concat().join("}}, {{");
                let known = format!("{{{{{known}}}}}");
                return Err(format!("cannot contain {written}; it takes {known}"));
            }
            TemplatePart::Placeholder { name, written } => {
                if let Some((other, false)) = before.filter(|(other, _)| other != name) {
                    return Err(format!(
                        "has {{{{{other}}}}} and {written} next to each other, so that 1 and 12 look like 11 and 2; put a \"-\" \
                         or a \"/\" between them"
                    ));
                }
                before = Some((name, false));
            }
        }
    }
    let has = |wanted: &str| {
        let mut pieces = pieces.iter();
        pieces
            .any(|piece| matches!(piece, TemplatePart::Placeholder { name, .. } if *name == wanted))
    };
    match needed.iter().find(|place| !has(place)) {
        Some(missing) => Err(format!(
            "needs {{{{{missing}}}}}, or several branches would have one name"
        )),
        None => Ok(()),
    }
}

fn check_names(names: &BranchNames, whose: BranchKind) -> Result<(), String> {
    for number in [1, u32::MAX].map(BatchNumber) {
        for segment in SEGMENTS {
            let name = match whose {
                BranchKind::Tasks => names.task(number, segment, segment),
                BranchKind::Batches => names.batch(number),
            };
            is_name(&name).map_err(|why| not_taken(&name, why))?;
        }
    }
    Ok(())
}

/// The rules of `git check-ref-format --branch`, and that a file system can hold it.
pub(crate) fn is_name(name: &str) -> Result<(), &'static str> {
    let is_odd = |byte: u8| byte <= b' ' || byte == 0x7f || b"~^:?*[\\".contains(&byte);
    if name.bytes().any(is_odd) {
        return Err("it has a space, a control character, or one of ~ ^ : ? * [ \\");
    }
    if name.contains("..") || name.contains("@{") || name == "@" || name == "HEAD" {
        return Err("\"..\", \"@{\", \"@\" and \"HEAD\" have another meaning in git");
    }
    if name.starts_with('-') || name.starts_with("refs/") {
        return Err("it begins with \"-\" or \"refs/\"");
    }
    if name.ends_with('.') {
        return Err("it ends with a dot");
    }
    for part in name.split('/') {
        if part.is_empty() {
            return Err("a part between two \"/\" is empty");
        }
        // On some file systems it would be one in capitals too.
        let is_lock = part.to_ascii_lowercase().strip_suffix(LOCK).is_some();
        if part.starts_with('.') || is_lock {
            return Err("a part of it begins with a dot or ends with \".lock\"");
        }
        if part.len() > LONGEST_PART {
            return Err("a part of it is too long for a file name");
        }
    }
    Ok(())
}

/// A branch cannot be where a folder of branches is.
fn check_clashes(names: &BranchNames, faults: &mut Vec<PatternFault>) {
    let shape = |pattern: &str| PatternShape::of(&names.filled_prefix(pattern));
    let batch = shape(&names.batch);
    let task = shape(&names.task);
    let recovered = shape("{{prefix}}/recovered-{{batch}}/{{task}}");
    if batch.is_above(&task) || task.is_above(&batch) {
        let why = format!(
            "{:?} clashes with batch_branch {:?}: one branch would be a folder of the other",
            names.task, names.batch
        );
        faults.push(PatternFault {
            key: "task_branch",
            why,
        });
    } else if batch.meets(&task) {
        let why = format!(
            "{:?} can give the same name as batch_branch {:?}",
            names.task, names.batch
        );
        faults.push(PatternFault {
            key: "task_branch",
            why,
        });
    }
    for (key, own) in [("task_branch", &task), ("batch_branch", &batch)] {
        if own.is_above(&recovered) || recovered.is_above(own) {
            let taken = names.recovered(BatchNumber(1), "1");
            let why = format!("clashes with branches of `pleach recover`, such as {taken:?}");
            faults.push(PatternFault { key, why });
        }
    }
}

/// All names that a pattern can give, part by part.
#[derive(Debug)]
struct PatternShape(Vec<Vec<PatternPiece>>);

/// One or more characters of a kind, or one certain one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternPiece {
    One(u8),
    Digits,
    /// What a task's id or title is written with.
    Segment,
}

impl PatternPiece {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::One(own) => own == byte,
            Self::Digits => byte.is_ascii_digit(),
            Self::Segment => byte != b'/',
        }
    }

    fn shares_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::One(byte), other) | (other, Self::One(byte)) => other.has(byte),
            // Both have digits.
            _ => true,
        }
    }

    fn repeats(self) -> bool {
        !matches!(self, Self::One(_))
    }
}

impl PatternShape {
    fn of(pattern: &str) -> Self {
        let mut parts = vec![Vec::new()];
        let mut add = |step: PatternPiece| {
            if step == PatternPiece::One(b'/') {
                parts.push(Vec::new());
            } else if let Some(part) = parts.last_mut() {
                part.push(step);
            }
        };
        for piece in template_parts(pattern) {
            match piece {
                TemplatePart::Placeholder { name: BATCH, .. } => add(PatternPiece::Digits),
                TemplatePart::Placeholder {
                    name: TASK | SLUG, ..
                } => add(PatternPiece::Segment),
                TemplatePart::Text(text) | TemplatePart::Placeholder { written: text, .. } => {
                    text.bytes().map(PatternPiece::One).for_each(&mut add);
                }
            }
        }
        Self(parts)
    }

    /// Whether a name of this could be a folder in a name of the other.
    fn is_above(&self, other: &Self) -> bool {
        let depth = self.0.len();
        if depth >= other.0.len() {
            return false;
        }
        let Some((last, above)) = self.0.split_last() else {
            return false;
        };
        let mut together = above.iter().zip(&other.0);
        // A name that is taken gets a number.
        let mut numbered = last.clone();
        numbered.extend([PatternPiece::One(b'-'), PatternPiece::Digits]);
        let there = &other.0[depth - 1];
        together.all(|(a, b)| share_a_word(a, b))
            && (share_a_word(last, there) || share_a_word(&numbered, there))
    }

    /// Whether both can give one name.
    fn meets(&self, other: &Self) -> bool {
        let mut together = self.0.iter().zip(&other.0);
        self.0.len() == other.0.len() && together.all(|(a, b)| share_a_word(a, b))
    }
}

/// Whether some word fits both; walks the two side by side, each state once.
fn share_a_word(a: &[PatternPiece], b: &[PatternPiece]) -> bool {
    // Having taken the first so many steps; the last of them may repeat.
    let next = |steps: &[PatternPiece], at: usize| {
        let again = at.checked_sub(1).map(|last| (steps[last], at));
        let again = again.filter(|(step, _)| step.repeats());
        let on = steps.get(at).map(|step| (*step, at + 1));
        [again, on].into_iter().flatten()
    };
    let mut seen = vec![(0, 0)];
    let mut looked_at = 0;
    while let Some((in_a, in_b)) = seen.get(looked_at).copied() {
        if (in_a, in_b) == (a.len(), b.len()) {
            return true;
        }
        for (step, to_a) in next(a, in_a) {
            for (other, to_b) in next(b, in_b) {
                if step.shares_with(other) && !seen.contains(&(to_a, to_b)) {
                    seen.push((to_a, to_b));
                }
            }
        }
        looked_at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use pleach_testkit::TestRepo;

    use super::*;

    fn names(prefix: &str, task: &str, batch: &str) -> BranchNames {
        BranchNames {
            prefix: prefix.to_owned(),
            task: task.to_owned(),
            batch: batch.to_owned(),
        }
    }

    const TASKS: &str = "{{prefix}}/task-{{batch}}/{{task}}";
    const BATCHES: &str = "{{prefix}}/batch-{{batch}}";

    #[track_caller]
    fn refused(names: &BranchNames, key: &str, words: &str) {
        let faults = check(names);
        let told = faults
            .iter()
            .map(|fault| format!("{} {}", fault.key, fault.why));
        let told: Vec<String> = told.collect();
        let found = told
            .iter()
            .any(|told| told.starts_with(key) && told.contains(words));
        assert!(found, "{names:?} gave {told:?}, not {key} … {words}");
    }

    #[test]
    fn usable_patterns_pass() {
        for (prefix, task, batch) in [
            ("pleach", TASKS, BATCHES),
            (
                "team/bot",
                "{{prefix}}/{{batch}}/{{task}}",
                "{{prefix}}/all-{{batch}}",
            ),
            ("x", "t-{{batch}}-{{task}}", "b-{{batch}}"),
            ("x", "{{prefix}}/{{batch}}-{{task}}", "{{prefix}}/{{batch}}"),
            (
                "x",
                "{{prefix}}/{{batch}}/tasks/{{task}}",
                "{{prefix}}/{{batch}}/all",
            ),
            ("x", "{{ prefix }}/t{{batch}}x{{task}}", "{{batch}}"),
            ("x", "{{prefix}}/{{batch}}/{{task}}-{{slug}}", BATCHES),
        ] {
            assert_eq!(check(&names(prefix, task, batch)), [], "{task} {batch}");
        }
    }

    #[test]
    fn places_must_be_known_needed_ones_there_and_apart() {
        refused(
            &names("p", "{{prefix}}/{{tsk}}/{{batch}}", BATCHES),
            "task_branch",
            "cannot contain {{tsk}}; it takes {{prefix}}, {{batch}}, {{task}}, {{slug}}",
        );
        refused(
            &names("p", "p/{{task}}", BATCHES),
            "task_branch",
            "needs {{batch}}",
        );
        refused(
            &names("p", "p/{{batch}}", BATCHES),
            "task_branch",
            "needs {{task}}",
        );
        refused(
            &names("p", TASKS, "p/hedge"),
            "batch_branch",
            "needs {{batch}}",
        );
        refused(
            &names("p", TASKS, "p/{{batch}}/{{task}}"),
            "batch_branch",
            "cannot contain {{task}}",
        );
        for task in [
            "p/{{batch}}{{task}}",
            "p/{{task}}1{{batch}}",
            "p/{{batch}}07{{task}}",
        ] {
            refused(&names("p", task, BATCHES), "task_branch", "look like");
        }
        refused(
            &names("p", "p/{{batch/{{task}}", BATCHES),
            "task_branch",
            "braces",
        );
        refused(&names("{{user}}", TASKS, BATCHES), "branch_prefix", "{{…}}");
    }

    #[test]
    fn names_that_git_refuses_are_refused() {
        for prefix in [
            "",
            "a b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a.lock",
            "a..b",
            "-a",
            "refs/heads",
            "a~1",
        ] {
            refused(&names(prefix, TASKS, BATCHES), "branch_prefix", "");
        }
        for task in [
            "{{task}}/{{batch}}",
            "p/{{batch}}.{{task}}",
            "p/.{{batch}}/{{task}}",
            "p/{{batch}}/{{task}}/",
            "p/{{batch}}/{{task}}.",
        ] {
            refused(
                &names("p", task, BATCHES),
                "task_branch",
                "not a valid branch name",
            );
        }
        let long = format!("p/{}{{{{batch}}}}-{{{{task}}}}", "x".repeat(190));
        refused(&names("p", &long, BATCHES), "task_branch", "too long");
    }

    #[test]
    fn a_branch_that_would_be_a_folder_of_another_is_refused() {
        for (task, batch) in [
            ("{{prefix}}/batch-{{batch}}/{{task}}", BATCHES),
            ("{{prefix}}/{{batch}}/{{task}}", "{{prefix}}/{{batch}}"),
            (
                "{{prefix}}/{{batch}}-{{task}}",
                "{{prefix}}/{{batch}}-1/all",
            ),
            // One that is taken gets a number, and then it is in the way.
            (
                "{{prefix}}/b-{{batch}}-{{task}}/x",
                "{{prefix}}/b-{{batch}}",
            ),
        ] {
            refused(
                &names("p", task, batch),
                "task_branch",
                "a folder of the other",
            );
        }
        refused(
            &names("p", "p/x{{task}}y{{batch}}", "p/xay{{batch}}"),
            "task_branch",
            "the same name",
        );
        refused(
            &names("p", TASKS, "{{prefix}}/recovered-{{batch}}"),
            "batch_branch",
            "pleach recover",
        );
    }

    #[test]
    fn git_agrees_about_names() {
        let repo = TestRepo::empty();
        let pieces = ["a", "/", ".", "-", "@{", ".lock", " ", "é", "[", "\\"];
        let mut refused = 0;
        for first in pieces {
            for second in pieces {
                for third in ["", "a", "/a"] {
                    let name = format!("{first}{second}{third}");
                    let full = format!("refs/heads/{name}");
                    let git = repo.git_succeeds(repo.path(), &["check-ref-format", &full]);
                    // As a word of a command it would be an option.
                    let git = git && !name.starts_with('-');
                    assert_eq!(is_name(&name).is_ok(), git, "{name:?}");
                    refused += u32::from(!git);
                }
            }
        }
        assert!(refused > 100, "{refused}");
    }
}
