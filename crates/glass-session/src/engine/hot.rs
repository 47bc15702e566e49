//! Whether a command that runs may be about to say more.

use super::Engine;
use glass_model::{ShellId, Stream};
use glass_store::ReadError;

/// A command is *hot* for this long after it has written something.
const HOT_MS: i64 = 2_000;

/// The same after something that looks like the beginning of long work.
const HOT_WORK_MS: i64 = 15_000;

/// Bytes at the end of each stream that are looked at.
const LOOK_BYTES: u64 = 1024;

/// What long work says.
const WORK: [&str; 6] = [
    "compiling",
    "building",
    "bundling",
    "transpiling",
    "generating",
    "starting",
];

/// What says in the same line that it is over.
const OVER: [&str; 8] = [
    "done", "success", "succeed", "finish", "complete", "compiled", "fail", "error",
];

impl Engine {
    /// Whether a running command whose last output is so old is hot.
    pub(super) fn is_hot(&self, id: ShellId, age_ms: i64) -> Result<bool, ReadError> {
        if age_ms < HOT_MS {
            return Ok(true);
        }
        if age_ms >= HOT_WORK_MS {
            return Ok(false);
        }
        let recorded = self.0.context.store.recorded(id)?;
        for (stream, end) in [
            (Stream::Stdout, recorded.stdout),
            (Stream::Stderr, recorded.stderr),
        ] {
            let from = end.saturating_sub(LOOK_BYTES);
            let last = self.piece(id, stream, from, end - from)?;
            if looks_like_work(&glass_vt::text::clean(&last)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether the last line that says something speaks of work that goes on.
fn looks_like_work(text: &str) -> bool {
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    has(&WORK) && !has(&OVER)
}

#[cfg(test)]
mod tests {
    use super::looks_like_work;

    #[test]
    fn work_that_goes_on_is_told_from_work_that_is_over() {
        for hot in [
            "   Compiling serde v1.0\n",
            "a\nBundling assets...\n\n",
            "starting server",
        ] {
            assert!(looks_like_work(hot), "{hot}");
        }
        for cold in [
            "",
            "ready\n",
            "Compiling x\nready\n",
            "building failed\n",
            "Bundling done in 3 s\n",
        ] {
            assert!(!looks_like_work(cold), "{cold}");
        }
    }
}
