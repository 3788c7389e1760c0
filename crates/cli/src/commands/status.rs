//! `pleach status`: how far batches are, and what is to do.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use pleach_domain::id::BatchNumber;
use pleach_engine::config::{Config, Settings};
use pleach_engine::share;
use pleach_engine::stored_batch::LookupError;
use pleach_log::database::{BatchScope, Database};
use pleach_log::scope::{FoundBatches, Scope};
use pleach_log::view::BatchView;
use pleach_system::state_folder::StateFolder;
use serde_json::json;

use crate::args::StatusArgs;
use crate::columns::terminal_width;
use crate::draw::batch::{RepositoryLabel, brief, draw, draw_within, history};
use crate::failure::{Exit, Failure, Failures};
use crate::output::{self, Reader, one_line};
use crate::plan_source::current_folder;
use crate::terminal;

/// How often the log is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How often times that run on are drawn anew, and a batch that died is noticed.
const BEAT: Duration = Duration::from_secs(1);

pub(crate) fn run(arguments: &StatusArgs) -> Result<Exit, Failures> {
    show(arguments).map_err(|failures| failures.told_to(Reader::from_flag(arguments.json)))
}

fn show(arguments: &StatusArgs) -> Result<Exit, Failures> {
    let state = StateFolder::of_user()?;
    let sight = BatchSource {
        database: Database::open(&state)?,
        state,
    };
    let (ids, home) = sight.meant(arguments)?;
    if arguments.watch {
        return sight.watch(&ids, home, Reader::from_flag(arguments.json));
    }
    let views = sight.load(&ids)?;
    if arguments.json {
        let text = serde_json::to_string_pretty(&json!({ "batches": views }));
        let text = text.expect("views are plain data");
        output::print(format_args!("{text}\n"));
    } else if views.is_empty() {
        output::print(format_args!("No batches yet.\n"));
    } else if arguments.all {
        for line in history(&views, terminal_width(), home) {
            output::print(format_args!("{line}\n"));
        }
    } else {
        output::print(format_args!("{}\n", table(&views, home).join("\n")));
    }
    if !arguments.json {
        tell_of_other_hosts(&sight.state);
    }
    Ok(Exit::Success)
}

/// Batches of this user on a cluster that were started on another machine, which alone can say how far they are.
fn tell_of_other_hosts(state: &StateFolder) {
    let here = current_folder().ok();
    let settings = here.and_then(|here| Settings::load(&here, Config::default()).ok());
    let Some(share) = settings.and_then(|settings| settings.cluster_share) else {
        return;
    };
    for (owner, batches) in share::others(&share, state) {
        let batches: Vec<String> = batches.iter().map(u32::to_string).collect();
        let (host, batches) = (one_line(&owner.host), batches.join(", "));
        output::tell_error(format_args!(
            "note: batch {batches} was started on {host}; run `pleach status` there\n"
        ));
    }
}

fn table(views: &[BatchView], home: RepositoryLabel) -> Vec<String> {
    let drawn: Vec<Vec<String>> = views
        .iter()
        .map(|view| draw(view, terminal_width(), home))
        .collect();
    drawn.join(&String::new())
}

pub(crate) struct BatchSource {
    pub(crate) state: StateFolder,
    pub(crate) database: Database,
}

impl BatchSource {
    /// The batches that are meant, and whether their repository needs saying.
    fn meant(&self, arguments: &StatusArgs) -> Result<(Vec<u32>, RepositoryLabel), Failures> {
        if let Some(number) = arguments.batch {
            return Ok((
                vec![find_batch(&self.state, number)?],
                RepositoryLabel::Omitted,
            ));
        }
        let scope = Scope::of_folder(&self.state, &current_folder()?)?;
        let home = match scope {
            Scope::Project(_) => RepositoryLabel::Omitted,
            Scope::User => RepositoryLabel::Shown,
        };
        let ids = |among| -> Result<Vec<u32>, Failures> {
            let rows = scope.batches(&self.database, among)?;
            Ok(rows.into_iter().map(|row| row.id).collect())
        };
        let mut meant = ids(if arguments.all {
            BatchScope::All
        } else {
            BatchScope::Open
        })?;
        if meant.is_empty() {
            meant = ids(BatchScope::All)?;
            meant.truncate(1);
        }
        Ok((meant, home))
    }

    pub(crate) fn load(&self, ids: &[u32]) -> Result<Vec<BatchView>, Failures> {
        ids.iter().map(|id| self.load_one(*id)).collect()
    }

    pub(crate) fn load_one(&self, id: u32) -> Result<BatchView, Failures> {
        let view = BatchView::load(&self.state, &self.database, id)?;
        Ok(view.ok_or(LookupError::NoBatch(id))?)
    }

    fn watch(&self, ids: &[u32], home: RepositoryLabel, reader: Reader) -> Result<Exit, Failures> {
        let on_terminal = terminal::can_draw(&std::io::stdout()) && reader == Reader::Person;
        let mut screen = RedrawnLines::default();
        let mut told: Vec<String> = Vec::new();
        loop {
            let seen = self.database.last_seq()?;
            let views = self.load(ids)?;
            let goes_on = |view: &BatchView| view.completed_at.is_none() && !view.interrupted;
            let is_over = !views.iter().any(goes_on);
            if on_terminal && is_over {
                screen.draw(&table(&views, home));
            } else if on_terminal {
                screen.draw(&fitting(&views, home));
            } else {
                let news = news(&views, reader);
                for (_, line) in news.iter().filter(|(what, _)| !told.contains(what)) {
                    output::print(format_args!("{line}\n"));
                }
                told = news.into_iter().map(|(what, _)| what).collect();
            }
            if is_over {
                return Ok(Exit::Success);
            }
            self.wait_for_news(seen)?;
        }
    }

    /// Waits until something happened, but not long.
    pub(crate) fn wait_for_news(&self, seen: u64) -> Result<(), Failures> {
        let until = Instant::now() + BEAT;
        while Instant::now() < until && self.database.last_seq()? == seen {
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

/// What is worth a line where nothing can be drawn over, each with what makes it news.
fn news(views: &[BatchView], reader: Reader) -> Vec<(String, String)> {
    if reader == Reader::Person {
        let lines = views.iter().map(|view| brief(view, None));
        return lines.map(|line| (line.clone(), line)).collect();
    }
    let mut still = views.to_vec();
    for view in &mut still {
        // These move on while nothing happens.
        (view.seconds, view.worked_seconds) = (0.0, 0.0);
        (view.seconds_left, view.estimated_end) = (None, None);
        for task in &mut view.tasks {
            task.seconds = 0.0;
        }
    }
    let line = |views: &[BatchView]| json!({ "batches": views }).to_string();
    vec![(line(&still), line(views))]
}

/// Everything, or as much of it as there is room for.
fn fitting(views: &[BatchView], home: RepositoryLabel) -> Vec<String> {
    let all = table(views, home);
    let size = terminal_size::terminal_size();
    let height = size.map_or(usize::MAX, |(_, height)| {
        usize::from(height.0).saturating_sub(1)
    });
    if all.len() <= height || views.is_empty() {
        return all;
    }
    let each = (height / views.len()).saturating_sub(1);
    let drawn: Vec<Vec<String>> = views
        .iter()
        .map(|view| draw_within(view, terminal_width(), home, each))
        .collect();
    let mut lines = drawn.join(&String::new());
    lines.truncate(height);
    lines
}

#[derive(Default)]
pub(crate) struct RedrawnLines {
    lines: usize,
}

impl RedrawnLines {
    pub(crate) fn draw(&mut self, lines: &[String]) {
        // In one piece and each line over its old self, so that nothing flickers.
        let has_colours = terminal::has_colours(&std::io::stdout());
        let mut text = "\x1b[?2026h".to_owned();
        if self.lines > 0 {
            let _ = write!(text, "\x1b[{}A", self.lines);
        }
        for line in lines {
            if has_colours {
                text.push_str(line);
            } else {
                let _ = write!(text, "{}", anstream::adapter::strip_str(line));
            }
            text.push_str("\x1b[K\n");
        }
        text.push_str("\x1b[J\x1b[?2026l");
        let mut output = std::io::stdout().lock();
        // A terminal that is gone shows nothing.
        let _ = output
            .write_all(text.as_bytes())
            .and_then(|()| output.flush());
        self.lines = lines.len();
    }
}

/// The id of the batch that has a number in the project around, or among all of this user outside of one.
pub(crate) fn find_batch(state: &StateFolder, number: BatchNumber) -> Result<u32, Failures> {
    let scope = Scope::of_folder(state, &current_folder()?)?;
    let failure = |code, message: String| Failure::new(Exit::Usage, code, message);
    Err(match scope.find(&Database::open(state)?, number)? {
        FoundBatches::One(id) => return Ok(id),
        FoundBatches::Nothing => {
            let place = if scope.project().is_some() {
                " in this project"
            } else {
                ""
            };
            failure(
                "batch_not_found",
                format!("batch {number} not found{place}"),
            )
            .hint("`pleach status --all` lists all batches")
        }
        FoundBatches::Several(mut repositories) => {
            repositories.sort();
            repositories.dedup();
            let places: Vec<String> = { repositories.iter() }
                .map(|path| one_line(&path.to_string_lossy()))
                .collect();
            let message = format!(
                "several projects have a batch {number}: {}",
                places.join(", ")
            );
            failure("batch_ambiguous", message).hint("run the command in the project you mean")
        }
    }
    .into())
}
