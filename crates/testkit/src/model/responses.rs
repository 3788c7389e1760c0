//! `OpenAI`'s Responses.

use serde_json::{Value, json};

use super::reply::{AGAIN, ModelReply, Refusal, Wire, event};
use super::script::{ScriptedTalk, Turn};
use super::tools::{Input, Tool};

/// Speaks it.
pub(super) struct Responses;

impl Wire for Responses {
    fn talk(&self, body: &Value) -> ScriptedTalk {
        let mut talk = ScriptedTalk {
            is_streamed: body["stream"] == true,
            ..ScriptedTalk::default()
        };
        if let Some(text) = body["input"].as_str() {
            talk.turns.push(Turn::Asked(text.to_owned()));
        }
        for item in body["input"].as_array().into_iter().flatten() {
            let kind = item["type"].as_str().unwrap_or("message");
            if kind.ends_with("_call") {
                talk.turns.push(Turn::Called);
            } else if kind == "message" && item["role"] == "user" {
                let texts = item["content"].as_array().into_iter().flatten();
                let texts = texts.filter_map(|part| part["text"].as_str());
                let turns = texts.chain(item["content"].as_str());
                talk.turns
                    .extend(turns.map(|text| Turn::Asked(text.to_owned())));
            }
        }
        for tool in body["tools"].as_array().into_iter().flatten() {
            // Search and the like are the provider's own.
            let schema = match tool["type"].as_str() {
                Some("function") => Some(tool["parameters"].clone()),
                Some("custom") => None,
                _ => continue,
            };
            talk.tools.push(Tool {
                name: tool["name"].as_str().unwrap_or_default().to_owned(),
                schema,
            });
        }
        talk
    }

    fn whole(&self, said: &ModelReply) -> Value {
        response(said, "completed", &items(said))
    }

    fn stream(&self, said: &ModelReply) -> Vec<String> {
        let mut frames = vec![start(said)];
        let items = items(said);
        for (index, item) in items.iter().enumerate() {
            frames.extend(item_frames(index, item));
        }
        let whole = response(said, "completed", &items);
        frames.push(of_response("response.completed", &whole));
        frames
    }

    fn beginning(&self, said: &ModelReply) -> (Vec<String>, String) {
        let item = message(said, AGAIN);
        let mut frames = item_frames(0, &item);
        frames.truncate(2);
        let more = frames.pop().unwrap_or_default();
        frames.insert(0, start(said));
        (frames, more)
    }

    fn refusal(&self, why: Refusal) -> (u16, Value) {
        refusal(why)
    }

    fn broken(&self, why: Refusal, said: &ModelReply) -> Option<String> {
        let (_, error) = refusal(why);
        let code = match why {
            Refusal::Context => "context_length_exceeded",
            Refusal::Status(_) => "server_is_overloaded",
        };
        let mut response = response(said, "failed", &[]);
        response["error"] = json!({"code": code, "message": error["error"]["message"]});
        Some(of_response("response.failed", &response))
    }
}

/// Why `OpenAI` gives no answer.
pub(super) fn refusal(why: Refusal) -> (u16, Value) {
    let (status, kind, code, message) = match why {
        Refusal::Context => (
            400,
            "invalid_request_error",
            json!("context_length_exceeded"),
            "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 \
             tokens. Please reduce the length of the messages.",
        ),
        Refusal::Status(429) => (
            429,
            "requests",
            json!("rate_limit_exceeded"),
            "Rate limit reached for stub-model.",
        ),
        Refusal::Status(401) => (
            401,
            "invalid_request_error",
            json!("invalid_api_key"),
            "Incorrect API key provided.",
        ),
        Refusal::Status(400) => (
            400,
            "invalid_request_error",
            Value::Null,
            "The request is not understood.",
        ),
        Refusal::Status(529) => (
            529,
            "server_error",
            json!("overloaded"),
            "The server is overloaded.",
        ),
        Refusal::Status(status) => (
            status,
            "server_error",
            Value::Null,
            "The server had an error.",
        ),
    };
    let error = json!({"message": message, "type": kind, "param": null, "code": code});
    (status, json!({"error": error}))
}

fn response(said: &ModelReply, status: &str, output: &[Value]) -> Value {
    let (input, out) = said.usage;
    let usage = json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": out, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + out});
    json!({
        "id": format!("resp_stub_{}", said.number), "object": "response", "created_at": 0,
        "status": status, "model": said.model, "output": output, "error": null,
        "incomplete_details": null, "parallel_tool_calls": false, "tools": [], "tool_choice": "auto",
        "usage": if status == "completed" { usage } else { Value::Null },
    })
}

fn of_response(name: &str, response: &Value) -> String {
    event(name, &json!({"type": name, "response": response}))
}

fn start(said: &ModelReply) -> String {
    let response = response(said, "in_progress", &[]);
    of_response("response.created", &response)
}

fn message(said: &ModelReply, text: &str) -> Value {
    json!({"type": "message", "id": format!("msg_stub_{}", said.number), "role": "assistant",
        "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn items(said: &ModelReply) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(thought) = &said.thought {
        items.push(
            json!({"type": "reasoning", "id": format!("rs_stub_{}", said.number),
            "summary": [{"type": "summary_text", "text": thought}]}),
        );
    }
    if let Some(text) = &said.text {
        items.push(message(said, text));
    }
    if let Some(call) = &said.call {
        let (id, call_id) = (
            format!("fc_stub_{}", said.number),
            format!("call_stub_{}", said.number),
        );
        items.push(match &call.input {
            Input::Arguments(arguments) => {
                json!({"type": "function_call", "id": id, "call_id": call_id,
                "name": call.tool, "arguments": arguments.to_string(), "status": "completed"})
            }
            Input::Text(text) => json!({"type": "custom_tool_call", "id": id, "call_id": call_id,
                "name": call.tool, "input": text, "status": "completed"}),
        });
    }
    items
}

/// The frames of one item: it is added, filled and done.
fn item_frames(index: usize, item: &Value) -> Vec<String> {
    let id = &item["id"];
    let mut empty = item.clone();
    empty["status"] = json!("in_progress");
    let (name, delta) = match item["type"].as_str() {
        Some("message") => {
            empty["content"] = json!([]);
            ("response.output_text.delta", &item["content"][0]["text"])
        }
        Some("reasoning") => {
            empty["summary"] = json!([]);
            (
                "response.reasoning_summary_text.delta",
                &item["summary"][0]["text"],
            )
        }
        Some("custom_tool_call") => {
            empty["input"] = json!("");
            ("response.custom_tool_call_input.delta", &item["input"])
        }
        _ => {
            empty["arguments"] = json!("");
            ("response.function_call_arguments.delta", &item["arguments"])
        }
    };
    let bit = json!({"type": name, "item_id": id, "output_index": index, "content_index": 0,
        "summary_index": 0, "delta": delta});
    let whole = |name: &str, item: &Value| {
        event(
            name,
            &json!({"type": name, "output_index": index, "item": item}),
        )
    };
    vec![
        whole("response.output_item.added", &empty),
        event(name, &bit),
        whole("response.output_item.done", item),
    ]
}
