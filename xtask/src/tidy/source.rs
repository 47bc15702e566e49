//! Rust text with its comments and literals blanked out, so that a search for
//! a word finds code alone.

/// Replaces comments and the insides of string literals by spaces. Newlines
/// stay, so line numbers hold.
pub(crate) fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = at + blank_length(&bytes[at..], out.last().copied());
        if end == at {
            out.push(bytes[at]);
            at += 1;
        } else {
            let blank = |byte: &u8| if *byte == b'\n' { b'\n' } else { b' ' };
            out.extend(bytes[at..end].iter().map(blank));
            at = end;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// How many bytes from here on are a comment or a literal; 0 for code.
fn blank_length(rest: &[u8], before: Option<u8>) -> usize {
    let in_word = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match rest {
        [b'/', b'/', ..] => rest
            .iter()
            .position(|&byte| byte == b'\n')
            .unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment_length(rest),
        [b'"', ..] => string_length(rest),
        [b'r', b'"' | b'#', ..] if !in_word => raw_string_length(rest),
        [b'\'', b'\\', ..] => 2 + until(&rest[2..], b'\''),
        [b'\'', _, b'\'', ..] => 3,
        _ => 0,
    }
}

/// Bytes up to and with the first `end`, beginning at the second: the first
/// may be an escaped `end` itself.
fn until(rest: &[u8], end: u8) -> usize {
    let found = rest.iter().skip(1).position(|&byte| byte == end);
    found.map_or(rest.len(), |position| position + 2)
}

fn block_comment_length(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    rest.len()
}

fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn raw_string_length(rest: &[u8]) -> usize {
    let hashes = rest[1..].iter().take_while(|&&byte| byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return 0;
    }
    let mut end = vec![b'"'];
    end.resize(1 + hashes, b'#');
    let body = 2 + hashes;
    let found = rest[body..]
        .windows(end.len())
        .position(|window| window == end);
    found.map_or(rest.len(), |position| body + position + end.len())
}

/// The lines (from 1 on) where `word` stands by itself.
pub(crate) fn lines_with_word(code: &str, word: &str) -> Vec<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let stands_alone = |line: &str| {
        line.match_indices(word).any(|(start, _)| {
            let before = line[..start].chars().next_back();
            let after = line[start + word.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    };
    let numbered = code.lines().enumerate();
    numbered
        .filter(|(_, line)| stands_alone(line))
        .map(|(index, _)| index + 1)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{code_only, lines_with_word};

    fn check(text: &str, expected: &str) {
        let words: Vec<String> = code_only(text)
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        assert_eq!(words.join(" "), expected, "{text}");
    }

    #[test]
    fn comments_and_literals_are_blank() {
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check(r#"f("b \" c", d)"#, "f( , d)");
        check(r##"f(r#"b " c"#, d)"##, "f( , d)");
        check(
            "let r#type = 'x'; fn f<'a>() {}",
            "let r#type = ; fn f<'a>() {}",
        );
        check(r"let q = '\''; let w = '\\'; e", "let q = ; let w = ; e");
        check("\"never closed", "");
    }

    #[test]
    fn line_numbers_survive() {
        let code = code_only("\"one\ntwo\"\n// three\nunsafe {}\n");
        assert_eq!(lines_with_word(&code, "unsafe"), [4]);
    }

    #[test]
    fn a_word_inside_a_longer_one_is_not_found() {
        assert!(lines_with_word("#![deny(unsafe_code)] not_unsafe", "unsafe").is_empty());
        assert_eq!(lines_with_word("unsafe_code; unsafe {", "unsafe"), [1]);
    }
}
