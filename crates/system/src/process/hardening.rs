//! Makes a process of Pleach a poor target: it passes on no files, its memory is never dumped, limits do not end it.
//!
//! Knows nothing of what the process is for.

use std::sync::Arc;

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
use signal_hook::consts::{SIGXCPU, SIGXFSZ};

/// The first descriptor that is neither input nor output.
const FIRST: i32 = 3;

/// Hardens this process; to be called before it does anything else.
///
/// All of it is a wish: where the system refuses one, the others still hold.
pub fn harden() {
    // Whatever a shell, an editor or a CI runner left open stays readable here, and goes no further.
    close_fds::set_fds_cloexec(FIRST, &[]);
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = setrlimit(Resource::Core, none);
    for signal in [SIGXFSZ, SIGXCPU] {
        // A handler and not `SIG_IGN`, which programs that are started would inherit.
        let _ = signal_hook::flag::register(signal, Arc::default());
    }
}

/// Takes from the calling thread, and what it starts, the rights of root that open memory of other processes past
/// Landlock: on newer kernels, who may measure the system may read its environments (seen on 6.18).
pub(super) fn give_up_rights() {
    for right in [CapabilitySet::PERFMON, CapabilitySet::SYS_ADMIN] {
        // Nobody but root has them, or may give them up.
        let _ = remove_capability_from_bounding_set(right);
    }
}

/// Does something for which this process has to own its files in `/proc`, as one that cannot be dumped does not.
pub(super) fn while_dumpable<T>(work: impl FnOnce() -> T) -> T {
    let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
    let done = work();
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    done
}
