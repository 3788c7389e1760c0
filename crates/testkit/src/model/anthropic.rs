//! Anthropic's Messages.

use serde_json::{Value, json};

use super::reply::{AGAIN, ModelReply, Refusal, Wire, event};
use super::script::{ScriptedTalk, Turn};
use super::tools::{Input, Tool};

/// Speaks it.
pub(super) struct Anthropic;

impl Wire for Anthropic {
    fn talk(&self, body: &Value) -> ScriptedTalk {
        let mut talk = ScriptedTalk {
            is_streamed: body["stream"] == true,
            ..ScriptedTalk::default()
        };
        for message in body["messages"].as_array().into_iter().flatten() {
            let is_asked = message["role"] == "user";
            if let Some(text) = message["content"].as_str().filter(|_| is_asked) {
                talk.turns.push(Turn::Asked(text.to_owned()));
            }
            for block in message["content"].as_array().into_iter().flatten() {
                if block["type"] == "tool_use" {
                    talk.turns.push(Turn::Called);
                } else if let Some(text) = block["text"].as_str().filter(|_| is_asked) {
                    talk.turns.push(Turn::Asked(text.to_owned()));
                }
            }
        }
        for tool in body["tools"].as_array().into_iter().flatten() {
            talk.tools.push(Tool {
                name: tool["name"].as_str().unwrap_or_default().to_owned(),
                schema: Some(tool["input_schema"].clone()),
            });
        }
        talk
    }

    fn whole(&self, said: &ModelReply) -> Value {
        let mut message = message(said);
        message["content"] = Value::Array(blocks(said));
        message["stop_reason"] = json!(stop_reason(said));
        message["usage"]["output_tokens"] = json!(said.usage.1);
        message
    }

    fn stream(&self, said: &ModelReply) -> Vec<String> {
        let mut frames = vec![start(said)];
        for (index, block) in blocks(said).iter().enumerate() {
            frames.extend(block_frames(index, block));
        }
        frames.push(event(
            "message_delta",
            &json!({"type": "message_delta",
                "delta": {"stop_reason": stop_reason(said), "stop_sequence": null},
                "usage": {"output_tokens": said.usage.1}}),
        ));
        frames.push(event("message_stop", &json!({"type": "message_stop"})));
        frames
    }

    fn beginning(&self, said: &ModelReply) -> (Vec<String>, String) {
        let block = json!({"type": "text", "text": AGAIN});
        let mut frames = block_frames(0, &block);
        frames.truncate(2);
        let more = frames.pop().unwrap_or_default();
        frames.insert(0, start(said));
        (frames, more)
    }

    fn refusal(&self, why: Refusal) -> (u16, Value) {
        let (status, kind, message) = match why {
            Refusal::Context => (
                400,
                "invalid_request_error",
                "prompt is too long: 210000 tokens > 200000 maximum",
            ),
            Refusal::Status(429) => (
                429,
                "rate_limit_error",
                "This request would exceed your rate limit.",
            ),
            Refusal::Status(529) => (529, "overloaded_error", "Overloaded"),
            Refusal::Status(401) => (401, "authentication_error", "invalid x-api-key"),
            Refusal::Status(400) => (400, "invalid_request_error", "messages: not understood"),
            Refusal::Status(status) => (status, "api_error", "Internal server error"),
        };
        let error = json!({"type": "error", "error": {"type": kind, "message": message},
            "request_id": "req_stub"});
        (status, error)
    }

    fn broken(&self, why: Refusal, _said: &ModelReply) -> Option<String> {
        let (_, error) = self.refusal(why);
        (why != Refusal::Context).then(|| event("error", &error))
    }
}

fn message(said: &ModelReply) -> Value {
    json!({
        "id": format!("msg_stub_{}", said.number),
        "type": "message", "role": "assistant", "model": said.model, "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": said.usage.0, "output_tokens": 1,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    })
}

fn start(said: &ModelReply) -> String {
    event(
        "message_start",
        &json!({"type": "message_start", "message": message(said)}),
    )
}

fn stop_reason(said: &ModelReply) -> &'static str {
    if said.call.is_some() {
        "tool_use"
    } else {
        "end_turn"
    }
}

fn blocks(said: &ModelReply) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(thought) = &said.thought {
        blocks.push(json!({"type": "thinking", "thinking": thought, "signature": "c3R1Yg=="}));
    }
    if let Some(text) = &said.text {
        blocks.push(json!({"type": "text", "text": text}));
    }
    if let Some(call) = &said.call {
        let input = match &call.input {
            Input::Arguments(arguments) => arguments.clone(),
            Input::Text(text) => json!({"input": text}),
        };
        let id = format!("toolu_stub_{}", said.number);
        blocks.push(json!({"type": "tool_use", "id": id, "name": call.tool, "input": input}));
    }
    blocks
}

/// The frames of one block: it starts empty and is filled by deltas.
fn block_frames(index: usize, block: &Value) -> Vec<String> {
    let mut empty = block.clone();
    let deltas = match block["type"].as_str() {
        Some("thinking") => {
            empty["thinking"] = json!("");
            empty["signature"] = json!("");
            vec![
                json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                json!({"type": "signature_delta", "signature": block["signature"]}),
            ]
        }
        Some("tool_use") => {
            empty["input"] = json!({});
            let input = block["input"].to_string();
            vec![json!({"type": "input_json_delta", "partial_json": input})]
        }
        _ => {
            empty["text"] = json!("");
            vec![json!({"type": "text_delta", "text": block["text"]})]
        }
    };
    let mut frames = vec![event(
        "content_block_start",
        &json!({"type": "content_block_start", "index": index, "content_block": empty}),
    )];
    for delta in deltas {
        frames.push(event(
            "content_block_delta",
            &json!({"type": "content_block_delta", "index": index, "delta": delta}),
        ));
    }
    frames.push(event(
        "content_block_stop",
        &json!({"type": "content_block_stop", "index": index}),
    ));
    frames
}
