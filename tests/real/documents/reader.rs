//! Small readings of Markdown and shell.

use std::path::Path;
use std::process::{Command, Stdio};

/// Code in a line of running text.
pub(super) fn spans(at: usize, line: &str) -> Vec<(usize, String)> {
    let parts = line.split('`').enumerate();
    let inside = parts.filter(|(index, _)| index % 2 == 1);
    inside.map(|(_, text)| (at, text.to_owned())).collect()
}

/// Where the links of a line lead within the repository.
pub(super) fn links(at: usize, line: &str) -> Vec<(usize, String)> {
    let targets = line.split("](").skip(1).filter_map(|rest| {
        let target = rest.split(')').next()?;
        (!target.contains("://")).then(|| (at, target.to_owned()))
    });
    targets.collect()
}

/// Whether a shell would run this, or read on.
pub(super) fn is_complete(command: &str) -> bool {
    if command.ends_with("\\\n") {
        return false;
    }
    let checked = Command::new("bash")
        .args(["-n", "-c", command])
        .stdin(Stdio::null())
        .output()
        .expect("bash is there");
    // A here-document without its end is only warned about.
    checked.status.success() && checked.stderr.is_empty()
}

/// Follows a link from a page: the file is there, and so is the heading.
pub(super) fn follow(page: &Path, target: &str) -> Result<(), String> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = match file {
        "" => page.to_owned(),
        file => page.parent().expect("a page has a folder").join(file),
    };
    if !path.exists() {
        return Err("there is no such file".to_owned());
    }
    if heading.is_empty() {
        return Ok(());
    }
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    if headings.any(|line| anchor(line) == heading) {
        return Ok(());
    }
    Err("there is no such heading".to_owned())
}

/// What a heading is called in an address.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        letter if letter.is_alphanumeric() || "-_".contains(letter) => Some(letter),
        _ => None,
    });
    kept.collect()
}

/// Whether the lines that are shown are those that were printed.
///
/// Numbers, session ids and the width of gaps may differ; `…` stands for any
/// text, and alone on a line for any lines.
pub(super) fn agree(shown: &[String], printed: &[String]) -> Result<(), String> {
    let Some((first, rest)) = shown.split_first() else {
        return match printed.first() {
            None => Ok(()),
            Some(line) => Err(format!("it also printed: {line}")),
        };
    };
    if first.trim() == "…" {
        let ends = (0..=printed.len()).map(|skip| agree(rest, &printed[skip..]));
        let mut ends: Vec<Result<(), String>> = ends.collect();
        if ends.iter().any(Result::is_ok) {
            return Ok(());
        }
        return ends.remove(0);
    }
    match printed.split_first() {
        Some((line, others)) if fits(&plain(first), &plain(line)) => agree(rest, others),
        Some((line, _)) => Err(format!("shown:   {first}\nprinted: {line}")),
        None => Err(format!("this was not printed: {first}")),
    }
}

/// Whether a text is that of a pattern with `…` in it.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('…') else {
        return pattern == text;
    };
    let Some(text) = text.strip_prefix(start) else {
        return false;
    };
    let cuts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    cuts.into_iter().any(|at| fits(rest, &text[at..]))
}

/// A line with what may differ made alike.
fn plain(line: &str) -> String {
    let words = line.split_whitespace().map(|word| {
        let mut kept = String::new();
        let mut digits = false;
        for letter in session_ids_alike(word).chars() {
            let is_digit = letter.is_ascii_digit();
            if !(is_digit && digits) {
                kept.push(if is_digit { '0' } else { letter });
            }
            digits = is_digit;
        }
        kept
    });
    let words: Vec<String> = words.collect();
    words.join(" ")
}

/// Letters and digits of a session's id after its `s-`.
const ID_CHARS: usize = 16;

fn session_ids_alike(word: &str) -> String {
    let Some((start, rest)) = word.split_once("s-") else {
        return word.to_owned();
    };
    let is_id = rest.len() >= ID_CHARS
        && rest.is_char_boundary(ID_CHARS)
        && rest[..ID_CHARS]
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    if is_id {
        format!("{start}s-ID{}", &rest[ID_CHARS..])
    } else {
        word.to_owned()
    }
}

#[test]
fn what_may_differ_differs_and_nothing_else() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let check = |shown: &str, printed: &str, expected: bool| {
        let agreed = agree(&lines(shown), &lines(printed));
        assert_eq!(agreed.is_ok(), expected, "{shown} {printed} {agreed:?}");
    };
    check("ended 2 (exited)", "ended   17 (exited)", true);
    check("ended 2 (exited)", "ended 2 (killed)", false);
    check("s-2f9c7m7qo2yfqo2w", "s-lpicpaqq5jjc44jo", true);
    check("s-2f9c7m7qo2yfqo2w", "s-lpic", false);
    check("head 4:9d…7b", "head 4:9dxyz7b", true);
    check("a\n…\nz", "a\nb\nc\nz", true);
    check("a\n…\nz", "a\nb", false);
    check("a", "a\nb", false);
}
