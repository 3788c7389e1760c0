//! Finds what the start files of shells run: files that they source, programs, folders that they put on the `PATH`.
//!
//! Understands what people usually write, not the whole language; what it does not understand, it passes over.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// Nobody's start files are longer, or source more.
const LONGEST: u64 = 256 << 10;
const MOST_FILES: usize = 64;

const BEFORE_COMMANDS: [&str; 14] = [
    "!", "builtin", "command", "do", "elif", "else", "eval", "exec", "if", "then", "time", "until",
    "while", "{",
];

const BEFORE_ASSIGNMENTS: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

/// Variables that name what shells and languages load by themselves, wherever they are set.
pub(super) const RUN_FROM: [&str; 12] = [
    "BASH_ENV",
    "ENV",
    "FPATH",
    MOVES_FILES,
    "NODE_PATH",
    "PATH",
    "PERL5LIB",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "fpath",
    "path",
];

/// The variable that says where zsh looks for its start files.
const MOVES_FILES: &str = "ZDOTDIR";

/// What files of shells name, within the home folder.
pub(super) struct StartFiles<'h> {
    home: &'h Path,
    variables: BTreeMap<String, String>,
    read: Vec<PathBuf>,
    /// What is sourced, run or put on the `PATH`.
    found: Vec<PathBuf>,
    /// What is only given to some command, which may well run it.
    mentioned: Vec<PathBuf>,
}

impl<'h> StartFiles<'h> {
    pub(super) fn new(home: &'h Path, variables: impl Iterator<Item = (String, String)>) -> Self {
        let mut variables: BTreeMap<String, String> = variables.collect();
        variables.insert("HOME".to_owned(), home.to_string_lossy().into_owned());
        Self {
            home,
            variables,
            read: Vec::new(),
            found: Vec::new(),
            mentioned: Vec::new(),
        }
    }

    /// Everything that a file names, and whatever it sources.
    pub(super) fn read(&mut self, file: &Path) {
        if let Some(text) = self.text_of(file) {
            self.take_in(&text);
        }
    }

    /// The same for files that are elsewhere because a variable says so.
    pub(super) fn read_moved(&mut self, files: &[&str]) {
        let Some(folder) = self.variables.get(MOVES_FILES).map(PathBuf::from) else {
            return;
        };
        if folder.is_absolute() && folder != self.home {
            for file in files {
                self.read(&folder.join(file));
            }
        }
    }

    /// Everything that the settings of git mention: hooks, templates, further settings.
    pub(super) fn read_settings(&mut self, file: &Path) {
        for line in self.text_of(file).unwrap_or_default().lines() {
            let line = line.replace(['"', '!', ';'], " ");
            for word in line.split_whitespace() {
                self.mention(word);
            }
        }
    }

    fn text_of(&mut self, file: &Path) -> Option<String> {
        let is_new = self.read.len() < MOST_FILES && !self.read.iter().any(|read| read == file);
        // Whoever opens a pipe waits for somebody to write to it.
        if !is_new || !fs::metadata(file).is_ok_and(|kind| kind.is_file()) {
            return None;
        }
        self.read.push(file.to_owned());
        let mut bytes = Vec::new();
        let opened = File::open(file).ok()?;
        opened.take(LONGEST).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What is run, and what is only mentioned.
    pub(super) fn found(self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        (self.found, self.mentioned)
    }

    fn take_in(&mut self, text: &str) {
        for line in text.lines() {
            let line = line.split(" #").next().unwrap_or_default();
            if line.trim_start().starts_with('#') {
                continue;
            }
            // Quotes and what escapes do not change which words these are, but for names with blanks.
            let line = line.replace(['"', '\'', '\\'], "");
            for command in line.split([';', '&', '|', '(', ')', '`', '<', '>']) {
                let words: Vec<&str> = command.split_whitespace().collect();
                self.take_in_command(&words);
            }
        }
    }

    fn take_in_command(&mut self, words: &[&str]) {
        let Some((first, rest)) = words.split_first() else {
            return;
        };
        match *first {
            word if BEFORE_COMMANDS.contains(&word) => self.take_in_command(rest),
            word if BEFORE_ASSIGNMENTS.contains(&word) => {
                for word in rest {
                    self.assign(word);
                }
            }
            "source" | "." => {
                let file = rest.first().and_then(|word| self.name(word));
                if let Some(file) = file {
                    self.read(&file);
                }
            }
            "set" => self.set(rest),
            // The second and third name files that zsh sources later.
            "for" | "fish_add_path" | "compinit" | "autoload" => {
                for word in rest {
                    self.name(word);
                }
            }
            "alias" => {
                for word in rest {
                    self.name(word.split_once('=').map_or(*word, |(_, value)| value));
                }
            }
            word if self.assign(word) => self.take_in_command(rest),
            // A program and what it is given, or a list of folders: `path=(~/.a/bin ~/.b/bin)`.
            word => {
                let is_ours = self.name(word).is_some();
                for word in rest {
                    if is_ours {
                        self.name(word);
                    } else {
                        self.mention(word);
                    }
                }
            }
        }
    }

    /// `NAME=value`, and `NAME+=value`.
    fn assign(&mut self, word: &str) -> bool {
        let Some((name, value)) = word.split_once('=') else {
            return false;
        };
        let name = name.trim_end_matches('+');
        let is_name = |name: &str| name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        if name.is_empty() || !is_name(name) {
            return false;
        }
        if RUN_FROM.contains(&name) {
            for folder in value.split(':') {
                self.name(folder);
            }
        }
        if let Some(value) = self.expanded(value) {
            self.variables.insert(name.to_owned(), value);
        }
        true
    }

    /// Fish says `set -gx NAME value`.
    fn set(&mut self, words: &[&str]) {
        let mut words = words.iter().filter(|word| !word.starts_with('-'));
        let Some(name) = words.next() else { return };
        for word in words {
            if RUN_FROM.contains(name) || *name == "fish_user_paths" {
                self.name(word);
            }
            if let Some(value) = self.expanded(word) {
                self.variables.insert((*name).to_owned(), value);
            }
        }
    }

    /// Notes a path within the home folder that is run.
    fn name(&mut self, word: &str) -> Option<PathBuf> {
        let path = self.path(word)?;
        if path != self.home && !self.found.contains(&path) {
            self.found.push(path.clone());
        }
        Some(path)
    }

    /// Notes paths within the home folder that a word mentions.
    fn mention(&mut self, word: &str) {
        for part in word.split(['=', ':', ',']) {
            let path = self.path(part).filter(|path| path != self.home);
            self.mentioned.extend(path);
        }
    }

    fn path(&self, word: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.expanded(word)?);
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        let inside = path.strip_prefix(self.home).ok()?;
        if inside.as_os_str().is_empty() || !inside.components().all(is_plain) {
            return None;
        }
        // Of a pattern, the folder that it looks in.
        let has_pattern = |part: &Path| part.to_string_lossy().contains(['*', '?', '[']);
        let path = path.ancestors().find(|above| !has_pattern(above))?;
        Some(path.to_owned())
    }

    /// A word with its variables in place; nothing if one of them is not known.
    fn expanded(&self, word: &str) -> Option<String> {
        let mut text = String::new();
        let mut rest = match word.strip_prefix('~') {
            Some(inside) if inside.is_empty() || inside.starts_with('/') => {
                text.push_str(self.variables.get("HOME")?);
                inside
            }
            _ => word,
        };
        while let Some((before, after)) = rest.split_once('$') {
            text.push_str(before);
            if let Some(braced) = after.strip_prefix('{') {
                let end = closing(braced)?;
                text.push_str(&self.value(&braced[..end])?);
                rest = &braced[end + 1..];
            } else {
                let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
                let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
                text.push_str(self.variables.get(&after[..end])?);
                rest = &after[end..];
            }
        }
        text.push_str(rest);
        Some(text)
    }

    /// What stands between the braces of a variable: its name, and maybe what it is if it is not set.
    fn value(&self, braced: &str) -> Option<String> {
        let (name, default) = match braced.split_once('-') {
            Some((name, default)) => (name.trim_end_matches(':'), Some(default)),
            None => (braced, None),
        };
        match self.variables.get(name) {
            Some(value) => Some(value.clone()),
            None => self.expanded(default?),
        }
    }
}

/// Where the brace that was opened before a text is closed.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in a text; behind a `?`, what is only mentioned.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let home = Path::new("/home/ada");
        let variables = [("XDG_DATA_HOME", "/home/ada/.data"), ("PATH", "/bin")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut files = StartFiles::new(home, variables.into_iter());
        files.take_in(text);
        let (found, mentioned) = files.found();
        let found = if expected.starts_with('?') {
            mentioned
        } else {
            found
        };
        let expected = expected.trim_start_matches('?');
        let names = found
            .iter()
            .map(|path| path.strip_prefix(home).unwrap().to_str().unwrap());
        assert_eq!(names.collect::<Vec<_>>().join(" "), expected, "{text}");
    }

    #[test]
    fn what_is_sourced_or_run_or_put_on_the_path_is_found() {
        for (text, expected) in [
            (". \"$HOME/.cargo/env\"", ".cargo/env"),
            ("[ -f ~/.fzf.bash ] && source ~/.fzf.bash", ".fzf.bash"),
            (
                "export NVM_DIR=\"$HOME/.nvm\"\n[ -s \"$NVM_DIR/nvm.sh\" ] && \\. \"$NVM_DIR/nvm.sh\"  # loads it",
                ".nvm/nvm.sh",
            ),
            ("if [ -d x ]; then . ${HOME}/.x/y; fi", ".x/y"),
            (
                "export PATH=\"$HOME/.a/bin:$HOME/.b/bin:$PATH\"",
                ".a/bin .b/bin",
            ),
            ("path=(~/.a/bin ~/.b $path)", ".a/bin .b"),
            ("fish_add_path -g ~/.a/bin ~/.b/bin", ".a/bin .b/bin"),
            ("set -gx PATH ~/.a/bin $PATH", ".a/bin"),
            ("set -gx D ~/.d\nsource $D/env.fish", ".d/env.fish"),
            ("eval \"$(~/.a/bin/a init zsh)\"", ".a/bin/a"),
            (
                "source \"${XDG_DATA_HOME:-$HOME/.local/share}/zinit/zinit.zsh\"",
                ".data/zinit/zinit.zsh",
            ),
            (
                "source \"${ZSH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/zsh}/dump\"",
                ".cache/zsh/dump",
            ),
            ("for f in ~/.rc.d/*.sh; do . \"$f\"; done", ".rc.d"),
            ("alias x=~/.x/run y='~/.y/run --z'", ".x/run .y/run"),
            (
                "autoload -Uz compinit && compinit -d ~/.cache/zsh/zcompdump",
                ".cache/zsh/zcompdump",
            ),
            ("export BASH_ENV=~/.env.d/bash", ".env.d/bash"),
            ("zstyle ':x' path ~/.x/y --dir=$HOME/.z", "?.x/y .z"),
            ("export CARGO_HOME=~/.cargo; cd ~/.x", "?.x"),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn what_runs_nothing_or_is_not_understood_is_passed_over() {
        for text in [
            "# . ~/.x",
            "export CARGO_HOME=~/.cargo GOPATH=$HOME/go",
            "HISTFILE=~/.cache/history",
            "source \"$UNKNOWN/x\"",
            "source ~/../other/x",
            ". /etc/profile; cd ~; ls ~/.x",
            "export X=${broken",
            "PATH=$HOME:$PATH",
        ] {
            check(text, "");
        }
    }
}
