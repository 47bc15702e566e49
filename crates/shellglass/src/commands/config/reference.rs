//! The settings as a page of the documentation, from the schema alone.

use serde_json::Value;
use std::fmt::Write as _;

/// A default that is longer is not repeated, in characters.
const DEFAULT_CHARS_MAX: usize = 40;

/// Every section as a table.
pub(super) fn markdown(schema: &Value) -> String {
    let mut page = String::new();
    let sections = schema["properties"].as_object();
    for (name, section) in sections.into_iter().flatten() {
        let described = followed(schema, section);
        let text = sentence(&section["description"]);
        // Writing to a string cannot fail.
        let _ = write!(page, "\n### `[{name}]`\n\n{text}\n\n");
        page.push_str("| setting | default | what it is |\n|---|---|---|\n");
        let settings = described["properties"].as_object();
        for (key, setting) in settings.into_iter().flatten() {
            let default = default(&setting["default"]);
            let text = meaning(schema, setting);
            let _ = writeln!(page, "| `{key}` | {default} | {text} |");
        }
    }
    page
}

/// What a reference in the schema leads to, or the thing itself.
fn followed<'a>(schema: &'a Value, thing: &'a Value) -> &'a Value {
    let name = thing["$ref"]
        .as_str()
        .and_then(|name| name.strip_prefix("#/$defs/"));
    name.map_or(thing, |name| &schema["$defs"][name])
}

fn default(value: &Value) -> String {
    let text = value.to_string();
    if value.is_array() && text.chars().count() > DEFAULT_CHARS_MAX {
        return "a list; `shellglass config show` prints it".to_owned();
    }
    format!("`{text}`")
}

/// What a setting is for, and the words that it can have.
fn meaning(schema: &Value, setting: &Value) -> String {
    let mut text = sentence(&setting["description"]);
    let choices = followed(schema, setting)["oneOf"].as_array();
    for choice in choices.into_iter().flatten() {
        let Some(word) = choice["const"].as_str() else {
            continue;
        };
        let said = sentence(&choice["description"]);
        let _ = write!(text, "<br>`\"{word}\"`: {said}");
    }
    text
}

/// One line for a cell of a table.
fn sentence(text: &Value) -> String {
    let words: Vec<&str> = text
        .as_str()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    words.join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::markdown;
    use serde_json::json;

    #[test]
    fn every_setting_has_its_row_with_its_words() {
        let schema = json!({
            "$defs": {
                "A": {"properties": {
                    "kind": {"$ref": "#/$defs/K", "default": "x", "description": "Which\nkind."},
                    "many": {"default": ["a long word, and another one", "more of them"]},
                }},
                "K": {"oneOf": [{"const": "x", "description": "This | that."}]},
            },
            "properties": {"a": {"$ref": "#/$defs/A", "description": "About a."}},
        });
        let expected = "\n### `[a]`\n\nAbout a.\n\n\
            | setting | default | what it is |\n|---|---|---|\n\
            | `kind` | `\"x\"` | Which kind.<br>`\"x\"`: This \\| that. |\n\
            | `many` | a list; `shellglass config show` prints it |  |\n";
        assert_eq!(markdown(&schema), expected);
    }
}
