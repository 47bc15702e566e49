//! Shell code that gives one command variables of its own and takes them back.

use super::quote;
use glass_model::ShellKind;

/// Code to run before a command and code to run after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Around {
    pub before: Vec<u8>,
    pub after: Vec<u8>,
}

/// Exports `variables` before a command; afterwards each has the value it
/// had, exported if it was, or is unset again.
pub(super) fn around(kind: ShellKind, variables: &[(String, String)]) -> Around {
    let mut code = Around::default();
    for (index, (name, value)) in variables.iter().enumerate() {
        let value = quote(kind, value.as_bytes());
        let (save, export, restore) = match kind {
            ShellKind::Bash => bash(index, name),
            ShellKind::Zsh => zsh(index, name),
            ShellKind::Fish => fish(index, name),
            ShellKind::Posix | ShellKind::Other => posix(index, name),
        };
        code.before.extend(save.into_bytes());
        code.before.extend(export.into_bytes());
        code.before.extend(value);
        code.before.push(b'\n');
        // In reverse, so that a name given twice ends as it began.
        code.after.splice(0..0, restore.into_bytes());
    }
    code
}

/// How to save a variable, the words before its new value, and how to restore
/// it.
type Steps = (String, String, String);

fn bash(index: usize, name: &str) -> Steps {
    (
        format!("__sg_v{index}=${{{name}-}} __sg_x{index}=${{{name}+s${{{name}@a}}}}\n"),
        format!("builtin export {name}="),
        format!(
            "case $__sg_x{index} in '') builtin unset -v {name};; \
             *x*) builtin export {name}=\"$__sg_v{index}\";; \
             *) builtin export -n {name}=\"$__sg_v{index}\";; esac\n"
        ),
    )
}

fn zsh(index: usize, name: &str) -> Steps {
    (
        format!("__sg_v{index}=\"${{{name}-}}\" __sg_x{index}=\"${{{name}+s${{(t){name}}}}}\"\n"),
        format!("builtin export {name}="),
        format!(
            "case $__sg_x{index} in '') builtin unset {name};; \
             *-export*) builtin export {name}=\"$__sg_v{index}\";; \
             *) builtin typeset -g +x {name}=\"$__sg_v{index}\";; esac\n"
        ),
    )
}

fn fish(index: usize, name: &str) -> Steps {
    (
        format!(
            "set -g __sg_x{index} u; \
             set -qg {name}; and set -g __sg_x{index} g; \
             set -qgx {name}; and set -g __sg_x{index} x; \
             set -qg {name}; and set -g __sg_v{index} $$__sg_dummy{name}\n"
        ),
        format!("set -gx {name} "),
        String::new(),
    )
}

fn posix(index: usize, name: &str) -> Steps {
    (
        format!(
            "__sg_v{index}=${{{name}-}} __sg_x{index}=${{{name}+s}}\n\
             case \"\n$(export -p)\" in *\"\nexport {name}=\"*) __sg_x{index}=x;; esac\n"
        ),
        format!("export {name}="),
        format!(
            "case $__sg_x{index} in '') unset {name};; \
             x) export {name}=\"$__sg_v{index}\";; \
             *) unset {name}; {name}=$__sg_v{index};; esac\n"
        ),
    )
}
