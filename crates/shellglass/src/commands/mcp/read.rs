//! `read_output`: what is new, what stands at an offset, or what matches.

mod search;

use super::answer::{Answer, Went};
use super::arguments::{self, Read};
use super::execute::YIELD_MS_MAX;
use super::output::{PIECE_BYTES_MAX, Stretch};
use super::pages::{CHARS_MAX, Look};
use super::results::{ReadBack, Shown};
use super::sections;
use super::state::State;
use super::words;
use crate::error::{Failure, Kind};
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use search::Search;

/// Reads stored output.
pub(super) async fn read(
    state: &State,
    arguments: Read,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, Failure> {
    // A call that may take its time has a turn.
    let _turn = match (&arguments.search, arguments.wait_ms) {
        (None, None | Some(0)) => None,
        _ => Some(state.turn(context).await?),
    };
    match (&arguments.search, arguments.offset) {
        (Some(pattern), _) => {
            let regex = arguments::regex("search", pattern)?;
            searched(state, &arguments, regex).await
        }
        (None, Some(offset)) => window(state, &arguments, offset).await,
        (None, None) => fresh(state, &arguments).await,
    }
}

fn chars_max(state: &State, arguments: &Read) -> usize {
    let usual = state.settings.text.characters_max;
    arguments.max_chars.unwrap_or(usual).min(CHARS_MAX) as usize
}

/// What was not shown yet, shortened.
pub(super) async fn fresh(state: &State, arguments: &Read) -> Result<Answer, Failure> {
    let id = arguments.shell_id;
    let from = state.known(id).shown;
    if let Some(wait_ms) = arguments.wait_ms {
        state.piece(id, from, 1, wait_ms.min(YIELD_MS_MAX)).await?;
    }
    let mut look = Look::new(&state.settings.text, arguments.max_chars);
    if let Some(lines) = arguments.lines {
        look.budget.lines_max = lines as usize;
    }
    let shown = state.page(id, from, &look).await?;
    state.note(id, |known| known.shown = shown.next_offset);
    let now = state.piece(id, shown.next_offset, 1, 0).await?;
    let read = ReadBack {
        shell_id: id,
        running: now.running,
        exit_code: now.exit_code,
        more: !now.bytes.is_empty(),
        matches: None,
        shown,
    };
    let what = match read.shown.next_offset == from {
        true => format!("nothing new after byte {from}"),
        false => format!("bytes {from} to {}", read.shown.next_offset),
    };
    Ok(told(&read, &what))
}

/// Exactly what stands at an offset, and where to go on.
async fn window(state: &State, arguments: &Read, offset: u64) -> Result<Answer, Failure> {
    let id = arguments.shell_id;
    let most = chars_max(state, arguments);
    let bytes_max = (most as u64).clamp(1, PIECE_BYTES_MAX);
    let wait_ms = arguments.wait_ms.unwrap_or(0).min(YIELD_MS_MAX);
    let piece = state.piece(id, offset, bytes_max, wait_ms).await?;
    if let Some(end) = piece.end.filter(|end| *end < offset) {
        let message = format!("offset {offset} is beyond the end of shell_id {id}");
        let hint = format!("its output has {end} bytes so far; offsets begin at 0");
        return Err(Failure::new(Kind::Usage, message).hint(hint));
    }
    let is_last = (piece.bytes.len() as u64) < bytes_max;
    let (text, used) = cut(&piece.bytes, arguments.lines, most, is_last);
    let next = match used == piece.bytes.len() {
        true => piece.next,
        false => piece.place(used),
    };
    let dropped = piece.at - offset;
    let now = state.piece(id, next, 1, 0).await?;
    let read = ReadBack {
        shell_id: id,
        running: now.running,
        exit_code: now.exit_code,
        more: now.next > next,
        matches: None,
        shown: Shown {
            output: text,
            truncated: dropped > 0,
            next_offset: next,
            dropped_bytes: dropped,
            ..Shown::default()
        },
    };
    let mut what = format!("bytes {} to {next}", piece.at);
    if dropped > 0 {
        what.push_str(&format!(", {dropped} bytes before them were not kept"));
    }
    Ok(told(&read, &what))
}

/// So many lines and characters of these bytes as text, and how many bytes that
/// is. A line is not cut where there are whole ones, unless the output ends
/// there.
fn cut(bytes: &[u8], lines: Option<u32>, chars_max: usize, is_last: bool) -> (String, usize) {
    let newlines = || bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut end = match lines {
        Some(0) => 0,
        Some(lines) => match newlines().nth(lines as usize - 1) {
            Some((at, _)) => at + 1,
            None => bytes.len(),
        },
        None => bytes.len(),
    };
    if end == bytes.len() && !is_last {
        end = newlines().next_back().map_or(end, |(at, _)| at + 1);
    }
    loop {
        let text = glass_vt::text::clean(&bytes[..end]);
        // Cursor movements can make a text longer than its bytes.
        if text.chars().count() <= chars_max || end == 0 {
            return (text, end);
        }
        end /= 2;
    }
}

async fn searched(state: &State, arguments: &Read, regex: regex::Regex) -> Result<Answer, Failure> {
    let id = arguments.shell_id;
    let from = arguments.offset.unwrap_or(0);
    let mut search = Search::new(regex, from, arguments.lines, chars_max(state, arguments));
    let mut at = from;
    let last = loop {
        let piece = state.piece(id, at, PIECE_BYTES_MAX, 0).await?;
        if piece.next == at {
            break piece;
        }
        search.begin(piece.at);
        for stretch in piece.stretches() {
            match stretch {
                Stretch::Written(bytes) => search.push(bytes),
                Stretch::Named(name, length) => search.push_for(name, length),
            }
        }
        at = piece.next;
    };
    let found = search.finish();
    let what = match (found.count, found.left_out) {
        (0, _) => format!("no line of bytes {from} to {at} matches"),
        (count, 0) => format!("{count} lines of bytes {from} to {at} match, each after its offset"),
        (count, left_out) => format!(
            "{count} lines of bytes {from} to {at} match, {left_out} of them not shown: search \
             from offset={}",
            found.next_offset
        ),
    };
    let read = ReadBack {
        shell_id: id,
        running: last.running,
        exit_code: last.exit_code,
        more: found.left_out > 0,
        matches: Some(found.count),
        shown: Shown {
            output: found.text,
            truncated: found.left_out > 0,
            next_offset: if found.left_out > 0 {
                found.next_offset
            } else {
                at
            },
            ..Shown::default()
        },
    };
    Ok(told(&read, &what))
}

fn told(read: &ReadBack, what: &str) -> Answer {
    let state = match (read.running, read.exit_code) {
        (true, _) => "still running".to_owned(),
        (false, Some(code)) => format!("exit code {code}"),
        (false, None) => "ended, exit code unknown".to_owned(),
    };
    let more = match read.more && read.matches.is_none() {
        true => format!(" · there is more from offset={}", read.shown.next_offset),
        false => String::new(),
    };
    let mut text = words::with_status(&read.shown, &format!("{what}{more} · {state}"));
    let asks = read.running && !read.more && read.matches.is_none();
    if let Some(question) = sections::question(&read.shown.output).filter(|_| asks) {
        text.push_str(&format!("\n[{question}]"));
    }
    Answer::new(text, read, Went::Well)
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_window_ends_after_a_whole_line() {
        assert_eq!(cut(b"a\nb\nc", None, 100, false), ("a\nb\n".to_owned(), 4));
        assert_eq!(cut(b"a\nb\nc", None, 100, true), ("a\nb\nc".to_owned(), 5));
        assert_eq!(
            cut(b"a\nb\nc\n", Some(2), 100, true),
            ("a\nb\n".to_owned(), 4)
        );
        assert_eq!(cut(b"abc", None, 100, false), ("abc".to_owned(), 3));
        assert_eq!(cut(b"abc", Some(0), 100, true), (String::new(), 0));
    }

    #[test]
    fn a_window_keeps_to_its_characters() {
        let (text, used) = cut(b"\x1b[4000Cx\n\x1b[4000Cx\n", None, 100, true);
        assert!(text.chars().count() <= 100, "{}", text.len());
        assert!(used < 18);
    }
}
