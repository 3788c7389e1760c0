//! Gives the tasks of batches that were made before their records knew it the ids that the board has for them.

/// Tasks that are on no board stay without one: theirs follows from project, plan and key.
pub(super) const TAKE_OVER: &str = "
    UPDATE batch SET record = json_set(record, '$.tasks', json((
        SELECT json_group_array(json(
            CASE WHEN board_task.id IS NULL THEN task.value
            ELSE json_set(task.value, '$.opaque_id', board_task.id) END
        ) ORDER BY task.key)
        FROM json_each(batch.record, '$.tasks') AS task
        LEFT JOIN board_task ON board_task.project = batch.project
            AND board_task.plan = batch.plan
            AND board_task.key = task.value ->> '$.id'
    )))
    WHERE json_type(record, '$.tasks') = 'array'
";

#[cfg(test)]
mod tests {
    use super::super::Database;
    use super::super::schema::STEPS;
    use super::TAKE_OVER;

    #[test]
    fn batches_of_an_earlier_version_learn_what_the_board_calls_their_tasks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pleach.db");
        let before = STEPS.iter().position(|step| *step == TAKE_OVER).unwrap();
        let earlier = Database::at(&path, &STEPS[..before]).unwrap();
        let record = r#"{"base":"c","tasks":[{"id":"b","title":"B"},{"id":"a","title":"A"}]}"#;
        for (batch, plan) in [(1, "board"), (2, "/p/TODO.md")] {
            let sql = "INSERT INTO batch (id, project, repository, plan, tasks, record, created_at, number)
                 VALUES (?1, 'p', CAST('/p' AS BLOB), ?2, '[\"a\",\"b\"]', ?3, 5, ?1)";
            let row = rusqlite::params![batch, plan, record];
            earlier.connection.execute(sql, row).unwrap();
        }
        let row = "INSERT INTO board_task (id, project, plan, key, title, details, status, depends_on, files, priority,
             labels, position, identity, said, created_at, updated_at)
             VALUES ('opaque', 'p', 'board', 'a', '', '', 'pending', '[]', '[]', '', '[]', 1, '', '', 1, 1)";
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection
            .pragma_update(None, "foreign_keys", false)
            .unwrap();
        connection.execute(row, []).unwrap();
        drop(earlier);
        let later = Database::at(&path, STEPS).unwrap();
        let record_of = |batch| later.load(batch).unwrap().unwrap().record;
        let taken_over = r#"{"base":"c","tasks":[{"id":"b","title":"B"},{"id":"a","title":"A","opaque_id":"opaque"}]}"#;
        assert_eq!(record_of(1), taken_over);
        assert_eq!(record_of(2), record);
    }
}
