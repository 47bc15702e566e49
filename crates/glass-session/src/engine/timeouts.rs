//! How long an agent's command may take that says nothing about it.

use super::{Caller, Engine, OrderSpec};
use glass_model::{Role, Session, Stdin};

/// The time, and the commands that it does not hold for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// Milliseconds; 0 is no limit.
    pub default_ms: u32,
    /// Beginnings of commands that may take as long as they do: whole words.
    pub exempt: Vec<String>,
}

impl Timeouts {
    /// The time for a command, in milliseconds; 0 is no limit.
    pub(crate) fn of(&self, command: &str) -> i32 {
        let is_exempt = self.exempt.iter().any(|prefix| begins(command, prefix));
        match is_exempt {
            true => 0,
            false => i32::try_from(self.default_ms).unwrap_or(i32::MAX),
        }
    }
}

impl Engine {
    /// Gives a command of an agent's its time, unless it has one.
    pub(super) fn limit_time(&self, caller: &Caller, session: &Session, order: &mut OrderSpec) {
        let is_behind = session
            .background
            .is_some_and(|stdin| stdin != Stdin::Terminal);
        let is_told = order.timeout_ms != 0 || is_behind;
        if caller.role == Role::Agent && !is_told {
            order.timeout_ms = self.0.context.settings.timeouts.of(&order.command);
        }
    }
}

/// Whether a command begins with these words. What follows them on the line may
/// be anything: a person who lists a prefix trusts the program with its time.
fn begins(command: &str, prefix: &str) -> bool {
    let mut words = command.split_whitespace();
    let mut wanted = prefix.split_whitespace().peekable();
    wanted.peek().is_some() && wanted.all(|word| words.next() == Some(word))
}

#[cfg(test)]
mod tests {
    use super::Timeouts;

    #[test]
    fn a_prefix_is_whole_words() {
        let timeouts = Timeouts {
            default_ms: 500,
            exempt: vec!["npm run dev".to_owned(), "cargo".to_owned(), " ".to_owned()],
        };
        for (command, ms) in [
            ("npm run dev", 0),
            ("  npm  run\tdev -- --port 1", 0),
            ("cargo build", 0),
            ("cargonaut", 500),
            ("npm run development", 500),
            ("npm run", 500),
            ("", 500),
        ] {
            assert_eq!(timeouts.of(command), ms, "{command:?}");
        }
        assert_eq!(Timeouts::default().of("sleep 9"), 0);
    }
}
