//! Has the kernel hold the calling thread, and whatever it starts from then on.
//!
//! Knows nothing of why which places are open.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, Scope,
};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};

/// The rights to change files and to speak to devices and sockets, as of the last version that brought one; older
/// kernels know fewer.
const RIGHTS: ABI = ABI::V9;

/// The rights to change files alone: git may talk to an agent of ssh, and to a terminal.
const FILES: ABI = ABI::V3;

/// The rights to use the network, as of the version that brought them.
const NETWORK: ABI = ABI::V4;

/// Services that tests and names of users and hosts need: sockets in these folders can be connected to.
///
/// Who listens elsewhere is reached only by what it started itself, where the kernel can tell.
const SERVICES: [&str; 8] = [
    "/run/mysqld",
    "/run/nscd",
    "/run/postgresql",
    "/run/redis",
    "/run/systemd/journal",
    "/run/systemd/resolve",
    "/run/systemd/userdb",
    "/var/lib/sss/pipes",
];

/// The right to connect to a socket in the file system.
const CONNECTING: AccessFs = AccessFs::ResolveUnix;

/// The kinds of confinement besides files, as of the version that brought them.
const SCOPES: ABI = ABI::V6;

/// What the kernel lets a program do with files: nothing but this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// What it may write to and read, with everything beneath.
    pub write: Vec<PathBuf>,
    /// What it may read besides, with everything beneath.
    pub read: Vec<PathBuf>,
}

impl Confinement {
    pub(crate) fn lets_write(&self, path: &Path) -> bool {
        self.write.iter().any(|open| path.starts_with(open))
    }

    pub(crate) fn lets_read(&self, path: &Path) -> bool {
        self.lets_write(path) || self.read.iter().any(|open| path.starts_with(open))
    }
}

/// The version of the kernel's Landlock, as far as it matters here: up to 6, which is that of Linux 6.12, and zero
/// where there is none.
pub fn landlock_version() -> usize {
    const STEPS: [fn(Ruleset) -> Result<Ruleset, RulesetError>; 6] = [
        |ruleset| ruleset.handle_access(AccessFs::WriteFile),
        |ruleset| ruleset.handle_access(AccessFs::Refer),
        |ruleset| ruleset.handle_access(AccessFs::Truncate),
        |ruleset| ruleset.handle_access(AccessNet::from_all(NETWORK)),
        |ruleset| ruleset.handle_access(AccessFs::IoctlDev),
        |ruleset| ruleset.scope(Scope::from_all(SCOPES)),
    ];
    static KNOWN: OnceLock<usize> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let is_there = |step: &&fn(Ruleset) -> Result<Ruleset, RulesetError>| {
            let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
            step(ruleset).and_then(Ruleset::create).is_ok()
        };
        STEPS.iter().take_while(is_there).count()
    })
}

pub fn is_available() -> bool {
    landlock_version() > 0
}

pub fn can_refuse_tcp() -> bool {
    landlock_version() >= 4
}

/// Refuses the calling thread all connections by TCP, for good.
pub(crate) fn refuse_tcp() -> Result<(), String> {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let ruleset = ruleset.handle_access(AccessNet::from_all(NETWORK));
    let refused = ruleset
        .and_then(Ruleset::create)
        .and_then(RulesetCreated::restrict_self);
    refused.map(drop).map_err(|error| error.to_string())
}

/// Leaves the calling thread no more than is open, for good.
pub(crate) fn restrict(confinement: &Confinement) -> Result<(), String> {
    let held = hold(confinement).map_err(|error| error.to_string())?;
    match held {
        RulesetStatus::NotEnforced => Err("the kernel has no Landlock".to_owned()),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

/// Whether the kernel can hold programs of our own: it has to tell a rename from one folder to another apart from
/// others, or git could not write objects.
pub fn holds_our_own() -> bool {
    landlock_version() >= 2
}

/// Leaves the calling thread no more files than are open, for good; it may signal and connect to whom it likes.
pub fn restrict_files(confinement: &Confinement) -> Result<(), String> {
    let held = Ruleset::default()
        .handle_access(AccessFs::from_write(FILES) | AccessFs::ReadFile)
        .and_then(|ruleset| add_rules(ruleset.create()?, confinement, FILES)?.restrict_self());
    held.map(drop).map_err(|error| error.to_string())
}

fn hold(confinement: &Confinement) -> Result<RulesetStatus, RulesetError> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_write(RIGHTS) | AccessFs::ReadFile)?
        .scope(Scope::from_all(SCOPES))?
        .create()?;
    let mut ruleset = add_rules(ruleset, confinement, RIGHTS)?;
    for path in SERVICES.map(Path::new) {
        if let Some((place, _)) = opened(path) {
            ruleset = ruleset.add_rule(PathBeneath::new(place.as_fd(), CONNECTING))?;
        }
    }
    Ok(ruleset.restrict_self()?.ruleset)
}

fn add_rules(
    mut ruleset: RulesetCreated,
    confinement: &Confinement,
    rights: ABI,
) -> Result<RulesetCreated, RulesetError> {
    let changing = AccessFs::from_write(rights);
    let reading = BitFlags::from(AccessFs::ReadFile);
    // Nobody who works on a task makes devices.
    let connecting = changing & CONNECTING;
    let in_folder = changing & !(AccessFs::MakeChar | AccessFs::MakeBlock | connecting);
    let in_file = changing & AccessFs::from_file(rights) & !connecting;
    for path in &confinement.write {
        if let Some((place, kind)) = opened(path) {
            let rights = match kind {
                FileType::Directory => in_folder,
                // One that is open by its name.
                FileType::Socket => in_file | connecting,
                _ => in_file,
            };
            ruleset = ruleset.add_rule(PathBeneath::new(place.as_fd(), rights | reading))?;
        }
    }
    for path in &confinement.read {
        if let Some((place, _)) = opened(path) {
            ruleset = ruleset.add_rule(PathBeneath::new(place.as_fd(), reading))?;
        }
    }
    Ok(ruleset)
}

/// What is at a path; nothing for a link, which may lead anywhere by now.
fn opened(path: &Path) -> Option<(OwnedFd, FileType)> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = open(path, flags, Mode::empty()).ok()?;
    let kind = FileType::from_raw_mode(fstat(&place).ok()?.st_mode);
    (kind != FileType::Symlink).then_some((place, kind))
}
