//! Changes one key of a configuration's file and nothing else of it.
//!
//! Knows nothing of what the keys are for.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pleach_domain::problem::nearest;
use pleach_system::files::regular_file::read_settings;
use toml_edit::{DocumentMut, Item, Table, Value};

use super::FILE_NAME;
use super::error::{ConfigError, SettingOrigin};
use super::fields::line_at;
use super::keys::{KEYS, Key};
use super::layers::{ResolvedSetting, users_file};
use super::named::{keys_beside, named_field};
use crate::config::Settings;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigScope {
    User,
    Repository,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigEdit {
    pub path: PathBuf,
    pub text: String,
}

/// Sets a key in a file; comments and everything else stay, and a wrong value is refused.
pub fn set(
    key: &str,
    text: &str,
    whose: ConfigScope,
    repository: &Path,
) -> Result<ConfigEdit, ConfigError> {
    let value = value_of(key, text)?;
    let path = edit(&[(key, value.clone())], whose, repository)?;
    Ok(ConfigEdit {
        path,
        text: value.to_string(),
    })
}

/// Sets several keys in a file, all or none.
pub fn set_all(
    changes: &[ResolvedSetting],
    whose: ConfigScope,
    repository: &Path,
) -> Result<(), ConfigError> {
    let values = { changes.iter() }
        .filter_map(|change| Some((change.key.as_str(), change.text.as_deref()?)))
        .map(|(key, text)| Ok((key, value_of(key, text)?)));
    edit(&values.collect::<Result<Vec<_>, _>>()?, whose, repository).map(drop)
}

fn edit(
    changes: &[(&str, Value)],
    whose: ConfigScope,
    repository: &Path,
) -> Result<PathBuf, ConfigError> {
    let path = match whose {
        ConfigScope::Repository => repository.join(FILE_NAME),
        ConfigScope::User => users_file().ok_or_else(|| ConfigError::Homeless {
            path: PathBuf::from("~/.config/pleach/config.toml"),
        })?,
    };
    // A link stays one.
    let path = path.canonicalize().unwrap_or(path);
    let _turn = wait_for_turn(&path)?;
    let before = match read_settings(&path) {
        Ok(before) => before,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(ConfigError::Io { path, source }),
    };
    let mut after = before;
    for (key, value) in changes {
        after = with_key(&after, key, value.clone(), &path)?;
    }
    // What does not fit together is refused as a whole, such as two patterns that collide.
    let layer = super::layers::parse_file(&after, &path)?;
    Settings::check_file(layer, repository)?;
    write(&path, &after)?;
    Ok(path)
}

/// Keeps others from editing a file between reading and writing it; its folder is what stays the same.
fn wait_for_turn(path: &Path) -> Result<fs::File, ConfigError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let taken = || -> io::Result<fs::File> {
        fs::create_dir_all(folder)?;
        let folder = fs::File::open(folder)?;
        folder.lock()?;
        Ok(folder)
    };
    taken().map_err(|source| ConfigError::Write {
        path: path.to_owned(),
        source,
    })
}

fn value_of(key: &str, text: &str) -> Result<Value, ConfigError> {
    let known = Key::named(key).map(|known| &known.rules);
    let known = known.or_else(|| Some(&named_field(key)?.2.rules));
    let rules = known.ok_or_else(|| unknown_key(key))?;
    let value = (rules.of_text)(text);
    if (rules.is_fit)(&value) {
        return Ok(value);
    }
    Err(ConfigError::Wrong {
        origin: SettingOrigin::Flag,
        key: key.to_owned(),
        wanted: (rules.wanted)(),
        nearest: (rules.nearest)(&value),
    })
}

pub fn unknown_key(key: &str) -> ConfigError {
    let beside = keys_beside(key);
    let known = KEYS.iter().map(|key| key.name);
    let near = nearest(key, known.chain(beside.iter().map(String::as_str)));
    ConfigError::UnknownKey {
        origin: SettingOrigin::Flag,
        key: key.to_owned(),
        nearest: near.map(str::to_owned),
    }
}

fn with_key(before: &str, key: &str, value: Value, path: &Path) -> Result<String, ConfigError> {
    let mut document: DocumentMut =
        before
            .parse()
            .map_err(|error: toml_edit::TomlError| ConfigError::Malformed {
                origin: SettingOrigin::File {
                    path: path.to_owned(),
                    line: error.span().map(|place| line_at(before, place.start)),
                },
                message: error.message().to_owned(),
            })?;
    let (tables, name) = match named_field(key) {
        Some((table, name, field)) => (vec![table.name, name], field.name),
        None => match key.split_once('.') {
            Some((above, name)) => (vec![above], name),
            None => (Vec::new(), key),
        },
    };
    let mut place: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for table in tables {
        let item = place.entry(table).or_insert_with(|| {
            let mut table = Table::new();
            // Only the last one has something to say.
            table.set_implicit(true);
            Item::Table(table)
        });
        place = item.as_table_like_mut().ok_or_else(|| ConfigError::Wrong {
            origin: SettingOrigin::File {
                path: path.to_owned(),
                line: None,
            },
            key: table.to_owned(),
            wanted: format!("a table, as in [{table}]"),
            nearest: None,
        })?;
    }
    match place.get_mut(name).and_then(Item::as_value_mut) {
        // What stands around it stays, a comment behind it for one.
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => {
            place.insert(name, Item::Value(value));
        }
    }
    Ok(document.to_string())
}

/// Puts a text in place of a file, all of it or nothing.
fn write(path: &Path, text: &str) -> Result<(), ConfigError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let put = || -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        let mode = fs::metadata(path).map_or(0o644, |meta| meta.permissions().mode() & 0o777);
        file.as_file()
            .set_permissions(fs::Permissions::from_mode(mode))?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        fs::File::open(folder)?.sync_all()
    };
    put().map_err(|source| ConfigError::Write {
        path: path.to_owned(),
        source,
    })
}
