//! What stands in for something that a test has not: processes for a cluster, a name for a network file system.

/// The variable that says what does.
pub const STAND_IN: &str = "PLEACH_STAND_IN";

/// Whether processes of this machine are the nodes of a cluster.
pub fn has_stand_in() -> bool {
    is_set_to("subprocess")
}

/// Whether every folder is on NFS.
pub(crate) fn is_all_on_nfs() -> bool {
    is_set_to("nfs")
}

fn is_set_to(what: &str) -> bool {
    std::env::var_os(STAND_IN).is_some_and(|set| set == what)
}
