//! A transcript that is much larger than the memory a server may take.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use pleach_log::transcript::{LOG, attempt_folder};
use pleach_system::state_folder::StateFolder;
use serde_json::json;

use crate::scene::Scene;
use crate::serving::Serving;

const BYTES: u64 = 256 << 20;
/// Every line is one of these, with its end.
const LINE: &str = "an agent says the same thing again and again and again, 63 long";
/// In kilobytes.
const MOST_MEMORY: u64 = 150 << 10;

/// The most memory that a process ever had, in kilobytes.
fn peak(server: &Serving) -> u64 {
    let pid = server.pid().as_raw_nonzero();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let words = line.unwrap().split_whitespace().nth(1);
    words.unwrap().parse().unwrap()
}

#[test]
fn any_page_of_a_huge_transcript_comes_without_taking_it_into_memory() {
    assert_eq!(LINE.len(), 63);
    let scene = Scene::of("1", "land = \"none\"", "echo short");
    scene.story(&[]).check(0, "1:no_changes");
    let batch = StateFolder::at(&scene.state()).unwrap().batch(1);
    let log = attempt_folder(&batch, "1", 1).join(LOG);
    assert_eq!(fs::read_to_string(&log).unwrap(), "short\n");
    let server = Serving::of(&scene, &[]);
    let path = "/api/batches/1/tasks/1/log";
    let written = Command::new("sh")
        .args(["-c", "yes \"$0\" | head -c \"$1\"", LINE])
        .arg(BYTES.to_string())
        .stdout(Stdio::from(File::create(&log).unwrap()))
        .status()
        .unwrap();
    assert!(written.success());
    let total = BYTES / 64;
    let middle = total / 2 + 77;
    for (from, limit, first, count) in [
        ("0".to_owned(), 500, 0, 500),
        (middle.to_string(), 5_000, middle, 5_000),
        ("tail".to_owned(), 100, total - 100, 100),
        ((total - 1).to_string(), 9, total - 1, 1),
        (total.to_string(), 9, total, 0),
    ] {
        let page = server.get(&format!("{path}?from={from}&limit={limit}"));
        let page = page.good(200);
        assert_eq!(
            (&page["from"], &page["total"]),
            (&json!(first), &json!(total))
        );
        let entries = page["entries"].as_array().unwrap();
        assert_eq!(entries.len(), count, "from {from}");
        for (entry, line) in entries.iter().zip(first..) {
            assert_eq!(*entry, json!({"line": line, "type": "raw", "text": LINE}));
        }
    }
    assert!(peak(&server) < MOST_MEMORY, "{} kB", peak(&server));
}
