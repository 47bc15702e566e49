//! The configuration in force, as TOML that could be written to a file.

use super::layers::Loaded;
use std::fmt::Write as _;

/// Every setting; those that are not built-in with where they come from.
pub(crate) fn render(loaded: &Loaded) -> String {
    let table = toml::Table::try_from(&loaded.settings).expect("the settings in force are a table");
    let mut text = String::new();
    for (section, content) in &table {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "[{section}]");
        for (key, value) in content.as_table().into_iter().flatten() {
            let origin = loaded.origins.get(&(section.clone(), key.clone()));
            let comment = origin
                .map(|origin| format!("  # {origin}"))
                .unwrap_or_default();
            let _ = writeln!(text, "{key} = {value}{comment}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::config::{Loaded, Settings};
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[test]
    fn what_is_shown_can_be_read_again_and_names_origins() {
        let mut settings = Settings::default();
        settings.session.shell = "zsh".to_owned();
        settings
            .session
            .env
            .insert("A".to_owned(), "b \"c\"".to_owned());
        let key = ("session".to_owned(), "shell".to_owned());
        let origins = BTreeMap::from([(key, "c.toml:2".to_owned())]);
        let text = render(&Loaded {
            settings: settings.clone(),
            origins,
        });
        assert!(text.contains("shell = \"zsh\"  # c.toml:2\n"), "{text}");
        let table: toml::Table = text.parse().expect("TOML");
        assert_eq!(Settings::deserialize(table).expect("settings"), settings);
    }
}
