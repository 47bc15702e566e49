//! What a tool of another agent prints, as a model reads it; and whether some
//! output ends with a question.

use glass_adapt::prompt::{self, PromptKind};
use glass_adapt::{Sections, Tool, adapt};
use glass_model::ShellKind;

/// Whose events a command prints because they were asked for in its stead. Who
/// asks for events by name gets events.
pub(super) fn tool_of(command: &str) -> Option<Tool> {
    let adapted = adapt(command, ShellKind::Bash)?;
    let tool = match adapted.tool {
        "codex" => Tool::Codex,
        "claude" => Tool::Claude,
        _ => return None,
    };
    (adapted.command != command).then_some(tool)
}

/// Events as text. Lines that are none, as where adapters are switched off, stay
/// as they are.
pub(super) fn readable(bytes: &[u8], tool: Tool) -> Vec<u8> {
    let (mut sections, mut out) = (Sections::new(Some(tool)), Vec::new());
    sections.push(bytes, &mut out);
    sections.finish(&mut out);
    out
}

/// The question that shown output ends with, in a sentence.
pub(super) fn question(shown: &str) -> Option<String> {
    let found = prompt::find(shown)?;
    let what = match found.kind {
        PromptKind::Password => "a password",
        PromptKind::Username => "a name",
        PromptKind::Confirm => "yes or no",
        PromptKind::HostKey => "whether to trust a host",
        PromptKind::Passphrase => "a passphrase",
    };
    let text = found.text.escape_debug();
    Some(format!("it seems to ask for {what}: \"{text}\""))
}

#[cfg(test)]
mod tests {
    use super::{question, readable, tool_of};
    use glass_adapt::Tool;

    #[test]
    fn events_that_nobody_asked_for_by_name_are_made_readable() {
        assert_eq!(tool_of("codex 'fix it'"), Some(Tool::Codex));
        assert_eq!(tool_of("claude -p explain"), Some(Tool::Claude));
        for command in [
            "codex exec --json 'fix it'",
            "git fetch",
            "ls",
            "codex x | cat",
        ] {
            assert_eq!(tool_of(command), None, "{command}");
        }
    }

    #[test]
    fn what_is_no_event_stays() {
        let text = b"plain\n{\"not\": \"an event\"}\nhalf";
        assert_eq!(readable(text, Tool::Codex), text);
    }

    #[test]
    fn a_question_is_told_in_a_sentence() {
        let said = question("cloning\nPassword for 'https://me@host': ");
        assert_eq!(
            said.as_deref(),
            Some("it seems to ask for a password: \"Password for \\'https://me@host\\':\"")
        );
        assert_eq!(question("Password: \n"), None);
    }
}
