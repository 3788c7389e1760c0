//! The tables that people name: agents, and sizes of what runs on a cluster.
//!
//! The only place that lists their fields; knows nothing of what follows from them.

use std::collections::BTreeMap;
use std::time::Duration;

use toml_edit::{TableLike, Value};

use super::fields::Fields;
use super::keys::Config;
use super::kinds::{Count, FreeText, List, MemorySize, SbatchOptions, Time, ValueKind, ValueRules};

/// Tables of one kind, each with a name that somebody gave it.
pub(super) struct NamedTable {
    /// The table that they are in.
    pub(super) name: &'static str,
    pub(super) fields: &'static [NamedField],
    pub(super) names: fn(&Config) -> Vec<&String>,
    pub(super) said: fn(&Config, &str, &str) -> Option<Value>,
}

pub(super) struct NamedField {
    pub(super) name: &'static str,
    pub(super) rules: ValueRules,
}

/// What such a table says.
pub(super) trait NamedConfig: Default {
    const TABLE: &'static str;

    fn field_names() -> Vec<&'static str>;

    /// Takes its fields out of a table, whose key ends with a point.
    fn take(fields: &mut Fields<'_>, table: &dyn TableLike, key: &str) -> Self;

    /// This one upon another of the same name.
    fn over(self, below: Self) -> Self;
}

/// All tables of a kind upon those of a lower layer.
pub(super) fn all_over<C: NamedConfig>(
    above: BTreeMap<String, C>,
    mut below: BTreeMap<String, C>,
) -> BTreeMap<String, C> {
    for (name, config) in above {
        let lower = below.remove(&name).unwrap_or_default();
        below.insert(name, config.over(lower));
    }
    below
}

/// The table, the name there and the field of a key such as `sizes.large.cpus`.
pub(super) fn named_field(key: &str) -> Option<(&'static NamedTable, &str, &'static NamedField)> {
    let (table, name, field) = parts_of(key)?;
    let field = table.fields.iter().find(|known| known.name == field)?;
    Some((table, name, field))
}

/// The keys that somebody may have meant who wrote one for a table with a name.
pub(super) fn keys_beside(key: &str) -> Vec<String> {
    let Some((table, name, _)) = parts_of(key) else {
        return Vec::new();
    };
    let fields = table.fields.iter();
    let key = |field: &NamedField| format!("{}.{name}.{}", table.name, field.name);
    fields.map(key).collect()
}

fn parts_of(key: &str) -> Option<(&'static NamedTable, &str, &str)> {
    let (table, rest) = key.split_once('.')?;
    let (name, field) = rest.rsplit_once('.')?;
    let table = NAMED.iter().find(|known| known.name == table)?;
    (!name.is_empty()).then_some((table, name, field))
}

macro_rules! named_tables {
    ($(
        #[doc = $about:literal]
        $config:ident in $table:ident {
            $($(#[doc = $meaning:literal])* $field:ident: $value:ty as $kind:ty,)*
        }
    )*) => {
        $(
            #[doc = $about]
            #[derive(Debug, Clone, Default, PartialEq, Eq)]
            pub struct $config {
                $($(#[doc = $meaning])* pub $field: Option<$value>,)*
            }

            impl $config {
                /// Each field that is said, as a file would say it.
                pub(crate) fn said(&self) -> Vec<(&'static str, Value)> {
                    let all = [$((
                        stringify!($field),
                        self.$field.as_ref().map(<$kind as ValueKind>::write),
                    ),)*];
                    all.into_iter().filter_map(|(field, value)| Some((field, value?))).collect()
                }
            }

            impl NamedConfig for $config {
                const TABLE: &'static str = stringify!($table);

                fn field_names() -> Vec<&'static str> {
                    vec![$(stringify!($field)),*]
                }

                fn take(fields: &mut Fields<'_>, table: &dyn TableLike, key: &str) -> Self {
                    Self {
                        $($field: fields.value_in::<$kind>(
                            table,
                            stringify!($field),
                            &format!("{key}{}", stringify!($field)),
                        ),)*
                    }
                }

                fn over(self, below: Self) -> Self {
                    Self { $($field: self.$field.or(below.$field),)* }
                }
            }
        )*

        pub(super) const NAMED: &[NamedTable] = &[$(NamedTable {
            name: stringify!($table),
            fields: &[$(NamedField {
                name: stringify!($field),
                rules: ValueRules::of::<$kind>(),
            },)*],
            names: |config| config.$table.keys().collect(),
            said: |config, name, field| {
                let said = config.$table.get(name)?.said();
                said.into_iter().find_map(|(known, value)| (known == field).then_some(value))
            },
        },)*];
    };
}

named_tables! {
    /// What is said of an agent.
    AgentConfig in agents {
        /// The preset that it is like: a name, or `acp:` and a command.
        preset: String as FreeText,
        command: Vec<String> as List,
        args: Vec<String> as List,
        /// Names of environment variables that it gets besides the usual ones.
        env: Vec<String> as List,
        model: String as FreeText,
    }

    /// What an attempt, or a run of the tests, gets of a node.
    SizeConfig in sizes {
        cpus: u32 as Count<u32, 1, 100_000>,
        /// In bytes.
        memory: u64 as MemorySize,
        gpus: u32 as Count<u32, 1, 1_000>,
        /// The time limit, instead of the one for all tasks.
        time: Duration as Time,
        /// Further options for `sbatch`.
        slurm: Vec<String> as SbatchOptions,
    }
}
