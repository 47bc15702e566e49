//! What is configured where a test does not say. It comes last, so that lines
//! keep their numbers.

/// Commands have walls only where they are asked for: most tests are about
/// something else.
pub(crate) fn without_walls(config: &str) -> String {
    if config.contains("[sandbox]") {
        return config.to_owned();
    }
    format!("{config}\n[sandbox]\ndefault = \"none\"\nagent = \"none\"\n")
}

/// Nobody is there to be asked about an agent's commands.
pub(crate) fn asking_nobody(config: String) -> String {
    if config.contains("[policy]") {
        return config;
    }
    format!("{config}\n[policy]\nagent = \"deny\"\n")
}
