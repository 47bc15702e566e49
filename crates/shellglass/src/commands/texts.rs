//! `completions` and `man`: texts made from the command line's definition.

use crate::cli::Cli;
use crate::complete;
use crate::error::{Failure, Kind};
use crate::stdout;
use clap::CommandFactory as _;
use std::process::ExitCode;

/// zsh runs the file of a completion as a function when it is first wanted, and
/// must have its answer then, too.
const AS_A_FUNCTION: &str = "
if [ \"$funcstack[1]\" = \"_shellglass\" ]; then
    _clap_dynamic_completer_shellglass \"$@\"
fi
";

/// Prints completions for a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let shells = clap_complete::env::Shells::builtins();
    let failed =
        |error: String| Failure::new(Kind::Broken, format!("no completions can be made: {error}"));
    let completer = shells
        .completer(&shell.to_string())
        .ok_or_else(|| failed(format!("{shell} is not known")))?;
    let mut text = Vec::new();
    let name = "shellglass";
    completer
        .write_registration(complete::VARIABLE, name, name, name, &mut text)
        .map_err(|error| failed(error.to_string()))?;
    if shell == clap_complete::Shell::Zsh {
        text.extend_from_slice(AS_A_FUNCTION.as_bytes());
    }
    stdout::write(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page.
pub(super) fn man() -> Result<ExitCode, Failure> {
    let page = page().map_err(|error| {
        Failure::new(
            Kind::Broken,
            format!("the manual page cannot be made: {error}"),
        )
    })?;
    stdout::write(&page)?;
    Ok(ExitCode::SUCCESS)
}

/// One page: the whole, then the help of every command below its own heading.
fn page() -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    let mut root = Cli::command();
    root.build();
    for command in root.get_subcommands_mut() {
        add_command(command, &mut page);
    }
    Ok(page)
}

fn add_command(command: &mut clap::Command, page: &mut Vec<u8>) {
    if command.is_hide_set() {
        return;
    }
    let title = command.get_bin_name().unwrap_or_default().to_uppercase();
    let help = command.render_long_help().to_string();
    page.extend_from_slice(format!(".SH \"{title}\"\n.nf\n{}\n.fi\n", escape(&help)).as_bytes());
    for nested in command.get_subcommands_mut() {
        add_command(nested, page);
    }
}

/// Text as roff shows it unchanged.
fn escape(text: &str) -> String {
    let lines = text.trim_end().lines().map(|line| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        if line.starts_with(['.', '\'']) {
            format!("\\&{line}")
        } else {
            line
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{escape, page};

    #[test]
    fn the_manual_has_every_command_and_no_hidden_one() {
        let page = String::from_utf8(page().expect("a page")).expect("text");
        for heading in [
            "SHELLGLASS RUN",
            "SHELLGLASS SESSION CREATE",
            "SHELLGLASS CONFIG SHOW",
        ] {
            assert!(page.contains(&format!(".SH \"{heading}\"")), "{heading}");
        }
        assert!(!page.contains("SHELLGLASS KEEPER"));
    }

    #[test]
    fn roff_requests_in_a_text_are_shown() {
        assert_eq!(escape(".x\n'y\na\\b -c"), "\\&.x\n\\&'y\na\\eb \\-c");
    }
}
