//! `pleach config`: every setting with where it is from; `pleach config set` changes one.

use std::path::Path;

use anstyle::{AnsiColor, Style};
use pleach_engine::config::{
    ConfigScope, Layers, MisspeltVariable, ResolvedSetting, SettingOrigin, Settings,
    misspelt_variables, set, unknown_key,
};
use pleach_engine::plan_in_use::project_folder;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::args::{ConfigArgs, ConfigChange, SetArgs};
use crate::columns::padded;
use crate::failure::{Exit, Failures};
use crate::output::{self, Reader, one_line, tell_error};
use crate::plan_source::current_folder;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// Values beyond this push what follows aside.
const WIDEST_VALUE: usize = 40;

pub(crate) fn run(arguments: &ConfigArgs) -> Result<Exit, Failures> {
    let answer = match &arguments.change {
        Some(ConfigChange::Set(wanted)) => change(wanted),
        None => show(arguments),
    };
    answer.map_err(|failures| failures.told_to(Reader::from_flag(arguments.json)))
}

/// Says which variables look like settings and are none.
pub(crate) fn warn_of_slips() {
    for MisspeltVariable { name, nearest } in misspelt_variables() {
        let name = one_line(&name);
        tell_error(format_args!(
            "{YELLOW}warning{YELLOW:#}: unknown variable {name}\n{CYAN}hint{CYAN:#}: did you mean {nearest}?\n"
        ));
    }
}

fn show(arguments: &ConfigArgs) -> Result<Exit, Failures> {
    let folder = current_folder()?;
    let top = project_folder(&folder);
    let layers = Layers::load(&top)?;
    // What does not fit together is wrong as well, though each value is right.
    Settings::of_layers(&layers, &top)?;
    let all = layers.shown();
    if let Some(key) = &arguments.key {
        return show_one(&all, key, arguments.json);
    }
    if arguments.json {
        print_json(&all);
        return Ok(Exit::Success);
    }
    warn_of_slips();
    let keys: Vec<String> = all.iter().map(|shown| one_line(&shown.key)).collect();
    let values: Vec<String> = all.iter().map(value_of).collect();
    let width = |texts: &[String], most: usize| {
        let widths = texts.iter().map(|text| text.width());
        widths.filter(|width| *width <= most).max().unwrap_or(0)
    };
    let (key_width, value_width) = (width(&keys, usize::MAX), width(&values, WIDEST_VALUE));
    for ((shown, key), value) in all.iter().zip(&keys).zip(&values) {
        let (key, value) = (padded(key, key_width), padded(value, value_width));
        let from = origin(&shown.origin, &folder);
        if shown.origin == SettingOrigin::Default {
            output::print(format_args!("{DIM}{key}  {value}  {from}{DIM:#}\n"));
        } else {
            output::print(format_args!("{BOLD}{key}{BOLD:#}  {value}  {from}\n"));
        }
    }
    Ok(Exit::Success)
}

fn show_one(all: &[ResolvedSetting], key: &str, json: bool) -> Result<Exit, Failures> {
    let Some(shown) = all.iter().find(|shown| shown.key == key) else {
        return Err(unknown_key(key).into());
    };
    let text = match &shown.value {
        value if json => serde_json::to_string(value).expect("it is plain data"),
        Value::String(text) => one_line(text),
        Value::Null => String::new(),
        _ => one_line(shown.text.as_deref().unwrap_or_default()),
    };
    output::print(format_args!("{text}\n"));
    Ok(Exit::Success)
}

fn value_of(shown: &ResolvedSetting) -> String {
    match &shown.text {
        Some(text) => one_line(text),
        None => format!("({})", shown.otherwise),
    }
}

fn origin(origin: &SettingOrigin, folder: &Path) -> String {
    let SettingOrigin::File { path, line } = origin else {
        return one_line(&origin.to_string());
    };
    let home = std::env::var_os("HOME").unwrap_or_default();
    let home = Path::new(&home);
    let in_home = path.strip_prefix(home).ok();
    let in_home = in_home.filter(|_| home.is_absolute());
    let shown = match (path.strip_prefix(folder), in_home) {
        (Ok(below), _) => below.display().to_string(),
        (Err(_), Some(below)) => format!("~/{}", below.display()),
        (Err(_), None) => path.display().to_string(),
    };
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    one_line(&format!("{shown}{line}"))
}

fn print_json(all: &[ResolvedSetting]) {
    let settings: Vec<Value> = all
        .iter()
        .map(|shown| {
            let source = match &shown.origin {
                SettingOrigin::Default => json!({"kind": "default"}),
                SettingOrigin::File { path, line } => {
                    json!({"kind": "file", "path": path, "line": line})
                }
                SettingOrigin::Variable(name) => json!({"kind": "variable", "name": name}),
                SettingOrigin::Flag => json!({"kind": "flag"}),
            };
            json!({"key": shown.key, "value": shown.value, "source": source})
        })
        .collect();
    let slips = misspelt_variables().into_iter();
    let warnings: Vec<Value> = slips
        .map(|slip| json!({"variable": slip.name, "nearest": slip.nearest}))
        .collect();
    let text = json!({"settings": settings, "warnings": warnings});
    let text = serde_json::to_string_pretty(&text).expect("it is plain data");
    output::print(format_args!("{text}\n"));
}

fn change(wanted: &SetArgs) -> Result<Exit, Failures> {
    let folder = current_folder()?;
    let whose = if wanted.repo {
        ConfigScope::Repository
    } else {
        ConfigScope::User
    };
    let top = project_folder(&folder);
    let edited = set(&wanted.key, &wanted.value, whose, &top)?;
    let file = SettingOrigin::File {
        path: edited.path,
        line: None,
    };
    output::print(format_args!(
        "{} = {} in {}\n",
        one_line(&wanted.key),
        one_line(&edited.text),
        origin(&file, &folder)
    ));
    tell_who_wins(&wanted.key, &file, &top, &folder);
    Ok(Exit::Success)
}

/// What was set may not be what holds.
fn tell_who_wins(key: &str, file: &SettingOrigin, top: &Path, folder: &Path) {
    let Ok(layers) = Layers::load(top) else {
        return;
    };
    let winner = layers.origin_of(key);
    let is_file = match (&winner, file) {
        (SettingOrigin::File { path, .. }, SettingOrigin::File { path: written, .. }) => {
            path.canonicalize().ok().as_ref() == Some(written)
        }
        _ => false,
    };
    if !is_file {
        let winner = origin(&winner, folder);
        tell_error(format_args!("note: {winner} overrides it here\n"));
    }
}
