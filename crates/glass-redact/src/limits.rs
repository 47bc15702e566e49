//! Every bound of redaction, in one place.

/// Most bytes held back at any time, visible ones and escape sequences each.
pub const HELD_BYTES_MAX: usize = 32 * 1024;

/// Longest token that is judged as a whole. What follows of a longer one is
/// dropped as it comes.
pub(crate) const TOKEN_BYTES_MAX: usize = 8 * 1024;

/// Longest value behind a name that is judged as a whole.
pub(crate) const VALUE_BYTES_MAX: usize = 4 * 1024;

/// Longest part of an address in which a password is looked for.
pub(crate) const USERINFO_BYTES_MAX: usize = 1024;

/// Longest name, and longest gap between a name and its value.
pub(crate) const NAME_BYTES_MAX: usize = 64;

/// How far rules look back.
pub(crate) const HISTORY_BYTES: usize = 256;

/// Candidates that live at the same time. More begin only in input that was
/// made for it.
pub(crate) const CANDIDATES_MAX: usize = 16;

/// Bytes of a known value that the automaton looks for; the rest is compared.
pub(crate) const KNOWN_PREFIX_BYTES: usize = 8;

/// Most bytes of a known value that leave when the stream pauses behind them.
pub(crate) const PAUSE_BYTES_MAX: usize = 3;

/// Shortest known value that is looked for: a shorter one is in every text.
pub(crate) const KNOWN_BYTES_MIN: usize = 6;

/// Longest known value that is looked for whole; of a longer one, its head.
pub(crate) const KNOWN_BYTES_MAX: usize = 4 * 1024;

/// Most known values.
pub(crate) const KNOWN_VALUES_MAX: usize = 512;

/// Most rules that a configuration may add.
pub(crate) const ADDED_RULES_MAX: usize = 256;

/// Largest compiled pattern.
pub(crate) const PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// Words between the first line of a private key and its body.
pub(crate) const BLOCK_HEADER_WORDS_MAX: usize = 12;
