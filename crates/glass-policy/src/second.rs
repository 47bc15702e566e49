//! A second opinion by a parser that is not ours.
//!
//! It is asked only about lines that the small grammar admits, so nothing that
//! would make it slow reaches it, and any node beyond that grammar is dissent.

use crate::line::Line;
use glass_model::ShellKind;
use shuck_ast::{Command, CompoundCommand, Stmt, StmtSeq, StmtTerminator};
use shuck_parser::parser::{ParseStatus, Parser};
use shuck_parser::{ShellDialect, ShellProfile};

/// Whether the second reader sees the same commands with the same number of
/// words in the same order.
pub(crate) fn agrees(text: &str, shell: ShellKind, line: &Line) -> bool {
    let dialect = match shell {
        ShellKind::Bash => ShellDialect::Bash,
        ShellKind::Zsh => ShellDialect::Zsh,
        ShellKind::Posix => ShellDialect::Posix,
        ShellKind::Fish | ShellKind::Nu | ShellKind::Other => return false,
    };
    let parsed = Parser::with_profile(text, ShellProfile::native(dialect)).parse();
    if parsed.status != ParseStatus::Clean {
        return false;
    }
    let mut found = Vec::new();
    if !sequence(&parsed.file.body, &mut found) {
        return false;
    }
    let ours = line.commands.iter().map(|command| Shape {
        words: command.words.len(),
        redirects: command.redirects.len(),
    });
    let groups = line.redirects.len();
    // Redirects of groups are counted apart: we keep no tree.
    let theirs = found.iter().filter(|shape| shape.words > 0).copied();
    let theirs_groups: usize = found
        .iter()
        .filter(|shape| shape.words == 0)
        .map(|shape| shape.redirects)
        .sum();
    ours.eq(theirs) && groups == theirs_groups
}

/// What both must agree on: words of a command, none for a group, and
/// redirects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    words: usize,
    redirects: usize,
}

fn sequence(statements: &StmtSeq, found: &mut Vec<Shape>) -> bool {
    statements.iter().all(|statement| {
        let foreground = !matches!(statement.terminator, Some(StmtTerminator::Background(_)));
        foreground && self::statement(statement, found)
    })
}

fn statement(statement: &Stmt, found: &mut Vec<Shape>) -> bool {
    let redirects = statement.redirects.len();
    match &statement.command {
        Command::Simple(command) => {
            let words = 1 + command.args.len();
            found.push(Shape { words, redirects });
            command.assignments.is_empty()
        }
        Command::Binary(binary) => {
            redirects == 0
                && self::statement(&binary.left, found)
                && self::statement(&binary.right, found)
        }
        Command::Compound(
            CompoundCommand::Subshell(inner) | CompoundCommand::BraceGroup(inner),
        ) => {
            found.push(Shape {
                words: 0,
                redirects,
            });
            sequence(inner, found)
        }
        _ => false,
    }
}
