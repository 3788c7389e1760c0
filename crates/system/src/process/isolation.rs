//! Keeps a program apart by namespaces of its own: a network, memory that is shared by a name, and files it does not see.
//!
//! Knows nothing of which files those are, or why.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink::SocketAddrNetlink, recv,
    sendto, socket_with,
};
use rustix::process::{getegid, geteuid};

use super::hardening::while_dumpable;
use super::mounts::{SHARED_MEMORY, TERMINALS, hide};

/// The word by which a wrapper is asked whether it could do all of this.
pub(super) const PROBE: &str = "probe-isolation";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Isolation {
    pub network: Network,
    /// Files of others; without it, files are what they are.
    pub hidden: Option<HiddenFiles>,
    pub calls: SystemCalls,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SystemCalls {
    /// All but those that no build needs.
    #[default]
    Filtered = 0,
    /// All, where the system lets nobody filter them.
    All = 1,
}

/// Files that a program does not see, by paths that lead through no links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HiddenFiles {
    /// These are empty.
    pub folders: Vec<PathBuf>,
    /// Nobody listens at these.
    pub sockets: Vec<PathBuf>,
    pub files: Vec<PathBuf>,
    /// Folders that are found all the same in those that are empty.
    pub kept: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    #[default]
    Open = 0,
    Own = 1,
    /// Nobody by TCP, where there is nothing better.
    WithoutTcp = 2,
}

/// Enters namespaces for good; the process must have no other threads.
pub(super) fn enter(isolation: &Isolation) -> io::Result<()> {
    let mut wanted = CloneFlags::empty();
    if isolation.hidden.is_some() {
        wanted |= CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    }
    if isolation.network == Network::Own {
        wanted |= CloneFlags::CLONE_NEWNET;
    }
    if wanted.is_empty() {
        return Ok(());
    }
    leave(wanted)?;
    if isolation.network == Network::Own {
        switch_loopback_on()?;
    }
    match &isolation.hidden {
        Some(hidden) => hide(hidden),
        None => Ok(()),
    }
}

pub(super) fn probe() -> io::Result<()> {
    enter(&Isolation {
        network: Network::Own,
        hidden: Some(HiddenFiles {
            folders: [SHARED_MEMORY, TERMINALS].map(PathBuf::from).to_vec(),
            ..HiddenFiles::default()
        }),
        calls: SystemCalls::All,
    })
}

/// Leaves the namespaces that this process is in, as the user that it is.
fn leave(wanted: CloneFlags) -> io::Result<()> {
    match unshare(wanted) {
        // Whoever may not becomes the owner of a namespace of users first, where it is called what it was called.
        Err(Errno::EPERM) => {
            let (user, group) = (geteuid().as_raw(), getegid().as_raw());
            unshare(wanted | CloneFlags::CLONE_NEWUSER)?;
            while_dumpable(|| {
                fs::write("/proc/self/setgroups", "deny")?;
                fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
                fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
            })
        }
        left => left.map_err(io::Error::from),
    }
}

/// A message of the kernel's own protocol that switches the first device on, which is the way to oneself.
fn switch_loopback_on() -> io::Result<()> {
    const LOOPBACK: i32 = 1;
    const UP: u32 = 1;
    const NEW_LINK: u16 = 16;
    /// A request, to be acknowledged.
    const REQUEST: u16 = 1 | 4;
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    // Its number and its sender, then what kind of address is meant and of which device: any.
    message.extend([0; 12]);
    message.extend(LOOPBACK.to_ne_bytes());
    // What it shall be, and what of it shall change.
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    let kernel: OwnedFd = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    sendto(
        &kernel,
        &message,
        SendFlags::empty(),
        &SocketAddrNetlink::new(0, 0),
    )?;
    let mut answer = [0_u8; 64];
    let (length, _) = recv(&kernel, &mut answer, RecvFlags::empty())?;
    // Behind the header is a number, which is zero or the negative of an error.
    let error = answer[..length]
        .get(16..20)
        .and_then(|bytes| bytes.try_into().ok());
    match error.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}
