//! Talks to the stand-in as agents do, in each of the formats.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::ModelStub;

const SOON: Duration = Duration::from_secs(10);

const SCRIPT: &str = r#"Please. STUB: [{"think":"Hm."},{"say":"First."},{"write":["a.txt","b\n"]},{"run":"ls"},{"say":"Done."}]"#;

/// Sends a request, and gives the connection.
fn open(base: &str, path: &str, body: &Value) -> TcpStream {
    let rest = base.strip_prefix("http://").unwrap();
    let (host, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let prefix = if prefix.is_empty() {
        String::new()
    } else {
        format!("/{prefix}")
    };
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    let body = body.to_string();
    let length = body.len();
    let head =
        format!("POST {prefix}{path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all((head + &body).as_bytes()).unwrap();
    stream
}

/// Sends a request and reads all of the answer.
fn ask(base: &str, path: &str, body: &Value) -> String {
    let mut answer = String::new();
    let mut stream = open(base, path, body);
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The events of a stream, without what HTTP puts around them.
fn events(answer: &str) -> Vec<Value> {
    let lines = answer.lines();
    let data = lines.filter_map(|line| line.strip_prefix("data: "));
    let data = data.filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn body(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

fn schema(names: &[&str]) -> Value {
    let properties: serde_json::Map<_, _> = names
        .iter()
        .map(|name| ((*name).to_owned(), json!({"type": "string"})))
        .collect();
    json!({"type": "object", "properties": properties, "required": names})
}

/// What an agent asks for, in a format, after so many calls of tools.
fn question(path: &str, calls: usize) -> Value {
    let (write, run) = (schema(&["file_path", "content"]), schema(&["command"]));
    match path {
        "/v1/messages" => {
            let mut messages = vec![json!({"role": "user", "content": SCRIPT})];
            for _ in 0..calls {
                messages.push(
                    json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1"}]}),
                );
                messages.push(json!({"role": "user", "content": [{"type": "tool_result", "content": "STUB: []"}]}));
            }
            json!({"messages": messages, "stream": true, "tools": [
                {"name": "Write", "input_schema": write}, {"name": "Bash", "input_schema": run}]})
        }
        "/v1/responses" => {
            let text = json!([{"type": "input_text", "text": SCRIPT}]);
            let mut input = vec![json!({"type": "message", "role": "user", "content": text})];
            for _ in 0..calls {
                input.push(json!({"type": "function_call", "call_id": "1"}));
                input.push(json!({"type": "function_call_output", "output": "STUB: []"}));
            }
            json!({"input": input, "stream": true, "tools": [
                {"type": "custom", "name": "apply_patch"}, {"type": "web_search"},
                {"type": "function", "name": "exec_command", "parameters": schema(&["cmd"])}]})
        }
        "/v1/chat/completions" => {
            let mut messages = vec![json!({"role": "user", "content": SCRIPT})];
            for _ in 0..calls {
                messages.push(json!({"role": "assistant", "tool_calls": [{"id": "1"}]}));
                messages.push(json!({"role": "tool", "content": "STUB: []"}));
            }
            let tool = |name, schema| json!({"type": "function", "function": {"name": name, "parameters": schema}});
            json!({"messages": messages, "stream": true,
                "tools": [tool("developer__write", write), tool("developer__shell", run)]})
        }
        _ => {
            let mut contents = vec![json!({"role": "user", "parts": [{"text": SCRIPT}]})];
            for _ in 0..calls {
                contents.push(json!({"role": "model", "parts": [{"functionCall": {"name": "x"}}]}));
                contents.push(json!({"role": "user", "parts": [{"functionResponse": {}}]}));
            }
            let declared = json!([{"name": "write_file", "parametersJsonSchema": write},
                {"name": "run_shell_command", "parametersJsonSchema": run}]);
            json!({"contents": contents, "tools": [{"functionDeclarations": declared}]})
        }
    }
}

const STREAM: &str = "/v1beta/models/stub-model:streamGenerateContent?alt=sse";
const PATHS: [&str; 4] = [
    "/v1/messages",
    "/v1/responses",
    "/v1/chat/completions",
    STREAM,
];

/// Thought, text, and the call with its arguments.
fn understood(path: &str, events: &[Value]) -> [String; 3] {
    let joined = |pointer: &str| -> String {
        let texts = events.iter().filter_map(|event| event.pointer(pointer));
        texts.filter_map(Value::as_str).collect()
    };
    let items = |kinds: &[&str], pointer: &str| -> String {
        let done = |event: &&Value| event["type"] == "response.output_item.done";
        let items = events.iter().filter(done).map(|event| &event["item"]);
        let items = items.filter(|item| kinds.iter().any(|kind| item["type"] == *kind));
        items
            .filter_map(|item| item.pointer(pointer)?.as_str())
            .collect()
    };
    match path {
        "/v1/messages" => [
            joined("/delta/thinking"),
            joined("/delta/text"),
            joined("/content_block/name") + &joined("/delta/partial_json"),
        ],
        "/v1/responses" => {
            let calls = ["custom_tool_call", "function_call"];
            [
                items(&["reasoning"], "/summary/0/text"),
                items(&["message"], "/content/0/text"),
                items(&calls, "/name") + &items(&calls, "/input") + &items(&calls, "/arguments"),
            ]
        }
        "/v1/chat/completions" => {
            let call = "/choices/0/delta/tool_calls/0/function";
            [
                joined("/choices/0/delta/reasoning_content"),
                joined("/choices/0/delta/content"),
                joined(&format!("{call}/name")) + &joined(&format!("{call}/arguments")),
            ]
        }
        _ => {
            let parts = events[0]["candidates"][0]["content"]["parts"].as_array();
            let mut said = [const { String::new() }; 3];
            for part in parts.unwrap() {
                let text = part["text"].as_str().unwrap_or_default();
                said[usize::from(part["thought"] != true)].push_str(text);
                if let Some(call) = part.get("functionCall") {
                    said[2] = format!("{}{}", call["name"].as_str().unwrap(), call["args"]);
                }
            }
            said
        }
    }
}

#[test]
fn a_script_is_played_in_every_format() {
    let stub = ModelStub::start();
    let patch = "apply_patch*** Begin Patch\n*** Add File: a.txt\n+b\n*** End Patch\n";
    let write = r#"{"content":"b\n","file_path":"a.txt"}"#;
    let names = ["Write", patch, "developer__write", "write_file"];
    let shells = [
        "Bash",
        "exec_command",
        "developer__shell",
        "run_shell_command",
    ];
    for ((path, name), shell) in PATHS.into_iter().zip(names).zip(shells) {
        let say = |calls| {
            understood(
                path,
                &events(&ask(&stub.base(""), path, &question(path, calls))),
            )
        };
        let called = if name == patch {
            name.to_owned()
        } else {
            format!("{name}{write}")
        };
        let argument = if path == "/v1/responses" {
            "cmd"
        } else {
            "command"
        };
        assert_eq!(say(0), ["Hm.", "First.", &called], "{path}");
        let run = format!("{shell}{{\"{argument}\":\"ls\"}}");
        assert_eq!(say(1), ["", "", &run], "{path}");
        assert_eq!(say(2), ["", "Done.", ""], "{path}");
    }
}

#[test]
fn an_answer_in_one_piece_says_the_same() {
    let stub = ModelStub::start();
    let base = stub.base("usage=7:3");
    let whole = |path: &str| {
        let mut question = question(path, 2);
        question["stream"] = json!(false);
        body(&ask(&base, path, &question))
    };
    let answer = whole("/v1/messages");
    assert_eq!(answer["content"][0]["text"], "Done.");
    assert_eq!(answer["usage"]["input_tokens"], 7);
    assert_eq!(answer["usage"]["output_tokens"], 3);
    let answer = whole("/v1/responses");
    assert_eq!(answer["output"][0]["content"][0]["text"], "Done.");
    assert_eq!(answer["usage"]["total_tokens"], 10);
    let answer = whole("/v1/chat/completions");
    assert_eq!(answer["choices"][0]["message"]["content"], "Done.");
    assert_eq!(answer["usage"]["prompt_tokens"], 7);
    let answer = whole("/v1beta/models/x:generateContent");
    let part = &answer["candidates"][0]["content"]["parts"][0];
    assert_eq!(part["text"], "Done.");
    assert_eq!(answer["usageMetadata"]["candidatesTokenCount"], 3);
}

#[test]
fn a_status_comes_with_the_words_of_its_provider() {
    let stub = ModelStub::start();
    for (status, message, sse) in [
        ("429", "rate_limit_error", "rate_limit_exceeded"),
        ("529", "overloaded_error", "overloaded"),
        ("500", "api_error", "server_error"),
        ("401", "authentication_error", "invalid_api_key"),
        ("400", "invalid_request_error", "invalid_request_error"),
    ] {
        let base = stub.base(&format!("fail={status},retry_after=7"));
        for (path, word) in PATHS.into_iter().zip([message, sse, sse, "message"]) {
            let answer = ask(&base, path, &question(path, 0));
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{answer}"
            );
            assert!(answer.contains("Retry-After: 7\r\n"), "{answer}");
            assert!(body(&answer).to_string().contains(word), "{answer}");
        }
    }
}

#[test]
fn a_conversation_is_too_long_in_the_words_of_each_provider() {
    let stub = ModelStub::start();
    let words = [
        "prompt is too long",
        "context_length_exceeded",
        "context_length_exceeded",
        "exceeds the maximum number of tokens",
    ];
    for (path, words) in PATHS.into_iter().zip(words) {
        let answer = ask(&stub.base("fail=context"), path, &question(path, 0));
        assert!(answer.contains(words), "{answer}");
    }
}

#[test]
fn a_stream_is_cut_or_broken_in_the_middle() {
    let stub = ModelStub::start();
    for path in PATHS {
        let cut = ask(&stub.base("fail=cut"), path, &question(path, 0));
        assert!(
            cut.contains("Once more. ") && !cut.ends_with("0\r\n\r\n"),
            "{cut}"
        );
        let broken = ask(&stub.base("fail=sse"), path, &question(path, 0));
        let last = events(&broken).pop().unwrap();
        let error = last.get("error").unwrap_or(&last["response"]["error"]);
        assert!(error.is_object(), "{broken}");
        assert!(broken.ends_with("0\r\n\r\n"), "{broken}");
    }
}

#[test]
fn a_model_hangs_or_talks_for_ever() {
    let stub = ModelStub::start();
    for path in PATHS {
        let mut hanging = open(&stub.base("fail=hang"), path, &question(path, 0));
        let wait = Some(Duration::from_millis(100));
        hanging.set_read_timeout(wait).unwrap();
        let error = hanging.read(&mut [0]).unwrap_err();
        assert!(matches!(
            error.kind(),
            ErrorKind::WouldBlock | ErrorKind::TimedOut
        ));
        let mut talking = open(&stub.base("fail=endless"), path, &question(path, 0));
        let (mut heard, mut more) = (String::new(), [0; 4096]);
        while !heard.contains("Line 2 of many.") {
            let count = talking.read(&mut more).unwrap();
            assert!(count > 0, "{heard}");
            heard.push_str(&String::from_utf8_lossy(&more[..count]));
        }
    }
}

#[test]
fn titles_eat_no_fault_and_a_fault_of_the_script_passes() {
    let stub = ModelStub::start();
    let base = stub.base("id=a,fail=500,times=1");
    let title = json!({"messages": [{"role": "user", "content": SCRIPT}]});
    assert!(ask(&base, "/v1/messages", &title).starts_with("HTTP/1.1 200"));
    let asked = |base: &str| ask(base, "/v1/messages", &question("/v1/messages", 0));
    assert!(asked(&base).starts_with("HTTP/1.1 500"));
    assert!(asked(&base).starts_with("HTTP/1.1 200"));

    let mut question = question("/v1/messages", 0);
    question["messages"][0]["content"] = json!(r#"STUB: [{"fail":"429,times=1"},{"run":"ls"}]"#);
    let status = || ask(&stub.base(""), "/v1/messages", &question)[9..12].to_owned();
    assert_eq!([status(), status()], ["429", "200"]);
}

#[test]
fn requests_are_kept_and_waited_for() {
    let stub = ModelStub::start();
    let base = stub.base("id=run7");
    std::thread::scope(|scope| {
        scope.spawn(|| ask(&base, "/v1/messages/count_tokens", &json!({"model": "m"})));
        stub.wait_for("run7", 1, SOON);
    });
    let seen = stub.requests().pop().unwrap();
    assert_eq!(
        (seen.id.as_str(), seen.path.as_str()),
        ("run7", "/v1/messages/count_tokens")
    );
    assert_eq!(seen.body["model"], "m");
}
