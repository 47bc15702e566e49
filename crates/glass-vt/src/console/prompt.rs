//! What stands before a line.

use super::width::{name, visible};

/// Longest template that is used, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = 1024;

/// The directory in cyan, then `$ `.
pub const TEMPLATE_DEFAULT: &str = r"\e[36m{cwd}\e[0m$ ";

/// A template with a directory in it. `{cwd}` is the directory, `{name}` its last
/// part, `\e` an escape and `\n` a line end. Colours are the only sequences;
/// whatever else would not be seen is shown by name.
pub fn expand(template: &str, cwd: &str) -> String {
    let mut end = template.len().min(TEMPLATE_BYTES_MAX);
    while !template.is_char_boundary(end) {
        end -= 1;
    }
    let mut rest = &template[..end];
    let mut prompt = String::new();
    while let Some(c) = rest.chars().next() {
        let base = cwd.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/");
        let (put, used) = match rest {
            _ if rest.starts_with("{cwd}") => (visible(cwd), "{cwd}".len()),
            _ if rest.starts_with("{name}") => (visible(base), "{name}".len()),
            _ if rest.starts_with(r"\n") => ("\n".to_owned(), 2),
            _ => match colour(rest) {
                Some((put, used)) => (put, used),
                None if c == '\n' => ("\n".to_owned(), 1),
                None => (name(c).unwrap_or_else(|| c.to_string()), c.len_utf8()),
            },
        };
        prompt.push_str(&put);
        rest = &rest[used..];
    }
    prompt
}

/// A sequence that colours at the beginning of a template, and how much of that
/// it is.
fn colour(template: &str) -> Option<(String, usize)> {
    let parameters = template
        .strip_prefix(r"\e[")
        .or_else(|| template.strip_prefix("\x1b["))?;
    let is_parameter = |c: char| c.is_ascii_digit() || matches!(c, ';' | ':');
    let behind = parameters.trim_start_matches(is_parameter);
    behind.strip_prefix('m')?;
    let count = parameters.len() - behind.len();
    let used = template.len() - behind.len() + 1;
    Some((format!("\x1b[{}m", &parameters[..count]), used))
}
