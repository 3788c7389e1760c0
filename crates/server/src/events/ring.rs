//! The last entries of the log in memory, and what agents do right now.
//!
//! Every client reads it with a cursor of its own; nothing here knows of clients.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use axum::body::Bytes;
use pleach_domain::batch::Spent;
use pleach_domain::id::TaskId;
use pleach_log::tails::{LiveAttempt, News};

use super::frame::{Filter, Frame, interrupted_told, log_told, progress_told};

const MOST_FRAMES: usize = 10_000;
const MOST_BYTES: usize = 16 << 20;
/// What is sent in one piece, about.
const PIECE: usize = 64 << 10;
/// For how many looks what is over is kept for those who have not heard of it.
const LOOKS_KEPT: u64 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The last entry that it has, or that is not for it.
    pub(super) seq: u64,
    /// The last change of what agents do that it has.
    pub(super) live: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// These bytes, where it is then, and how many events they are.
    Bytes(Bytes, Cursor, u64),
    /// Nothing, and where it is then.
    Nothing(Cursor),
    /// It is so far behind that the log itself must tell.
    Behind,
}

#[derive(Debug)]
pub(super) struct Ring {
    frames: VecDeque<Frame>,
    bytes: usize,
    /// The number of the last entry that was taken in or passed over.
    last: u64,
    live: BTreeMap<(u32, TaskId), Live>,
    /// The batches that nobody is at.
    interrupted: BTreeMap<u32, Interrupted>,
    /// Counts the changes of `live` and `interrupted`.
    version: u64,
    look: u64,
}

#[derive(Debug)]
struct Live {
    project: Arc<str>,
    log: (u64, Bytes),
    progress: (u64, Bytes),
    said: (u32, Option<String>, Spent),
    over_since: Option<u64>,
}

#[derive(Debug)]
struct Interrupted {
    project: Arc<str>,
    version: u64,
    told: Bytes,
}

impl Ring {
    /// An empty one; whatever is before that number is not in it.
    pub(super) fn after(last: u64) -> Self {
        Self {
            frames: VecDeque::new(),
            bytes: 0,
            last,
            live: BTreeMap::new(),
            interrupted: BTreeMap::new(),
            version: 0,
            look: 0,
        }
    }

    /// The number of the last entry.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Takes entries in, up to the number that they reach.
    pub(super) fn push(&mut self, frames: Vec<Frame>, reached: u64) {
        for frame in frames {
            self.bytes += frame.bytes.len();
            self.frames.push_back(frame);
        }
        self.last = reached;
        while self.frames.len() > MOST_FRAMES || self.bytes > MOST_BYTES {
            let Some(gone) = self.frames.pop_front() else {
                break;
            };
            self.bytes -= gone.bytes.len();
        }
    }

    /// Forgets the entries, to go on after that number.
    pub(super) fn restart_after(&mut self, last: u64) {
        self.frames.clear();
        self.bytes = 0;
        self.last = last;
    }

    /// Forgets what agents do and which batches stand still; the next look tells all of it anew.
    pub(super) fn forget_how_things_stand(&mut self) {
        self.live.clear();
        self.interrupted.clear();
    }

    pub(super) fn look(&mut self, news: &News) {
        self.look_at_agents(&news.attempts);
        for batch in &news.batches {
            self.interrupted.remove(&batch.batch);
            if batch.is_interrupted {
                self.version += 1;
                let interrupted = Interrupted {
                    project: Arc::clone(&batch.project),
                    version: self.version,
                    told: interrupted_told(batch),
                };
                self.interrupted.insert(batch.batch, interrupted);
            }
        }
    }

    fn look_at_agents(&mut self, attempts: &[LiveAttempt]) {
        self.look += 1;
        let look = self.look;
        self.live.retain(|_, live| {
            live.over_since
                .is_none_or(|since| since + LOOKS_KEPT > look)
        });
        for attempt in attempts {
            self.version += 1;
            let version = self.version;
            let said = (attempt.attempt, attempt.action.clone(), attempt.spent);
            let key = (attempt.batch, attempt.task.clone());
            let known = self.live.remove(&key).filter(|live| live.said == said);
            let progress = match known {
                Some(known) => known.progress,
                None => (version, progress_told(attempt)),
            };
            let live = Live {
                project: Arc::clone(&attempt.project),
                log: (version, log_told(attempt)),
                progress,
                said,
                over_since: attempt.is_over.then_some(look),
            };
            self.live.insert(key, live);
        }
    }

    /// What there is for a client, in a piece of a handy size.
    pub(super) fn take(&self, cursor: Cursor, filter: &Filter) -> Taken {
        let first = self.frames.front().map_or(self.last + 1, |first| first.seq);
        if cursor.seq + 1 < first && cursor.seq < self.last {
            return Taken::Behind;
        }
        let (mut piece, mut count) = (Vec::new(), 0);
        let mut seq = cursor.seq;
        // The frames are numbered without gaps, but for those that nobody can read.
        let from = self.frames.partition_point(|frame| frame.seq <= seq);
        for frame in self.frames.range(from..) {
            if piece.len() >= PIECE {
                break;
            }
            seq = frame.seq;
            if filter.passes(frame.project.as_deref(), frame.batch) {
                piece.extend_from_slice(&frame.bytes);
                count += 1;
            }
        }
        let mut live = cursor.live;
        if piece.len() < PIECE {
            seq = seq.max(self.last);
            live = self.version;
            count += self.take_live(cursor.live, filter, &mut piece);
        }
        let cursor = Cursor { seq, live };
        if piece.is_empty() {
            Taken::Nothing(cursor)
        } else {
            Taken::Bytes(piece.into(), cursor, count)
        }
    }

    fn take_live(&self, seen: u64, filter: &Filter, piece: &mut Vec<u8>) -> u64 {
        if seen == self.version {
            return 0;
        }
        let mut count = 0;
        for (batch, interrupted) in &self.interrupted {
            let is_new = interrupted.version > seen;
            if is_new && filter.passes(Some(&interrupted.project), Some(*batch)) {
                piece.extend_from_slice(&interrupted.told);
                count += 1;
            }
        }
        for ((batch, _), live) in &self.live {
            if filter.passes(Some(&live.project), Some(*batch)) {
                let both = [&live.log, &live.progress];
                for (_, bytes) in both.into_iter().filter(|(version, _)| *version > seen) {
                    piece.extend_from_slice(bytes);
                    count += 1;
                }
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use pleach_log::tails::LiveBatch;

    use pleach_domain::id::BatchNumber;

    use super::*;

    fn frame(seq: u64, batch: u32) -> Frame {
        Frame {
            seq,
            project: Some("p".into()),
            batch: Some(batch),
            bytes: format!("<{seq}>").into(),
        }
    }

    fn at(seq: u64) -> Cursor {
        Cursor { seq, live: 0 }
    }

    fn told(ring: &Ring, seq: u64, filter: &Filter) -> (String, u64) {
        match ring.take(at(seq), filter) {
            Taken::Bytes(bytes, cursor, _) => {
                (String::from_utf8_lossy(&bytes).into_owned(), cursor.seq)
            }
            Taken::Nothing(cursor) => (String::new(), cursor.seq),
            Taken::Behind => ("behind".into(), seq),
        }
    }

    #[test]
    fn every_cursor_gets_what_comes_after_it() {
        let all = Filter::default();
        let mut ring = Ring::after(4);
        assert_eq!(told(&ring, 4, &all), (String::new(), 4));
        assert_eq!(
            told(&ring, 9, &all),
            (String::new(), 9),
            "ahead of the ring"
        );
        assert_eq!(told(&ring, 3, &all).0, "behind");
        ring.push(vec![frame(5, 1), frame(6, 2), frame(7, 1)], 8);
        assert_eq!(told(&ring, 4, &all), ("<5><6><7>".into(), 8));
        assert_eq!(told(&ring, 6, &all), ("<7>".into(), 8));
        assert_eq!(told(&ring, 8, &all), (String::new(), 8));
        assert_eq!(told(&ring, 3, &all).0, "behind");
        let second = Filter {
            batch: Some(2),
            ..all
        };
        assert_eq!(told(&ring, 4, &second), ("<6>".into(), 8));
        assert_eq!(told(&ring, 6, &second), (String::new(), 8));
    }

    #[test]
    fn what_is_kept_is_limited_in_number_and_in_bytes() {
        let all = Filter::default();
        let mut ring = Ring::after(0);
        let many = MOST_FRAMES as u64 + 10;
        ring.push((1..=many).map(|seq| frame(seq, 1)).collect(), many);
        assert_eq!(told(&ring, 9, &all).0, "behind");
        assert!(told(&ring, 10, &all).0.starts_with("<11>"));
        let large = Frame {
            bytes: vec![b'x'; MOST_BYTES / 2].into(),
            ..frame(many + 1, 1)
        };
        let larger = Frame {
            seq: many + 2,
            ..large.clone()
        };
        ring.push(vec![large, larger], many + 2);
        assert_eq!(told(&ring, many - 1, &all).0, "behind");
        assert_eq!(told(&ring, many, &all).1, many + 1, "one piece at a time");
    }

    fn said(attempt: LiveAttempt) -> News {
        News {
            attempts: vec![attempt],
            batches: vec![],
        }
    }

    fn attempt(total: u64, action: &str) -> LiveAttempt {
        LiveAttempt {
            project: "p".into(),
            batch: 1,
            number: BatchNumber(1),
            task: TaskId::new("1"),
            segment: "1".to_owned(),
            task_id: "opaque".to_owned(),
            attempt: 1,
            total,
            action: Some(action.to_owned()),
            spent: Spent::default(),
            is_over: false,
        }
    }

    fn live(ring: &Ring, cursor: Cursor) -> (Vec<String>, Cursor) {
        match ring.take(cursor, &Filter::default()) {
            Taken::Bytes(bytes, cursor, _) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let names = text
                    .lines()
                    .filter_map(|line| line.strip_prefix("event: ")?.split(':').nth(1));
                (names.map(str::to_owned).collect(), cursor)
            }
            Taken::Nothing(cursor) => (Vec::new(), cursor),
            Taken::Behind => panic!("it is not"),
        }
    }

    #[test]
    fn what_agents_do_is_told_once_and_only_as_it_stands() {
        let mut ring = Ring::after(0);
        ring.look(&said(attempt(1, "reads")));
        ring.look(&said(attempt(2, "writes")));
        let (first, cursor) = live(&ring, at(0));
        assert_eq!(first, ["log", "progress"]);
        assert_eq!(live(&ring, cursor), (vec![], cursor));
        ring.look(&said(attempt(3, "writes")));
        let (second, cursor) = live(&ring, cursor);
        assert_eq!(second, ["log"]);
        let over = LiveAttempt {
            is_over: true,
            ..attempt(4, "writes")
        };
        ring.look(&said(over));
        let (last, _) = live(&ring, cursor);
        assert_eq!(last, ["log"]);
        for _ in 0..LOOKS_KEPT {
            ring.look(&News::default());
        }
        assert_eq!(live(&ring, at(0)).0, Vec::<String>::new());
    }
    #[test]
    fn who_comes_later_hears_of_batches_that_nobody_is_at_until_somebody_is() {
        let mut ring = Ring::after(0);
        let stands = |is_interrupted| News {
            attempts: vec![],
            batches: vec![LiveBatch {
                project: "p".into(),
                batch: 1,
                is_interrupted,
            }],
        };
        ring.look(&stands(true));
        let (first, cursor) = live(&ring, at(0));
        assert_eq!(first, ["interrupted"]);
        assert_eq!(live(&ring, cursor), (vec![], cursor));
        assert_eq!(live(&ring, at(0)).0, ["interrupted"], "a newcomer");
        let other = Filter {
            batch: Some(2),
            ..Filter::default()
        };
        assert_eq!(told(&ring, 0, &other).0, "");
        ring.look(&stands(false));
        assert_eq!(live(&ring, at(0)).0, Vec::<String>::new());
    }

    #[test]
    fn how_things_stood_while_somebody_looked_is_told_to_nobody_later() {
        let mut ring = Ring::after(0);
        let both = News {
            batches: vec![LiveBatch {
                project: "p".into(),
                batch: 1,
                is_interrupted: true,
            }],
            ..said(attempt(1, "reads"))
        };
        ring.look(&both);
        let (told, cursor) = live(&ring, at(0));
        assert_eq!(told, ["interrupted", "log", "progress"]);
        ring.forget_how_things_stand();
        assert_eq!(live(&ring, at(0)).0, Vec::<String>::new());
        ring.look(&both);
        assert_eq!(live(&ring, cursor).0, told, "the next look tells it anew");
    }
}
