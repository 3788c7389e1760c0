//! Puts a new text in the place of a plan and takes it back if somebody saved in between.
//!
//! The two names are exchanged and the displaced file is compared with what was read. To this protocol a
//! second Pleach is one more person who saves.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use pleach_system::crash_point::{CrashPoint, crash_point};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::aside;
use super::displaced::DisplacedFile;
use super::draft::DraftFile;
use super::error::{PlanFileError, RewriteError};
use super::merge::distance;
use super::retry::{PAUSES, retry};
use super::rewrite_lock::RewriteLock;
use super::source::{load_text, resolve};

const ROUNDS: u32 = 24;
const HALF_SAVED_ROUNDS: u32 = 5;
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swap {
    /// Exchanges both names at once, and falls back to `Rename` where the file system cannot.
    Exchange,
    /// Checks, then renames over; a save between the two is lost, which only `Exchange` can prevent.
    Rename,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewriteOutcome {
    /// The new text is in place and on the disk.
    Written,
    Unchanged,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RewriteRound {
    Ended(RewriteOutcome),
    /// Somebody saved meanwhile; their text is in place.
    Again,
    /// As `Again`, and an aside holds a text that was saved while ours was visible.
    Owing,
}

/// A text to put in place: what it was made from, and what it is.
struct TextReplacement {
    target: PathBuf,
    was: String,
    new: String,
}

/// One rewrite with all its rounds, and the files it displaced.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) path: PathBuf,
    pub(super) asides: VecDeque<DisplacedFile>,
    swap: Swap,
}

impl Writer {
    pub(super) fn new(path: &Path, swap: Swap) -> Self {
        Self {
            path: path.to_owned(),
            asides: VecDeque::new(),
            swap,
        }
    }

    /// Runs rounds until the text holds, and brings back between them what was saved over an undone one.
    pub(super) fn rewrite<E>(
        &mut self,
        edit: &mut dyn FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<RewriteOutcome, RewriteError<E>> {
        let _turn = RewriteLock::wait_for(&self.path);
        for round in 0..ROUNDS {
            match self.round(round, edit)? {
                RewriteRound::Ended(outcome) => return Ok(outcome),
                RewriteRound::Again => {}
                RewriteRound::Owing => self.absorb()?,
            }
        }
        Err(self.busy().into())
    }

    /// As `rewrite`, for a caller that has the turn and looks through the asides itself.
    pub(super) fn apply(
        &mut self,
        edit: &mut dyn FnMut(&str) -> String,
    ) -> Result<(), PlanFileError> {
        let mut edit = |text: &str| Ok::<_, PlanFileError>(Some(edit(text)));
        for round in 0..ROUNDS {
            match self.round(round, &mut edit) {
                Ok(RewriteRound::Ended(_)) => return Ok(()),
                Ok(RewriteRound::Again | RewriteRound::Owing) => {}
                Err(RewriteError::Edit(error) | RewriteError::File(error)) => return Err(error),
            }
        }
        Err(self.busy())
    }

    pub(super) fn busy(&self) -> PlanFileError {
        PlanFileError::Busy {
            path: self.path.clone(),
            rounds: ROUNDS,
        }
    }

    fn round<E>(
        &mut self,
        round: u32,
        edit: &mut dyn FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<RewriteRound, RewriteError<E>> {
        thread::sleep(pause_before(round));
        let (target, was) = match self.load_target() {
            Err(error) if error.is_half_saved() && round < HALF_SAVED_ROUNDS => {
                return Ok(RewriteRound::Again);
            }
            result => result?,
        };
        let new = match edit(&was) {
            Ok(Some(new)) if new != was => new,
            Ok(_) => return Ok(RewriteRound::Ended(RewriteOutcome::Unchanged)),
            Err(error) => {
                // An editor that truncates before it writes shows a plan without its tasks for a moment.
                thread::sleep(PAUSES[0]);
                return match load_text(&target) {
                    Ok(text) if text == was => Err(RewriteError::Edit(error)),
                    _ => Ok(RewriteRound::Again),
                };
            }
        };
        let draft = match DraftFile::write(&target, &was, &new) {
            Err(error) if error.is_half_saved() && round < HALF_SAVED_ROUNDS => {
                return Ok(RewriteRound::Again);
            }
            result => result?,
        };
        // Saves during the slow part are seen here, before ours is visible to anybody.
        if !holds(&target, &was) {
            return Ok(RewriteRound::Again);
        }
        crash_point(CrashPoint::PlanDrafted);
        Ok(self.publish(draft, TextReplacement { target, was, new })?)
    }

    fn load_target(&self) -> Result<(PathBuf, String), PlanFileError> {
        let target = resolve(&self.path)?;
        let text = load_text(&target)?;
        Ok((target, text))
    }

    fn publish(
        &mut self,
        draft: DraftFile,
        change: TextReplacement,
    ) -> Result<RewriteRound, PlanFileError> {
        if self.swap == Swap::Rename {
            return self.rename_over(draft, &change);
        }
        match retry(|| exchange(draft.path(), &change.target)) {
            Ok(()) => self.verify(draft.take(), change),
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    self.swap = Swap::Rename;
                    self.rename_over(draft, &change)
                }
                // Some editors move the old file away before they create the new one.
                Some(Errno::NOENT) => Ok(RewriteRound::Again),
                _ => Err(self.write_error(error)),
            },
        }
    }

    /// Keeps our text in place if it displaced what was read, and takes it back otherwise.
    fn verify(
        &mut self,
        aside: PathBuf,
        change: TextReplacement,
    ) -> Result<RewriteRound, PlanFileError> {
        crash_point(CrashPoint::PlanExchanged);
        let displaced = fs::read(&aside).unwrap_or_default();
        if displaced != change.was.as_bytes() {
            return self.take_back(aside, &displaced, change);
        }
        self.asides
            .push_back(DisplacedFile::replaced(aside, change.was, &change.new));
        sync_folder(&change.target).map_err(|error| self.write_error(error))?;
        Ok(RewriteRound::Ended(RewriteOutcome::Written))
    }

    fn take_back(
        &mut self,
        aside: PathBuf,
        displaced: &[u8],
        change: TextReplacement,
    ) -> Result<RewriteRound, PlanFileError> {
        for pause in PAUSES {
            match exchange(&aside, &change.target) {
                Ok(()) => {
                    let target = change.target.clone();
                    let round = self.watch_undone(aside, displaced, change);
                    sync_folder(&target).map_err(|error| self.write_error(error))?;
                    return Ok(round);
                }
                // Our text was moved away in this instant: the place is free, unless it is taken again.
                Err(_) if restore(&aside, &change.target).is_ok() => {
                    return Ok(RewriteRound::Again);
                }
                Err(_) => thread::sleep(pause),
            }
        }
        let source = Box::new(self.busy());
        let path = self.path.clone();
        Err(PlanFileError::Kept {
            path,
            aside,
            source,
        })
    }

    /// Watches what stood in the place while our text was to be seen there.
    fn watch_undone(
        &mut self,
        aside: PathBuf,
        displaced: &[u8],
        change: TextReplacement,
    ) -> RewriteRound {
        let saved = load_text(&aside).unwrap_or_default();
        if saved == change.new {
            self.asides.push_back(DisplacedFile::new(aside, change.new));
            return RewriteRound::Again;
        }
        // Somebody saved over ours. Only against the text they started from does a comparison show their
        // change and nothing else, and of all they can have seen that is the one most like theirs.
        let displaced = String::from_utf8_lossy(displaced).into_owned();
        let starts = [change.new, displaced, change.was].into_iter();
        let start = starts.min_by_key(|start| distance(start, &saved));
        self.asides
            .push_back(DisplacedFile::new(aside, start.unwrap_or_default()));
        RewriteRound::Owing
    }

    fn rename_over(
        &mut self,
        draft: DraftFile,
        change: &TextReplacement,
    ) -> Result<RewriteRound, PlanFileError> {
        let aside = aside::fresh_path(&change.target, &change.was, &change.new);
        // Without hard links there is no way to see what is written to the old file from now on.
        let aside = fs::hard_link(&change.target, &aside)
            .is_ok()
            .then(|| DisplacedFile::replaced(aside, change.was.clone(), &change.new));
        if !holds(&change.target, &change.was) {
            aside.into_iter().for_each(DisplacedFile::remove);
            return Ok(RewriteRound::Again);
        }
        if let Err(error) = retry(|| fs::rename(draft.path(), &change.target)) {
            aside.into_iter().for_each(DisplacedFile::remove);
            return Err(self.write_error(error));
        }
        draft.take();
        self.asides.extend(aside);
        sync_folder(&change.target).map_err(|error| self.write_error(error))?;
        Ok(RewriteRound::Ended(RewriteOutcome::Written))
    }

    fn write_error(&self, source: io::Error) -> PlanFileError {
        PlanFileError::Write {
            path: self.path.clone(),
            source,
        }
    }
}

fn pause_before(round: u32) -> Duration {
    match round.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => Duration::from_millis(1 << doublings.min(6)).min(LONGEST_PAUSE),
    }
}

fn holds(path: &Path, text: &str) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes())
}

fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

fn restore(aside: &Path, target: &Path) -> io::Result<()> {
    Ok(renameat_with(
        CWD,
        aside,
        CWD,
        target,
        RenameFlags::NOREPLACE,
    )?)
}

fn sync_folder(target: &Path) -> io::Result<()> {
    let folder = target.parent().unwrap_or(Path::new("/"));
    match File::open(folder)?.sync_all() {
        // Some file systems cannot sync a folder and need no asking.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Displaced;
    use super::*;

    const WAS: &str = "- [ ] a\n- [ ] b\n- [ ] c\n";
    const OURS: &str = "- [x] a\n- [ ] b\n- [ ] c\n";
    const THEIRS: &str = "- [ ] a\n- [ ] b\ntheirs\n- [ ] c\n";

    struct Race {
        folder: tempfile::TempDir,
        plan: PathBuf,
        writer: Writer,
    }

    /// A rewrite that has read `WAS` and is about to put `OURS`, when somebody has just saved `THEIRS`.
    fn race() -> (Race, DraftFile) {
        let folder = tempfile::tempdir().unwrap();
        let plan = folder.path().join("TODO.md");
        fs::write(&plan, WAS).unwrap();
        let draft = DraftFile::write(&plan, WAS, OURS).unwrap();
        save(&plan, THEIRS);
        let writer = Writer::new(&plan, Swap::Exchange);
        (
            Race {
                folder,
                plan,
                writer,
            },
            draft,
        )
    }

    fn save(plan: &Path, text: &str) {
        let temporary = plan.with_file_name("save");
        fs::write(&temporary, text).unwrap();
        fs::rename(temporary, plan).unwrap();
    }

    impl Race {
        fn change(&self) -> TextReplacement {
            TextReplacement {
                target: self.plan.clone(),
                was: WAS.to_owned(),
                new: OURS.to_owned(),
            }
        }

        #[track_caller]
        fn check_text(&self, expected: &str) {
            assert_eq!(fs::read_to_string(&self.plan).unwrap(), expected);
        }

        #[track_caller]
        fn check_settled(self, expected: &str) {
            let Self {
                folder,
                plan,
                writer,
            } = self;
            drop(Displaced::new(writer));
            assert_eq!(fs::read_to_string(&plan).unwrap(), expected);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_save_right_before_the_exchange_is_put_back() {
        let (mut race, draft) = race();
        let change = race.change();
        assert_eq!(
            race.writer.publish(draft, change).unwrap(),
            RewriteRound::Again
        );
        race.check_text(THEIRS);
        race.check_settled(THEIRS);
    }

    #[test]
    fn what_is_appended_to_our_text_before_it_is_taken_back_is_kept() {
        let (mut race, draft) = race();
        exchange(draft.path(), &race.plan).unwrap();
        fs::write(&race.plan, format!("{OURS}late\n")).unwrap();
        let change = race.change();
        assert_eq!(
            race.writer.verify(draft.take(), change).unwrap(),
            RewriteRound::Owing
        );
        race.check_text(THEIRS);
        race.writer.absorb().unwrap();
        race.check_settled(&format!("{THEIRS}late\n"));
    }

    #[test]
    fn a_second_save_by_somebody_who_never_saw_our_text_undoes_nothing() {
        let (mut race, draft) = race();
        exchange(draft.path(), &race.plan).unwrap();
        save(&race.plan, &format!("{THEIRS}late\n"));
        let change = race.change();
        assert_eq!(
            race.writer.verify(draft.take(), change).unwrap(),
            RewriteRound::Owing
        );
        let mut edit =
            |text: &str| Ok::<_, PlanFileError>(Some(text.replacen("[ ] a", "[x] a", 1)));
        race.writer.absorb().unwrap();
        race.writer.rewrite(&mut edit).unwrap();
        race.check_settled("- [x] a\n- [ ] b\ntheirs\n- [ ] c\nlate\n");
    }

    #[test]
    fn a_save_is_put_back_also_where_our_text_was_moved_away() {
        let (mut race, draft) = race();
        exchange(draft.path(), &race.plan).unwrap();
        fs::remove_file(&race.plan).unwrap();
        let change = race.change();
        assert_eq!(
            race.writer.verify(draft.take(), change).unwrap(),
            RewriteRound::Again
        );
        race.check_settled(THEIRS);
    }

    #[test]
    fn a_plan_that_is_gone_at_the_exchange_is_tried_again() {
        let (mut race, draft) = race();
        fs::remove_file(&race.plan).unwrap();
        let change = race.change();
        assert_eq!(
            race.writer.publish(draft, change).unwrap(),
            RewriteRound::Again
        );
        assert_eq!(fs::read_dir(race.folder.path()).unwrap().count(), 0);
    }
}
