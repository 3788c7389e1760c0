//! What agents do right now, in the batches of all processes: how much they printed, what they say of themselves; and
//! whether anybody is at those batches.
//!
//! Looks at the database and at logs; whoever asks decides how often.

mod heard;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use pleach_domain::batch::{Batch, Spent};
use pleach_domain::id::{BatchNumber, TaskId};

use crate::batch_paths::{LOG, attempt_folder};
use crate::database::{BatchFilter, BatchScope, Database, DatabaseError};
use crate::ownership::is_owned;
use crate::queue_report::WatchedReport;
use crate::task_ids::TaskIds;
use crate::view::Record;
use heard::HeardLog;
use pleach_system::state_folder::StateFolder;

/// An attempt that is under way, or was at the look before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveAttempt {
    pub project: Arc<str>,
    pub batch: u32,
    pub number: BatchNumber,
    pub task: TaskId,
    /// What programs know the task by.
    pub task_id: String,
    pub segment: String,
    pub attempt: u32,
    /// How many lines it printed so far.
    pub total: u64,
    /// The last thing that its agent does, on one line.
    pub action: Option<String>,
    pub spent: Spent,
    pub is_over: bool,
}

/// A batch that lost whoever was at it, or that has somebody again or is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveBatch {
    pub project: Arc<str>,
    pub batch: u32,
    /// Whether nobody is at it, though it is not over.
    pub is_interrupted: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Attempts that said something or ended.
    pub attempts: Vec<LiveAttempt>,
    /// Batches of which somebody else, or nobody, is at it.
    pub batches: Vec<LiveBatch>,
}

impl News {
    pub fn is_empty(&self) -> bool {
        self.attempts.is_empty() && self.batches.is_empty()
    }
}

/// Somebody who looks at what runs, again and again.
#[derive(Debug)]
pub struct Tails {
    state: StateFolder,
    seen: Option<u64>,
    batches: HashMap<u32, Followed>,
}

/// A batch that is not over.
#[derive(Debug)]
struct Followed {
    number: BatchNumber,
    project: Arc<str>,
    folder: PathBuf,
    batch: Batch,
    segments: Vec<String>,
    ids: TaskIds,
    seq: u64,
    is_interrupted: bool,
    /// By the position of their task.
    logs: HashMap<usize, HeardLog>,
    queue: WatchedReport,
}

impl Tails {
    pub fn new(state: &StateFolder) -> Self {
        Self {
            state: state.clone(),
            seen: None,
            batches: HashMap::new(),
        }
    }

    pub fn look(&mut self, database: &Database) -> Result<News, DatabaseError> {
        // Looked at first: an owner that ends in between has written its last event by then.
        let left = self.left_alone();
        let last = database.last_seq()?;
        let is_over = if self.seen == Some(last) {
            Vec::new()
        } else {
            self.follow(database)?
        };
        self.seen = Some(last);
        let mut news = News::default();
        for (number, followed) in &mut self.batches {
            followed.listen(*number, &mut news.attempts);
            let is_interrupted = left.contains(number) && !is_over.contains(number);
            if is_interrupted != followed.is_interrupted {
                followed.is_interrupted = is_interrupted;
                news.batches.push(LiveBatch {
                    project: Arc::clone(&followed.project),
                    batch: *number,
                    is_interrupted,
                });
            }
        }
        for number in is_over {
            self.batches.remove(&number);
        }
        Ok(news)
    }

    /// The followed batches that nobody is at; where one cannot tell, somebody is.
    fn left_alone(&self) -> HashSet<u32> {
        let is_left = |followed: &Followed| matches!(is_owned(&followed.folder), Ok(false));
        let left = self.batches.iter().filter(|(_, each)| is_left(each));
        left.map(|(number, _)| *number).collect()
    }

    /// Follows all batches that are not over; gives those that were followed and are.
    fn follow(&mut self, database: &Database) -> Result<Vec<u32>, DatabaseError> {
        let filter = BatchFilter {
            project: None,
            among: BatchScope::Open,
        };
        let open: Vec<u32> = database.batches(filter)?.iter().map(|row| row.id).collect();
        for number in &open {
            if !self.batches.contains_key(number) {
                // One whose record nobody understands is not shown.
                let Some(followed) = self.begin(database, *number)? else {
                    continue;
                };
                self.batches.insert(*number, followed);
            }
        }
        let mut is_over = Vec::new();
        for (number, followed) in &mut self.batches {
            for stored in database.events_after(followed.seq, Some(*number))? {
                followed.seq = stored.seq;
                let _ = followed.batch.apply(&stored.event);
            }
            if !open.contains(number) {
                is_over.push(*number);
            }
        }
        Ok(is_over)
    }

    fn begin(&self, database: &Database, number: u32) -> Result<Option<Followed>, DatabaseError> {
        let Some(loaded) = database.load(number)? else {
            return Ok(None);
        };
        let Ok(record) = serde_json::from_str::<Record>(&loaded.record) else {
            return Ok(None);
        };
        let segments = record.segments();
        let ids = record.task_ids(&loaded);
        let mut batch = Batch::new(record.design);
        for stored in &loaded.events {
            let _ = batch.apply(&stored.event);
        }
        Ok(Some(Followed {
            number: loaded.number,
            project: loaded.project.into(),
            folder: self.state.batch(number),
            batch,
            segments,
            ids,
            seq: loaded.events.last().map_or(0, |last| last.seq),
            is_interrupted: false,
            logs: HashMap::new(),
            queue: WatchedReport::default(),
        }))
    }
}

impl Followed {
    fn listen(&mut self, batch: u32, news: &mut Vec<LiveAttempt>) {
        let queue = self.queue.look(&self.folder);
        for (position, task) in self.batch.tasks.iter().enumerate() {
            let running = task.state.attempt();
            let (id, segment) = (&task.design.id, &self.segments[position]);
            let known = self.logs.get(&position).map(HeardLog::attempt);
            // What an attempt said last is there before anybody hears that it is over.
            if known.is_some() && known != running {
                let mut log = self.logs.remove(&position).expect("it is known");
                log.listen();
                news.push(LiveAttempt {
                    is_over: true,
                    ..live(
                        &self.project,
                        (batch, self.number),
                        (id, segment),
                        &self.ids,
                        &log,
                    )
                });
            }
            let Some(attempt) = running else {
                continue;
            };
            let log = self.logs.entry(position).or_insert_with(|| {
                let path = attempt_folder(&self.folder, segment, attempt).join(LOG);
                HeardLog::new(path, attempt)
            });
            let queued = queue.get(&(id.clone(), attempt));
            let is_moved = log.waits_for(queued.filter(|_| task.node.is_none()));
            if log.listen() || is_moved {
                news.push(live(
                    &self.project,
                    (batch, self.number),
                    (id, segment),
                    &self.ids,
                    log,
                ));
            }
        }
    }
}

fn live(
    project: &Arc<str>,
    (batch, number): (u32, BatchNumber),
    (task, segment): (&TaskId, &str),
    ids: &TaskIds,
    log: &HeardLog,
) -> LiveAttempt {
    LiveAttempt {
        project: Arc::clone(project),
        batch,
        number,
        task: task.clone(),
        task_id: ids.id(task),
        segment: segment.to_owned(),
        attempt: log.attempt(),
        total: log.total(),
        action: log.action(),
        spent: log.said().spent,
        is_over: false,
    }
}
