//! The environment's layer: `SHELLGLASS_<SECTION>_<KEY>`.

use super::error::ConfigError;
use super::read::defaults;
use super::settings::Settings;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What every variable of ours begins with.
const PREFIX: &str = "SHELLGLASS_";

/// Says where everything is, and is no setting.
const HOME: &str = "SHELLGLASS_HOME";

/// The variables that may be settings, by name.
pub(crate) type Variables = BTreeMap<String, String>;

/// Those of this process.
pub(crate) fn of_this_process() -> Variables {
    let ours = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str().filter(|name| name.starts_with(PREFIX))?;
        (name != HOME).then(|| Some((name.to_owned(), value.to_str()?.to_owned())))?
    });
    ours.collect()
}

/// The variable of a setting.
pub(crate) fn variable(section: &str, key: &str) -> String {
    format!("{PREFIX}{section}_{key}").to_uppercase()
}

/// Settings that variables give, and the name of each variable. Only names of
/// settings are looked up, so that `SHELLGLASS_SESSION_ID` and its kind, which
/// commands see, mean nothing here.
pub(crate) fn read(
    variables: &Variables,
) -> Result<Vec<(String, String, toml::Value)>, ConfigError> {
    let mut found = Vec::new();
    if variables.is_empty() {
        return Ok(found);
    }
    for (section, content) in &defaults() {
        for (key, default) in content.as_table().into_iter().flatten() {
            let name = variable(section, key);
            let Some(text) = variables.get(&name) else {
                continue;
            };
            let value = given(section, default, text)
                .and_then(|value| check(section, key, value))
                .map_err(|message| ConfigError::WrongVariable { name, message })?;
            found.push((section.clone(), key.clone(), value));
        }
    }
    Ok(found)
}

/// The value that a variable gives. Commas would cut a hook's command apart.
fn given(section: &str, default: &toml::Value, text: &str) -> Result<toml::Value, String> {
    if section == "hooks" || section == "hosts" {
        return Err(format!(
            "{section} are set in the configuration's file alone"
        ));
    }
    value(default, text)
}

/// The text as a value of the same kind as the default.
fn value(default: &toml::Value, text: &str) -> Result<toml::Value, String> {
    match default {
        toml::Value::Integer(_) => text
            .trim()
            .parse()
            .map(toml::Value::Integer)
            .map_err(|_| format!("'{text}' is not a whole number")),
        toml::Value::Boolean(_) => text
            .trim()
            .parse()
            .map(toml::Value::Boolean)
            .map_err(|_| format!("'{text}' is neither true nor false")),
        toml::Value::Array(_) => {
            let words = text
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty());
            Ok(toml::Value::Array(words.map(toml::Value::from).collect()))
        }
        toml::Value::Table(_) => Err("a table cannot be given in a variable".to_owned()),
        _ => Ok(toml::Value::from(text)),
    }
}

fn check(section: &str, key: &str, value: toml::Value) -> Result<toml::Value, String> {
    let keys = toml::Table::from_iter([(key.to_owned(), value.clone())]);
    let table = toml::Table::from_iter([(section.to_owned(), toml::Value::Table(keys))]);
    match Settings::deserialize(table) {
        Ok(_) => Ok(value),
        Err(error) => Err(error.message().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    fn check(name: &str, text: &str) -> Result<usize, String> {
        read(&[(name.to_owned(), text.to_owned())].into())
            .map(|found| found.len())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_variable_sets_its_key_and_others_mean_nothing() {
        assert_eq!(check("SHELLGLASS_LIMITS_QUEUE_MAX", "8"), Ok(1));
        assert_eq!(check("SHELLGLASS_SESSION_SCRUB_ENV", "A,B_*"), Ok(1));
        assert_eq!(check("SHELLGLASS_SESSION_ID", "s-x"), Ok(0));
    }

    #[test]
    fn a_wrong_value_names_its_variable() {
        let error = check("SHELLGLASS_LIMITS_QUEUE_MAX", "many").expect_err("not a number");
        assert_eq!(
            error,
            "the variable SHELLGLASS_LIMITS_QUEUE_MAX: 'many' is not a whole number"
        );
        assert!(check("SHELLGLASS_LIMITS_QUEUE_MAX", "-1").is_err());
        assert!(check("SHELLGLASS_SESSION_MODE", "fast").is_err());
    }
}
