//! `OpenAI`'s Chat Completions, which many others speak as well.

use serde_json::{Value, json};

use super::reply::{AGAIN, ModelReply, Refusal, Wire, data};
use super::responses::refusal;
use super::script::{ScriptedTalk, Turn};
use super::tools::{Input, Tool};

/// Speaks it.
pub(super) struct Chat;

impl Wire for Chat {
    fn talk(&self, body: &Value) -> ScriptedTalk {
        let mut talk = ScriptedTalk {
            is_streamed: body["stream"] == true,
            ..ScriptedTalk::default()
        };
        for message in body["messages"].as_array().into_iter().flatten() {
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            talk.turns.extend(calls.map(|_| Turn::Called));
            if message["role"] == "user" {
                let texts = message["content"].as_array().into_iter().flatten();
                let texts = texts.filter_map(|part| part["text"].as_str());
                let turns = texts.chain(message["content"].as_str());
                talk.turns
                    .extend(turns.map(|text| Turn::Asked(text.to_owned())));
            }
        }
        for tool in body["tools"].as_array().into_iter().flatten() {
            let function = &tool["function"];
            talk.tools.push(Tool {
                name: function["name"].as_str().unwrap_or_default().to_owned(),
                schema: Some(function["parameters"].clone()),
            });
        }
        talk
    }

    fn whole(&self, said: &ModelReply) -> Value {
        let mut message = json!({"role": "assistant", "content": said.text});
        if let Some(thought) = &said.thought {
            message["reasoning_content"] = json!(thought);
        }
        if let Some(call) = call(said) {
            message["tool_calls"] = json!([call]);
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": reason(said)});
        let mut whole = piece(said, "chat.completion", json!([choice]));
        whole["usage"] = usage(said);
        whole
    }

    fn stream(&self, said: &ModelReply) -> Vec<String> {
        let mut frames = vec![delta(said, &json!({"role": "assistant", "content": ""}))];
        if let Some(thought) = &said.thought {
            frames.push(delta(said, &json!({"reasoning_content": thought})));
        }
        if let Some(text) = &said.text {
            frames.push(delta(said, &json!({"content": text})));
        }
        if let Some(mut call) = call(said) {
            call["index"] = json!(0);
            frames.push(delta(said, &json!({"tool_calls": [call]})));
        }
        let last = json!([{"index": 0, "delta": {}, "finish_reason": reason(said)}]);
        frames.push(data(&piece(said, "chat.completion.chunk", last)));
        let mut tokens = piece(said, "chat.completion.chunk", json!([]));
        tokens["usage"] = usage(said);
        frames.push(data(&tokens));
        frames.push("data: [DONE]\n\n".to_owned());
        frames
    }

    fn beginning(&self, said: &ModelReply) -> (Vec<String>, String) {
        let first = delta(said, &json!({"role": "assistant", "content": ""}));
        (vec![first], delta(said, &json!({"content": AGAIN})))
    }

    fn refusal(&self, why: Refusal) -> (u16, Value) {
        refusal(why)
    }

    fn broken(&self, why: Refusal, _said: &ModelReply) -> Option<String> {
        (why != Refusal::Context).then(|| data(&refusal(why).1))
    }
}

fn piece(said: &ModelReply, object: &str, choices: Value) -> Value {
    let id = format!("chatcmpl-stub-{}", said.number);
    let mut piece = json!({"id": id, "object": object, "created": 0, "model": said.model});
    piece["choices"] = choices;
    piece
}

fn delta(said: &ModelReply, delta: &Value) -> String {
    let choices = json!([{"index": 0, "delta": delta, "finish_reason": null}]);
    data(&piece(said, "chat.completion.chunk", choices))
}

fn call(said: &ModelReply) -> Option<Value> {
    let call = said.call.as_ref()?;
    let arguments = match &call.input {
        Input::Arguments(arguments) => arguments.to_string(),
        Input::Text(text) => json!({"input": text}).to_string(),
    };
    let id = format!("call_stub_{}", said.number);
    let function = json!({"name": call.tool, "arguments": arguments});
    Some(json!({"id": id, "type": "function", "function": function}))
}

fn reason(said: &ModelReply) -> &'static str {
    if said.call.is_some() {
        "tool_calls"
    } else {
        "stop"
    }
}

fn usage(said: &ModelReply) -> Value {
    let (input, output) = said.usage;
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
}
