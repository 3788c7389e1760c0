//! The lines of the Agent Client Protocol: JSON-RPC, read without any demands.
//!
//! Knows nothing of what the methods mean.

use serde_json::{Value, json};

pub(super) const NO_SUCH_METHOD: i64 = -32601;

#[derive(Debug, PartialEq)]
pub(super) enum RpcMessage {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notice {
        method: String,
        params: Value,
    },
    Reply {
        id: u64,
        answer: Result<Value, RpcError>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Value,
}

pub(super) fn read(line: &str) -> Option<RpcMessage> {
    let mut message: Value = serde_json::from_str(line).ok()?;
    let message = message.as_object_mut()?;
    let id = message.remove("id").filter(|id| !id.is_null());
    let params = message.remove("params").unwrap_or_default();
    if let Some(Value::String(method)) = message.remove("method") {
        return Some(match id {
            Some(id) => RpcMessage::Request { id, method, params },
            None => RpcMessage::Notice { method, params },
        });
    }
    let id = number(&id?)?;
    let answer = match (message.remove("error"), message.remove("result")) {
        (Some(fault), _) if !fault.is_null() => Err(RpcError::parse(&fault)),
        (_, Some(result)) => Ok(result),
        _ => return None,
    };
    Some(RpcMessage::Reply { id, answer })
}

/// An id of ours, which comes back as we wrote it, or as a text.
fn number(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

impl RpcError {
    fn parse(fault: &Value) -> Self {
        let message = fault["message"].as_str().or(fault.as_str());
        Self {
            code: fault["code"].as_i64().unwrap_or_default(),
            message: message.unwrap_or_default().to_owned(),
            data: fault["data"].clone(),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what is sent is made for it")]
pub(super) fn request(id: u64, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

#[expect(clippy::needless_pass_by_value, reason = "what is sent is made for it")]
pub(super) fn notice(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

#[expect(clippy::needless_pass_by_value, reason = "what is sent is made for it")]
pub(super) fn answer(id: &Value, result: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

pub(super) fn unknown(id: &Value, method: &str) -> String {
    let message = format!("{method} is not offered");
    let error = json!({"code": NO_SUCH_METHOD, "message": message});
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}
