//! What a view says of itself when it is asked: where its session is, and by
//! which name and icon a person knows it.

use super::ViewKind;
use crate::engine::{Caller, Engine};
use glass_model::{Session, SessionId};
use glass_policy::text::hides;

/// Most characters of a name.
pub(crate) const NAME_CHARS_MAX: usize = 40;

/// By this icon a view is known as one that only shows.
const ICON_READ_ONLY: &str = "eye";

/// By this icon it is known as one that is typed into.
const ICON_TYPED: &str = "terminal";

/// What can be asked of a view.
pub(super) struct Facts {
    engine: Engine,
    caller: Caller,
    id: SessionId,
    initial_cwd: String,
    icon: &'static str,
}

impl Facts {
    pub(super) fn new(
        engine: &Engine,
        caller: &Caller,
        session: &Session,
        kind: ViewKind,
    ) -> Facts {
        Facts {
            engine: engine.clone(),
            caller: caller.clone(),
            id: session.id.clone(),
            initial_cwd: session.cwd.clone(),
            icon: match kind {
                ViewKind::Mirror => ICON_READ_ONLY,
                ViewKind::Console | ViewKind::Terminal => ICON_TYPED,
            },
        }
    }

    pub(super) fn icon(&self) -> &'static str {
        self.icon
    }

    /// What the view is called: what runs in its session, else what ran there
    /// last, else the session's name or that of its shell.
    pub(super) fn name(&self) -> String {
        let Ok(view) = self.engine.session(&self.caller, self.id.as_str()) else {
            return String::new();
        };
        let running = view.running.map(|(_, command)| command);
        let command = running.or_else(|| view.last.map(|(_, command, _)| command));
        let session = view.session;
        let shell = session.shell.path.rsplit('/').next().unwrap_or_default();
        let candidates = [command.unwrap_or_default(), session.name, shell.to_owned()];
        let names = candidates.iter().map(|text| name_of(text));
        names
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or_default()
    }

    /// A property as it is now, with its name; none where there is no such property
    /// to refresh.
    pub(super) fn property(&self, name: &str) -> Option<(&'static str, String)> {
        Some(match name {
            "cwd" => {
                let view = self.engine.session(&self.caller, self.id.as_str());
                ("cwd", view.ok()?.session.cwd)
            }
            "initialCwd" => ("initialCwd", self.initial_cwd.clone()),
            "name" => ("name", self.name()),
            "icon" => ("icon", self.icon.to_owned()),
            _ => return None,
        })
    }
}

/// The name that is made from a command: its first words on one line, in which
/// nothing hides.
pub(crate) fn name_of(command: &str) -> String {
    let words = command.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut name = String::new();
    for (count, c) in words.chars().enumerate() {
        if count == NAME_CHARS_MAX {
            name.push('…');
            break;
        }
        match c {
            c if hides(c) => name.extend(c.escape_unicode()),
            c => name.push(c),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn a_name_is_short_on_one_line_and_hides_nothing() {
        assert_eq!(name_of("npm test"), "npm test");
        assert_eq!(name_of("  a\n\tb  \r\n"), "a b");
        assert_eq!(name_of("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(name_of("ls \u{202e}fdp"), "ls \\u{202e}fdp");
        assert_eq!(name_of("a\u{200b}b"), "a\\u{200b}b");
        assert_eq!(name_of("a\u{3164}b\u{34f}"), "a\\u{3164}b\\u{34f}");
        assert_eq!(name_of(&"é".repeat(41)), format!("{}…", "é".repeat(40)));
        assert_eq!(name_of(" \n "), "");
    }
}
