//! The tables, and how a database of an earlier version becomes one of ours.
//!
//! Knows versions and files, not what the rows mean.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::error::{DatabaseError, Stop};

/// What each version added; a step that was released never changes.
///
/// Batches, events, processes, consents, trust, projects and the tasks of boards are facts. `batch_state`, `batch_task` and `proved_tree` follow from them.
pub(super) const STEPS: &[&str] = &[
    "
    CREATE TABLE batch (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        project TEXT NOT NULL,
        repository BLOB NOT NULL,
        plan TEXT NOT NULL,
        tasks TEXT NOT NULL,
        record TEXT NOT NULL,
        created_at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE event (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        batch INTEGER NOT NULL REFERENCES batch (id),
        event TEXT NOT NULL
    ) STRICT;
    CREATE INDEX event_of_batch ON event (batch, seq);
    CREATE TABLE process (
        batch INTEGER NOT NULL REFERENCES batch (id),
        task TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        boot_id TEXT NOT NULL,
        pid INTEGER NOT NULL,
        start_time INTEGER NOT NULL,
        nonce TEXT NOT NULL,
        PRIMARY KEY (batch, task, attempt)
    ) STRICT;
    CREATE TABLE batch_state (
        batch INTEGER PRIMARY KEY REFERENCES batch (id),
        project TEXT NOT NULL,
        status TEXT NOT NULL,
        ended_at INTEGER
    ) STRICT;
    CREATE INDEX open_batch ON batch_state (project) WHERE ended_at IS NULL;
    CREATE TABLE batch_task (
        batch INTEGER NOT NULL REFERENCES batch (id),
        project TEXT NOT NULL,
        plan TEXT NOT NULL,
        task TEXT NOT NULL,
        live INTEGER NOT NULL,
        started_at INTEGER,
        took INTEGER,
        done_seq INTEGER,
        PRIMARY KEY (batch, task)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX task_of_plan ON batch_task (project, plan);
    CREATE UNIQUE INDEX live_task ON batch_task (project, plan, task) WHERE live;
",
    "
    CREATE TABLE green_tree (
        tree TEXT NOT NULL,
        judge TEXT NOT NULL,
        seq INTEGER NOT NULL,
        PRIMARY KEY (tree, judge)
    ) STRICT, WITHOUT ROWID;
",
    "
    CREATE TABLE agent_pause (
        agent TEXT PRIMARY KEY,
        until INTEGER NOT NULL,
        because TEXT NOT NULL
    ) STRICT;
    CREATE TABLE consent (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        project TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        steering TEXT NOT NULL,
        given_at INTEGER NOT NULL,
        UNIQUE (project, fingerprint)
    ) STRICT;
",
    "
    CREATE TABLE wider_event (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        batch INTEGER REFERENCES batch (id),
        project TEXT,
        event TEXT NOT NULL
    ) STRICT;
    INSERT INTO wider_event (seq, at, batch, event) SELECT seq, at, batch, event FROM event ORDER BY seq;
    DROP TABLE event;
    ALTER TABLE wider_event RENAME TO event;
    CREATE INDEX event_of_batch ON event (batch, seq) WHERE batch IS NOT NULL;
",
    "
    CREATE TABLE project (
        id TEXT PRIMARY KEY,
        folder BLOB NOT NULL,
        url TEXT,
        name TEXT,
        added_at INTEGER NOT NULL,
        hidden INTEGER NOT NULL DEFAULT 0,
        clone TEXT NOT NULL DEFAULT 'ready',
        clone_error TEXT,
        next_key INTEGER NOT NULL DEFAULT 1
    ) STRICT;
    INSERT INTO project (id, folder, added_at)
        SELECT project, repository, min(created_at) FROM batch GROUP BY project;
    CREATE TRIGGER project_of_batch AFTER INSERT ON batch BEGIN
        INSERT OR IGNORE INTO project (id, folder, added_at)
        VALUES (NEW.project, NEW.repository, NEW.created_at);
    END;
    CREATE TABLE board_task (
        id TEXT PRIMARY KEY,
        project TEXT NOT NULL REFERENCES project (id),
        plan TEXT NOT NULL,
        key TEXT NOT NULL,
        title TEXT NOT NULL,
        details TEXT NOT NULL,
        status TEXT NOT NULL,
        phase INTEGER,
        depends_on TEXT NOT NULL,
        files TEXT NOT NULL,
        priority TEXT NOT NULL,
        labels TEXT NOT NULL,
        position REAL NOT NULL,
        line INTEGER,
        identity TEXT NOT NULL,
        said TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        UNIQUE (project, plan, key)
    ) STRICT;
    CREATE TABLE used_key (
        project TEXT NOT NULL,
        key TEXT NOT NULL,
        PRIMARY KEY (project, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER key_of_task AFTER INSERT ON board_task WHEN NEW.plan = 'board' BEGIN
        INSERT OR IGNORE INTO used_key (project, key) VALUES (NEW.project, NEW.key);
    END;
    CREATE TABLE mirrored_plan (
        project TEXT NOT NULL REFERENCES project (id),
        path TEXT NOT NULL,
        seen TEXT NOT NULL,
        error TEXT,
        PRIMARY KEY (project, path)
    ) STRICT;
    CREATE TABLE execution_plan (
        project TEXT PRIMARY KEY REFERENCES project (id),
        json TEXT,
        path TEXT
    ) STRICT;
",
    "
    CREATE TABLE request_key (
        key TEXT PRIMARY KEY,
        fingerprint TEXT NOT NULL,
        batch INTEGER NOT NULL REFERENCES batch (id),
        at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE board_task ADD COLUMN marked_seq INTEGER NOT NULL DEFAULT 0;
",
    "
    ALTER TABLE batch_task ADD COLUMN status TEXT DEFAULT 'queued';
    ALTER TABLE batch_task ADD COLUMN outcome TEXT;
    ALTER TABLE batch_task ADD COLUMN told_seq INTEGER NOT NULL DEFAULT 0;
    -- What was made before has to be replayed.
    UPDATE batch_task SET status = NULL;
    CREATE INDEX batch_of_task ON batch_task (project, plan, task, batch);
",
    "
    CREATE TABLE trust (
        project TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        given_at INTEGER NOT NULL,
        PRIMARY KEY (project, fingerprint)
    ) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE agent_pause ADD COLUMN noted_at INTEGER NOT NULL DEFAULT 0;
    -- Nobody knows when; what is noted now binds nobody for longer than a new one.
    UPDATE agent_pause SET noted_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000;
",
    "
    CREATE TABLE plan_mark (
        project TEXT NOT NULL,
        plan TEXT NOT NULL,
        task TEXT NOT NULL,
        title TEXT,
        status TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (project, plan, task)
    ) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE execution_plan ADD COLUMN revision TEXT NOT NULL DEFAULT '';
    -- The revision of the execution plan that a batch was made for.
    ALTER TABLE batch ADD COLUMN execution_plan TEXT;
    CREATE INDEX batch_of_execution_plan ON batch (project, id) WHERE execution_plan IS NOT NULL;
",
    "
    ALTER TABLE batch ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
    -- Branches and kept refs bear the numbers that batches had over all projects.
    UPDATE batch SET number = id;
    CREATE UNIQUE INDEX number_of_batch ON batch (project, number);
",
    super::task_ids::TAKE_OVER,
    "
    -- A verdict holds for one project, and is as old as it is; those of before say neither.
    DROP TABLE green_tree;
    CREATE TABLE proved_tree (
        project TEXT NOT NULL,
        tree TEXT NOT NULL,
        judge TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (project, tree, judge)
    ) STRICT, WITHOUT ROWID;
",
    "
    -- `task` is its id in the batch, `key` its id in its plan: a batch may have tasks of several plans.
    ALTER TABLE batch_task ADD COLUMN key TEXT NOT NULL DEFAULT '';
    UPDATE batch_task SET key = task;
    DROP INDEX live_task;
    CREATE UNIQUE INDEX live_task ON batch_task (project, plan, key) WHERE live;
    DROP INDEX batch_of_task;
    CREATE INDEX batch_of_task ON batch_task (project, plan, key, batch);
",
    "
    CREATE TABLE submission (
        batch INTEGER NOT NULL REFERENCES batch (id),
        task TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        fence TEXT NOT NULL UNIQUE,
        cluster TEXT NOT NULL,
        submission TEXT NOT NULL,
        unit INTEGER NOT NULL,
        sent_at INTEGER NOT NULL,
        over_at INTEGER,
        PRIMARY KEY (batch, task, attempt)
    ) STRICT;
    CREATE INDEX open_submission ON submission (cluster) WHERE over_at IS NULL;
",
    "
    ALTER TABLE batch_state ADD COLUMN is_elsewhere INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE submission ADD COLUMN placed_at INTEGER;
    ALTER TABLE submission ADD COLUMN lost_at INTEGER;
",
    "
    ALTER TABLE board_task ADD COLUMN size TEXT;
",
];

/// Brings the database to the version of `steps`, with a copy first if there is anything to lose.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    steps: &[&str],
) -> Result<(), DatabaseError> {
    let doing = "prepare the tables";
    let failed = |source| DatabaseError::of_sqlite(doing, path, source);
    if version_of(connection, path, steps).map_err(|stop| stop.while_at(doing, path))?
        == steps.len()
    {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    // Somebody else may have been faster.
    let version =
        version_of(&transaction, path, steps).map_err(|stop| stop.while_at(doing, path))?;
    if version == steps.len() {
        return Ok(());
    }
    if version > 0 && has_batches(&transaction).map_err(failed)? {
        // A second connection reads what is committed while the first keeps everybody else out.
        copy(path, &copy_path(path, steps.len()))?;
    }
    for step in &steps[version..] {
        transaction.execute_batch(step).map_err(failed)?;
    }
    transaction
        .pragma_update(None, "user_version", number(steps.len()))
        .map_err(failed)?;
    transaction.commit().map_err(failed)
}

fn version_of(connection: &Connection, path: &Path, steps: &[&str]) -> Result<usize, Stop> {
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let version = usize::try_from(found).unwrap_or(usize::MAX);
    if version > steps.len() {
        return Err(Stop::Known(DatabaseError::Newer {
            path: path.to_owned(),
            found,
            known: number(steps.len()),
        }));
    }
    Ok(version)
}

fn number(version: usize) -> u32 {
    u32::try_from(version).expect("there are only a few versions")
}

fn has_batches(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_one("SELECT EXISTS (SELECT 1 FROM batch)", [], |row| row.get(0))
}

fn copy_path(path: &Path, version: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".before-{version}"));
    name.into()
}

fn copy(path: &Path, to: &Path) -> Result<(), DatabaseError> {
    let doing = "back up the database before a migration";
    let mut name = to.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    let io_failed = |doing, path: &Path| {
        let path = path.to_owned();
        move |source| DatabaseError::Io {
            doing,
            path,
            source,
        }
    };
    match fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(io_failed("remove", &part)(error));
        }
        _ => create_private(&part).map_err(io_failed("create", &part))?,
    }
    let reader = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let name = part.as_os_str().as_bytes();
    reader
        .and_then(|reader| reader.execute("VACUUM INTO CAST(?1 AS TEXT)", [name]))
        .map_err(|source| DatabaseError::of_sqlite(doing, &part, source))?;
    let synced = File::open(&part).and_then(|file| file.sync_all());
    synced
        .and_then(|()| fs::rename(&part, to))
        .map_err(io_failed("finish", &part))
}

/// Makes an empty file that only its owner may read; one that exists stays as it is.
pub(super) fn create_private(path: &Path) -> io::Result<()> {
    let mut options = File::options();
    options.create(true).append(true).mode(0o600).open(path)?;
    Ok(())
}

#[cfg(test)]
mod tests;
