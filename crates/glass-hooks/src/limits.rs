//! Every bound of this crate.

use std::time::Duration;

/// Most that a hook may print on its standard output, in bytes. Beyond, it has
/// failed and is ended.
pub const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Most of a command's output that hooks are told, in bytes. Whoever fills in
/// an [`AfterShellExecution`](crate::AfterShellExecution) cuts it; see
/// [`output_text`](crate::output_text).
pub const OUTPUT_BYTES_MAX: usize = 256 << 10;

/// Most of a message of a hook that is passed on, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 8 << 10;

/// Most hooks of one kind.
pub const HOOKS_MAX: usize = 32;

/// Most of what a hook prints on its standard error that is kept for the report
/// of its failure: the end, in bytes.
pub(crate) const COMPLAINT_BYTES_MAX: usize = 4 << 10;

/// Most of a hook's command line that a message quotes, in characters.
pub(crate) const NAME_CHARS_MAX: usize = 80;

/// Most hooks of one kind that run at once in all sessions together. Each has a
/// thread.
pub(crate) const RUNNING_MAX: usize = 32;

/// Bytes of stack of a thread that looks after a hook.
pub(crate) const STACK_BYTES: usize = 256 << 10;

/// Time to end everything that a hook has started.
pub(crate) const END_DEADLINE: Duration = Duration::from_secs(2);
