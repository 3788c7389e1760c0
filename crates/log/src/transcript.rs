//! What an agent printed, by line numbers: any part of a large file that may still grow.
//!
//! Reads files; which attempt is meant and whether it is over is the caller's knowledge.

mod text_style;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use crate::batch_paths::{LOG, attempt_folder};
use pleach_driver::{Entry, RAW};
use text_style::TextStyle;

/// What came before the agent, in the same folder.
const SETUP_LOG: &str = "setup.log";
/// How many lines lie between two places that are remembered.
const STRIDE: u64 = 512;
/// Of a longer line, only the beginning is shown.
const LONGEST_LINE: usize = 64 << 10;
/// A page ends before it has more text than this, whatever was asked for.
const LARGEST_PAGE: usize = 4 << 20;
/// How many lines a page has if nothing is said.
pub const USUAL_PAGE: usize = 500;
pub const LONGEST_PAGE: usize = 5_000;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TranscriptEntry {
    /// Its number, counted from 0.
    pub line: u64,
    /// What it is; `raw` for what no adapter knows.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What it says, without its end and without what was drawn over; a raw one begins with the colours that it is in.
    pub text: String,
    /// All that an agent told, where it is one that tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Entry>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    pub entries: Vec<TranscriptEntry>,
    /// The number of the first of them.
    pub from: u64,
    /// How many lines there are in all; one without an end counts when the attempt is over.
    pub total: u64,
    pub attempt: u32,
    pub is_over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageStart {
    Line(u64),
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    AtWork,
    /// It has said everything; to be known before the file is looked at.
    Done,
}

/// A transcript, and where its lines are as far as it was read.
#[derive(Debug)]
pub struct Transcript {
    folder: PathBuf,
    attempt: u32,
    /// The file that was read, by its name in the folder.
    name: &'static str,
    /// The offsets of every [`STRIDE`]th line, and in which colours it begins.
    marks: Vec<(u64, TextStyle)>,
    /// The colours after what was looked at.
    style: TextStyle,
    /// How many bytes were looked at.
    read: u64,
    /// How many lines ended in them.
    ended: u64,
    /// Whether bytes follow the last end.
    is_open: bool,
}

impl Transcript {
    pub fn of(folder: &Path, attempt: u32) -> Self {
        Self {
            folder: folder.to_owned(),
            attempt,
            name: LOG,
            marks: vec![(0, TextStyle::default())],
            style: TextStyle::default(),
            read: 0,
            ended: 0,
            is_open: false,
        }
    }

    /// A part of it; empty where nothing was said, or nothing there yet.
    pub fn page(&mut self, place: PageStart, most: usize, speaker: Speaker) -> io::Result<Page> {
        let most = most.clamp(1, LONGEST_PAGE);
        let file = self.open(speaker)?;
        if let Some(file) = &file {
            self.look(file)?;
        }
        let is_over = speaker == Speaker::Done;
        let total = self.ended + u64::from(is_over && self.is_open);
        let from = match place {
            PageStart::Line(line) => line.min(total),
            PageStart::End => total.saturating_sub(most as u64),
        };
        let until = total.min(from.saturating_add(most as u64));
        let entries = match file {
            Some(file) if from < until => self.lines(&file, from, until)?,
            _ => Vec::new(),
        };
        Ok(Page {
            entries,
            from,
            total,
            attempt: self.attempt,
            is_over,
        })
    }

    /// What the agent said; where it never began, what came before it tells why.
    fn open(&mut self, speaker: Speaker) -> io::Result<Option<File>> {
        let names: &[&'static str] = match speaker {
            Speaker::AtWork => &[LOG],
            Speaker::Done => &[LOG, SETUP_LOG],
        };
        for name in names {
            match File::open(self.folder.join(name)) {
                Ok(file) => {
                    if self.name != *name {
                        *self = Self {
                            name,
                            ..Self::of(&self.folder, self.attempt)
                        };
                    }
                    return Ok(Some(file));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        *self = Self::of(&self.folder, self.attempt);
        Ok(None)
    }

    fn look(&mut self, mut file: &File) -> io::Result<()> {
        let size = file.metadata()?.len();
        if size < self.read {
            // Another file than before.
            let name = self.name;
            *self = Self::of(&self.folder, self.attempt);
            self.name = name;
        }
        if size == self.read {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut buffer = vec![0; 64 << 10];
        let mut new = file.take(size - self.read);
        loop {
            match new.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(length) => self.take(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        // Counting is much faster than finding, and most pieces hold no line that is remembered.
        for piece in bytes.chunks(4 << 10) {
            let ends = count_ends(piece);
            if (self.ended + ends) / STRIDE > self.ended / STRIDE {
                self.mark(piece);
            } else {
                self.style.take(piece);
            }
            self.ended += ends;
            self.read += piece.len() as u64;
            self.is_open = piece.last() != Some(&b'\n');
        }
    }

    fn mark(&mut self, piece: &[u8]) {
        let ends = piece.iter().zip(1..).filter(|(byte, _)| **byte == b'\n');
        let mut drawn = 0;
        for ((_, next), line) in ends.zip(self.ended + 1..) {
            if line % STRIDE == 0 {
                self.style.take(&piece[drawn..next]);
                self.marks
                    .push((self.read + next as u64, self.style.clone()));
                drawn = next;
            }
        }
        self.style.take(&piece[drawn..]);
    }

    fn lines(&self, mut file: &File, from: u64, until: u64) -> io::Result<Vec<TranscriptEntry>> {
        let mark = usize::try_from(from / STRIDE).unwrap_or(usize::MAX);
        let start = self.marks.get(mark).cloned();
        let (start, mut style) = start.unwrap_or_else(|| (self.read, self.style.clone()));
        file.seek(SeekFrom::Start(start))?;
        let mut reader = BufReader::with_capacity(64 << 10, file.take(self.read - start));
        for _ in 0..from % STRIDE {
            pass_line(&mut reader, &mut style)?;
        }
        let (mut entries, mut room) = (Vec::new(), LARGEST_PAGE);
        let mut line = Vec::new();
        for number in from..until {
            let colours = style.opening();
            let left_out = read_line(&mut reader, &mut line, &mut style)?;
            let detail = Entry::from_line(&line);
            let text = match &detail {
                Some(entry) => entry.in_words(),
                None => format!("{colours}{}", shown(&line, left_out)),
            };
            if line.len() > room && !entries.is_empty() {
                break;
            }
            room = room.saturating_sub(line.len());
            entries.push(TranscriptEntry {
                line: number,
                kind: detail.as_ref().map_or(RAW, Entry::kind),
                text,
                detail,
            });
        }
        Ok(entries)
    }
}

#[expect(
    clippy::naive_bytecount,
    reason = "the compiler makes it fast enough, and a dependency less is a dependency less"
)]
fn count_ends(piece: &[u8]) -> u64 {
    piece.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Reads one line, its end included, or as much of it as is shown; tells how many bytes are not.
fn read_line(
    reader: &mut impl BufRead,
    line: &mut Vec<u8>,
    style: &mut TextStyle,
) -> io::Result<usize> {
    line.clear();
    (&mut *reader)
        .take(LONGEST_LINE as u64)
        .read_until(b'\n', line)?;
    style.take(line);
    if line.len() < LONGEST_LINE || line.ends_with(b"\n") {
        return Ok(0);
    }
    pass_line(reader, style)
}

/// Passes over what is left of a line, its end included; tells how much that was.
fn pass_line(reader: &mut impl BufRead, style: &mut TextStyle) -> io::Result<usize> {
    let mut passed = 0;
    loop {
        let bytes = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(bytes.len(), |end| end + 1);
        style.take(&bytes[..length]);
        reader.consume(length);
        passed += length;
        if end.is_some() || length == 0 {
            return Ok(passed);
        }
    }
}

/// A line as a terminal would leave it.
fn shown(line: &[u8], left_out: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let mut drawn = line.split(|byte| *byte == b'\r');
    let last = drawn.rfind(|part| !part.is_empty()).unwrap_or_default();
    let mut text = String::from_utf8_lossy(last).into_owned();
    if left_out > 0 {
        text.push_str(" […]");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;

    use tempfile::TempDir;

    use super::*;

    struct Scene(TempDir);

    impl Scene {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn say(&self, bytes: &[u8]) {
            let path = self.0.path().join(LOG);
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.unwrap().write_all(bytes).unwrap();
        }

        fn transcript(&self) -> Transcript {
            Transcript::of(self.0.path(), 2)
        }
    }

    fn texts(page: &Page) -> Vec<&str> {
        page.entries.iter().map(|entry| &*entry.text).collect()
    }

    #[test]
    fn a_transcript_is_read_on_from_where_it_ended() {
        let scene = Scene::new();
        let mut transcript = scene.transcript();
        let mut page = |from, speaker| transcript.page(PageStart::Line(from), 9, speaker).unwrap();
        assert_eq!(page(0, Speaker::AtWork).total, 0);
        scene.say(b"one\ntwo\nthr");
        let first = page(0, Speaker::AtWork);
        assert_eq!((texts(&first), first.total), (vec!["one", "two"], 2));
        scene.say(b"ee\nfour");
        let second = page(2, Speaker::AtWork);
        assert_eq!((texts(&second), second.total), (vec!["three"], 3));
        assert_eq!((second.from, second.attempt), (2, 2));
        let last = page(3, Speaker::Done);
        assert_eq!((texts(&last), last.total), (vec!["four"], 4));
        assert!(last.is_over);
        let beyond = page(99, Speaker::Done);
        assert_eq!((beyond.from, beyond.entries.len()), (4, 0));
    }

    #[test]
    fn every_line_of_any_page_begins_with_the_colours_that_it_is_in() {
        let scene = Scene::new();
        let mut transcript = scene.transcript();
        let red = "\x1b[1;31m";
        scene.say(format!("plain\n{red}red").as_bytes());
        for line in 0..2_000 {
            scene.say(format!("\nline {line}").as_bytes());
        }
        scene.say(b"\nlast\x1b[0m\nplain\n");
        let mut from = |line| {
            let page = transcript.page(PageStart::Line(line), 2, Speaker::Done);
            let page = page.unwrap();
            texts(&page).join("|").replace("\x1b[", "^")
        };
        assert_eq!(from(0), "plain|^1;31mred");
        assert_eq!(from(2), "^1;31mline 0|^1;31mline 1");
        assert_eq!(from(1_025), "^1;31mline 1023|^1;31mline 1024");
        assert_eq!(from(2_002), "^1;31mlast^0m|plain");
    }

    #[test]
    fn every_page_of_a_long_transcript_is_found() {
        let scene = Scene::new();
        let mut transcript = scene.transcript();
        // Written in pieces that end anywhere, so that marks fall on their edges.
        let text: Vec<u8> = (0..5_000)
            .flat_map(|line| format!("{line}\n").into_bytes())
            .collect();
        for piece in text.chunks(4_093) {
            scene.say(piece);
            transcript.page(PageStart::End, 1, Speaker::AtWork).unwrap();
        }
        let mut fresh = scene.transcript();
        for from in [0, 1, 510, 511, 512, 513, 1_024, 2_560, 4_607, 4_608, 4_999] {
            for transcript in [&mut transcript, &mut fresh] {
                let page = transcript
                    .page(PageStart::Line(from), 2, Speaker::Done)
                    .unwrap();
                let expected: Vec<String> =
                    (from..5_000).take(2).map(|line| line.to_string()).collect();
                assert_eq!(texts(&page), expected, "from {from}");
                assert_eq!(page.entries[0].line, from);
            }
        }
        let end = fresh.page(PageStart::End, 3, Speaker::Done).unwrap();
        assert_eq!(texts(&end), ["4997", "4998", "4999"]);
        let most = fresh
            .page(PageStart::Line(0), 99_999, Speaker::Done)
            .unwrap();
        assert_eq!(most.entries.len(), LONGEST_PAGE);
    }

    #[test]
    fn long_lines_are_cut_and_a_page_stays_small() {
        let scene = Scene::new();
        let long = [vec![b'x'; 10 << 20], b"\nshort\n".to_vec()].concat();
        scene.say(&long);
        let page = scene
            .transcript()
            .page(PageStart::Line(0), 9, Speaker::Done)
            .unwrap();
        assert_eq!(page.total, 2);
        let text = &page.entries[0].text;
        assert_eq!(text.len(), LONGEST_LINE + " […]".len());
        assert!(text.ends_with("x […]"));
        assert_eq!(page.entries[1].text, "short");
        let scene = Scene::new();
        let lines = [vec![b'y'; LONGEST_LINE - 1], b"\n".to_vec()].concat();
        scene.say(&lines.repeat(100));
        let mut transcript = scene.transcript();
        let page = transcript
            .page(PageStart::Line(0), 100, Speaker::Done)
            .unwrap();
        assert_eq!(page.entries.len(), 64);
        assert!(!page.entries[0].text.ends_with('…'));
        let rest = transcript
            .page(PageStart::Line(64), 100, Speaker::Done)
            .unwrap();
        assert_eq!(rest.entries.len(), 36);
    }

    #[test]
    fn what_was_drawn_over_and_what_is_no_text_do_no_harm() {
        let scene = Scene::new();
        scene.say(b"1 %\r50 %\r100 %\r\n\xff\xfe\n\r\n\n");
        let page = scene
            .transcript()
            .page(PageStart::Line(0), 9, Speaker::Done)
            .unwrap();
        assert_eq!(texts(&page), ["100 %", "\u{fffd}\u{fffd}", "", ""]);
    }

    #[test]
    fn an_agent_that_never_began_left_what_came_before_it() {
        let scene = Scene::new();
        fs::write(scene.0.path().join(SETUP_LOG), "npm: not found\n").unwrap();
        let mut transcript = scene.transcript();
        let working = transcript
            .page(PageStart::Line(0), 9, Speaker::AtWork)
            .unwrap();
        assert_eq!(working.total, 0);
        let over = transcript
            .page(PageStart::Line(0), 9, Speaker::Done)
            .unwrap();
        assert_eq!(texts(&over), ["npm: not found"]);
        fs::remove_file(scene.0.path().join(SETUP_LOG)).unwrap();
        let gone = transcript
            .page(PageStart::Line(0), 9, Speaker::Done)
            .unwrap();
        assert_eq!((gone.total, gone.entries.len()), (0, 0));
    }

    #[test]
    fn a_shorter_file_is_another_one() {
        let scene = Scene::new();
        scene.say(b"one\ntwo\n");
        let mut transcript = scene.transcript();
        transcript
            .page(PageStart::Line(0), 9, Speaker::Done)
            .unwrap();
        fs::write(scene.0.path().join(LOG), "new\n").unwrap();
        let page = transcript
            .page(PageStart::Line(0), 9, Speaker::Done)
            .unwrap();
        assert_eq!((texts(&page), page.total), (vec!["new"], 1));
    }
}
