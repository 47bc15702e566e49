//! How a command on another host ended, as its relay leaves it in a file. A
//! relay that is killed leaves none: then nothing is known.

/// Longest reason that is kept, in characters.
const WHY_CHARS_MAX: usize = 600;

/// How a command on another host ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With this code, as a shell there would put it in `$?`.
    Exited(i32),
    /// None of it ran, and why.
    NotBegun(String),
    /// It may have run, and nobody knows how it ended: why.
    Lost(String),
    /// It was to stop. So many of its processes are still there; absent where the
    /// other side did not say.
    Stopped(Option<u32>),
}

/// The name of the file, in the session's directory, for the execution of this
/// number.
pub fn end_name(number: u64) -> String {
    format!("r{number}")
}

impl End {
    /// What the file has.
    pub fn encode(&self) -> String {
        match self {
            End::Exited(code) => format!("exited {code}\n"),
            End::NotBegun(why) => format!("not-begun {}\n", one_line(why)),
            End::Lost(why) => format!("lost {}\n", one_line(why)),
            End::Stopped(Some(left)) => format!("stopped {left}\n"),
            End::Stopped(None) => "stopped\n".to_owned(),
        }
    }

    /// Reads a file; none where it is not whole.
    pub fn decode(text: &str) -> Option<End> {
        let line = text
            .strip_suffix('\n')
            .filter(|line| !line.contains('\n'))?;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "exited" => rest.parse().ok().map(End::Exited),
            "not-begun" => Some(End::NotBegun(rest.to_owned())),
            "lost" => Some(End::Lost(rest.to_owned())),
            "stopped" if rest.is_empty() => Some(End::Stopped(None)),
            "stopped" => rest.parse().ok().map(|left| End::Stopped(Some(left))),
            _ => None,
        }
    }
}

/// Words of `ssh` or of another host, fit to be shown.
fn one_line(text: &str) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    text.trim().chars().take(WHY_CHARS_MAX).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::End;
    use proptest::prelude::*;

    #[test]
    fn an_end_comes_back_as_it_was() {
        for end in [
            End::Exited(0),
            End::Exited(255),
            End::NotBegun("no route".to_owned()),
            End::Lost("Connection reset by peer".to_owned()),
            End::Stopped(Some(0)),
            End::Stopped(None),
        ] {
            assert_eq!(End::decode(&end.encode()), Some(end));
        }
        let odd = End::Lost("a\u{1b}[2J\nb".to_owned());
        assert_eq!(odd.encode(), "lost a [2J b\n");
    }

    #[test]
    fn half_a_file_is_no_end() {
        for text in [
            "",
            "exited 3",
            "exited x\n",
            "exited\n",
            "gone\n",
            "lost a\nb\n",
        ] {
            assert_eq!(End::decode(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_end_or_none(text in ".{0,80}") {
            if let Some(end) = End::decode(&text) {
                prop_assert_eq!(End::decode(&end.encode()), Some(end));
            }
        }
    }
}
