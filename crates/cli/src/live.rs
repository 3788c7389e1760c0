//! The live view of a run: what is told is heard on one side, and drawn by a thread of its own on the other.
//!
//! Takes the terminal's last lines and gives everything back when it ends, however that comes.

mod draw;
mod state;
#[cfg(test)]
mod tests;

use std::io::Write as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use pleach_engine::run::{LoopNotice, Prepared, Progress};
use pleach_log::database::StoredEvent;
use signal_hook::consts::{SIGCONT, SIGWINCH};
use signal_hook::iterator::{Handle, Signals};

use self::draw::{DrawClock, draw};
use self::state::LiveState;
use crate::line::Line;
use crate::region::{NarrowingEffect, Region};
use crate::terminal::{self, BorrowedModes, TerminalSize};

/// It is drawn no more often than this.
const PAUSE: Duration = Duration::from_millis(100);
/// Times run on while nothing happens.
const BEAT: Duration = Duration::from_secs(1);

enum LiveInput {
    /// Something happened, with the line that it is worth, which scrolls away above.
    Event(Box<StoredEvent>, Option<Line>),
    Progress(Progress),
    Note(Option<Line>),
    /// Somebody wants it to end, and did so often before.
    Stop(usize),
    Resized,
    /// Somebody else used the terminal in between.
    Continued,
    End,
}

/// Draws until it is dropped.
pub(crate) struct Live {
    sender: Sender<LiveInput>,
    drawer: Option<JoinHandle<()>>,
    signals: Option<Handle>,
    _modes: Option<BorrowedModes>,
}

impl Live {
    /// Takes the terminal, if there is one that can be drawn on.
    pub(crate) fn begin(prepared: &Prepared) -> Option<Self> {
        let output = std::io::stdout();
        if !terminal::can_draw(&output) {
            return None;
        }
        // Without them there is no estimate.
        let past = prepared.past_durations().unwrap_or_default();
        let mut state = LiveState::new(
            prepared.design(),
            prepared.runs_on(),
            &prepared.titles(),
            past,
        );
        for stored in prepared.events() {
            state.hear(stored);
        }
        let (sender, heard) = channel();
        let region = Region::new(
            NarrowingEffect::of_terminal(),
            terminal::has_colours(&output),
        );
        let modes = BorrowedModes::without_echo();
        let drawer = Drawer {
            state,
            region,
            above: Vec::new(),
            zone: TimeZone::system(),
        };
        Some(Self {
            drawer: Some(std::thread::spawn(move || drawer.run(&heard))),
            signals: follow_the_terminal(sender.clone()),
            sender,
            _modes: modes,
        })
    }

    /// Shows something that was told, and the line that it is worth.
    pub(crate) fn tell(&self, told: &LoopNotice<'_>, line: Option<Line>) {
        // A drawer that is gone shows nothing, and the run goes on.
        let _ = self.sender.send(match told {
            LoopNotice::Event(stored) => LiveInput::Event(Box::new((*stored).clone()), line),
            LoopNotice::Progress(progress) => LiveInput::Progress((*progress).clone()),
            LoopNotice::Note(_) => LiveInput::Note(line),
        });
    }

    /// What is to be called when somebody wants it to end, with how often that was so before.
    pub(crate) fn ear(&self) -> impl Fn(usize) + Send + 'static {
        let sender = self.sender.clone();
        move |before| {
            let _ = sender.send(LiveInput::Stop(before));
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(signals) = self.signals.take() {
            signals.close();
        }
        let _ = self.sender.send(LiveInput::End);
        if let Some(drawer) = self.drawer.take() {
            // A view that failed is no reason to fail.
            let _ = drawer.join();
        }
    }
}

fn follow_the_terminal(sender: Sender<LiveInput>) -> Option<Handle> {
    let mut signals = Signals::new([SIGWINCH, SIGCONT]).ok()?;
    let handle = signals.handle();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let heard = match signal {
                SIGCONT => LiveInput::Continued,
                _ => LiveInput::Resized,
            };
            if sender.send(heard).is_err() {
                return;
            }
        }
    });
    Some(handle)
}

struct Drawer {
    state: LiveState,
    region: Region,
    above: Vec<Line>,
    zone: TimeZone,
}

impl Drawer {
    fn run(mut self, heard: &Receiver<LiveInput>) {
        let mut last: Option<Instant> = None;
        loop {
            if !self.listen(heard, last) {
                break;
            }
            self.draw();
            last = Some(Instant::now());
        }
        // The lines that came last stay, and the view goes.
        let size = TerminalSize::of(std::io::stdout());
        self.write(Vec::new(), size);
    }

    /// Hears what there is until it may be drawn again; false when that is over.
    fn listen(&mut self, heard: &Receiver<LiveInput>, last: Option<Instant>) -> bool {
        let Some(last) = last else { return true };
        let mut until = last + BEAT;
        loop {
            let pause = until.saturating_duration_since(Instant::now());
            match heard.recv_timeout(pause) {
                Ok(LiveInput::End) | Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) => return true,
                Ok(news) => self.hear(news),
            }
            // What comes together is drawn together.
            until = last + PAUSE;
        }
    }

    fn hear(&mut self, news: LiveInput) {
        match news {
            LiveInput::Event(stored, line) => {
                self.state.hear(&stored);
                self.above.extend(line);
            }
            LiveInput::Progress(progress) => self.state.hear_progress(&progress),
            LiveInput::Note(line) => self.above.extend(line),
            LiveInput::Stop(before) => self.state.hear_stop(before),
            LiveInput::Continued => self.region.forget(),
            LiveInput::Resized | LiveInput::End => {}
        }
    }

    fn draw(&mut self) {
        let size = TerminalSize::of(std::io::stdout());
        let moment = DrawClock {
            now: now(),
            clock: &|moment| time_of_day(moment, &self.zone),
        };
        let lines = draw(&self.state, size, &moment);
        self.write(lines, size);
    }

    fn write(&mut self, lines: Vec<Line>, size: TerminalSize) {
        let above = self.above.drain(..).map(|line| line.cut(size.width()));
        let above: Vec<Line> = above.collect();
        let frame = self.region.frame(&above, lines, size.columns);
        if !frame.is_empty() {
            let mut output = std::io::stdout().lock();
            // A terminal that is gone shows nothing, and the run goes on.
            let _ = output
                .write_all(frame.as_bytes())
                .and_then(|()| output.flush());
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// `14:05`, as the clocks of whoever looks show it.
fn time_of_day(moment: u64, zone: &TimeZone) -> String {
    let moment = i64::try_from(moment).unwrap_or(i64::MAX);
    let Ok(moment) = Timestamp::from_millisecond(moment) else {
        return String::new();
    };
    let time = moment.to_zoned(zone.clone()).time();
    format!("{:02}:{:02}", time.hour(), time.minute())
}
