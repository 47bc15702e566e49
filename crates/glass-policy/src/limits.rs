//! What bounds reading and deciding.

/// Longest line that is read, in bytes. A longer one is not looked at, so it
/// is asked about.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// Longest line that can be allowed, in bytes: what the second reader is
/// given.
pub const PROVABLE_BYTES_MAX: usize = 16 * 1024;

/// Deepest nesting of substitutions, groups and compound commands.
pub const NESTING_MAX: usize = 16;

/// Steps that a line may cost. Readings are linear but for `((`, which may
/// have to be read twice at each level.
pub const STEPS_MAX: u32 = 1_000_000;

/// Commands that one line may hold.
pub const COMMANDS_MAX: usize = 1024;

/// Shells inside shells (`sh -c "sh -c …"`) and wrappers that are seen
/// through.
pub const WRAPPERS_MAX: usize = 8;

/// Reasons that a decision carries.
pub const REASONS_MAX: usize = 32;

/// Rules that a file may have.
pub const RULES_MAX: usize = 4096;

/// Bytes that a rules file may have.
pub const RULES_BYTES_MAX: usize = 1024 * 1024;

/// Words of the longest prefix that is known or remembered.
pub const PREFIX_WORDS_MAX: usize = 4;
