//! Gemini's `generateContent`, whole and in a stream.

use serde_json::{Value, json};

use super::reply::{AGAIN, ModelReply, Refusal, Wire, data};
use super::script::{ScriptedTalk, Turn};
use super::tools::{Input, Tool};

/// Speaks it; the address says whether in a stream.
pub(super) struct Gemini {
    is_streamed: bool,
}

impl Gemini {
    pub(super) fn whole() -> Self {
        Self { is_streamed: false }
    }

    pub(super) fn streamed() -> Self {
        Self { is_streamed: true }
    }
}

impl Wire for Gemini {
    fn talk(&self, body: &Value) -> ScriptedTalk {
        let mut talk = ScriptedTalk {
            is_streamed: self.is_streamed,
            ..ScriptedTalk::default()
        };
        for content in body["contents"].as_array().into_iter().flatten() {
            for part in content["parts"].as_array().into_iter().flatten() {
                if part.get("functionCall").is_some() {
                    talk.turns.push(Turn::Called);
                } else if let Some(text) = part["text"].as_str()
                    && content["role"] != "model"
                {
                    talk.turns.push(Turn::Asked(text.to_owned()));
                }
            }
        }
        let tools = body["tools"].as_array().into_iter().flatten();
        let declared = tools.filter_map(|tool| tool["functionDeclarations"].as_array());
        for tool in declared.flatten() {
            let schema = tool.get("parametersJsonSchema");
            let schema = schema.unwrap_or(&tool["parameters"]);
            talk.tools.push(Tool {
                name: tool["name"].as_str().unwrap_or_default().to_owned(),
                schema: Some(schema.clone()),
            });
        }
        talk
    }

    fn whole(&self, said: &ModelReply) -> Value {
        let mut parts = Vec::new();
        if let Some(thought) = &said.thought {
            parts.push(json!({"text": thought, "thought": true}));
        }
        if let Some(text) = &said.text {
            parts.push(json!({"text": text}));
        }
        if let Some(call) = &said.call {
            let input = match &call.input {
                Input::Arguments(arguments) => arguments.clone(),
                Input::Text(text) => json!({"input": text}),
            };
            parts.push(json!({"functionCall": {"name": call.tool, "args": input}}));
        }
        piece(said, &json!(parts), &json!("STOP"))
    }

    fn stream(&self, said: &ModelReply) -> Vec<String> {
        vec![data(&self.whole(said))]
    }

    fn beginning(&self, said: &ModelReply) -> (Vec<String>, String) {
        let bit = |text: &str| data(&piece(said, &json!([{"text": text}]), &Value::Null));
        (vec![bit("It begins. ")], bit(AGAIN))
    }

    fn refusal(&self, why: Refusal) -> (u16, Value) {
        let (code, status, message) = match why {
            Refusal::Context => (
                400,
                "INVALID_ARGUMENT",
                "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
            ),
            Refusal::Status(429) => (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted."),
            Refusal::Status(401) => (401, "UNAUTHENTICATED", "API key not valid."),
            Refusal::Status(400) => (400, "INVALID_ARGUMENT", "The request is not understood."),
            Refusal::Status(529) => (529, "UNAVAILABLE", "The model is overloaded."),
            Refusal::Status(status) => (status, "INTERNAL", "An internal error has occurred."),
        };
        let error = json!({"code": code, "message": message, "status": status});
        (code, json!({"error": error}))
    }

    fn broken(&self, why: Refusal, _said: &ModelReply) -> Option<String> {
        (why != Refusal::Context).then(|| data(&self.refusal(why).1))
    }
}

fn piece(said: &ModelReply, parts: &Value, finish: &Value) -> Value {
    let (input, output) = said.usage;
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if !finish.is_null() {
        candidate["finishReason"] = finish.clone();
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": input, "candidatesTokenCount": output,
            "totalTokenCount": input + output},
        "modelVersion": said.model,
        "responseId": format!("stub-{}", said.number),
    })
}
