//! Single changes to a snapshot, from an edited line to a file that becomes a folder.
//!
//! Knows nothing of commits and branches.

use super::super::rng::{SeededRng, WORDS};
use super::super::stream::{Entry, Mode, Snapshot};
use super::module;

const ODD_NAMES: [&[u8]; 20] = [
    b"name with spaces.txt",
    b"tab\there.txt",
    b"line\nbreak.txt",
    b"quote\"d.txt",
    b"it's.txt",
    b"-dash.txt",
    b"--help",
    b"caf\xc3\xa9.txt",
    b"cafe\xcc\x81.txt",
    b"\xe6\x97\xa5\xe6\x9c\xac.txt",
    b"*.txt",
    b":(glob)x.txt",
    b"back\\slash.txt",
    b"#hash.txt",
    b"trailing ",
    b"[a-z].txt",
    b"latin\xff.txt",
    b"Case.txt",
    b"case.txt",
    b"@{-1}",
];

const ATTRIBUTES: [&str; 14] = [
    "*.txt merge=union\n",
    "* text=auto\n",
    "*.txt binary\n",
    "*.txt -merge\n",
    "*.txt text eol=crlf\n",
    "*.txt text eol=lf\n",
    "*.txt -text\n",
    "*.txt merge=nobody\n",
    "*.txt conflict-marker-size=13\n",
    "hub.txt merge=union\n",
    "*.dat merge=union\n",
    "[attr]joined merge=union\n*.txt joined\n",
    "*.txt -diff\n",
    "",
];

/// Targets that several branches add, so that they meet.
const MEETING_POINTS: [&str; 6] = [
    "new/one.txt",
    "new/two.txt",
    "new",
    "meeting.txt",
    "meeting.txt/inside.txt",
    "deep/er/still.txt",
];

/// A source of changes.
pub(super) struct RandomChanges {
    pub(super) chance: SeededRng,
    /// Contents that several branches add.
    shared: Vec<Vec<u8>>,
}

impl RandomChanges {
    pub(super) fn new(mut chance: SeededRng) -> Self {
        let shared = (0..3).map(|_| chance.text(300)).collect();
        Self { chance, shared }
    }

    /// Changes something.
    pub(super) fn one(&mut self, snapshot: &mut Snapshot) {
        const WEIGHTS: [usize; 17] = [24, 8, 9, 3, 9, 6, 5, 3, 7, 4, 4, 4, 4, 4, 4, 4, 6];
        match self.chance.weighted(&WEIGHTS) {
            0 => self.edit(snapshot),
            1 => self.edit_hub(snapshot),
            2 => drop(self.file(snapshot).and_then(|path| snapshot.take(path))),
            3 => self.remove_folder(snapshot),
            4 => drop(self.rename(snapshot)),
            5 => self.rename_and_edit(snapshot),
            6 => self.rename_folder(snapshot),
            7 => self.rename_half_a_folder(snapshot),
            8 => self.add(snapshot),
            9 => self.file_to_folder(snapshot),
            10 => self.folder_to_file(snapshot),
            11 => self.change_mode(snapshot),
            12 => self.link(snapshot),
            13 => self.flip_line_ends(snapshot),
            14 => self.attributes(snapshot),
            15 => self.submodule(snapshot),
            _ => self.meet(snapshot),
        }
    }

    pub(super) fn name(&mut self) -> Vec<u8> {
        if self.chance.percent(25) {
            return self.chance.pick(&ODD_NAMES).to_vec();
        }
        let ending = *self.chance.pick(&["txt", "txt", "rs", "dat"]);
        let word = *self.chance.pick(&WORDS);
        format!("{word}{}.{ending}", self.chance.below(30)).into_bytes()
    }

    pub(super) fn entry(&mut self, median: usize) -> Entry {
        let size = self.chance.size(median);
        let text = self.chance.text(size);
        match self.chance.weighted(&[78, 6, 5, 3, 4, 2, 2]) {
            0 => Entry::new(Mode::File, text),
            1 => Entry::new(Mode::File, with_crlf(&text)),
            2 => Entry::new(Mode::File, [b"\0\x01", &text[..]].concat()),
            3 => Entry::new(Mode::File, ""),
            4 => Entry::new(Mode::Program, text),
            5 => Entry::new(Mode::Link, self.chance.pick(&WORDS)),
            _ => module(&mut self.chance),
        }
    }

    /// A path, rather one of the early ones, so that branches meet.
    fn file(&mut self, snapshot: &Snapshot) -> Option<Vec<u8>> {
        let all = snapshot.iter().map(|(path, _)| path);
        // With a `.gitmodules` that it cannot read, git merges nothing at all in a working tree.
        let paths: Vec<_> = all.filter(|path| !path.ends_with(b".gitmodules")).collect();
        let reach = if self.chance.percent(35) {
            paths.len().div_ceil(6)
        } else {
            paths.len()
        };
        let index = self.chance.below(reach);
        paths.get(index).map(|path| (*path).clone())
    }

    fn folder(&mut self, snapshot: &Snapshot) -> Option<Vec<u8>> {
        let nested = snapshot.iter().map(|(path, _)| path);
        let mut folders: Vec<&[u8]> = nested.filter_map(|path| parent(path)).collect();
        folders.dedup();
        let index = self.chance.below(folders.len());
        folders.get(index).map(|folder| folder.to_vec())
    }

    /// A path that most likely is not there yet, in a folder that is.
    fn new_path(&mut self, snapshot: &Snapshot) -> Vec<u8> {
        let name = self.name();
        match self.folder(snapshot) {
            Some(folder) if self.chance.percent(85) => [&folder[..], b"/", &name].concat(),
            _ => name,
        }
    }

    fn edit(&mut self, snapshot: &mut Snapshot) {
        let Some(path) = self.file(snapshot) else {
            return;
        };
        self.edit_path(snapshot, &path);
    }

    fn edit_hub(&mut self, snapshot: &mut Snapshot) {
        self.edit_path(snapshot, b"hub.txt");
    }

    fn edit_path(&mut self, snapshot: &mut Snapshot, path: &[u8]) {
        let Some(Entry { mode, content }) = snapshot.entry(path).cloned() else {
            return;
        };
        let content = match mode {
            Mode::Module => self.chance.id().into_bytes(),
            Mode::Link => self.chance.pick(&WORDS).as_bytes().to_vec(),
            Mode::File | Mode::Program => self.edited(&content),
        };
        snapshot.put(path, Entry::new(mode, content));
    }

    fn edited(&mut self, content: &[u8]) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> = content
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        let mut line = Vec::new();
        self.chance.line(&mut line);
        if content.ends_with(b"\r\n") {
            line = with_crlf(&line);
        }
        let at = self.chance.below(lines.len());
        match self.chance.weighted(&[50, 25, 10, 5, 5, 5]) {
            _ if lines.is_empty() => lines.push(line),
            0 => lines[at] = line,
            1 => lines.insert(at, line),
            2 => drop(lines.remove(at)),
            3 => lines.clear(),
            4 => lines[at].insert(0, b' '),
            _ => drop(lines.last_mut().and_then(Vec::pop)),
        }
        lines.concat()
    }

    fn remove_folder(&mut self, snapshot: &mut Snapshot) {
        let Some(folder) = self.folder(snapshot) else {
            return;
        };
        for path in snapshot.below(&folder) {
            snapshot.take(path);
        }
    }

    fn rename(&mut self, snapshot: &mut Snapshot) -> Option<Vec<u8>> {
        let from = self.file(snapshot)?;
        let to = self.new_path(snapshot);
        snapshot.rename(from, &to);
        Some(to)
    }

    fn rename_and_edit(&mut self, snapshot: &mut Snapshot) {
        let Some(path) = self.rename(snapshot) else {
            return;
        };
        self.edit_path(snapshot, &path);
    }

    fn rename_folder(&mut self, snapshot: &mut Snapshot) {
        let Some(from) = self.folder(snapshot) else {
            return;
        };
        let to = self.new_folder(&from);
        snapshot.rename(from, to);
    }

    fn rename_half_a_folder(&mut self, snapshot: &mut Snapshot) {
        let Some(from) = self.folder(snapshot) else {
            return;
        };
        let to = self.new_folder(&from);
        for path in snapshot.below(&from) {
            if self.chance.percent(60) {
                snapshot.rename(&path, [&to, &path[from.len()..]].concat());
            }
        }
    }

    /// Of few names, so that two branches may give the same one; sometimes below the old folder.
    fn new_folder(&mut self, from: &[u8]) -> Vec<u8> {
        let name = format!("moved{}", self.chance.below(4)).into_bytes();
        match parent(from) {
            Some(above) if self.chance.percent(50) => [above, b"/", &name].concat(),
            _ if self.chance.percent(15) => [from, b"/", &name].concat(),
            _ => name,
        }
    }

    fn add(&mut self, snapshot: &mut Snapshot) {
        let path = self.new_path(snapshot);
        let entry = self.entry(400);
        snapshot.put(path, entry);
    }

    fn file_to_folder(&mut self, snapshot: &mut Snapshot) {
        let Some(path) = self.file(snapshot) else {
            return;
        };
        let Some(entry) = snapshot.take(&path) else {
            return;
        };
        let name = self.name();
        snapshot.put([&path, &b"/"[..], &name].concat(), entry);
    }

    fn folder_to_file(&mut self, snapshot: &mut Snapshot) {
        let Some(folder) = self.folder(snapshot) else {
            return;
        };
        let entry = self.entry(400);
        snapshot.put(folder, entry);
    }

    fn change_mode(&mut self, snapshot: &mut Snapshot) {
        let Some(path) = self.file(snapshot) else {
            return;
        };
        let Some(Entry { mode, content }) = snapshot.take(&path) else {
            return;
        };
        let mode = match mode {
            Mode::File => Mode::Program,
            Mode::Program => Mode::File,
            other => other,
        };
        snapshot.put(path, Entry::new(mode, content));
    }

    fn link(&mut self, snapshot: &mut Snapshot) {
        let path = if self.chance.percent(50) {
            self.file(snapshot)
        } else {
            Some(self.new_path(snapshot))
        };
        let Some(path) = path else { return };
        let target = *self
            .chance
            .pick(&["hub.txt", "../up", "nowhere", "new", "."]);
        snapshot.put(path, Entry::new(Mode::Link, target));
    }

    fn flip_line_ends(&mut self, snapshot: &mut Snapshot) {
        let Some(path) = self.file(snapshot) else {
            return;
        };
        let Some(Entry {
            mode: Mode::File,
            content,
        }) = snapshot.entry(&path).cloned()
        else {
            return;
        };
        let flipped = if content.contains(&b'\r') {
            content
                .iter()
                .copied()
                .filter(|byte| *byte != b'\r')
                .collect()
        } else {
            with_crlf(&content)
        };
        snapshot.write(path, flipped);
    }

    fn attributes(&mut self, snapshot: &mut Snapshot) {
        let folder = self.folder(snapshot).filter(|_| self.chance.percent(40));
        let path = match folder {
            Some(folder) => [&folder[..], b"/.gitattributes"].concat(),
            None => b".gitattributes".to_vec(),
        };
        let text = *self.chance.pick(&ATTRIBUTES);
        if text.is_empty() {
            snapshot.take(path);
        } else {
            snapshot.write(path, text);
        }
    }

    fn submodule(&mut self, snapshot: &mut Snapshot) {
        let path = format!("modules/{}", self.chance.pick(&["one", "two", "three"]));
        if self.chance.percent(50) {
            let section = format!("[submodule \"{path}\"]\n\tpath = {path}\n\turl = ../other\n");
            let old = snapshot
                .entry(".gitmodules")
                .map(|entry| entry.content.to_vec());
            let text = [old.unwrap_or_default(), section.into_bytes()].concat();
            snapshot.write(".gitmodules", text);
        }
        if self.chance.percent(20) {
            snapshot.take(path);
        } else {
            snapshot.put(path, module(&mut self.chance));
        }
    }

    fn meet(&mut self, snapshot: &mut Snapshot) {
        let path = *self.chance.pick(&MEETING_POINTS);
        let content = if self.chance.percent(70) {
            self.chance.pick(&self.shared.clone()).clone()
        } else {
            self.chance.text(300)
        };
        snapshot.write(path, content);
    }
}

fn parent(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    Some(&path[..slash])
}

fn with_crlf(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let ended = lines.map(|line| match line.strip_suffix(b"\n") {
        Some(line) if !line.ends_with(b"\r") => [line, b"\r\n"].concat(),
        _ => line.to_vec(),
    });
    ended.collect::<Vec<_>>().concat()
}
