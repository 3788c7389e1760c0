//! The text of a pull request: what a batch did, and first of all what it did not.
//!
//! Plain text from plain facts. Titles, errors and names of files come from plans and agents, and mean nothing
//! where they are put.

mod left_out;
#[cfg(test)]
mod tests;
mod words;

use std::time::Duration;

use pleach_domain::id::{BatchNumber, TaskId};
use pleach_git::git::{CommitId, TreeId};
use pleach_log::earlier::BuildsOn;
use pleach_system::text::neutral_text::{BREAK, block, code, cut, escaped, neutral};

use self::words::{dollars, named, number, short, spelled, time, up_to};
use super::effects::CommitEffects;

/// The longest text that every forge takes, in bytes, with room to spare.
pub const LONGEST_BODY: usize = 60_000;

/// The longest title, in characters.
pub const LONGEST_TITLE: usize = 120;

/// How far tasks that were left out may fill the text, and then the table.
const LEFT_OUT_END: usize = 27_000;
const TABLE_END: usize = 46_000;

/// What saying how much is missing may take.
const ROOM_FOR_REST: usize = 200;

const LONGEST_NAME: usize = 120;
const LONGEST_TEXT: usize = 500;
const LONGEST_DETAILS: usize = 3_000;
const MOST_LINES: usize = 40;
const MOST_NAMES: usize = 10;
const MOST_COMMITS: usize = 5;

#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    pub batch: BatchNumber,
    /// The name of the plan file, if all its tasks are of one.
    pub plan: Option<String>,
    pub base: CommitId,
    pub verdict: TestVerdict,
    /// Every task of the batch, in plan order.
    pub tasks: Vec<TaskAccount>,
    pub time: Duration,
    /// The address of the pull request that this one follows up on.
    pub follows: Option<String>,
    pub effects: CommitEffects,
    /// The batches that it builds on and that are not in the base.
    pub builds_on: Vec<BuildsOn>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestVerdict {
    Proved {
        command: String,
        /// The tree that it ran on, which is the one that lands.
        tree: TreeId,
        /// How many red runs turned green when they were repeated.
        flaky: u32,
    },
    NoCommand,
    /// They fail without any of the work.
    BaseRed {
        command: String,
    },
    Red {
        command: String,
    },
    Trouble {
        command: String,
        why: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaskAccount {
    pub id: TaskId,
    pub title: String,
    /// What was asked for, if the plan says more than the title.
    pub details: String,
    pub fate: TaskFate,
    /// Its commits on the branch, the oldest first.
    pub commits: Vec<CommitId>,
    pub files: Vec<String>,
    pub attempts: u32,
    pub time: Option<Duration>,
    /// What it cost in US dollars, if that is known.
    pub dollars: Option<f64>,
    /// The branch in the author's repository that holds its work, if it was left out.
    pub branch: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskFate {
    Merged,
    NoChanges,
    Conflicted {
        files: Vec<String>,
        /// The tasks that are in and changed them; none where it is the base.
        with: Vec<TaskId>,
    },
    Invalid {
        /// The tasks that were in when the tests failed first.
        with: Vec<TaskId>,
    },
    Failed {
        error: String,
    },
    TimedOut,
    /// It could not start, or could not stay.
    Blocked {
        because: String,
    },
    Cancelled,
}

impl TaskFate {
    fn is_left_out(&self) -> bool {
        !matches!(self, Self::Merged | Self::NoChanges)
    }
}

/// The last line of every text, by which the pull request of a batch can be found.
pub fn marker(batch: BatchNumber) -> String {
    format!("Made by Pleach, batch {batch}.")
}

/// The title of the pull request: one line of plain text.
pub fn title(account: &Account) -> String {
    let merged = account.tasks.iter().filter(|task| is_merged(task));
    let titles: Vec<String> = merged.map(named_by_title).collect();
    let plan = account.plan.as_deref().map(neutral).unwrap_or_default();
    let of_plan = match plan.as_str() {
        "" => String::new(),
        plan => format!(" of {}", cut(plan, LONGEST_TITLE / 3)),
    };
    let text = match titles.as_slice() {
        [] => format!("Batch {}{of_plan}", account.batch),
        [only] => only.clone(),
        several => {
            let count = spelled(several.len());
            format!("{count} tasks{of_plan}: {}", several.join("; "))
        }
    };
    // Cutting takes nothing away that would make two parts meet.
    let text = cut(&text, LONGEST_TITLE - 1);
    match without_draft_mark(&text) {
        Some(broken) => broken,
        None => text,
    }
}

fn is_merged(task: &TaskAccount) -> bool {
    task.fate == TaskFate::Merged
}

fn named_by_title(task: &TaskAccount) -> String {
    match neutral(&task.title).as_str() {
        "" => format!("Task {}", cut(&neutral(task.id.as_str()), LONGEST_NAME / 2)),
        title => title.to_owned(),
    }
}

/// A title that would make a pull request a draft begins with a word that is none any more.
fn without_draft_mark(text: &str) -> Option<String> {
    let begin = text.trim_start_matches(['[', '(', BREAK]);
    let word: String = begin
        .chars()
        .take_while(char::is_ascii_alphabetic)
        .collect();
    let is_mark = ["draft", "wip"].contains(&word.to_ascii_lowercase().as_str());
    is_mark.then(|| {
        let after_first_letter = text.len() - begin.len() + 1;
        let (head, tail) = text.split_at(after_first_letter);
        format!("{head}{BREAK}{tail}")
    })
}

/// The text of the pull request, in Markdown.
pub fn body(account: &Account) -> String {
    let mut out = opening(account);
    let left_out: Vec<&TaskAccount> = only(account, |task| task.fate.is_left_out());
    if !left_out.is_empty() {
        out.push_str("\n## Not included\n\n");
        let items = left_out
            .iter()
            .map(|task| left_out::item(account.batch, task));
        let rest = |count| format!("- And {count} more; `pleach status` lists them.\n");
        fill(&mut out, items, LEFT_OUT_END, rest);
    }
    let included: Vec<&TaskAccount> = only(account, |task| !task.fate.is_left_out());
    if !included.is_empty() {
        out.push_str("\n## Included\n\n");
        table(&mut out, &included);
    }
    let end = format!("\n---\n\n{}\n", marker(account.batch));
    folded(&mut out, &included, LONGEST_BODY - end.len());
    out.push_str(&end);
    out
}

fn only(account: &Account, wanted: impl Fn(&TaskAccount) -> bool) -> Vec<&TaskAccount> {
    account.tasks.iter().filter(|task| wanted(task)).collect()
}

/// What was asked for, what came of it, and whether that is proved.
fn opening(account: &Account) -> String {
    let plan = match &account.plan {
        Some(plan) => format!(" of {}", code(&cut(plan, LONGEST_NAME))),
        None => String::new(),
    };
    let count = |wanted: &dyn Fn(&TaskAccount) -> bool| only(account, wanted).len();
    let merged = count(&is_merged);
    let mut results = vec![format!("{merged} merged")];
    let unchanged = count(&|task| task.fate == TaskFate::NoChanges);
    if unchanged > 0 {
        results.push(format!("{unchanged} without changes"));
    }
    let left_out = count(&|task| task.fate.is_left_out());
    if left_out > 0 {
        results.push(format!("**{left_out} not included**"));
    }
    let asked = number(account.tasks.len(), "task");
    let results = match account.tasks.len() {
        1 if merged == 1 => ", merged".to_owned(),
        all if merged == all => ", all merged".to_owned(),
        _ => format!(": {}", results.join(", ")),
    };
    let results = format!("{asked}{plan}{results}.");
    let verdict = verdict(account);
    // What has tests and lands without them says so before anything else.
    let mut out = match account.verdict {
        TestVerdict::Proved { .. } | TestVerdict::NoCommand => {
            format!("{results}\n\n{verdict}\n\n")
        }
        _ => format!("{verdict}\n\n{results}\n\n"),
    };
    out.push_str(&effort(account));
    out.push('\n');
    let effects = effects(&account.effects);
    if !effects.is_empty() {
        out.extend(["\n", &effects, "\n"]);
    }
    for other in &account.builds_on {
        out.push_str(&built_on(other));
    }
    if let Some(address) = &account.follows {
        out.extend(["\nThis follows up on ", &link(address), ".\n"]);
    }
    out
}

fn built_on(other: &BuildsOn) -> String {
    let pull_request = other.pr_url.as_ref();
    let pull_request = pull_request.map(|address| format!(", {}", link(address)));
    let ids = other.tasks.iter();
    let ids = ids.map(|id| code(&cut(id.as_str(), LONGEST_NAME)));
    format!(
        "\n**Builds on batch {}** ({}{}), which is not merged yet: {}.\n",
        other.batch,
        code(&cut(&other.branch, LONGEST_NAME)),
        pull_request.unwrap_or_default(),
        up_to(MOST_NAMES, ids)
    )
}

fn verdict(account: &Account) -> String {
    let base = short(&account.base);
    match &account.verdict {
        TestVerdict::Proved {
            command,
            tree,
            flaky,
        } => {
            let flaky = match flaky {
                0 => String::new(),
                1 => " One failed run passed when repeated: a test is flaky.".into(),
                runs => format!(" {runs} failed runs passed when repeated: a test is flaky."),
            };
            let command = code(&cut(command, LONGEST_TEXT));
            format!(
                "**Proved:** {command} passes on tree `{tree}`, the one that lands, based on {base}.{flaky}"
            )
        }
        TestVerdict::NoCommand => format!(
            "**Not proved:** no test command is configured. Everything merges cleanly onto {base}."
        ),
        TestVerdict::BaseRed { command } => format!(
            "**Not proved:** {} already fails on the base {base}, without any of this work.",
            code(&cut(command, LONGEST_TEXT))
        ),
        TestVerdict::Red { command } => format!(
            "**Not proved:** {} fails on this result, based on {base}.",
            code(&cut(command, LONGEST_TEXT))
        ),
        TestVerdict::Trouble { command, why } => format!(
            "**Not proved:** {} could not be run on this result, based on {base}: {}",
            code(&cut(command, LONGEST_TEXT)),
            escaped(&cut(why, LONGEST_TEXT))
        ),
    }
}

fn effort(account: &Account) -> String {
    let work: Duration = account.tasks.iter().filter_map(|task| task.time).sum();
    let mut out = format!(
        "Took {}, with {} of agent time",
        time(account.time),
        time(work)
    );
    let known: Vec<f64> = account
        .tasks
        .iter()
        .filter_map(|task| task.dollars)
        .collect();
    if !known.is_empty() {
        out.extend([" and ", &dollars(known.iter().sum())]);
        let tried = only(account, |task| task.attempts > 0).len();
        if known.len() < tried {
            let part = format!(" (known for {} of {tried} tasks)", known.len());
            out.push_str(&part);
        }
    }
    out.push('.');
    out
}

/// What commits do once they are merged, which nobody asked them to; nothing if they do nothing.
pub(crate) fn effects(effects: &CommitEffects) -> String {
    let told = [
        (&effects.close, "closes issues", "close issues"),
        (&effects.mention, "mentions people", "mention people"),
        (&effects.sign_off, "is signed off", "are signed off"),
    ];
    let told = told.iter().filter(|(commits, ..)| !commits.is_empty());
    let told = told.map(|(commits, one, several)| {
        let does = if commits.len() == 1 { one } else { several };
        let count = number(commits.len(), "commit");
        let names = up_to(MOST_COMMITS, commits.iter().map(short));
        format!("{count} {does}: {names}.")
    });
    told.collect::<Vec<_>>().join(" ")
}

/// An address as a link, where nothing in it could be anything else.
fn link(address: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#=&%+".contains(&byte);
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    if is_web && address.len() <= LONGEST_TEXT && address.bytes().all(is_plain) {
        format!("<{address}>")
    } else {
        code(&cut(address, LONGEST_TEXT))
    }
}

fn table(out: &mut String, tasks: &[&TaskAccount]) {
    let has_costs = tasks.iter().any(|task| task.dollars.is_some());
    let (cost, line) = if has_costs {
        (" Cost |", " ---: |")
    } else {
        ("", "")
    };
    let head = format!(
        "| Task | Title | Outcome | Commits | Files | Attempts | Time |{cost}\n\
         | --- | --- | --- | --- | ---: | ---: | ---: |{line}\n"
    );
    out.push_str(&head);
    let row = |task: &&TaskAccount| {
        let outcome = match task.fate {
            TaskFate::NoChanges => "nothing to change",
            _ => "merged",
        };
        let cost = task.dollars.map(dollars).unwrap_or_default();
        let cost = if has_costs {
            format!(" {cost} |")
        } else {
            String::new()
        };
        format!(
            "| {} | {} | {outcome} | {} | {} | {} | {} |{cost}\n",
            escaped(&cut(task.id.as_str(), LONGEST_NAME / 2)),
            escaped(&cut(&task.title, LONGEST_NAME)),
            up_to(MOST_COMMITS, task.commits.iter().map(short)),
            task.files.len(),
            task.attempts,
            task.time.map(time).unwrap_or_default(),
        )
    };
    let rest = |count| format!("\n{} are included.\n", number(count, "more task"));
    fill(out, tasks.iter().map(row), TABLE_END, rest);
}

/// What was asked of each task and the files it changed, for those who want to know.
fn folded(out: &mut String, tasks: &[&TaskAccount], end: usize) {
    const BEGIN: &str = "\n<details>\n<summary>Prompts and changed files</summary>\n";
    const END: &str = "\n</details>\n";
    let told: Vec<&&TaskAccount> = tasks
        .iter()
        .filter(|task| !task.files.is_empty() || !task.details.trim().is_empty())
        .collect();
    if told.is_empty() {
        return;
    }
    out.push_str(BEGIN);
    let part = |task: &&&TaskAccount| {
        let mut part = format!("\n{}\n", named(task));
        if !task.details.trim().is_empty() {
            let details = cut_lines(task.details.trim_end());
            part.push('\n');
            part.push_str(&block(&details, MOST_LINES));
        }
        if !task.files.is_empty() {
            let files = task.files.iter().map(|file| code(&cut(file, LONGEST_NAME)));
            part.extend(["\nChanged: ", &up_to(2 * MOST_NAMES, files), "\n"]);
        }
        part
    };
    let rest = |count| {
        format!(
            "\nThe prompts of {} are not shown.\n",
            number(count, "task")
        )
    };
    fill(out, told.iter().map(part), end - END.len(), rest);
    out.push_str(END);
}

/// Details of which no line was cut that is not the last.
fn cut_lines(details: &str) -> String {
    match details.char_indices().nth(LONGEST_DETAILS) {
        Some((end, _)) => format!("{}…", &details[..end]),
        None => details.to_owned(),
    }
}

/// Appends pieces up to a length, and says how many there was no room for.
fn fill(
    out: &mut String,
    pieces: impl ExactSizeIterator<Item = String>,
    end: usize,
    rest: impl Fn(usize) -> String,
) {
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.peek() {
        if out.len() + piece.len() + ROOM_FOR_REST > end {
            break;
        }
        out.push_str(piece);
        pieces.next();
    }
    if pieces.len() > 0 {
        out.push_str(&rest(pieces.len()));
    }
}
