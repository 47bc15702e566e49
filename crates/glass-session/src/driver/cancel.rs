//! Which shells can be told to forget the rest of a command.

use glass_model::ShellKind;

/// The signal that makes a warm shell give up `command` without executing
/// another word of it, and report it done; none where the shell has to be
/// killed and replaced.
///
/// None for every shell, because what makes it unsafe can stand in a function
/// or a trap of an earlier command, where the text of this one does not show
/// it. Tried, with everything but the shell killed before the signal:
///
/// - bash, a trap that arms `extdebug` and a DEBUG trap that refuses: a
///   command whose words are being expanded is past its DEBUG trap, so
///   `touch N.$(sleep 100)` still touches; an ERR or DEBUG trap of the user's
///   still runs; `while :; do sleep 1; done` never ends.
/// - zsh, a trap function that returns 1: it stops at once, also in an
///   expansion, but then runs every `always` block on its way out, and the
///   user's EXIT, ZERR and DEBUG traps.
/// - dash and fish have nothing like it.
pub fn soft_cancel_signal(_kind: ShellKind, _command: &str) -> Option<i32> {
    None
}
