//! Files that a program does not see, where somebody has put something else at their paths meanwhile.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use pleach_system::process::{Ending, HiddenFiles, Isolation, can_isolate};

use super::{Ground, run};

#[test]
fn a_folder_in_place_of_a_socket_is_not_blanked_and_no_link_is_followed() {
    if !can_isolate(env!("CARGO_BIN_EXE_pleach").as_ref()) {
        return;
    }
    let ground = Ground::new();
    let path = |name: &str| ground.path("work").join(name);
    fs::create_dir_all(path("kept/inside")).unwrap();
    fs::create_dir_all(path("empty/inside")).unwrap();
    fs::write(path("token"), "secret").unwrap();
    symlink("kept", path("link")).unwrap();
    symlink("kept/inside", path("last")).unwrap();
    let listeners = ["socket", "kept/socket"].map(|name| UnixListener::bind(path(name)).unwrap());
    let mut spec = ground.spec(
        "ls -d kept/inside link/inside; test -S kept/socket && echo kept; test -S socket || echo hidden; ls empty; \
         cat token",
    );
    spec.isolation = Isolation {
        hidden: Some(HiddenFiles {
            folders: ["empty", "link", "last", "gone"].map(path).to_vec(),
            sockets: ["kept", "socket", "link/socket", "last", "gone/x"]
                .map(path)
                .to_vec(),
            files: ["kept", "token", "link/inside", "last", "gone"]
                .map(path)
                .to_vec(),
            kept: Vec::new(),
        }),
        ..Isolation::default()
    };
    assert_eq!(run(&spec).ending, Ending::Exited(0));
    assert_eq!(ground.log(), "kept/inside\nlink/inside\nkept\nhidden\n");
    drop(listeners);
}
