//! Puts the layers on top of each other and remembers where each value is from.

use super::error::ConfigError;
use super::settings::Settings;
use super::{environment, environment::Variables, read};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The section that a project may narrow.
const PROJECT_SECTION: &str = "limits";

/// What a project may say about commands.
const PROJECT_POLICY: [&str; 2] = ["builtin_allow", "rule"];

/// Where a value comes from, for people: a path and line, or a variable.
pub(crate) type Origins = BTreeMap<(String, String), String>;

/// Where the layers are to be found.
pub(crate) struct Sources {
    /// The user's file.
    pub user: PathBuf,
    /// Whether the user named that file, so that it must be there.
    pub user_is_required: bool,
    /// The project's file, where there is a project.
    pub project: Option<PathBuf>,
    /// The variables that may be settings.
    pub variables: Variables,
}

/// The configuration in force.
pub(crate) struct Loaded {
    /// Its values.
    pub settings: Settings,
    /// Where those that are not built-in come from.
    pub origins: Origins,
}

/// Reads all layers.
pub(crate) fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let mut stack = Stack::default();
    match read::read(&sources.user)? {
        Some(file) => stack.put_first(&sources.user, file),
        None if sources.user_is_required => {
            let source = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(ConfigError::Unreadable {
                path: sources.user.clone(),
                source,
            });
        }
        None => {}
    }
    // An empty directory of that name keeps a sandbox from planting the file.
    if let Some(path) = &sources.project
        && !path.is_dir()
        && let Some(file) = read::read(path)?
    {
        stack.narrow(path, &file.text, file.table)?;
    }
    for (section, key, value) in environment::read(&sources.variables)? {
        let origin = environment::variable(&section, &key);
        stack.put(&section, &key, value, origin);
    }
    Ok(stack.finish())
}

/// Values that are not built-in, so far.
#[derive(Default)]
struct Stack {
    table: toml::Table,
    origins: Origins,
    /// What the table comes to, where it is known.
    settings: Option<Settings>,
}

impl Stack {
    fn put(&mut self, section: &str, key: &str, value: toml::Value, origin: String) {
        self.settings = None;
        let entry = self.table.entry(section.to_owned());
        let section_table = entry.or_insert_with(|| toml::Value::Table(toml::Table::new()));
        if let Some(keys) = section_table.as_table_mut() {
            keys.insert(key.to_owned(), value);
        }
        self.origins
            .insert((section.to_owned(), key.to_owned()), origin);
    }

    /// Puts a file where there was nothing before.
    fn put_first(&mut self, path: &Path, file: read::File) {
        for (section, key, value) in entries(file.table) {
            let origin = place(path, &file.text, &section, &key);
            self.put(&section, &key, value, origin);
        }
        self.settings = Some(file.settings);
    }

    /// Takes what is stricter than the value in force; what is laxer changes
    /// nothing, so that a project cannot undo what its user decided.
    fn narrow(&mut self, path: &Path, text: &str, table: toml::Table) -> Result<(), ConfigError> {
        let in_force = limits(&self.settings());
        for (section, key, value) in entries(table) {
            if section == "policy" && PROJECT_POLICY.contains(&key.as_str()) {
                // They are a layer of their own, which the daemon reads when a
                // command comes.
                continue;
            }
            if section != PROJECT_SECTION {
                let key = format!("{section}.{key}");
                let line = read::line_of_key(text, &key).unwrap_or(1);
                return Err(ConfigError::NotForProjects {
                    path: path.to_path_buf(),
                    line,
                    key,
                });
            }
            let is_stricter = match (value.as_integer(), in_force.get(&key)) {
                (Some(new), Some(old)) if key.ends_with("_min") => new > *old,
                (Some(new), Some(old)) => new < *old,
                _ => false,
            };
            if is_stricter {
                let origin = place(path, text, &section, &key);
                self.put(&section, &key, value, origin);
            }
        }
        Ok(())
    }

    fn settings(&self) -> Settings {
        match &self.settings {
            Some(settings) => settings.clone(),
            None => merged(self.table.clone()),
        }
    }

    fn finish(self) -> Loaded {
        Loaded {
            settings: self.settings.unwrap_or_else(|| merged(self.table)),
            origins: self.origins,
        }
    }
}

/// The settings that all layers together say.
fn merged(table: toml::Table) -> Settings {
    match table.is_empty() {
        true => Settings::default(),
        false => Settings::deserialize(table).expect("every layer was checked when it was read"),
    }
}

fn limits(settings: &Settings) -> BTreeMap<String, i64> {
    let table = toml::Table::try_from(&settings.limits).expect("limits are a table");
    let numbers = table
        .into_iter()
        .filter_map(|(key, value)| Some((key, value.as_integer()?)));
    numbers.collect()
}

fn entries(table: toml::Table) -> impl Iterator<Item = (String, String, toml::Value)> {
    table.into_iter().flat_map(|(section, content)| {
        let keys = match content {
            toml::Value::Table(keys) => keys,
            _ => toml::Table::new(),
        };
        keys.into_iter()
            .map(move |(key, value)| (section.clone(), key, value))
    })
}

fn place(path: &Path, text: &str, section: &str, key: &str) -> String {
    match read::line_of_key(text, &format!("{section}.{key}")) {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Loaded, Sources, Variables, load};
    use std::fs;

    fn check(user: &str, project: &str, variables: &[(&str, &str)]) -> Result<Loaded, String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (user_path, project_path) =
            (folder.path().join("u.toml"), folder.path().join("p.toml"));
        fs::write(&user_path, user).expect("a file");
        fs::write(&project_path, project).expect("a file");
        let sources = Sources {
            user: user_path,
            user_is_required: true,
            project: Some(project_path),
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        };
        load(&sources).map_err(|error| error.to_string())
    }

    #[test]
    fn later_layers_win() {
        let variables = [("SHELLGLASS_LIMITS_QUEUE_MAX", "3")];
        let loaded = check("[limits]\nqueue_max = 8\nsessions_max = 9", "", &variables)
            .expect("a valid configuration");
        assert_eq!(loaded.settings.limits.queue_max, 3);
        assert_eq!(loaded.settings.limits.sessions_max, 9);
        let origin = &loaded.origins[&("limits".to_owned(), "queue_max".to_owned())];
        assert_eq!(origin, "SHELLGLASS_LIMITS_QUEUE_MAX");
        assert_eq!(loaded.origins.len(), 2);
    }

    #[test]
    fn a_project_only_narrows() {
        let project = "[limits]\nqueue_max = 99\nsessions_max = 5\ndisk_free_bytes_min = 1";
        let loaded = check("[limits]\nqueue_max = 8", project, &[]).expect("valid");
        assert_eq!(loaded.settings.limits.queue_max, 8);
        assert_eq!(loaded.settings.limits.sessions_max, 5);
        assert_eq!(loaded.settings.limits.disk_free_bytes_min, 256 << 20);
    }

    #[test]
    fn a_project_cannot_choose_the_shell() {
        let error = check("", "[session]\nshell = \"evil\"", &[])
            .err()
            .expect("refused");
        assert!(
            error.ends_with("p.toml:2: a project cannot set `session.shell`"),
            "{error}"
        );
    }

    #[test]
    fn without_any_layer_everything_is_built_in() {
        let sources = Sources {
            user: "/nonexistent/config.toml".into(),
            user_is_required: false,
            project: None,
            variables: Variables::new(),
        };
        let loaded = load(&sources).expect("nothing to go wrong");
        assert_eq!(loaded.settings, super::Settings::default());
        assert!(loaded.origins.is_empty());
    }
}
