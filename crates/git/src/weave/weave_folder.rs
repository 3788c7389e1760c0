//! The place where weaving happens: a git folder of its own that borrows a repository's objects.
//!
//! Nothing outside it changes until the result is stored. It follows the user's attributes and merge
//! settings, and no other configuration.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::geteuid;
use tempfile::TempDir;

use super::WeaveError;
use super::objects::WeaveObjects;
use crate::git::{
    Call, CallPlace, Checkout, CommitId, Git, Identity, Repository, Store, TreeId, alternate_line,
};

/// Below this, objects are stored one by one, as git itself does after a fetch.
const LEAST_FOR_A_PACK: usize = 100;

/// Nothing in the weave folder outlives it, so what git writes there need be neither small nor safe.
const SETTINGS: &str = "[core]\n\tbare = false\n\tcompression = 0\n\tfsync = none\n";

const PREFIX: &str = "pleach-weave-";
const MARK: &str = "in-use";

/// The mark is made a moment after the folder.
const UNMARKED: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub struct WeaveFolder {
    git: Git,
    folder: TempDir,
    /// Tells others that the folder is in use, where nobody else looks after it.
    #[expect(dead_code, reason = "holding it is its use")]
    held: Option<File>,
    /// The repository that lends its objects, and that results are stored in.
    lender: Lender,
    identity: Identity,
    hash: gix_hash::Kind,
    /// What the user set about merging, as `name=value`.
    settings: Vec<String>,
    /// The top of the user's checkout, which merge drivers expect to be in; nothing is written there.
    work_tree: Option<PathBuf>,
    /// A store whose objects are read as well.
    also: Option<PathBuf>,
}

#[derive(Debug)]
enum Lender {
    Store(PathBuf),
    Users {
        folder: PathBuf,
        /// Where its objects are written.
        written: Vec<PathBuf>,
    },
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> WeaveError {
    let path = path.to_owned();
    move |source| WeaveError::Io { path, source }
}

impl WeaveFolder {
    /// A weave folder whose results go to a private store.
    pub fn of_store(store: &Store) -> Result<Self, WeaveError> {
        let folder = store.scratch()?;
        let lender = Lender::Store(store.git_dir());
        let mut weave_folder = Self {
            git: store.git.clone(),
            folder,
            held: None,
            lender,
            identity: store.identity().clone(),
            hash: hash(store.object_format())?,
            settings: Vec::new(),
            work_tree: None,
            also: None,
        };
        weave_folder.set_up(&store.git_dir().join("objects"))?;
        if let Ok(checkout) = store.checkout() {
            weave_folder.follow(checkout)?;
        }
        Ok(weave_folder)
    }

    /// A weave folder whose results go straight to the user's repository.
    pub fn of_repository(repository: &Repository) -> Result<Self, WeaveError> {
        let temporary = std::env::temp_dir();
        sweep(&temporary);
        let made = tempfile::Builder::new()
            .prefix(PREFIX)
            // Contents of the repository go there, and others may look into the folder above.
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(&temporary);
        let folder = made.map_err(failed(&temporary))?;
        let held = hold(folder.path()).map_err(failed(folder.path()))?;
        let mut weave_folder = Self {
            git: repository.git().clone(),
            folder,
            held: Some(held),
            lender: Lender::Users {
                folder: repository.folder().to_owned(),
                written: repository.checkout().written(),
            },
            identity: repository.checkout().config.identity(),
            hash: hash(&repository.checkout().object_format)?,
            settings: Vec::new(),
            work_tree: None,
            also: None,
        };
        weave_folder.set_up(&repository.checkout().common_dir.join("objects"))?;
        weave_folder.follow(repository.checkout())?;
        Ok(weave_folder)
    }

    /// The same, where commits of a store are known as well.
    pub fn borrowing(mut self, store: &Store) -> Result<Self, WeaveError> {
        let file = self.object_folder().join("info/alternates");
        let mut lines = fs::read(&file).map_err(failed(&file))?;
        lines.extend(alternate_line(&store.git_dir().join("objects")));
        fs::write(&file, lines).map_err(failed(&file))?;
        self.also = Some(store.git_dir());
        Ok(self)
    }

    /// Begins a call whose new objects stay in the weave folder.
    pub(super) fn call(&self) -> Call {
        let empty = self.folder.path().join("empty");
        let work_tree = self.work_tree.as_deref().unwrap_or(&empty);
        let mut call = self
            .git
            .call(CallPlace::Ours(self.folder.path()))
            .work_tree(work_tree)
            .with_users_settings()
            .env("GIT_ATTR_NOSYSTEM", "0");
        call = match &self.lender {
            Lender::Store(git_dir) => call.reading(git_dir),
            Lender::Users { written, .. } => {
                written.iter().fold(call, |call, path| call.reading(path))
            }
        };
        if let Some(also) = &self.also {
            call = call.reading(also);
        }
        if self.runs_programs() {
            // Git hands them what they merge in files that it makes in the folder it is in.
            call = call.with_users_programs().writing(work_tree);
        }
        for setting in &self.settings {
            call = call.args(["-c", setting]);
        }
        call
    }

    /// Takes the only commit of a bundle in, to be merged and not to be kept; its tree.
    pub(crate) fn tree_of_bundle(&self, bundle: &Path) -> Option<TreeId> {
        let unbundle = self.call().reading(bundle).args(["bundle", "unbundle"]);
        let printed = unbundle.arg(bundle).output().ok()?;
        let printed = String::from_utf8_lossy(&printed);
        let (commit, _) = printed.lines().next()?.split_once(' ')?;
        let ask = ["rev-parse", "--verify", "--end-of-options"];
        let asked = self.call().args(ask).arg(format!("{commit}^{{tree}}"));
        String::from_utf8(asked.output().ok()?)
            .ok()?
            .trim()
            .parse()
            .ok()
    }

    /// Gives a commit a name by which git knows it here, and that it writes into files for people.
    pub(super) fn name(&self, commit: &CommitId, name: &str) -> Result<(), WeaveError> {
        let file = self.folder.path().join("refs/heads").join(name);
        let above = file.parent().unwrap_or(self.folder.path());
        fs::create_dir_all(above).map_err(failed(above))?;
        fs::write(&file, format!("{commit}\n")).map_err(failed(&file))
    }

    /// Whether the user has set up programs of their own that merge or filter.
    fn runs_programs(&self) -> bool {
        let mut settings = self.settings.iter();
        settings.any(|setting| setting.starts_with("filter.") || setting.contains(".driver="))
    }

    /// Whether line ends are made the same before files are compared, so that a change may be none.
    pub(super) fn does_renormalize(&self) -> bool {
        let mut settings = self.settings.iter();
        settings.any(|setting| setting.starts_with("merge.renormalize="))
    }

    /// The folder that new objects go to; it borrows all others.
    pub(crate) fn object_folder(&self) -> PathBuf {
        self.folder.path().join("objects")
    }

    pub(super) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(super) fn objects(&self) -> Result<WeaveObjects, WeaveError> {
        let folder = self.object_folder();
        WeaveObjects::open(&folder, self.hash).map_err(failed(&folder))
    }

    /// Stores what was woven in the repository; until then nobody but the weave folder has it.
    pub(super) fn store(&self, objects: &WeaveObjects) -> Result<(), WeaveError> {
        let call = match &self.lender {
            Lender::Store(git_dir) => self.git.call(CallPlace::Ours(git_dir)),
            Lender::Users { folder, written } => {
                let call = self.git.call(CallPlace::Users(folder));
                written.iter().fold(call, |call, path| call.writing(path))
            }
        };
        let call = match objects.count() {
            0 => return Ok(()),
            few if few < LEAST_FOR_A_PACK => call.args(["unpack-objects", "-q"]),
            _ => call.args(["index-pack", "--stdin"]),
        };
        call.stdin(objects.pack()?).output()?;
        Ok(())
    }

    fn set_up(&self, lent: &Path) -> Result<(), WeaveError> {
        let folder = self.folder.path();
        let format = match self.hash {
            gix_hash::Kind::Sha1 => "[core]\n\trepositoryFormatVersion = 0\n",
            _ => "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n",
        };
        let format = format!("{format}{SETTINGS}");
        let files = [
            ("HEAD", b"ref: refs/heads/nothing\n".to_vec()),
            ("config", format.into()),
            ("objects/info/alternates", alternate_line(lent)),
        ];
        for inner in [
            "refs",
            "info",
            "empty",
            "objects",
            "objects/info",
            "objects/pack",
        ] {
            let inner = folder.join(inner);
            fs::create_dir(&inner).map_err(failed(&inner))?;
        }
        for (name, content) in files {
            let file = folder.join(name);
            fs::write(&file, content).map_err(failed(&file))?;
        }
        Ok(())
    }

    /// Takes over what the user's own `git merge` would follow.
    fn follow(&mut self, checkout: &Checkout) -> Result<(), WeaveError> {
        let top = checkout.top();
        self.settings = checkout.config.merging();
        if let Some(file) = checkout.config.attributes_file() {
            let file = top.unwrap_or(&checkout.folder).join(file);
            let setting = format!("core.attributesFile={}", file.display());
            self.settings.push(setting);
        }
        // Merge drivers may be named by a path in the repository.
        self.work_tree = top.map(Path::to_owned);
        let own = fs::read(checkout.common_dir.join("info/attributes"));
        let file = self.folder.path().join("info/attributes");
        fs::write(&file, own.unwrap_or_default()).map_err(failed(&file))
    }
}

/// Marks a folder as in use until this process ends.
fn hold(folder: &Path) -> io::Result<File> {
    let aside = folder.join("mark");
    let file = File::create_new(&aside)?;
    file.lock()?;
    // Nobody sees it before it is locked.
    fs::rename(&aside, folder.join(MARK))?;
    Ok(file)
}

/// Removes the folders of processes that were killed; what cannot be removed is left to others.
fn sweep(temporary: &Path) {
    let Ok(entries) = fs::read_dir(temporary) else {
        return;
    };
    for entry in entries.flatten() {
        let is_named = entry.file_name().as_bytes().starts_with(PREFIX.as_bytes());
        // In a folder that all share, anybody may have laid a trap under that name.
        let is_ours = || {
            let meta = entry.path().symlink_metadata();
            meta.is_ok_and(|meta| meta.is_dir() && meta.uid() == geteuid().as_raw())
        };
        if is_named && is_ours() && is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_abandoned(folder: &Path) -> bool {
    match File::open(folder.join(MARK)) {
        Ok(mark) => mark.try_lock().is_ok(),
        // Somebody was killed before the mark was made, or while all of it was being removed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = folder.symlink_metadata().and_then(|meta| meta.modified());
            let age = made.ok().and_then(|made| made.elapsed().ok());
            age.is_some_and(|age| age > UNMARKED)
        }
        Err(_) => false,
    }
}

pub(super) fn hash(format: &str) -> Result<gix_hash::Kind, WeaveError> {
    match format {
        "sha1" => Ok(gix_hash::Kind::Sha1),
        "sha256" => Ok(gix_hash::Kind::Sha256),
        other => Err(WeaveError::UnknownHash(other.to_owned())),
    }
}
