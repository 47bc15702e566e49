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
        let steps = match kind {
            ShellKind::Bash => bash(index, name),
            ShellKind::Zsh => zsh(index, name),
            ShellKind::Fish => fish(index, name),
            ShellKind::Posix | ShellKind::Nu | ShellKind::Other => posix(index, name),
        };
        code.before.extend(steps.save.into_bytes());
        code.before.extend(steps.export.into_bytes());
        code.before.extend(value);
        code.before.push(b'\n');
        // In reverse, so that a name given twice ends as it began.
        code.after.splice(0..0, steps.restore.into_bytes());
    }
    code
}

struct Steps {
    save: String,
    /// The words that the new value follows.
    export: String,
    restore: String,
}

fn bash(index: usize, name: &str) -> Steps {
    Steps {
        save: format!(
            "__sg[value{index}]=\"${{{name}-}}\" __sg[kind{index}]=\"${{{name}+s${{{name}@a}}}}\"\n"
        ),
        export: format!("builtin export {name}="),
        restore: format!(
            "case ${{__sg[kind{index}]}} in '') builtin unset -v {name};; \
             *x*) builtin export {name}=\"${{__sg[value{index}]}}\";; \
             *) builtin export -n {name}=\"${{__sg[value{index}]}}\";; esac\n"
        ),
    }
}

fn zsh(index: usize, name: &str) -> Steps {
    Steps {
        save: format!(
            "__sg_value{index}=\"${{{name}-}}\" __sg_kind{index}=\"${{{name}+s${{(t){name}}}}}\"\n"
        ),
        export: format!("builtin export {name}="),
        restore: format!(
            "case $__sg_kind{index} in ('') builtin unset {name};; \
             (*-export*) builtin export {name}=\"$__sg_value{index}\";; \
             (*) builtin typeset -g +x {name}=\"$__sg_value{index}\";; esac\n"
        ),
    }
}

fn fish(index: usize, name: &str) -> Steps {
    Steps {
        save: format!(
            "builtin set -g __sg_kind{index} unset\n\
             if builtin set -q -g {name}\n\
             builtin set -g __sg_value{index} ${name}\n\
             builtin set -g __sg_kind{index} plain\n\
             builtin set -q -g -x {name}; and builtin set -g __sg_kind{index} exported\n\
             end\n"
        ),
        export: format!("builtin set -g -x {name} "),
        restore: format!(
            "switch $__sg_kind{index}\n\
             case unset\nbuiltin set -e -g {name}\n\
             case exported\nbuiltin set -g -x {name} $__sg_value{index}\n\
             case plain\nbuiltin set -g -u {name} $__sg_value{index}\n\
             end\n"
        ),
    }
}

/// A POSIX shell tells what is exported only in a list of everything.
fn posix(index: usize, name: &str) -> Steps {
    Steps {
        save: format!(
            "__sg_value{index}=${{{name}-}} __sg_kind{index}=${{{name}+plain}}\n\
             case \"\n$(export -p)\" in *\"\nexport {name}=\"*) __sg_kind{index}=exported;; esac\n"
        ),
        export: format!("export {name}="),
        restore: format!(
            "case $__sg_kind{index} in '') unset {name};; \
             exported) export {name}=\"$__sg_value{index}\";; \
             *) unset {name}; {name}=$__sg_value{index};; esac\n"
        ),
    }
}
