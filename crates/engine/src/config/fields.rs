//! Takes typed values out of a table, notes on which lines they stand, and says everything that is wrong.
//!
//! Knows nothing of what the keys are for.

use std::collections::BTreeMap;

use pleach_domain::problem::nearest;
use toml_edit::{Item, TableLike};

use super::error::{ConfigError, SettingOrigin};
use super::keys::KEYS;
use super::kinds::ValueKind;
use super::named::{NAMED, NamedConfig};

pub(super) struct Fields<'a> {
    origin: &'a SettingOrigin,
    /// The text of the file, for the lines.
    text: &'a str,
    table: &'a dyn TableLike,
    pub(super) lines: BTreeMap<String, usize>,
    pub(super) problems: Vec<ConfigError>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(table: &'a dyn TableLike, text: &'a str, origin: &'a SettingOrigin) -> Self {
        Self {
            origin,
            text,
            table,
            lines: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    /// The value of a key such as `retries` or `forge.kind`.
    pub(super) fn take<K: ValueKind>(&mut self, key: &str) -> Option<K::Value> {
        let (above, name) = match key.split_once('.') {
            Some((above, name)) => (self.below(self.table, "", above)?, name),
            None => (self.table, key),
        };
        self.value_in::<K>(above, name, key)
    }

    pub(super) fn value_in<K: ValueKind>(
        &mut self,
        table: &dyn TableLike,
        name: &str,
        key: &str,
    ) -> Option<K::Value> {
        let (_, item) = table.get_key_value(name)?;
        let line = self.line_in(table, name);
        if let Some(line) = line {
            self.lines.insert(key.to_owned(), line);
        }
        let read = item.as_value().and_then(K::read);
        if read.is_none() {
            self.problems.push(ConfigError::Wrong {
                origin: self.origin.at(line),
                key: key.to_owned(),
                wanted: K::wanted(),
                nearest: item.as_value().and_then(K::nearest),
            });
        }
        read
    }

    /// A table in a table; it is wrong if it is none.
    fn below(
        &mut self,
        table: &'a dyn TableLike,
        above: &str,
        name: &str,
    ) -> Option<&'a dyn TableLike> {
        let (_, item) = table.get_key_value(name)?;
        let found = item.as_table_like();
        if found.is_none() {
            self.problems.push(ConfigError::Wrong {
                origin: self.origin.at(self.line_in(table, name)),
                key: format!("{above}{name}"),
                wanted: format!("a table, as in [{above}{name}]"),
                nearest: None,
            });
        }
        found
    }

    /// All tables of a kind that people name.
    pub(super) fn named<C: NamedConfig>(&mut self) -> BTreeMap<String, C> {
        let mut found = BTreeMap::new();
        let Some(all) = self.below(self.table, "", C::TABLE) else {
            return found;
        };
        for (name, _) in all.iter() {
            let Some(table) = self.below(all, &format!("{}.", C::TABLE), name) else {
                continue;
            };
            let key = format!("{}.{name}.", C::TABLE);
            let config = C::take(self, table, &key);
            self.refuse_others(table, &key, &C::field_names());
            found.insert(name.to_owned(), config);
        }
        found
    }

    pub(super) fn refuse_unknown(&mut self) {
        let names = KEYS.iter().map(|key| key.name);
        let firsts = names.map(|name| name.split('.').next().unwrap_or(name));
        let tables = NAMED.iter().map(|table| table.name);
        let known: Vec<&str> = firsts.chain(tables).collect();
        self.refuse_others(self.table, "", &known);
        let mut tables: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (above, name) in KEYS.iter().filter_map(|key| key.name.split_once('.')) {
            tables.entry(above).or_default().push(name);
        }
        for (above, names) in tables {
            let item = self.table.get(above);
            if let Some(table) = item.and_then(Item::as_table_like) {
                self.refuse_others(table, &format!("{above}."), &names);
            }
        }
    }

    fn refuse_others(&mut self, table: &dyn TableLike, above: &str, known: &[&str]) {
        for (key, _) in table.iter().filter(|(key, _)| !known.contains(key)) {
            let near = match key {
                // It looks like `mode`, and is not what is meant.
                "model" => Some("model below [agents.NAME]"),
                key => nearest(key, known.iter().copied()),
            };
            self.problems.push(ConfigError::UnknownKey {
                origin: self.origin.at(self.line_in(table, key)),
                key: format!("{above}{key}"),
                nearest: near.map(str::to_owned),
            });
        }
    }

    fn line_in(&self, table: &dyn TableLike, name: &str) -> Option<usize> {
        let (key, item) = table.get_key_value(name)?;
        let place = key.span().or_else(|| item.span())?;
        Some(line_at(self.text, place.start))
    }
}

/// The line of a place in a text, counted from 1.
pub(super) fn line_at(text: &str, place: usize) -> usize {
    let before = &text.as_bytes()[..place.min(text.len())];
    before.split(|byte| *byte == b'\n').count()
}
