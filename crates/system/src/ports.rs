//! Leases blocks of ports, so that servers in different worktrees do not meet.
//!
//! Knows nothing of who listens there; a lease is a locked file that the kernel frees if need be.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::state_folder::{LockedFile, StateFolder, StateFolderError, try_lock};

/// How many ports a lease has.
pub const BLOCK: u16 = 10;

/// The first port of the first block; all lie below those that systems give out by themselves.
const FIRST: u16 = 21_000;

const BLOCKS: u16 = 1_100;

#[derive(Debug, thiserror::Error)]
pub enum PortsError {
    #[error("could not lease {BLOCK} ports: all from {FIRST} to {} are taken", FIRST + BLOCKS * BLOCK - 1)]
    AllTaken,
    #[error(transparent)]
    State(#[from] StateFolderError),
    #[error("could not lock {}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Ports that nobody else is given; let go when dropped, or when the process ends.
#[derive(Debug)]
pub struct PortLease {
    first: u16,
    #[expect(dead_code, reason = "holding it is its use")]
    file: LockedFile,
}

impl PortLease {
    /// Leases a block whose ports are free at this moment.
    pub fn take(state: &StateFolder) -> Result<Self, PortsError> {
        static TAKEN: AtomicUsize = AtomicUsize::new(0);
        let folder = state.ports()?;
        // Processes begin far from each other, and each goes on where it was.
        let pid = usize::try_from(std::process::id()).unwrap_or_default();
        let start = pid.wrapping_mul(0x9E37) + TAKEN.fetch_add(1, Ordering::Relaxed);
        let start = u16::try_from(start % usize::from(BLOCKS)).unwrap_or_default();
        let blocks = (0..BLOCKS).map(|step| FIRST + (start + step) % BLOCKS * BLOCK);
        Self::take_one_of(&folder, blocks)
    }

    fn take_one_of(folder: &Path, blocks: impl Iterator<Item = u16>) -> Result<Self, PortsError> {
        for first in blocks {
            let path = folder.join(format!("{first}.lock"));
            let file = try_lock(&path).map_err(|source| PortsError::Io { path, source })?;
            if let Some(file) = file
                && (first..first + BLOCK).all(is_free)
            {
                return Ok(Self { first, file });
            }
        }
        Err(PortsError::AllTaken)
    }

    pub fn first(&self) -> u16 {
        self.first
    }
}

/// Whether nobody listens there now, neither here nor on all addresses.
fn is_free(port: u16) -> bool {
    let is_taken = |error: io::Error| error.kind() == io::ErrorKind::AddrInUse;
    let here: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    // An address that this machine does not have is taken by nobody.
    !here
        .map(|address| TcpListener::bind((address, port)))
        .into_iter()
        .any(|bound| bound.is_err_and(is_taken))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn state() -> (tempfile::TempDir, StateFolder) {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::at(folder.path()).unwrap();
        (folder, state)
    }

    #[test]
    fn hundreds_of_leases_at_once_never_share_a_port() {
        let (_folder, state) = state();
        let leases: Vec<PortLease> = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| (0..50).map(|_| PortLease::take(&state).unwrap()).collect())
                })
                .collect();
            let all = takers.into_iter().map(|taker| taker.join().unwrap());
            all.flat_map(|leases: Vec<PortLease>| leases).collect()
        });
        let firsts: BTreeSet<u16> = leases.iter().map(PortLease::first).collect();
        assert_eq!(firsts.len(), 400);
        assert!(
            firsts
                .iter()
                .all(|first| (21_000..=31_990).contains(first) && first % BLOCK == 0)
        );
    }

    #[test]
    fn a_block_with_a_port_in_use_is_passed_over() {
        let (folder, _state) = state();
        for address in ["127.0.0.1:0", "0.0.0.0:0"] {
            let busy = TcpListener::bind(address).unwrap();
            let port = busy.local_addr().unwrap().port();
            for first in [port, port - BLOCK + 1] {
                let none = PortLease::take_one_of(folder.path(), std::iter::once(first));
                assert!(matches!(none, Err(PortsError::AllTaken)), "{address}");
            }
        }
    }

    #[test]
    fn a_block_that_is_leased_is_passed_over_until_it_is_given_back() {
        let (folder, _state) = state();
        let blocks = || {
            (FIRST..)
                .step_by(usize::from(BLOCK))
                .take(usize::from(BLOCKS))
        };
        let one = PortLease::take_one_of(folder.path(), blocks()).unwrap();
        let two = PortLease::take_one_of(folder.path(), blocks()).unwrap();
        assert_ne!(one.first(), two.first());
        let first = one.first();
        let again = PortLease::take_one_of(folder.path(), std::iter::once(first));
        assert!(matches!(again, Err(PortsError::AllTaken)));
        drop(one);
        let file = folder.path().join(format!("{first}.lock"));
        assert!(try_lock(&file).unwrap().is_some());
    }
}
