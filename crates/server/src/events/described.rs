//! Every event as a schema of the document: read from the page of the guide that lists them.
//!
//! The page is what people read, so that the two cannot differ; tests hold it against what is sent.

use utoipa::openapi::schema::{
    ArrayBuilder, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::{OpenApi, Ref, RefOr};

const PAGE: &str = include_str!("../../../../docs/guide/events.md");

#[derive(Debug, Clone)]
struct Field<'p> {
    name: &'p str,
    kind: &'p str,
    is_optional: bool,
}

#[derive(Debug)]
struct Listed<'p> {
    name: &'p str,
    when: &'p str,
    fields: Vec<Field<'p>>,
}

/// Adds a schema for each event, and one that is any of them with its name.
pub(crate) fn add(document: &mut OpenApi) {
    let schemas = &mut document.components.get_or_insert_default().schemas;
    let mut any = OneOfBuilder::new().description(Some("An event with its name."));
    for event in listed() {
        let schema = schema_name(event.name);
        let name = ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some([event.name]));
        let named = ObjectBuilder::new()
            .property("name", name)
            .required("name")
            .property("data", Ref::from_schema_name(&schema))
            .required("data");
        any = any.item(named);
        schemas.insert(schema, RefOr::T(event.schema()));
    }
    schemas.insert("LiveEvent".to_owned(), RefOr::T(any.into()));
}

/// `batch:task:started` is `BatchTaskStartedEvent`.
fn schema_name(event: &str) -> String {
    let words = event.split([':', '_']);
    let words = words.map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.chain(["Event".to_owned()]).collect()
}

fn listed() -> Vec<Listed<'static>> {
    let mut common = Vec::new();
    let mut all = Vec::new();
    for line in PAGE.lines() {
        if let Some(carried) = line.strip_prefix("All have ") {
            common = fields(carried.trim_end_matches('.'));
        } else if let Some(row) = line.strip_prefix("| `") {
            let mut cells = row.split('|').map(str::trim);
            let name = cells.next().unwrap_or_default().trim_end_matches('`');
            let when = cells.next().unwrap_or_default();
            let own = fields(cells.next().unwrap_or_default());
            let fields = common.iter().cloned().chain(own).collect();
            all.push(Listed { name, when, fields });
        }
    }
    all
}

fn fields(text: &str) -> Vec<Field<'_>> {
    let parts = text.split(';').map(str::trim);
    let parts = parts.filter_map(|part| part.strip_prefix('`')?.split_once("` "));
    let fields = parts.map(|(name, kind)| Field {
        name,
        kind: kind.trim_end_matches(" (optional)"),
        is_optional: kind.ends_with(" (optional)"),
    });
    fields.collect()
}

impl Listed<'_> {
    fn schema(&self) -> Schema {
        let mut object = ObjectBuilder::new()
            .title(Some(self.name))
            .description(Some(self.when));
        for field in &self.fields {
            object = object.property(field.name, field.schema());
            if !field.is_optional {
                object = object.required(field.name);
            }
        }
        object.into()
    }
}

impl Field<'_> {
    fn schema(&self) -> RefOr<Schema> {
        let list = |item: RefOr<Schema>| RefOr::T(ArrayBuilder::new().items(item).into());
        let schema = match (self.kind, self.kind.strip_suffix("[]")) {
            ("string", _) => self.plain(Type::String),
            ("number", _) => self.plain(Type::Number),
            ("boolean", _) => self.plain(Type::Boolean),
            ("strings", _) => list(ObjectBuilder::new().schema_type(Type::String).into()),
            (_, Some(item)) => list(Ref::from_schema_name(item).into()),
            (name, None) => Ref::from_schema_name(name).into(),
        };
        match schema {
            RefOr::Ref(_) if self.is_optional => {
                let nothing = ObjectBuilder::new().schema_type(Type::Null);
                RefOr::T(OneOfBuilder::new().item(nothing).item(schema).into())
            }
            schema => schema,
        }
    }

    fn plain(&self, kind: Type) -> RefOr<Schema> {
        let kind = if self.is_optional {
            SchemaType::from_iter([kind, Type::Null])
        } else {
            SchemaType::Type(kind)
        };
        ObjectBuilder::new().schema_type(kind).into()
    }
}

#[cfg(test)]
mod tests;
