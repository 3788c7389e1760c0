//! Carries a program's output to its log, without secrets: all of it up to a cap, and the very end of what is beyond.
//!
//! Holds little in memory however much there is, and knows nothing of what is said.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::record::Output;
use crate::secrets::{HidingStream, Secrets};

/// As much as the pipe holds, and is carried at once.
pub(super) const CHUNK: usize = 1 << 20;

/// How much of the end is kept of output beyond the cap.
const TAIL: usize = 1 << 20;

/// A program that says much in small pieces is listened to in intervals, which cost far less than each piece would.
const REST: Duration = Duration::from_millis(2);

/// Smaller pieces are gathered before they are written.
const PIECE: usize = 1 << 16;

/// Output on its way from a pipe to a log.
#[derive(Debug)]
pub(super) struct Relay<L = File> {
    /// Nothing once all that had the other end are gone.
    pipe: Option<OwnedFd>,
    buffer: Vec<u8>,
    stream: HidingStream,
    keeper: LimitedLog<L>,
    heard_at: Instant,
    rests_until: Option<Instant>,
}

/// The log, and what does not fit into it.
#[derive(Debug)]
struct LimitedLog<L> {
    log: L,
    /// Small pieces that are not written yet.
    gathered: Vec<u8>,
    room: u64,
    tail: Tail,
    output: Output,
}

impl<L: Write> Relay<L> {
    /// Begins to carry; the pipe must not block.
    pub(super) fn new(pipe: OwnedFd, log: L, cap: u64, hide: &Secrets) -> Self {
        Self {
            pipe: Some(pipe),
            buffer: vec![0; CHUNK],
            stream: HidingStream::new(hide.hider()),
            keeper: LimitedLog {
                log,
                gathered: Vec::new(),
                room: cap,
                tail: Tail::default(),
                output: Output::default(),
            },
            heard_at: Instant::now(),
            rests_until: None,
        }
    }

    pub(super) fn heard_at(&self) -> Instant {
        self.heard_at
    }

    /// The time before which nobody needs to look.
    pub(super) fn rests_until(&self) -> Option<Instant> {
        self.rests_until
    }

    /// Where output comes from, unless it has ended.
    pub(super) fn source(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Carries what is there now, up to a chunk.
    pub(super) fn carry(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        let length = match rustix::io::read(pipe, &mut self.buffer[..]) {
            Err(Errno::AGAIN | Errno::INTR) => return,
            // A pipe that cannot be read has nothing more to say either.
            Ok(0) | Err(_) => {
                self.pipe = None;
                return;
            }
            Ok(length) => length,
        };
        let now = Instant::now();
        let is_flood = now - self.heard_at < REST && length < CHUNK / 4;
        self.rests_until = is_flood.then(|| now + REST);
        self.heard_at = now;
        self.take(length);
    }

    fn take(&mut self, length: usize) {
        let keeper = &mut self.keeper;
        keeper.output.bytes += length as u64;
        let said = &self.buffer[..length];
        self.stream.feed(said, |part| keeper.gather(part));
        keeper.keep_gathered();
    }

    /// Writes what was held back and the end of what was beyond the cap, and tells how much there was.
    pub(super) fn finish(self) -> Output {
        let mut keeper = self.keeper;
        self.stream.finish(|part| keeper.gather(part));
        keeper.finish()
    }
}

impl<L: Write> LimitedLog<L> {
    fn gather(&mut self, part: &[u8]) {
        if part.len() < PIECE {
            self.gathered.extend_from_slice(part);
        }
        if part.len() >= PIECE || self.gathered.len() >= PIECE {
            self.keep_gathered();
        }
        if part.len() >= PIECE {
            self.keep(part);
        }
    }

    fn keep_gathered(&mut self) {
        let mut gathered = std::mem::take(&mut self.gathered);
        self.keep(&gathered);
        gathered.clear();
        self.gathered = gathered;
    }

    fn keep(&mut self, part: &[u8]) {
        let length = part.len();
        let head = usize::try_from(self.room).map_or(length, |room| room.min(length));
        self.room -= head as u64;
        self.output.unwritten += append(&mut self.log, &part[..head]);
        self.tail.push(&part[head..]);
    }

    fn finish(mut self) -> Output {
        self.keep_gathered();
        self.output.left_out = self.tail.passed;
        if self.tail.passed > 0 {
            let passed = self.tail.passed;
            let line = format!("\n[pleach: {passed} bytes of output omitted]\n");
            append(&mut self.log, line.as_bytes());
        }
        for part in self.tail.parts() {
            self.output.unwritten += append(&mut self.log, part);
        }
        self.output
    }
}

/// Writes what there is room for and returns how much was left; a full disk must not stop a program.
fn append(log: &mut impl Write, mut bytes: &[u8]) -> u64 {
    while !bytes.is_empty() {
        match log.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
            Ok(written) => bytes = &bytes[written..],
        }
    }
    bytes.len() as u64
}

/// The last bytes of many, in a ring.
#[derive(Debug, Default)]
struct Tail {
    ring: Vec<u8>,
    /// Where the oldest byte is, once the ring is full.
    oldest: usize,
    /// How many bytes have been here and gone.
    passed: u64,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        let skipped = bytes.len().saturating_sub(TAIL);
        self.passed += skipped as u64;
        let mut bytes = &bytes[skipped..];
        let free = (TAIL - self.ring.len()).min(bytes.len());
        if self.ring.is_empty() && free > 0 {
            // A ring that grew by and by would leave holes of its former sizes in memory.
            self.ring.reserve_exact(TAIL);
        }
        self.ring.extend_from_slice(&bytes[..free]);
        bytes = &bytes[free..];
        self.passed += bytes.len() as u64;
        while !bytes.is_empty() {
            let length = (TAIL - self.oldest).min(bytes.len());
            self.ring[self.oldest..self.oldest + length].copy_from_slice(&bytes[..length]);
            self.oldest = (self.oldest + length) % TAIL;
            bytes = &bytes[length..];
        }
    }

    /// The two pieces of the ring, the older one first.
    fn parts(&self) -> [&[u8]; 2] {
        let (newer, older) = self.ring.split_at(self.oldest);
        [older, newer]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Carries pieces of the given lengths; what was said, what was logged, and what was counted.
    fn carried(cap: usize, lengths: &[usize]) -> (Vec<u8>, Vec<u8>, Output) {
        let (pipe, _other_end) = rustix::pipe::pipe().unwrap();
        let (mut said, mut log) = (Vec::new(), Vec::new());
        let mut relay = Relay::new(pipe, &mut log, cap as u64, &Secrets::default());
        for (length, byte) in lengths.iter().zip((0..=u8::MAX).cycle()) {
            let start = said.len();
            said.extend(
                (0..251)
                    .cycle()
                    .take(*length)
                    .map(|at: u8| byte.wrapping_add(at)),
            );
            relay.buffer[..*length].copy_from_slice(&said[start..]);
            relay.take(*length);
        }
        let output = relay.finish();
        (said, log, output)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn head_and_tail_are_kept_and_the_middle_is_counted(
            cap in 0..3 * CHUNK,
            lengths in prop::collection::vec(prop_oneof![1..2000_usize, 1..=CHUNK], 1..8),
        ) {
            let (said, log, output) = carried(cap, &lengths);
            prop_assert_eq!((output.bytes, output.unwritten), (said.len() as u64, 0));
            if said.len() <= cap + TAIL {
                prop_assert_eq!(output.left_out, 0);
                prop_assert!(log == said, "something was lost");
                return Ok(());
            }
            let left_out = said.len() - cap - TAIL;
            prop_assert_eq!(output.left_out, left_out as u64);
            let line = format!("\n[pleach: {left_out} bytes of output omitted]\n");
            let expected = [&said[..cap], line.as_bytes(), &said[said.len() - TAIL..]].concat();
            prop_assert!(log == expected, "the log is wrong");
        }
    }
    #[test]
    fn a_secret_is_in_no_log_however_it_is_cut_and_counted_as_it_was_said() {
        let secret = "s3cret-s3cret";
        let mut hide = Secrets::default();
        hide.add("KEY", secret);
        let said = format!("a {secret} b\n").repeat(400);
        for (cap, piece) in [(u64::MAX, 1), (u64::MAX, 7), (30, 5), (30, 5_000)] {
            let (pipe, _other_end) = rustix::pipe::pipe().unwrap();
            let mut log = Vec::new();
            let mut relay = Relay::new(pipe, &mut log, cap, &hide);
            for piece in said.as_bytes().chunks(piece) {
                relay.buffer[..piece.len()].copy_from_slice(piece);
                relay.take(piece.len());
            }
            let output = relay.finish();
            assert_eq!((output.bytes, output.left_out), (said.len() as u64, 0));
            let log = String::from_utf8(log).unwrap();
            assert_eq!(log, said.replace(secret, "[hidden:KEY]"), "cap {cap}");
        }
    }

    #[test]
    fn whole_lines_are_in_the_log_at_once() {
        let (pipe, _other_end) = rustix::pipe::pipe().unwrap();
        let mut hide = Secrets::default();
        hide.add("KEY", "s3cret-s3cret");
        let mut log = Vec::new();
        let mut relay = Relay::new(pipe, &mut log, u64::MAX, &hide);
        let line = b"https://ghp_s3cret-\n";
        relay.buffer[..line.len()].copy_from_slice(line);
        relay.take(line.len());
        assert_eq!(relay.keeper.log, line);
    }
}
