//! Links and imports in small trees.

use pleach_git::git::Call;
use pleach_git::git::read::TreeEntry;

use super::*;

/// Files written `path: text` and links `path -> target`.
struct Files(Vec<(String, &'static str, String)>);

fn id(text: &str) -> String {
    pleach_system::text::hash::hash([text])
}

impl ObjectSource for Files {
    fn call(&self) -> Call {
        unreachable!("it has no git")
    }

    fn entries(&self, _: &CommitId) -> Result<Vec<TreeEntry>, GitError> {
        let files = self.0.iter().map(|(path, mode, text)| TreeEntry {
            mode: (*mode).to_owned(),
            id: id(text),
            path: path.as_bytes().to_vec(),
        });
        Ok(files.collect())
    }

    fn read_blobs(
        &self,
        wanted: &[BlobId],
        most: usize,
    ) -> Result<HashMap<BlobId, Option<Vec<u8>>>, GitError> {
        let text = |wanted: &BlobId| {
            let mut files = self.0.iter();
            let file = files.find(|(_, _, text)| id(text) == wanted.as_str());
            let text = file.map(|(_, _, text)| text.as_bytes().to_vec());
            text.filter(|text| text.len() <= most)
        };
        Ok(wanted.iter().map(|id| (id.clone(), text(id))).collect())
    }
}

/// The files that steer, and those of which it cannot be said what they lead to.
#[track_caller]
fn check(files: &str, steering: &str, unseen: &str) {
    let files = files.split(" | ").map(|file| {
        let link = file.split_once(" -> ");
        let (path, mode, text) = match (link, file.split_once(": ")) {
            (Some((path, target)), _) => (path, "120000", target),
            (None, Some((path, text))) => (path, "100644", text),
            _ => (file, "100644", ""),
        };
        (path.to_owned(), mode, text.to_owned())
    });
    let files = Files(files.collect());
    let commit = "1".repeat(40).parse().unwrap();
    let found = follow(&files, &commit, &mut Arc::default()).unwrap();
    let names = |paths: Vec<&Vec<u8>>| {
        let names: Vec<String> = paths.into_iter().map(|path| shown(path)).collect();
        names.join(" ")
    };
    assert_eq!(
        (
            names(found.files.keys().collect()).as_str(),
            names(found.unseen.keys().collect()).as_str()
        ),
        (steering, unseen)
    );
}

#[test]
fn links_lead_to_files_folders_and_further_links() {
    check(
        "AGENTS.md -> docs/a.md | docs/a.md | b",
        "AGENTS.md docs/a.md",
        "",
    );
    check(
        ".claude -> tools | tools/x/y | tools/z -> ../far | far | tool",
        ".claude far tools/x/y tools/z",
        "",
    );
    check(
        "sub/GEMINI.md -> ../now/a | now -> v/2 | v/2/a | v/1/a",
        "now sub/GEMINI.md v/2/a",
        "",
    );
    check(".claude -> . | a | b/c", ".claude a b/c", "");
    check("x -> y | y", "", "");
}

#[test]
fn links_that_leave_the_tree_are_unseen() {
    for target in [
        "/etc/x",
        "../x",
        "a/../../x",
        "no",
        "file/x",
        "AGENTS.md",
        "out",
    ] {
        let files = format!("AGENTS.md -> {target} | a/b | file | out -> /");
        let steering = if target == "out" {
            "AGENTS.md out"
        } else {
            "AGENTS.md"
        };
        check(&files, steering, "AGENTS.md");
    }
}

#[test]
fn imports_through_links_that_leave_the_tree_are_unseen() {
    check(
        "AGENTS.md: @docs/a.md | docs -> ../x",
        "AGENTS.md docs",
        "docs",
    );
    check("AGENTS.md: @a.md | a.md -> /x", "AGENTS.md a.md", "a.md");
    check(
        "AGENTS.md: @docs/a.md | docs -> more | more/x -> /x",
        "AGENTS.md",
        "",
    );
    check(
        ".mcp.json: {\"command\": \"./tools/x\"} | tools -> /x",
        ".mcp.json tools",
        "tools",
    );
}

#[test]
fn settings_lead_to_the_files_that_their_words_and_patterns_name() {
    check(
        "web/.claude/settings.json: \"./run.sh a\" \"b.sh\" | web/run.sh: ./c.sh | b.sh | c.sh | a/d",
        "b.sh web/.claude/settings.json web/run.sh",
        "",
    );
    check(
        "opencode.json: {\"instructions\": [\"docs/**/*.md\"], \"x\": [\"src/*\"]} | docs/a.md: @b | b | docs/c/d.md | docs/e.txt | src/f",
        "b docs/a.md docs/c/d.md opencode.json",
        "",
    );
    check("pleach.toml: setup = \"./x.sh\" | x.sh", "pleach.toml", "");
}

#[test]
fn what_settings_name_is_run_or_read() {
    let files = Files(vec![
        (
            ".mcp.json".to_owned(),
            "100644",
            "server guide.md".to_owned(),
        ),
        ("guide.md".to_owned(), "100644", String::new()),
        ("server".to_owned(), "100644", "x".to_owned()),
        (".cursor/tool".to_owned(), "100755", "y".to_owned()),
    ]);
    let commit = "1".repeat(40).parse().unwrap();
    let found = crate::consent::SteeringFiles::at(&files, &commit).unwrap();
    let roles = found.remarks().into_iter();
    let roles: Vec<String> = roles
        .map(|(path, remark)| format!("{path} {:?}", remark.role))
        .collect();
    assert_eq!(
        roles,
        [
            ".cursor/tool Hooks",
            ".mcp.json Servers",
            "guide.md Instructions",
            "server Hooks"
        ]
    );
}

#[test]
fn imports_are_followed_five_deep_from_the_file_the_link_and_the_top() {
    check(
        "CLAUDE.md: @docs/a.txt | docs/a.txt: @b @top | docs/b | top | c",
        "CLAUDE.md docs/a.txt docs/b top",
        "",
    );
    check(
        "CLAUDE.md: @1 | 1: @2 | 2: @3 | 3: @4 | 4: @5 | 5: @6 | 6: @7",
        "1 2 3 4 5 CLAUDE.md",
        "",
    );
    check(
        "a/AGENTS.md -> ../docs/x | docs/x: @y @z | a/y | docs/z",
        "a/AGENTS.md a/y docs/x docs/z",
        "",
    );
    check(
        "CLAUDE.md: @a @b | a: @CLAUDE.md @a | b -> c | c: @d | d",
        "CLAUDE.md a b c d",
        "",
    );
    check(
        "CLAUDE.md: @gone @docs @../x @/etc/x | docs/a",
        "CLAUDE.md",
        "",
    );
    check(".mcp.json: @a | a", ".mcp.json", "");
    check(".goosehints: `@a` | a", ".goosehints a", "");
}

#[test]
fn a_text_that_is_too_long_is_unseen() {
    let long = "x".repeat(LONGEST_TEXT + 1);
    check(&format!("CLAUDE.md: {long}"), "CLAUDE.md", "CLAUDE.md");
}
