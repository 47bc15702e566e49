//! The valid key that is most like a mistaken one.

/// Longest text that is compared, in characters; the rest of a longer one
/// cannot change which key it was meant to be.
const COMPARED_CHARS_MAX: usize = 64;

/// The candidate with the smallest edit distance to `given`; the first of
/// equals.
pub(crate) fn nearest<'a>(given: &str, candidates: &'a [String]) -> Option<&'a str> {
    let distances = candidates
        .iter()
        .map(|candidate| (distance(given, candidate), candidate));
    distances
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.as_str())
}

/// Insertions, deletions and changes that turn one text into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(COMPARED_CHARS_MAX).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(COMPARED_CHARS_MAX).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let change = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distance_counts_edits() {
        for (a, b, expected) in [
            ("", "", 0),
            ("a", "", 1),
            ("kitten", "sitting", 3),
            ("queue_mx", "queue_max", 1),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn the_most_alike_key_wins() {
        let keys = ["session.mode", "session.shell", "daemon.log"].map(str::to_owned);
        assert_eq!(nearest("session.shel", &keys), Some("session.shell"));
        assert_eq!(nearest("deamon.log", &keys), Some("daemon.log"));
        assert_eq!(nearest("x", &[]), None);
    }
}
