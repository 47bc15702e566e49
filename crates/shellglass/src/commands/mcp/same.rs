//! A command that ran before in the same place: only what is new is shown.

use super::follow::Course;
use super::output::PIECE_BYTES_MAX;
use super::pages::Look;
use super::results::Shown;
use super::state::State;
use glass_vt::text::{Since, compress_since};

/// Output of which is less is shown as it is, in bytes.
const BYTES_MIN: u64 = 1_000;

/// Output of which is more is not compared, in bytes.
const BYTES_MAX: u64 = 4 << 20;

/// Runs that are remembered; the oldest is forgotten first.
const RUNS_MAX: usize = 64;

/// Characters of the line above what is new: three numbers and the words.
const HEADING_CHARS_MAX: usize = 200;

/// What makes two runs the same command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub session: String,
    /// Where it began.
    pub directory: String,
    pub command: String,
}

/// A run that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    place: Place,
    shell_id: u32,
    /// How much it wrote.
    bytes: u64,
}

/// The last runs of this connection's commands, the newest last.
#[derive(Debug, Default)]
pub(super) struct Runs(Vec<Run>);

impl Runs {
    /// Notes a run, and gives the one before it of the same command.
    fn note(&mut self, run: Run) -> Option<Run> {
        let at = self.0.iter().position(|known| known.place == run.place);
        let before = at.map(|at| self.0.remove(at));
        self.0.push(run);
        if self.0.len() > RUNS_MAX {
            self.0.remove(0);
        }
        before
    }
}

/// What is new in a run since the last one, and which that was; none where that
/// would not be shorter.
pub(super) async fn since_last(
    state: &State,
    look: &Look,
    place: Place,
    course: &Course,
    shown: &Shown,
) -> Option<(Shown, u32)> {
    let shell_id = course.begun.as_ref()?.shell_id;
    let run = Run {
        place,
        shell_id,
        bytes: shown.next_offset,
    };
    let bytes = run.bytes;
    let last = state.runs(|runs| runs.note(run))?;
    let fits = |bytes: u64| (BYTES_MIN..=BYTES_MAX).contains(&bytes);
    let is_plain = look.only.is_none()
        && look.budget.head_lines.is_none()
        && look.budget.tail_lines.is_none()
        && look.budget.chars_max > HEADING_CHARS_MAX;
    if !is_plain || !fits(bytes) || !fits(last.bytes) || shown.dropped_bytes > 0 {
        return None;
    }
    let now = match course.heard.is_partial {
        true => whole(state, shell_id, bytes).await?,
        false => course.heard.bytes.clone(),
    };
    let before = whole(state, last.shell_id, last.bytes).await?;
    let mut budget = look.budget.clone();
    budget.chars_max -= HEADING_CHARS_MAX;
    let compared = tokio::task::spawn_blocking(move || compress_since(&before, &now, &budget));
    let since = compared.await.ok()??;
    let text = heading(&since, last.shell_id) + &since.page.text;
    // Worth the indirection where a quarter is saved.
    let (chars, most) = (text.chars().count(), shown.output.chars().count());
    if chars.saturating_mul(4) > most.saturating_mul(3) {
        return None;
    }
    let mut new = Shown::new(since.page, 0);
    new.output = text;
    Some((new, last.shell_id))
}

/// What an execution wrote, if all of it is there.
async fn whole(state: &State, shell_id: u32, bytes: u64) -> Option<Vec<u8>> {
    let (mut whole, mut at) = (Vec::new(), 0);
    while at < bytes {
        let piece = state.piece(shell_id, at, PIECE_BYTES_MAX, 0).await.ok()?;
        // What has names is shown as it is: its offsets are not its lengths.
        if piece.at > at || piece.next <= at || !piece.names.is_empty() {
            return None;
        }
        whole.extend(piece.bytes);
        at = piece.next;
    }
    Some(whole)
}

fn heading(since: &Since, last: u32) -> String {
    let gone = match since.gone {
        0 => String::new(),
        1 => "; 1 line of it is gone".to_owned(),
        gone => format!("; {gone} lines of it are gone"),
    };
    let same = since.same;
    format!(
        "[same as the last run of this command (shell_id {last}) in {same} lines, which are left \
         out unless they look like errors{gone}]\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(command: &str, shell_id: u32) -> Run {
        Run {
            place: Place {
                session: "s".to_owned(),
                directory: "/".to_owned(),
                command: command.to_owned(),
            },
            shell_id,
            bytes: 1,
        }
    }

    #[test]
    fn the_last_run_of_a_command_is_known_and_few_are() {
        let mut runs = Runs::default();
        assert_eq!(runs.note(run("a", 1)), None);
        assert_eq!(runs.note(run("b", 2)), None);
        assert_eq!(runs.note(run("a", 3)), Some(run("a", 1)));
        assert_eq!(runs.note(run("a", 4)), Some(run("a", 3)));
        for number in 0..2 * RUNS_MAX {
            runs.note(run(&format!("c{number}"), 9));
        }
        assert_eq!(runs.0.len(), RUNS_MAX);
        assert_eq!(runs.note(run("a", 5)), None);
    }

    #[test]
    fn a_heading_is_no_longer_than_it_may_be() {
        let since = Since {
            page: glass_vt::text::Page::default(),
            same: usize::MAX,
            gone: usize::MAX,
        };
        let heading = heading(&since, u32::MAX);
        assert!(heading.chars().count() <= HEADING_CHARS_MAX, "{heading}");
    }
}
