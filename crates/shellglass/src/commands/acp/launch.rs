//! From what a client asks for to the daemon's request.

use super::message::Create;
use crate::client::Context;
use crate::commands::run::{mode, resume::fresh_key};
use crate::config::StartupName;
use crate::environment;
use glass_proto::agent::v1::ShellArgs;
use glass_proto::shellglass::v1::{CreateSessionRequest, ExecuteRequest};
use rmcp::model::ErrorData;
use std::path::Path;

/// The shell for a command whose arguments are given one by one.
const PLAIN_SHELL: &str = "sh";

/// Words that mean something else where a command's name stands.
const RESERVED: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while",
];

/// The request for a terminal's command.
pub(super) fn request(
    context: &Context,
    workspace: &str,
    create: &Create,
) -> Result<ExecuteRequest, ErrorData> {
    let settings = &context.loaded.settings;
    let (command, shell) = match create.args.is_empty() {
        true => (create.command.clone(), settings.session.shell.as_str()),
        false => (words(&create.command, &create.args), PLAIN_SHELL),
    };
    let most = settings.limits.command_bytes_max;
    if command.len() as u64 > most {
        let message = format!("the command may have {most} bytes\nhint: put it into a file");
        return Err(ErrorData::invalid_params(message, None));
    }
    let working_directory = match &create.cwd {
        None => workspace.to_owned(),
        Some(cwd) if Path::new(cwd).is_absolute() => cwd.clone(),
        Some(_) => {
            return Err(ErrorData::invalid_params(
                "cwd: it must be an absolute path",
                None,
            ));
        }
    };
    let given = create.env.iter();
    let given = given.map(|it| (it.name.clone(), it.value.clone()));
    let env = environment::of_caller(&settings.session, given);
    Ok(ExecuteRequest {
        args: Some(ShellArgs {
            command,
            working_directory: working_directory.clone(),
            tool_call_id: fresh_key()?,
            ..ShellArgs::default()
        }),
        // A session for this one command. What it may write does not follow from
        // where the agent wants to be.
        ephemeral: Some(CreateSessionRequest {
            working_directory,
            workspace_root: workspace.to_owned(),
            env,
            shell: shell.to_owned(),
            mode: mode(settings.session.mode).into(),
            name: "acp".to_owned(),
            startup: StartupName::None.as_str().to_owned(),
            ..CreateSessionRequest::default()
        }),
        ..ExecuteRequest::default()
    })
}

/// A line that runs this program with exactly these arguments.
fn words(program: &str, arguments: &[String]) -> String {
    let is_plain = |word: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:@+,-".contains(&byte);
        !word.is_empty() && word.bytes().all(plain)
    };
    let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
    let mut line = match is_plain(program) && !RESERVED.contains(&program) {
        true => program.to_owned(),
        false => quoted(program),
    };
    for argument in arguments {
        line.push(' ');
        match is_plain(argument) {
            true => line.push_str(argument),
            false => line.push_str(&quoted(argument)),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::words;
    use std::process::Command;

    fn check(program: &str, arguments: &[&str], expected: &str) {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        assert_eq!(words(program, &arguments), expected);
    }

    #[test]
    fn a_line_is_as_a_person_would_write_it() {
        check("npm", &["run", "a b"], "npm run 'a b'");
        check("if", &["x"], "'if' x");
        check("A=b", &["~", "$HOME", ""], "'A=b' '~' '$HOME' ''");
        check("it's", &["*"], r"'it'\''s' '*'");
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(32))]
        #[test]
        fn a_program_gets_exactly_its_arguments(
            arguments in proptest::collection::vec("[^\\x00]{0,12}", 1..6),
        ) {
            let line = words("printf", &[vec!["%s\\0".to_owned()], arguments.clone()].concat());
            let said = Command::new("sh").args(["-c", &line]).output().expect("sh");
            let expected: String = arguments.iter().map(|word| format!("{word}\0")).collect();
            proptest::prop_assert_eq!(String::from_utf8(said.stdout), Ok(expected));
        }
    }
}
