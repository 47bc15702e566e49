//! JSON schemas of arguments and results, as clients like them: no `null` beside
//! what may be left out, no Rust names, and no lines broken where ours are.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The schema of what a tool is given.
pub(super) fn of_arguments<T: JsonSchema>() -> Arc<Map<String, Value>> {
    let mut schema = of::<T>();
    for_clients(&mut schema, Nulls::Dropped);
    object(schema)
}

/// The schema of what a tool answers.
pub(super) fn of_result<T: JsonSchema>() -> Arc<Map<String, Value>> {
    let mut schema = of::<T>();
    for_clients(&mut schema, Nulls::Kept);
    object(schema)
}

/// Whether `null` is said to be a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nulls {
    Kept,
    Dropped,
}

fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().into()
}

fn object(schema: Value) -> Arc<Map<String, Value>> {
    match schema {
        Value::Object(mut schema) => {
            schema.remove("title");
            schema.remove("description");
            Arc::new(schema)
        }
        _ => Arc::default(),
    }
}

fn for_clients(schema: &mut Value, nulls: Nulls) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| for_clients(item, nulls)),
        Value::Object(fields) => {
            // Names of Rust's integers mean nothing elsewhere.
            if fields.get("format").is_some_and(is_rust) {
                fields.remove("format");
            }
            if let Some(Value::String(said)) = fields.get_mut("description") {
                *said = said.replace('\n', " ");
            }
            if nulls == Nulls::Dropped {
                drop_null(fields);
            }
            fields
                .values_mut()
                .for_each(|value| for_clients(value, nulls));
        }
        _ => {}
    }
}

fn is_rust(format: &Value) -> bool {
    format
        .as_str()
        .is_some_and(|format| format.starts_with("uint") || format.starts_with("int"))
}

fn drop_null(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(options)) = fields.get_mut("anyOf") else {
        return;
    };
    options.retain(|option| option.get("type").is_none_or(|kind| kind != "null"));
    if let [Value::Object(only)] = options.as_slice() {
        let only = only.clone();
        fields.remove("anyOf");
        for (name, value) in only {
            // What is said of the argument counts more than what is said of its
            // type.
            fields.entry(name).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{of_arguments, of_result};
    use crate::commands::mcp::{arguments, results};
    use serde_json::{Value, json};

    #[test]
    fn what_may_be_left_out_is_not_null() {
        let schema = Value::Object((*of_arguments::<arguments::Execute>()).clone());
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["required"], json!(["command"]));
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(schema["properties"]["yield_ms"]["type"], "integer");
        assert_eq!(schema["properties"]["yield_ms"]["minimum"], json!(0));
        let sandbox = &schema["properties"]["sandbox"];
        assert_eq!(sandbox["anyOf"][0]["enum"], json!(["none", "rw", "ro"]));
        assert_eq!(sandbox["anyOf"][1]["type"], "object");
        let said = sandbox["description"].as_str().expect("a description");
        assert!(said.contains("Default: as configured"), "{said}");
        let text = schema.to_string();
        assert!(!text.contains("null") && !text.contains("uint"), "{text}");
    }

    #[test]
    fn a_result_says_where_null_stands() {
        let schema = Value::Object((*of_result::<results::Executed>()).clone());
        assert_eq!(
            schema["properties"]["exit_code"]["type"],
            json!(["integer", "null"])
        );
    }
}
