//! What shells do that a naive driver gets wrong, in every shell, warm and
//! line by line. `docs/sessions.md` says what was decided for each.

mod ending;
mod long;
mod start_files;
mod state;
