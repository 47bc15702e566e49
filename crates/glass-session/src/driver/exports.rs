//! Which commands are likely to change what their shell exports.

/// Words that change variables, or run text that may.
const WORDS: [&str; 12] = [
    "export", "declare", "typeset", "readonly", "source", ".", "eval", "set", "unset", "setenv",
    "activate", "read",
];

/// Whether a command seems to change what its shell exports, so that the shell
/// is worth asking at once. A guess: a function may hide anything, and is found
/// out when the shell is next idle.
pub fn may_export(command: &str) -> bool {
    command
        .split(|c: char| c.is_whitespace() || ";&|(){}`".contains(c))
        .any(|word| WORDS.contains(&word) || is_assignment(word))
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_plain = |c: char| c == '_' || c.is_ascii_alphanumeric();
    !name.is_empty()
        && name.chars().all(is_plain)
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::may_export;

    #[test]
    fn words_that_change_variables_are_noticed() {
        for command in [
            "export A=1",
            "cd /x && . venv/bin/activate",
            "source env.sh",
            "PATH=$PATH:/opt/bin",
            "true;A+=x",
            "set -gx A 1",
            "if true; then\nunset A\nfi",
        ] {
            assert!(may_export(command), "{command}");
        }
        for command in [
            "true",
            "ls -la",
            "make --jobs=4",
            "grep -e exported x",
            "echo 'a == b'",
        ] {
            assert!(!may_export(command), "{command}");
        }
    }
}
