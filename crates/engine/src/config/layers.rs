//! The layers of configuration, and which of them says what.
//!
//! Knows nothing of what the values are used for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use pleach_domain::problem::nearest;
use pleach_system::files::regular_file::read_settings;
use serde_json::json;
use toml_edit::{Document, Item, Table, Value};

use super::error::{ConfigError, SettingOrigin};
use super::fields::{Fields, line_at};
use super::keys::{Config, KEYS};
use super::named::{NAMED, named_field};
use super::{FILE_NAME, VARIABLES};

const OTHER_VARIABLES: [&str; 21] = [
    "HOME",
    "TASK",
    "BATCH",
    "WORKTREE",
    "PORT",
    "ATTEMPT",
    "MODEL",
    "CASES",
    "THOROUGH",
    "DIE_AT",
    "PACE",
    "BASE_CHECK",
    "NONCE",
    "AGENTS",
    "SEED",
    "CRASHES",
    "GIT_TOKEN",
    "GIT_HOST",
    "NODE",
    "NODE_CLAIM",
    "STAND_IN",
];

const OTHER_PREFIXES: [&str; 2] = ["TEST_", "LOGIN_"];

#[derive(Debug, Clone)]
struct Layer {
    origin: SettingOrigin,
    config: Config,
    lines: BTreeMap<String, usize>,
}

/// Everything that is said, from the lowest layer to the highest.
#[derive(Debug, Clone, Default)]
pub struct Layers(Vec<Layer>);

#[derive(Debug, Clone)]
pub struct ResolvedSetting {
    /// The key, as in `retries` or `agents.mine.command`.
    pub key: String,
    /// The value as a file would say it, if there is one.
    pub text: Option<String>,
    pub value: serde_json::Value,
    /// What holds where there is none.
    pub otherwise: &'static str,
    pub origin: SettingOrigin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MisspeltVariable {
    pub name: String,
    pub nearest: String,
}

/// The user's own file, which holds for all repositories; none if nobody knows where the home folder is.
pub(crate) fn users_file() -> Option<PathBuf> {
    let set = |name| {
        let value = std::env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    let folder = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(folder.join("pleach/config.toml"))
}

/// Variables of the environment that look like keys and are none.
pub fn misspelt_variables() -> Vec<MisspeltVariable> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    misspelt(names)
}

pub(super) fn misspelt(names: impl IntoIterator<Item = String>) -> Vec<MisspeltVariable> {
    let known: Vec<String> = KEYS.iter().map(super::Key::variable).collect();
    let mut found: Vec<MisspeltVariable> = names
        .into_iter()
        .filter_map(|name| {
            let word = name.strip_prefix(VARIABLES)?;
            let is_other = OTHER_VARIABLES.contains(&word)
                || OTHER_PREFIXES.iter().any(|prefix| word.starts_with(prefix));
            if is_other || known.contains(&name) {
                return None;
            }
            let words = known.iter().map(|name| &name[VARIABLES.len()..]);
            let near = nearest(word, words)?;
            // Something of another length is another word.
            (near.len().abs_diff(word.len()) <= 2).then(|| MisspeltVariable {
                nearest: format!("{VARIABLES}{near}"),
                name: name.clone(),
            })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

impl Config {
    /// Reads the configuration of a repository; one without the file says nothing.
    pub fn load(repository: &Path) -> Result<Self, ConfigError> {
        Ok(Layer::load(repository.join(FILE_NAME))?.config)
    }
}

impl Layer {
    fn new(origin: SettingOrigin, config: Config) -> Self {
        Self {
            origin,
            config,
            lines: BTreeMap::new(),
        }
    }

    /// A file that is not there says nothing.
    fn load(path: PathBuf) -> Result<Self, ConfigError> {
        match read_settings(&path) {
            Ok(text) => Self::parse(&text, SettingOrigin::File { path, line: None }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Self::new(SettingOrigin::Default, Config::default()))
            }
            Err(source) => Err(ConfigError::Io { path, source }),
        }
    }

    fn parse(text: &str, origin: SettingOrigin) -> Result<Self, ConfigError> {
        let document = Document::parse(text).map_err(|error| ConfigError::Malformed {
            origin: origin.at(error.span().map(|place| line_at(text, place.start))),
            message: error.message().to_owned(),
        })?;
        Self::of_table(document.as_table(), text, origin)
    }

    fn of_table(table: &Table, text: &str, origin: SettingOrigin) -> Result<Self, ConfigError> {
        let mut fields = Fields::of(table, text, &origin);
        let config = Config::take(&mut fields);
        fields.refuse_unknown();
        let Fields {
            lines, problems, ..
        } = fields;
        ConfigError::check(problems)?;
        Ok(Self {
            origin,
            config,
            lines,
        })
    }

    fn origin_of(&self, key: &str) -> SettingOrigin {
        self.origin.at(self.lines.get(key).copied())
    }
}

impl Layers {
    /// Everything but flags: the user's file, the repository's, and the environment; later wins.
    ///
    /// What is wrong anywhere is told all at once.
    pub fn load(repository: &Path) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let files = users_file().into_iter().chain([repository.join(FILE_NAME)]);
        let mut layers: Vec<Layer> = files
            .filter_map(|path| ConfigError::collect(Layer::load(path), &mut problems))
            .collect();
        let variables = Self::from_variables(|name| std::env::var_os(name));
        layers.extend(
            ConfigError::collect(variables, &mut problems)
                .into_iter()
                .flat_map(|layers| layers.0),
        );
        ConfigError::check(problems)?;
        Ok(Self(layers))
    }

    /// What the user alone says: the own file and the environment.
    pub(crate) fn of_user() -> Result<Self, ConfigError> {
        let file = users_file().map(Layer::load).transpose()?;
        let variables = Self::from_variables(|name| std::env::var_os(name))?;
        Ok(Self(file.into_iter().chain(variables.0).collect()))
    }

    /// Layers without names, the lowest first.
    pub(crate) fn unnamed(layers: impl IntoIterator<Item = Config>) -> Self {
        let layers = layers.into_iter();
        Self(
            layers
                .map(|layer| Layer::new(SettingOrigin::Flag, layer))
                .collect(),
        )
    }

    #[must_use]
    pub fn with_flags(mut self, flags: Config) -> Self {
        self.0.push(Layer::new(SettingOrigin::Flag, flags));
        self
    }

    /// The variables that are named like keys, `PLEACH_RETRIES` for one; each is a layer of its own.
    pub(super) fn from_variables(
        lookup: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ConfigError> {
        let (mut layers, mut problems) = (Vec::new(), Vec::new());
        for key in KEYS {
            let name = key.variable();
            let Some(text) = lookup(&name).filter(|text| !text.is_empty()) else {
                continue;
            };
            // Text that is none stands for itself as far as it can, and is refused unless it fits.
            let value = (key.rules.of_text)(&text.to_string_lossy());
            let table = table_of(key.name, value);
            let layer = Layer::of_table(&table, "", SettingOrigin::Variable(name));
            layers.extend(ConfigError::collect(layer, &mut problems));
        }
        ConfigError::check(problems)?;
        Ok(Self(layers))
    }

    pub(crate) fn without_project(&self) -> Self {
        let own = users_file();
        let is_project = |layer: &&Layer| match &layer.origin {
            SettingOrigin::File { path, .. } => Some(path) != own.as_ref(),
            _ => false,
        };
        let others = self.0.iter().filter(|layer| !is_project(layer));
        Self(others.cloned().collect())
    }

    pub(crate) fn merged(&self) -> Config {
        let all = self.0.iter().map(|layer| layer.config.clone());
        all.fold(Config::default(), |below, layer| layer.over(below))
    }

    pub fn origin_of(&self, key: &str) -> SettingOrigin {
        let found = self.said(key);
        found.map_or(SettingOrigin::Default, |(_, origin)| origin)
    }

    /// What the highest layer says that says anything of a key.
    fn said(&self, key: &str) -> Option<(Value, SettingOrigin)> {
        self.0.iter().rev().find_map(|layer| {
            let value = said_by(&layer.config, key)?;
            Some((value, layer.origin_of(key)))
        })
    }

    /// Every key with its value and who says so, in the order in which they are shown.
    pub fn shown(&self) -> Vec<ResolvedSetting> {
        let (plain, dotted): (Vec<_>, Vec<_>) =
            KEYS.iter().partition(|key| !key.name.contains('.'));
        let merged = self.merged();
        let named = NAMED.iter().flat_map(|table| {
            let names = (table.names)(&merged).into_iter();
            let keys = names.flat_map(|name| {
                let fields = table.fields.iter();
                let said = fields.filter(|field| (table.said)(&merged, name, field.name).is_some());
                said.map(move |field| format!("{}.{name}.{}", table.name, field.name))
            });
            keys.collect::<Vec<_>>()
        });
        let mut all: Vec<ResolvedSetting> = plain.iter().map(|key| self.show(key.name)).collect();
        all.extend(named.map(|key| self.show(&key)));
        all.extend(dotted.iter().map(|key| self.show(key.name)));
        all
    }

    pub fn shown_one(&self, key: &str) -> ResolvedSetting {
        self.show(key)
    }

    /// The same as far as the user's own file is concerned, whatever layers above it say.
    pub fn shown_by_user(&self, key: &str) -> ResolvedSetting {
        let own = users_file();
        let is_own = |layer: &&Layer| match &layer.origin {
            SettingOrigin::File { path, .. } => Some(path) == own.as_ref(),
            _ => false,
        };
        Self(self.0.iter().filter(is_own).cloned().collect()).show(key)
    }

    fn show(&self, name: &str) -> ResolvedSetting {
        let key = super::Key::named(name);
        let (value, origin) = match self.said(name) {
            Some((value, origin)) => (Some(value), origin),
            None => (key.and_then(|key| (key.default)()), SettingOrigin::Default),
        };
        ResolvedSetting {
            key: name.to_owned(),
            text: value.as_ref().map(ToString::to_string),
            value: value.as_ref().map_or(json!(null), to_json),
            otherwise: key.map_or("", |key| key.otherwise),
            origin,
        }
    }
}

fn said_by(config: &Config, key: &str) -> Option<Value> {
    if let Some(key) = super::Key::named(key) {
        return (key.said)(config);
    }
    let (table, name, field) = named_field(key)?;
    (table.said)(config, name, field.name)
}

fn table_of(key: &str, value: Value) -> Table {
    let mut table = Table::new();
    match key.split_once('.') {
        Some((above, name)) => {
            let mut below = Table::new();
            below.insert(name, Item::Value(value));
            table.insert(above, Item::Table(below));
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
    table
}

fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::String(text) => json!(text.value()),
        Value::Integer(number) => json!(number.value()),
        Value::Float(number) => json!(number.value()),
        Value::Boolean(is_on) => json!(is_on.value()),
        Value::Array(values) => values.iter().map(to_json).collect(),
        Value::Datetime(_) | Value::InlineTable(_) => json!(value.to_string()),
    }
}

pub(super) fn parse_file(text: &str, path: &Path) -> Result<Config, ConfigError> {
    let (path, line) = (path.to_owned(), None);
    Ok(Layer::parse(text, SettingOrigin::File { path, line })?.config)
}
