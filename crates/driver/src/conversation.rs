//! One run of an agent's program: its lines to the protocol, the protocol's lines to it, until both are done.
//!
//! Knows nothing of what is said.

use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::{NextStep, Protocol, ProtocolOutput, print};
use crate::{Conclusion, Entry, Exit, Trouble};

/// Of a longer line, the rest is not looked at.
const LONGEST_LINE: u64 = 8 << 20;

/// How long an agent may take to stop by its protocol.
const TO_STOP: Duration = Duration::from_secs(3);

/// How long one that has done its work may take to leave.
const TO_LEAVE: Duration = Duration::from_secs(5);

/// How long one may take to end that was asked to by a signal.
const TO_END: Duration = Duration::from_secs(2);

/// How long its last words may take when it has ended: what it started may hold its output open.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long they are listened to at most, when what it started goes on and on.
const MOST_LAST_WORDS: Duration = Duration::from_secs(10);

pub(super) enum DriverInput {
    Line(RunNumber, String),
    ErrorLine(RunNumber, String),
    /// One of the two is over.
    Silence(RunNumber),
    Ended(RunNumber, io::Result<ExitStatus>),
    Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunNumber(u32);

pub(super) enum RunOutcome {
    Finished(Conclusion),
    SessionLost,
}

pub(super) fn converse(
    protocol: &mut dyn Protocol,
    words: &[String],
    inbox: &Receiver<DriverInput>,
    sender: &SyncSender<DriverInput>,
) -> RunOutcome {
    let started = start(words, sender);
    let (pidfd, run, input) = match started {
        Ok(started) => started,
        Err(why) => return RunOutcome::Finished(Conclusion::failed(Trouble::Configuration, why)),
    };
    let mut talk = Conversation {
        protocol,
        pidfd,
        run,
        input: Some(input),
        deadline: None,
        silent_until: None,
        next_signal: Signal::TERM,
        lost: false,
        is_unheard: false,
        voices: 2,
        ended: None,
    };
    talk.act(|protocol, out| protocol.begin(out));
    let exit = talk.until_the_end(inbox);
    let mut out = ProtocolOutput::default();
    let conclusion = talk.protocol.conclude(exit, &mut out);
    talk.print(&out.entries);
    if out.next == NextStep::BeginAnew && !talk.lost {
        return RunOutcome::SessionLost;
    }
    RunOutcome::Finished(conclusion)
}

struct Conversation<'p> {
    protocol: &'p mut dyn Protocol,
    pidfd: OwnedFd,
    run: RunNumber,
    /// Lines to the agent; nothing once it gets no more.
    input: Option<Sender<String>>,
    /// When the agent is told to end by a signal.
    deadline: Option<Instant>,
    /// When the protocol is told that nothing was heard.
    silent_until: Option<Instant>,
    next_signal: Signal,
    /// Whether somebody wants everything to stop.
    lost: bool,
    is_unheard: bool,
    /// How many of its two outputs are open.
    voices: u8,
    ended: Option<AgentExit>,
}

#[derive(Debug, Clone, Copy)]
struct AgentExit {
    status: ExitStatus,
    at: Instant,
}

impl Conversation<'_> {
    fn until_the_end(&mut self, inbox: &Receiver<DriverInput>) -> Exit {
        loop {
            if let Some(ended) = self.ended
                && (self.voices == 0 || ended.at.elapsed() >= MOST_LAST_WORDS)
            {
                return exit_of(ended.status);
            }
            if std::mem::take(&mut self.is_unheard) {
                self.take_in(DriverInput::Stop);
            }
            // Somebody who never falls silent must not be waited for any longer either.
            if self.ended.is_none() && self.is_late() {
                self.end_by_signal();
            }
            match self.listen(inbox) {
                Ok(heard) => self.take_in(heard),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(ended) = self.ended {
                        return exit_of(ended.status);
                    }
                    self.lose_patience();
                }
                // The signals' thread holds a sender for as long as this process lives.
                Err(RecvTimeoutError::Disconnected) => return Exit::Code(-1),
            }
        }
    }

    fn listen(&self, inbox: &Receiver<DriverInput>) -> Result<DriverInput, RecvTimeoutError> {
        let first = [self.deadline, self.silent_until]
            .into_iter()
            .flatten()
            .min();
        match first {
            Some(deadline) => {
                inbox.recv_timeout(deadline.saturating_duration_since(Instant::now()))
            }
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn take_in(&mut self, heard: DriverInput) {
        match heard {
            DriverInput::Line(run, line) if run == self.run => {
                self.silent_until = None;
                self.act(|protocol, out| protocol.hear(&line, out));
            }
            DriverInput::ErrorLine(run, line) if run == self.run => {
                self.silent_until = None;
                self.act(|protocol, out| protocol.hear_error(&line, out));
            }
            DriverInput::Silence(run) if run == self.run => self.voices -= 1,
            DriverInput::Ended(run, status) if run == self.run => {
                let (status, at) = (status.unwrap_or_default(), Instant::now());
                self.ended = Some(AgentExit { status, at });
                self.deadline = Some(at + LAST_WORDS);
            }
            DriverInput::Stop if !self.lost => {
                self.lost = true;
                self.end_within(TO_STOP);
                self.act(|protocol, out| protocol.interrupt(out));
            }
            // Asked twice, or of a run that is over.
            _ => {}
        }
    }

    fn act(&mut self, take_in: impl FnOnce(&mut dyn Protocol, &mut ProtocolOutput)) {
        let mut out = ProtocolOutput::default();
        take_in(self.protocol, &mut out);
        self.print(&out.entries);
        for line in out.lines {
            if let Some(input) = &self.input {
                // One that reads no more has ended, or is about to.
                let _ = input.send(line);
            }
        }
        if let Some(time) = out.listen {
            self.silent_until = Instant::now().checked_add(time);
        }
        match out.next {
            NextStep::GoOn | NextStep::BeginAnew => {}
            NextStep::CloseInput => self.input = None,
            NextStep::Dismiss => {
                self.input = None;
                self.end_within(TO_LEAVE);
            }
            NextStep::Signal => {
                self.signal(Signal::INT);
                self.end_within(TO_STOP);
            }
        }
    }

    fn print(&mut self, entries: &[Entry]) {
        // An agent whose work nobody hears of must not go on alone.
        self.is_unheard |= entries.iter().any(|entry| print(entry).is_err());
    }

    fn is_late(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| deadline <= Instant::now())
    }

    fn lose_patience(&mut self) {
        if self.is_late() {
            self.end_by_signal();
        } else if self.silent_until.take().is_some() {
            self.act(|protocol, out| protocol.hear_nothing(out));
        }
    }

    fn end_within(&mut self, time: Duration) {
        if self.ended.is_none() {
            let by = Instant::now() + time;
            self.deadline = Some(self.deadline.map_or(by, |before| before.min(by)));
        }
    }

    /// Ends the agent itself; what it started is the wrapper's business.
    fn end_by_signal(&mut self) {
        self.input = None;
        self.signal(self.next_signal);
        self.next_signal = Signal::KILL;
        self.deadline = Some(Instant::now() + TO_END);
    }

    fn signal(&self, signal: Signal) {
        // One that has gone already is what was wanted.
        let _ = pidfd_send_signal(self.pidfd.as_fd(), signal);
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

/// Starts the program with somebody at each of its ends.
fn start(
    words: &[String],
    sender: &SyncSender<DriverInput>,
) -> Result<(OwnedFd, RunNumber, Sender<String>), String> {
    let program = words.first().ok_or("the agent's command is empty")?;
    let spawned = Command::new(program)
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = spawned.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{program:?} not found"),
        _ => format!("could not start {program:?}: {error}"),
    })?;
    let pid = Pid::from_child(&child);
    let pidfd = pidfd_open(pid, PidfdFlags::empty())
        .map_err(|error| format!("could not watch {program:?}: {error}"))?;
    let run = RunNumber(child.id());
    let input = write_lines(child.stdin.take());
    if let Some(output) = child.stdout.take() {
        let line = move |line| DriverInput::Line(run, line);
        read_lines(output, sender.clone(), run, line);
    }
    if let Some(errors) = child.stderr.take() {
        let line = move |line| DriverInput::ErrorLine(run, line);
        read_lines(errors, sender.clone(), run, line);
    }
    wait_for_end(child, run, sender.clone());
    Ok((pidfd, run, input))
}

/// On a thread of its own: an agent that does not read must not keep us from hearing it.
fn write_lines(stdin: Option<ChildStdin>) -> Sender<String> {
    let (sender, lines) = channel::<String>();
    std::thread::spawn(move || {
        let Some(mut stdin) = stdin else { return };
        for mut line in lines {
            line.push('\n');
            if stdin.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    });
    sender
}

fn read_lines(
    from: impl Read + Send + 'static,
    sender: SyncSender<DriverInput>,
    run: RunNumber,
    heard: impl Fn(String) -> DriverInput + Send + 'static,
) {
    std::thread::spawn(move || {
        let mut from = BufReader::with_capacity(64 << 10, from);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut from).take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            if !line.ends_with(b"\n") && line.len() as u64 == LONGEST_LINE {
                let _ = from.skip_until(b'\n');
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\n', '\r']).to_owned();
            if sender.send(heard(text)).is_err() {
                return;
            }
        }
        let _ = sender.send(DriverInput::Silence(run));
    });
}

fn wait_for_end(mut child: Child, run: RunNumber, sender: SyncSender<DriverInput>) {
    std::thread::spawn(move || {
        let status = child.wait();
        let _ = sender.send(DriverInput::Ended(run, status));
    });
}
