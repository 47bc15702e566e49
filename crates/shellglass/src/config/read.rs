//! Reads one file, and says exactly where it is wrong.

use super::error::ConfigError;
use super::nearest::nearest;
use super::settings::Settings;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Largest configuration file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A file that makes sense.
pub(crate) struct File {
    /// As it is written.
    pub text: String,
    /// What it sets.
    pub table: toml::Table,
    /// What is in force where there is nothing else.
    pub settings: Settings,
}

/// The file at `path`; none where there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<File>, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable {
        path: path.to_path_buf(),
        source,
    };
    let text = match fs::metadata(path) {
        Ok(metadata) if metadata.len() > FILE_BYTES_MAX => {
            return Err(unreadable(std::io::Error::from(ErrorKind::FileTooLarge)));
        }
        Ok(_) => fs::read_to_string(path).map_err(unreadable)?,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    };
    let (table, settings) = parse(path, &text)?;
    Ok(Some(File {
        text,
        table,
        settings,
    }))
}

/// Checks the text of a file.
pub(crate) fn parse(path: &Path, text: &str) -> Result<(toml::Table, Settings), ConfigError> {
    let table: toml::Table =
        text.parse()
            .map_err(|error: toml::de::Error| ConfigError::Syntax {
                path: path.to_path_buf(),
                line: line_of(text, error.span().map(|span| span.start)),
                message: error.message().to_owned(),
            })?;
    let document = toml::Deserializer::parse(text).expect("this text has just been parsed");
    match serde_path_to_error::deserialize::<_, Settings>(document) {
        Ok(settings) => Ok((table, settings)),
        Err(error) => Err(explain(path, text, &table, &error)),
    }
}

fn explain(
    path: &Path,
    text: &str,
    table: &toml::Table,
    error: &serde_path_to_error::Error<toml::de::Error>,
) -> ConfigError {
    let path = path.to_path_buf();
    let line = line_of(text, error.inner().span().map(|span| span.start));
    if let Some(key) = unknown_key(table) {
        let nearest = nearest(&key, &known_keys()).unwrap_or_default().to_owned();
        let line = line_of_key(text, &key).unwrap_or(line);
        return ConfigError::UnknownKey {
            path,
            line,
            key,
            nearest,
        };
    }
    let key = error.path().to_string();
    let line = line_of_key(text, &key).unwrap_or(line);
    ConfigError::WrongValue {
        path,
        line,
        key,
        message: error.inner().message().to_owned(),
    }
}

/// The first key of the table that is not a setting.
fn unknown_key(table: &toml::Table) -> Option<String> {
    let defaults = defaults();
    for (section, content) in table {
        let Some(known) = defaults.get(section).and_then(toml::Value::as_table) else {
            return Some(section.clone());
        };
        let keys = content.as_table().into_iter().flat_map(toml::Table::keys);
        for key in keys {
            if !known.contains_key(key) {
                return Some(format!("{section}.{key}"));
            }
        }
    }
    None
}

/// Every setting at its built-in value.
pub(crate) fn defaults() -> toml::Table {
    toml::Table::try_from(Settings::default()).expect("the built-in settings are a table")
}

/// The name of every setting, and of every section.
fn known_keys() -> Vec<String> {
    let mut names = Vec::new();
    for (section, content) in &defaults() {
        names.push(section.clone());
        let keys = content.as_table().into_iter().flat_map(toml::Table::keys);
        names.extend(keys.map(|key| format!("{section}.{key}")));
    }
    names
}

/// The line (from 1 on) of a byte of the text.
fn line_of(text: &str, at: Option<usize>) -> usize {
    let before = text.get(..at.unwrap_or(0)).unwrap_or(text);
    before.bytes().filter(|byte| *byte == b'\n').count() + 1
}

/// The line (from 1 on) where a key such as `limits.queue_max` is written. The
/// parser's own span is that of the whole section for some mistakes.
pub(crate) fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let (section, name) = key.split_once('.').unwrap_or((key, ""));
    let mut current = String::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            // An element of a list has two brackets.
            let header = header.trim_start_matches('[');
            current = header.split(']').next().unwrap_or("").trim().to_owned();
            if current == key || (name.is_empty() && current == section) {
                return Some(index + 1);
            }
            continue;
        }
        let written = line
            .split('=')
            .next()
            .unwrap_or("")
            .replace([' ', '"', '\''], "");
        let full = if current.is_empty() {
            written
        } else {
            format!("{current}.{written}")
        };
        if full == key || (name.is_empty() && full.starts_with(&format!("{section}."))) {
            return Some(index + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::parse;
    use std::path::Path;

    fn check(text: &str, message: &str, hint: &str) {
        let error = parse(Path::new("c.toml"), text).expect_err(text);
        assert_eq!(error.to_string(), message);
        assert!(error.hint().contains(hint), "{}", error.hint());
    }

    #[test]
    fn a_valid_file_is_taken() {
        let text = "[limits]\nqueue_max = 8\n[session.env]\nA = \"b\"\n";
        assert!(parse(Path::new("c.toml"), text).is_ok());
        assert!(parse(Path::new("c.toml"), "").is_ok());
    }

    #[test]
    fn an_unknown_key_names_its_line_and_the_nearest_key() {
        check(
            "# mine\n[limits]\nqueue_mx = 8\n",
            "c.toml:3: there is no setting `limits.queue_mx`",
            "did you mean `limits.queue_max`?",
        );
        check(
            "\n[limit]\nqueue_max = 8\n",
            "c.toml:2: there is no setting `limit`",
            "did you mean `limits`?",
        );
        check(
            "session.shel = \"zsh\"\n",
            "c.toml:1: there is no setting `session.shel`",
            "did you mean `session.shell`?",
        );
    }

    #[test]
    fn a_wrong_type_names_its_line_and_key() {
        check(
            "[daemon]\nlog = \"info\"\n\n[limits]\nqueue_max = \"many\"\n",
            "c.toml:5: `limits.queue_max`: invalid type: string \"many\", expected u32",
            "config schema",
        );
        check(
            "[session]\nmode = \"lin\"\n",
            "c.toml:2: `session.mode`: unknown variant `lin`, expected one of `auto`, `line`, `pipe`",
            "config schema",
        );
    }

    #[test]
    fn a_file_that_is_not_toml_names_its_line() {
        let error = parse(Path::new("c.toml"), "[daemon]\nlog = \n").expect_err("not TOML");
        assert!(error.to_string().starts_with("c.toml:2: "), "{error}");
    }
}
