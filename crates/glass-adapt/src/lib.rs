//! Makes known tools answer without a terminal, and their events readable.
//!
//! Four things, all pure. [`adapt`] says what a command line of a known tool
//! lacks to run where nobody types: words to insert, variables to set.
//! [`Sections`] turns the JSON lines of agents' programs into text that people
//! read. [`prompt::find`] tells whether output ends with a question, and
//! [`terminal::is_wanted`] whether a command failed for want of a terminal.
//!
//! What is not known is left alone, and nothing here agrees to anything.
#![forbid(unsafe_code)]

mod adapt;
mod arguments;
pub mod prompt;
mod sections;
pub mod terminal;
mod tools;

pub use adapt::{Adapted, adapt};
pub use sections::{LINE_BYTES_MAX, Sections, TEXT_CHARS_MAX, Tool};
pub use tools::{ToolsError, failures, names, sets};
