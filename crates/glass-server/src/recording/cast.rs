//! The lines of an asciicast, version 2. Pure.
//!
//! Time never goes back, and every line is JSON whatever was written: characters
//! that were cut in two are put together, and bytes that are none are replaced.

use glass_session::{TERM, incomplete_suffix};
use serde_json::json;

/// The size of a terminal that nobody has given one.
const COLUMNS_DEFAULT: u32 = 80;
const ROWS_DEFAULT: u32 = 30;

/// A recording that is being written.
pub(super) struct Cast {
    columns: u32,
    rows: u32,
    /// When it begins, in milliseconds since 1970.
    begun_ms: i64,
    /// The time of the last line.
    last_ms: i64,
    /// The beginning of a character whose end has not come.
    held: Vec<u8>,
    out: Vec<u8>,
}

impl Cast {
    pub(super) fn new(columns: u32, rows: u32, begun_ms: i64) -> Cast {
        let or = |size: u32, default: u32| if size == 0 { default } else { size };
        Cast {
            columns: or(columns, COLUMNS_DEFAULT),
            rows: or(rows, ROWS_DEFAULT),
            begun_ms,
            last_ms: begun_ms,
            held: Vec::new(),
            out: Vec::new(),
        }
    }

    pub(super) fn header(&mut self, title: &str) {
        let header = json!({
            "version": 2,
            "width": self.columns,
            "height": self.rows,
            "timestamp": self.begun_ms.div_euclid(1000),
            "title": title,
            "env": { (TERM.0): TERM.1 },
        });
        self.line(&header);
    }

    /// A command begins.
    pub(super) fn mark(&mut self, at_ms: i64, label: &str) {
        let seconds = self.seconds(at_ms);
        self.line(&json!([seconds, "m", label]));
    }

    /// Something is shown.
    pub(super) fn output(&mut self, at_ms: i64, bytes: &[u8]) {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        self.held = all.split_off(all.len() - incomplete_suffix(&all));
        if all.is_empty() {
            return;
        }
        let seconds = self.seconds(at_ms);
        self.line(&json!([seconds, "o", String::from_utf8_lossy(&all)]));
    }

    /// How many bytes wait to be taken.
    pub(super) fn bytes(&self) -> usize {
        self.out.len()
    }

    /// What was written since the last time.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// A moment as the format has it; the clock of the machine may have been set
    /// back.
    fn seconds(&mut self, at_ms: i64) -> f64 {
        self.last_ms = self.last_ms.max(at_ms);
        // Milliseconds of any session's life are exact in 53 bits.
        (self.last_ms - self.begun_ms) as f64 / 1000.0
    }

    fn line(&mut self, value: &serde_json::Value) {
        self.out.extend_from_slice(value.to_string().as_bytes());
        self.out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::Cast;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn lines(cast: &mut Cast) -> Vec<Value> {
        let text = String::from_utf8(cast.take()).expect("text");
        let line = |line: &str| serde_json::from_str(line).expect("JSON");
        text.lines().map(line).collect()
    }

    #[test]
    fn a_recording_has_a_header_marks_and_output() {
        let mut cast = Cast::new(0, 24, 5_000);
        cast.header("a \"title\"");
        cast.mark(5_500, "ls");
        cast.output(6_250, b"a\xc3");
        cast.output(6_000, b"\xa4\x1b[0m\xff");
        let lines = lines(&mut cast);
        assert_eq!(lines[0]["version"], json!(2));
        assert_eq!(
            (&lines[0]["width"], &lines[0]["height"]),
            (&json!(80), &json!(24))
        );
        assert_eq!(lines[0]["timestamp"], json!(5));
        assert_eq!(lines[0]["title"], json!("a \"title\""));
        assert_eq!(lines[1], json!([0.5, "m", "ls"]));
        assert_eq!(lines[2], json!([1.25, "o", "a"]));
        assert_eq!(lines[3], json!([1.25, "o", "ä\u{1b}[0m\u{fffd}"]));
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_make_the_same_text(
            text in "[a-zäöü€😀\n]{0,60}", chunk in 1_usize..9,
        ) {
            let mut cast = Cast::new(80, 24, 0);
            for piece in text.as_bytes().chunks(chunk) {
                cast.output(1, piece);
            }
            let shown: String = lines(&mut cast)
                .iter()
                .map(|line| line[2].as_str().expect("text").to_owned())
                .collect();
            prop_assert_eq!(shown, text);
        }

        #[test]
        fn time_never_goes_back(times in proptest::collection::vec(-5_000_i64..5_000, 1..40)) {
            let mut cast = Cast::new(80, 24, 0);
            for at in times {
                cast.output(at, b"x");
            }
            let times: Vec<f64> = lines(&mut cast)
                .iter()
                .map(|line| line[0].as_f64().expect("a number"))
                .collect();
            prop_assert!(times.is_sorted());
            prop_assert!(times.iter().all(|at| *at >= 0.0));
        }
    }
}
