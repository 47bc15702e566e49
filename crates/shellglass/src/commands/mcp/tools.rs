//! The tools, as a client lists them.

use super::{arguments, results, schema};
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;

/// What a model should know before its first call.
pub(super) const INSTRUCTIONS: &str = "\
Shellglass runs shell commands in a session that keeps its state: directory, variables and \
functions persist from one execute_command to the next, as in a terminal.
- Each call answers within yield_ms. A command that takes longer goes on: continue with wait \
(until it ends, prints a pattern, listens on a port, is quiet) or read_output, by its shell_id. Do \
not run it again.
- Start servers, watchers and long builds with background: true, then wait for their port or a \
line. Without network rights each has a loopback of its own: a server that your commands must reach \
is started in the session with `server &`, and waited for by the shell_id of that call.
- Output is shortened; notices like [... 120 lines left out, offset=5300 length=4096] name what is \
missing. read_output gives any part by offset, or lines by search. Do not pipe into head or tail: \
use head, tail and grep of execute_command.
- The last line tells how it ended. An exit code other than 0 is the command's own answer.
- Standard input is empty: use flags such as --yes, and no editors or pagers. A command with \
background: true reads what write_stdin gives it.
- Commands may run behind walls (sandbox). What was denied is named in the result, with what to ask \
for. If a command waits for a person's approval, say so to the person.";

/// What a tool does to the world.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Changes,
    Destroys,
}

fn tool<A: JsonSchema, R: JsonSchema>(
    name: &'static str,
    description: &'static str,
    effect: Effect,
) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(effect == Effect::Reads)
        .destructive(effect == Effect::Destroys)
        .open_world(name == "execute_command");
    Tool::new(name, description, schema::of_arguments::<A>())
        .with_raw_output_schema(schema::of_result::<R>())
        .with_annotations(annotations)
}

/// All of them.
pub(super) fn all() -> Vec<Tool> {
    vec![
        tool::<arguments::Execute, results::Executed>(
            "execute_command",
            "Run a shell command in this connection's session (its directory, variables and \
             functions persist) and show its output, shortened, and how it ended. A command that \
             takes longer than yield_ms goes on; continue with wait or read_output.",
            Effect::Destroys,
        ),
        tool::<arguments::Read, results::ReadBack>(
            "read_output",
            "Read what a command wrote: by default what is new since it was last shown; from a \
             byte offset on, exactly; or the lines that match search, each with its offset.",
            Effect::Reads,
        ),
        tool::<arguments::WriteStdin, results::ReadBack>(
            "write_stdin",
            "Write to the standard input of a running command that was started with background: \
             true, and show what it wrote since. Control characters: \\u0003 interrupts the command, \
             \\u0004 ends its input.",
            Effect::Changes,
        ),
        tool::<arguments::Wait, results::Waited>(
            "wait",
            "Wait for a running command until the first of: it ends, a line matches pattern, \
             something listens on port, file exists, it was quiet for quiet_ms, timeout_ms. Shows \
             what it wrote meanwhile.",
            Effect::Reads,
        ),
        tool::<arguments::ListSessions, results::Sessions>(
            "list_sessions",
            "List the sessions, what runs in them, and the shell_id of each one's last command.",
            Effect::Reads,
        ),
        tool::<arguments::Cancel, results::Cancelled>(
            "cancel",
            "End a running command and everything that it started, by shell_id, or whatever runs \
             in a session.",
            Effect::Destroys,
        ),
        tool::<arguments::DisposeSession, results::Disposed>(
            "dispose_session",
            "End a session and whatever runs in it.",
            Effect::Destroys,
        ),
        tool::<arguments::CheckCommand, results::Checked>(
            "check_command",
            "Say what a command line would run and whether it is allowed, needs a person's \
             approval, or is denied. Runs nothing.",
            Effect::Reads,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn the_tools_are_those_of_the_contract() {
        let names: Vec<_> = all()
            .into_iter()
            .map(|tool| tool.name.into_owned())
            .collect();
        assert_eq!(
            names,
            [
                "execute_command",
                "read_output",
                "write_stdin",
                "wait",
                "list_sessions",
                "cancel",
                "dispose_session",
                "check_command"
            ]
        );
    }

    #[test]
    fn arguments_are_those_of_the_contract() {
        let contract: [(&str, &[&str]); 4] = [
            (
                "execute_command",
                &[
                    "command",
                    "cwd",
                    "timeout_ms",
                    "session_id",
                    "background",
                    "tty",
                    "sandbox",
                    "yield_ms",
                    "max_chars",
                    "head",
                    "tail",
                    "grep",
                ],
            ),
            (
                "read_output",
                &[
                    "shell_id",
                    "offset",
                    "lines",
                    "search",
                    "max_chars",
                    "wait_ms",
                ],
            ),
            ("write_stdin", &["shell_id", "chars"]),
            (
                "wait",
                &[
                    "shell_id",
                    "exit",
                    "pattern",
                    "port",
                    "file",
                    "quiet_ms",
                    "timeout_ms",
                ],
            ),
        ];
        for (name, arguments) in contract {
            let tool = all()
                .into_iter()
                .find(|tool| tool.name == name)
                .expect("a tool");
            let properties = tool.input_schema["properties"]
                .as_object()
                .expect("an object");
            let mut expected = arguments.to_vec();
            expected.sort_unstable();
            let mut found: Vec<&str> = properties.keys().map(String::as_str).collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{name}");
            assert!(
                tool.output_schema
                    .is_some_and(|schema| schema["type"] == "object")
            );
        }
    }
}
