//! Files that are no databases, may not be written to, or are of another time.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use pleach_log::database::{Database, DatabaseError};
use pleach_system::state_folder::StateFolder;
use pleach_system::text::causes::with_causes;
use rusqlite::Connection;

use super::children::child;
use super::{BEGUN, Home, create, started};

#[track_caller]
fn refusal(home: &Home) -> DatabaseError {
    let error = Database::open(&home.state()).unwrap_err();
    let path = home.state().database();
    assert!(
        error.to_string().contains(path.to_str().unwrap()),
        "{error}"
    );
    assert!(error.hint().is_some(), "{error}");
    error
}

#[test]
fn a_database_of_a_later_version_is_left_alone() {
    let home = Home::new();
    let mut database = home.open();
    create(&mut database, "p", "1").unwrap();
    drop(database);
    let path = home.state().database();
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 77).unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    let error = refusal(&home);
    assert!(
        matches!(error, DatabaseError::Newer { found: 77, .. }),
        "{error}"
    );
    assert_eq!(error.hint(), Some("update Pleach"));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_is_no_database_is_named_and_left_alone() {
    let home = Home::new();
    let path = home.state().database();
    let text = "this is no database\n".repeat(1000);
    fs::write(&path, &text).unwrap();
    let error = refusal(&home);
    assert!(matches!(error, DatabaseError::Damaged { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_damaged_database_is_told_as_such() {
    let home = Home::new();
    let mut database = home.open();
    let batch = create(&mut database, "p", "1").unwrap();
    for attempt in 1..400 {
        database.append(batch, &[started("1", attempt)]).unwrap();
    }
    drop(database);
    let path = home.state().database();
    let whole = fs::read(&path).unwrap();
    let mut told = 0;
    for page in 0..whole.len() / 4096 {
        let mut broken = whole.clone();
        broken[page * 4096..][..4096].fill(0xa5);
        fs::write(&path, broken).unwrap();
        let answer = Database::open(&home.state()).and_then(|mut database| {
            database.append(batch, &[BEGUN])?;
            database.rebuild()?;
            database.load(batch)
        });
        if let Err(error) = answer {
            let is_damaged = matches!(error, DatabaseError::Damaged { .. });
            assert!(is_damaged, "page {page}: {}", with_causes(&error));
            told += 1;
        }
    }
    assert!(told >= whole.len() / 4096 / 2, "{told}");
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let cut = Database::open(&home.state()).and_then(|mut database| database.rebuild());
    assert!(matches!(cut, Err(DatabaseError::Damaged { .. })), "{cut:?}");
}

/// Permissions mean nothing to root, so root checks them as another user.
#[test]
fn a_folder_that_is_read_only_is_named() {
    let home = Home::new();
    let mut database = home.open();
    create(&mut database, "p", "1").unwrap();
    drop(database);
    fs::set_permissions(home.state().database(), Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(home.path(), Permissions::from_mode(0o555)).unwrap();
    let mut child = child("ordinary user", home.path());
    if fs::metadata(home.path()).unwrap().uid() == 0 {
        child.uid(65534).gid(65534);
    }
    let output = child.output().unwrap();
    fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

pub(super) fn meet_permissions(state: &Path) {
    let error = Database::open(&StateFolder::at(state).unwrap()).unwrap_err();
    assert!(
        matches!(error, DatabaseError::NotWritable { .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("pleach.db is not writable"),
        "{error}"
    );
}

/// A limit on the size of files stands in for a full disk.
#[test]
fn a_full_disk_loses_nothing_that_was_stored() {
    for room in [0, 1, 8, 64, 128] {
        let home = Home::new();
        let mut database = home.open();
        let batch = create(&mut database, "p", "1").unwrap();
        database.append(batch, &[BEGUN]).unwrap();
        drop(database);
        let shell = format!("ulimit -f {room}; trap '' XFSZ; exec \"$0\" \"$@\"");
        let limited = child("no room", home.path());
        let output = Command::new("sh")
            .args(["-c", &shell])
            .arg(std::env::current_exe().unwrap())
            .args(limited.get_args())
            .envs(
                limited
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "room {room}: {told}");
        let stored = told.matches("stored ").count();
        let events = home.open().load(batch).unwrap().unwrap().events;
        assert_eq!(events.len(), stored + 2, "room {room}");
        assert_eq!(stored > 0, room >= 64, "room {room}");
        home.open().append(batch, &[BEGUN]).unwrap();
    }
}

/// Appends until nothing goes any more, and once again.
pub(super) fn fill(state: &Path) {
    // The runner's pipe has room for a while; a line that cannot be written would hide the reason.
    let mut lines = String::new();
    let state = StateFolder::at(state).unwrap();
    let error = match Database::open(&state) {
        Err(error) => error,
        Ok(mut database) => {
            let error = loop {
                match database.append(1, &[started("1", 1)]) {
                    Ok(_) => lines.push_str("stored \n"),
                    Err(error) => break error,
                }
            };
            assert!(database.append(1, &[BEGUN]).is_err());
            error
        }
    };
    assert!(error.hint().is_some());
    lines.push_str(&with_causes(&error));
    std::io::stdout().write_all(lines.as_bytes()).unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}
