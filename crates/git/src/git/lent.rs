//! What the git folder of a worktree gets of the store: its refs as a list, its objects by borrowing.
//!
//! Knows nothing of what is done there.

use std::fs;
use std::io;
use std::path::Path;

use super::excludes::RULES;
use super::{CommitId, GitError, Store, nul_separated};

/// How git knows packed refs whose order it may rely on.
const SORTED: &str = "# pack-refs with: sorted \n";

/// The refs of the store that agents see, as they were when their git folder was made.
#[derive(Debug, Default)]
pub(crate) struct LentRefs {
    packed: Vec<u8>,
    /// Refs that lead to others, each with the one that it leads to.
    links: Vec<(String, String)>,
}

impl Store {
    /// The branches that the user's repository and its server had when they were fetched last.
    pub(crate) fn lent_refs(&self) -> Result<LentRefs, GitError> {
        let list = [
            "for-each-ref",
            "--format=%(objectname) %(refname) %(symref)%00",
            "refs/remotes",
        ];
        let printed = self.call().args(list).output()?;
        let mut lent = LentRefs {
            packed: SORTED.as_bytes().to_vec(),
            links: Vec::new(),
        };
        for record in nul_separated(&printed) {
            let record = String::from_utf8_lossy(record);
            let mut fields = record.trim_start_matches('\n').splitn(3, ' ');
            match (fields.next(), fields.next(), fields.next()) {
                (Some(id), Some(name), Some("")) => lent
                    .packed
                    .extend_from_slice(format!("{id} {name}\n").as_bytes()),
                (Some(_), Some(name), Some(target)) => {
                    lent.links.push((name.to_owned(), target.to_owned()));
                }
                _ => {}
            }
        }
        Ok(lent)
    }

    /// Makes a git folder of an empty one: it is on a branch at a commit, and borrows everything else.
    pub(crate) fn lend_to(
        &self,
        folder: &Path,
        branch_ref: &str,
        commit: &CommitId,
        lent: &LentRefs,
    ) -> io::Result<()> {
        for inside in ["refs/heads", "objects/info", "objects/pack", "info"] {
            fs::create_dir_all(folder.join(inside))?;
        }
        fs::copy(self.agent_config(), folder.join("config"))?;
        let rules = fs::read(self.git_dir().join(RULES)).unwrap_or_default();
        fs::write(folder.join(RULES), rules)?;
        let objects = self.git_dir().join("objects");
        fs::write(
            folder.join("objects/info/alternates"),
            alternate_line(&objects),
        )?;
        fs::write(folder.join("packed-refs"), &lent.packed)?;
        for (name, target) in &lent.links {
            write_ref(folder, name, &format!("ref: {target}"))?;
        }
        write_ref(folder, branch_ref, commit.as_str())?;
        fs::write(folder.join("HEAD"), format!("ref: {branch_ref}\n"))
    }
}

fn write_ref(folder: &Path, name: &str, value: &str) -> io::Result<()> {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().unwrap_or(folder))?;
    fs::write(file, format!("{value}\n"))
}

/// A line of an alternates file. Git reads it as C does when it begins with a quotation mark; other programs know
/// plain paths only.
pub(crate) fn alternate_line(path: &Path) -> Vec<u8> {
    let path = path.as_os_str().as_encoded_bytes();
    if !path.contains(&b'\n') {
        return [path, b"\n"].concat();
    }
    let mut line = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            b'\n' => line.extend(b"\\n"),
            other => line.push(*other),
        }
    }
    line.extend(b"\"\n");
    line
}
