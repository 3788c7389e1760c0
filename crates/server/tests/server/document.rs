//! The document says what the contract says, and nothing answers that it does not know.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// What programs were promised: method and path, each with its names in braces.
const PROMISED: &str = "
GET /health
GET /metrics
GET /api/openapi.json
GET /api/docs
GET /api/projects
POST /api/projects
GET /api/projects/{id}
PATCH /api/projects/{id}
DELETE /api/projects/{id}
GET /api/projects/{id}/plan
PUT /api/projects/{id}/plan
POST /api/projects/{id}/parallel/start
GET /api/projects/{id}/parallel/status
POST /api/projects/{id}/parallel/stop
GET /api/tasks
POST /api/tasks
GET /api/tasks/{id}
PATCH /api/tasks/{id}
DELETE /api/tasks/{id}
POST /api/tasks/import
POST /api/tasks/{id}/run
GET /api/tasks/{id}/attempts
GET /api/agents
GET /api/clusters
GET /api/settings
PATCH /api/settings
POST /api/batches
POST /api/batches/preview
GET /api/batches
GET /api/batches/{id}
POST /api/batches/{id}/cancel
POST /api/batches/{id}/stop
POST /api/batches/{id}/approve
POST /api/batches/{id}/land
POST /api/batches/{id}/tasks/{taskId}/cancel
POST /api/batches/{id}/tasks/{taskId}/retry
POST /api/batches/{id}/tasks/{taskId}/resolve
GET /api/batches/{id}/tasks/{taskId}/log
GET /api/batches/{id}/tasks/{taskId}/diff
GET /api/batches/{id}/diff
GET /api/batches/{id}/plan
GET /api/batches/{id}/validation
GET /api/batches/{id}/worktrees
GET /api/events
";

fn document() -> Value {
    serde_json::to_value(pleach_server::document()).unwrap()
}

fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(move |(method, operation)| {
                (format!("{} {path}", method.to_uppercase()), operation)
            })
        })
        .collect()
}

#[test]
fn every_call_that_was_promised_is_described() {
    let document = document();
    let known: Vec<String> = operations(&document)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let missing: Vec<&str> = PROMISED
        .lines()
        .filter(|line| !line.is_empty() && !known.iter().any(|name| name == line))
        .collect();
    assert!(missing.is_empty(), "{missing:?} of {known:?}");
}

#[test]
fn every_call_has_a_summary_a_tag_and_its_errors() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    for (name, operation) in operations(&document) {
        assert!(
            operation["summary"]
                .as_str()
                .is_some_and(|text| text.len() > 5),
            "{name}"
        );
        assert!(operation["tags"][0].is_string(), "{name}");
        let responses = operation["responses"].as_object().unwrap();
        let is_open = operation["security"] == serde_json::json!([{}]);
        assert!(is_open || responses.contains_key("401"), "{name}");
        for (status, response) in responses {
            if status.starts_with(['4', '5']) {
                let body = &response["content"]["application/json"]["schema"]["$ref"];
                assert_eq!(body, "#/components/schemas/ErrorBody", "{name} {status}");
            }
        }
    }
}

#[test]
fn every_call_has_a_name_of_its_own() {
    let document = document();
    let mut known = std::collections::HashSet::new();
    for (name, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap();
        let is_camel = id.starts_with(|c: char| c.is_ascii_lowercase())
            && id.chars().all(|c| c.is_ascii_alphanumeric());
        assert!(is_camel, "{name} is {id}");
        assert!(known.insert(id), "{name} is {id}, as another call is");
    }
    assert!(known.contains("listTasks"), "{known:?}");
}

#[test]
fn a_run_of_the_tests_is_a_word() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    let run = &schemas["RunView"]["properties"]["run"]["$ref"];
    assert_eq!(run, "#/components/schemas/RunWord");
    let words = serde_json::json!(["green", "red"]);
    assert_eq!(schemas["RunWord"]["enum"], words);
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                rust_files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// A route that is added with its description cannot be there without it; only pages may be added otherwise.
#[test]
fn no_call_answers_that_is_not_described() {
    let routes = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in rust_files(&routes) {
        let text = std::fs::read_to_string(&path).unwrap();
        let adds = text.contains(".route(")
            || text.contains("route_service(")
            || text.contains("nest_service(");
        assert!(
            !adds || path.ends_with("routes/pages.rs"),
            "{}",
            path.display()
        );
    }
}

/// Two types of one name are one in the document, and only one of them is described.
#[test]
fn no_two_types_of_the_document_have_the_same_name() {
    let mut known = std::collections::HashSet::new();
    for crate_ in ["server", "engine", "log", "driver", "domain"] {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../{crate_}/src"));
        for path in rust_files(&sources) {
            let text = std::fs::read_to_string(&path).unwrap();
            for after in text.split("ToSchema)]").skip(1) {
                let mut words = after.split_whitespace();
                words
                    .find(|word| matches!(*word, "struct" | "enum"))
                    .unwrap();
                let name = words
                    .next()
                    .unwrap()
                    .split(['(', ';', '<'])
                    .next()
                    .unwrap()
                    .to_owned();
                assert!(known.insert(name.clone()), "{name} in {}", path.display());
            }
        }
    }
    assert!(known.len() > 20, "{known:?}");
}

#[test]
fn the_board_is_made_for_this_document() {
    let copy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/openapi.json");
    let copy = std::fs::read_to_string(copy).unwrap();
    assert!(
        copy == pleach_server::document_text(),
        "web/openapi.json is not what the server says of itself: `cargo xtask board types` writes it anew"
    );
}
