//! Counts lines: of each crate, of all Rust and of the board, apart for what ships and for what tests it.
//!
//! Every line of a file counts, blank ones and comments as well. Tests are what `#[cfg(test)]` marks, test folders and files,
//! examples, the testkit and the benchmarks. What was generated is not counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

use crate::root;

const FOLDERS: [&str; 4] = ["benches", "crates", "web", "xtask"];

/// The row of the board, which is no part of the sum.
const BOARD: &str = "web";

/// A file with its path below the root of the project.
type SourceFile = (String, String);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct LineCount {
    source: usize,
    tests: usize,
}

impl LineCount {
    fn add(&mut self, other: Self) {
        self.source += other.source;
        self.tests += other.tests;
    }
}

/// Prints the lines of the working tree, and beside them those of another revision.
pub(crate) fn run(revision: Option<&str>) -> Result<(), String> {
    let here = count(&files_here()?);
    let there = revision.map(files_at).transpose()?;
    let there = there.map(|files| count(&files));
    print!("{}", table(&here, revision.zip(there.as_ref())));
    Ok(())
}

/// The files of the working tree that git knows or would add.
fn files_here() -> Result<Vec<SourceFile>, String> {
    let mut list = vec!["ls-files", "-z", "--cached", "--others"];
    list.extend(["--exclude-standard", "--"]);
    list.extend(FOLDERS);
    let paths: BTreeSet<String> = paths(&list)?.into_iter().collect();
    let read = |path: String| Some((path.clone(), std::fs::read(root().join(path)).ok()?));
    // One that was deleted is in the index until then.
    let files = paths.into_iter().filter_map(read);
    let text = |(path, bytes): (String, Vec<u8>)| (path, String::from_utf8_lossy(&bytes).into());
    Ok(files.map(text).collect())
}

fn files_at(revision: &str) -> Result<Vec<SourceFile>, String> {
    let list = [&["ls-tree", "-r", "-z", "--name-only", revision, "--"][..]];
    let paths = paths(&[list.concat(), FOLDERS.to_vec()].concat())?;
    contents(revision, &paths).map_err(|error| format!("git cat-file: {error}"))
}

fn paths(arguments: &[&str]) -> Result<Vec<String>, String> {
    let listed = Command::new("git")
        .args(arguments)
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("git: {error}"))?;
    if !listed.status.success() {
        return Err(format!("git {}: {}", arguments.join(" "), listed.status));
    }
    let listed = String::from_utf8_lossy(&listed.stdout);
    let counted = listed.split('\0').filter(|path| is_counted(path));
    Ok(counted.map(str::to_owned).collect())
}

/// Asks one git for file after file, so that none has to wait for a program to start.
fn contents(revision: &str, paths: &[String]) -> std::io::Result<Vec<SourceFile>> {
    let mut git = Command::new("git")
        .args(["cat-file", "--batch"])
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut ask = git.stdin.take().expect("it is piped");
    let mut answers = BufReader::new(git.stdout.take().expect("it is piped"));
    let mut files = Vec::new();
    for path in paths {
        writeln!(ask, "{revision}:{path}")?;
        let mut header = String::new();
        answers.read_line(&mut header)?;
        let length = header.trim_end().rsplit(' ').next().unwrap_or_default();
        let length: usize = length.parse().map_err(|_| std::io::Error::other(header))?;
        // A line break ends each answer.
        let mut bytes = vec![0; length + 1];
        answers.read_exact(&mut bytes)?;
        bytes.pop();
        files.push((path.clone(), String::from_utf8_lossy(&bytes).into()));
    }
    drop(ask);
    git.wait()?;
    Ok(files)
}

fn is_counted(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    if path.starts_with("web/") {
        ["css", "html", "js", "mjs", "ts", "tsx"].contains(&ending)
    } else {
        ending == "rs"
    }
}

fn count(files: &[SourceFile]) -> BTreeMap<String, LineCount> {
    let test_modules: BTreeSet<String> = files
        .iter()
        .flat_map(|(path, text)| test_modules(path, text))
        .collect();
    let mut counts: BTreeMap<String, LineCount> = BTreeMap::new();
    for (path, text) in files.iter().filter(|(_, text)| !is_generated(text)) {
        let all = text.lines().count();
        let tests = if is_test_file(path) || test_modules.contains(path) {
            all
        } else {
            marked_lines(text)
        };
        let part = path.strip_prefix("crates/").unwrap_or(path);
        let part = part.split('/').next().unwrap_or(part);
        counts.entry(part.to_owned()).or_default().add(LineCount {
            source: all - tests,
            tests,
        });
    }
    counts
}

fn is_generated(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.contains("not written by hand") || first.contains("generated")
}

fn is_test_file(path: &str) -> bool {
    let folders = ["/tests/", "/examples/", "web/e2e/", "web/perf/"];
    path.starts_with("crates/testkit/")
        || path.starts_with("benches/")
        || path.ends_with("/tests.rs")
        || path.contains(".test.")
        || folders.iter().any(|folder| path.contains(folder))
}

/// The files of modules that a file declares for tests only.
fn test_modules(path: &str, text: &str) -> Vec<String> {
    let folder = path.trim_end_matches(".rs");
    let folder = folder.trim_end_matches("/lib").trim_end_matches("/main");
    let declared = marked_items(text).into_iter().filter_map(|item| {
        let name = item
            .last()?
            .trim()
            .strip_prefix("mod ")?
            .strip_suffix(';')?;
        Some(format!("{folder}/{name}.rs"))
    });
    declared.collect()
}

fn marked_lines(text: &str) -> usize {
    marked_items(text).iter().map(Vec::len).sum()
}

/// The lines of each item that is for tests only; the format of the code says where it ends.
fn marked_items(text: &str) -> Vec<Vec<&str>> {
    let mut items = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(indent) = line.strip_suffix("#[cfg(test)]") else {
            continue;
        };
        let end = format!("{indent}}}");
        let mut item = vec![line];
        for line in lines.by_ref() {
            item.push(line);
            let is_attribute = line.trim_start().starts_with(['#', '/']);
            let is_short = line.ends_with(';') && item.iter().all(|line| !line.ends_with('{'));
            if line == end || (is_short && !is_attribute) {
                break;
            }
        }
        items.push(item);
    }
    items
}

fn table(
    here: &BTreeMap<String, LineCount>,
    there: Option<(&str, &BTreeMap<String, LineCount>)>,
) -> String {
    let mut head = String::from("            source   tests  ratio");
    if let Some((revision, _)) = there {
        let _ = write!(
            head,
            "   at {revision}: source   tests  ratio   change: source   tests"
        );
    }
    let mut names: BTreeSet<&str> = here.keys().map(String::as_str).collect();
    names.extend(
        there
            .iter()
            .flat_map(|(_, counts)| counts.keys().map(String::as_str)),
    );
    names.remove(BOARD);
    let rows = names.into_iter().chain(["Rust", BOARD]).map(|name| {
        let here = row_of(here, name);
        let mut row = format!("{name:<10}{}", columns(here, 8));
        if let Some((revision, counts)) = there {
            let there = row_of(counts, name);
            row.push_str(&columns(there, revision.len() + 14));
            let change = |here: usize, there: usize| here.cast_signed() - there.cast_signed();
            let source = change(here.source, there.source);
            let tests = change(here.tests, there.tests);
            let _ = write!(row, "{source:>+17}{tests:>+8}");
        }
        row
    });
    let lines = std::iter::once(head).chain(rows);
    lines.map(|line| line + "\n").collect()
}

/// The sum over all crates stands beside them.
fn row_of(counts: &BTreeMap<String, LineCount>, name: &str) -> LineCount {
    if name != "Rust" {
        return counts.get(name).copied().unwrap_or_default();
    }
    let mut sum = LineCount::default();
    for (_, count) in counts.iter().filter(|(name, _)| *name != BOARD) {
        sum.add(*count);
    }
    sum
}

fn columns(count: LineCount, width: usize) -> String {
    let LineCount { source, tests } = count;
    let hundredths = (100 * tests).checked_div(source);
    let ratio = hundredths.map_or_else(
        || "-".to_owned(),
        |ratio| format!("{}.{:02}", ratio / 100, ratio % 100),
    );
    format!("{source:>width$}{tests:>8}{ratio:>7}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(files: &[(&str, &str)]) -> BTreeMap<String, LineCount> {
        let files: Vec<SourceFile> = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect();
        count(&files)
    }

    #[test]
    fn what_only_tests_use_is_no_source() {
        let text = "//! a\n#[cfg(test)]\nmod sample;\nfn a() {\n}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        let counts = counted(&[
            ("crates/cli/src/draw.rs", text),
            ("crates/cli/src/draw/sample.rs", "one\ntwo\n"),
            ("crates/cli/src/draw/tests.rs", "one\n"),
            ("crates/cli/tests/cli/main.rs", "one\n"),
        ]);
        let cli = LineCount {
            source: 5,
            tests: 6 + 2 + 1 + 1,
        };
        assert_eq!(counts["cli"], cli);
    }

    #[test]
    fn the_board_is_no_part_of_the_sum_and_types_of_the_api_are_no_part_of_the_board() {
        let counts = counted(&[
            ("crates/domain/src/lib.rs", "one\ntwo\n"),
            ("benches/src/main.rs", "one\n"),
            ("web/src/main.tsx", "one\n"),
            ("web/src/api/schema.d.ts", "// not written by hand\ntwo\n"),
        ]);
        let printed = table(&counts, None);
        let sum: Vec<&str> = printed.lines().rev().take(2).collect();
        assert_eq!(sum[1], "Rust             2       1   0.50", "{printed}");
        assert_eq!(sum[0], "web              1       0   0.00", "{printed}");
        let printed = table(&counts, Some(("main", &counted(&[]))));
        assert!(
            printed.contains("                0       0      -               +2      +1\n"),
            "{printed}"
        );
    }
}
