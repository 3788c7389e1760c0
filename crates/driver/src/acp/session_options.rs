//! What a session can be set to: its modes and its models.
//!
//! Agents tell it in two ways: as lists of their own, or among their options.

use serde_json::{Value, json};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SessionOption {
    option: Option<String>,
    pub(super) current: Option<String>,
    pub(super) values: Vec<String>,
    /// What those are called, in the same order.
    names: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SessionOptions {
    pub(super) mode: Option<SessionOption>,
    pub(super) model: Option<SessionOption>,
}

impl SessionOptions {
    pub(super) fn from_session(session: &Value) -> Self {
        let list = |place: &str, all: &str, id: &str, current: &str| {
            let place = &session[place];
            listed(&place[all], id, &place[current])
        };
        let mode = list("modes", "availableModes", "id", "currentModeId");
        let model = list("models", "availableModels", "modelId", "currentModelId");
        Self {
            mode: mode.or_else(|| option(session, "mode")),
            model: model.or_else(|| option(session, "model")),
        }
    }
}

impl SessionOption {
    /// What to ask for to set it, if the session is this one: a method and what it is given.
    pub(super) fn set(
        &self,
        session: &str,
        own: (&'static str, &str),
        value: &str,
    ) -> (&'static str, Value) {
        if let Some(option) = &self.option {
            let params = json!({"sessionId": session, "configId": option, "value": value});
            return ("session/set_config_option", params);
        }
        let (method, name) = own;
        (method, json!({"sessionId": session, name: value}))
    }

    /// The value that is meant, by itself or by what it is called.
    pub(super) fn value_of(&self, meant: &str) -> String {
        let by_name = || self.names.iter().position(|name| name == meant);
        let value = match by_name().filter(|_| !self.has(meant) && !self.is(meant)) {
            Some(at) => &self.values[at],
            None => meant,
        };
        value.to_owned()
    }

    pub(super) fn is(&self, value: &str) -> bool {
        self.current.as_deref() == Some(value)
    }

    pub(super) fn has(&self, value: &str) -> bool {
        self.values.iter().any(|known| known == value)
    }
}

fn listed(all: &Value, name: &str, current: &Value) -> Option<SessionOption> {
    let all = all.as_array()?.iter();
    let (values, names) = all.filter_map(|one| named(one, name)).unzip();
    Some(SessionOption {
        option: None,
        current: current.as_str().map(str::to_owned),
        values,
        names,
    })
}

/// An option, by its category, or by its name where it has none.
fn option(session: &Value, category: &str) -> Option<SessionOption> {
    let all = session["configOptions"].as_array()?;
    let by = |key: &str| all.iter().find(|option| option[key] == category);
    let found = by("category").or_else(|| by("id"))?;
    let (values, names) = values(&found["options"]).into_iter().unzip();
    Some(SessionOption {
        option: Some(found["id"].as_str()?.to_owned()),
        current: found["currentValue"].as_str().map(str::to_owned),
        values,
        names,
    })
}

/// The values of an option and what they are called, which may come in groups.
fn values(options: &Value) -> Vec<(String, String)> {
    let all = options.as_array().into_iter().flatten();
    all.flat_map(|option| match named(option, "value") {
        Some(value) => vec![value],
        None => values(&option["options"]),
    })
    .collect()
}

fn named(one: &Value, value: &str) -> Option<(String, String)> {
    let value = one[value].as_str()?;
    let name = one["name"].as_str().unwrap_or(value);
    Some((value.to_owned(), name.to_owned()))
}
