//! What can be wrong with a configuration. Each names the place and what to
//! write instead.

use std::io;
use std::path::PathBuf;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file is there and cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("{}:{line}: {message}", path.display())]
    Syntax {
        /// Which file.
        path: PathBuf,
        /// Where, from 1 on.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// A key that there is not.
    #[error("{}:{line}: there is no setting `{key}`", path.display())]
    UnknownKey {
        /// Which file.
        path: PathBuf,
        /// Where, from 1 on.
        line: usize,
        /// The key, with its section.
        key: String,
        /// The valid key that is most like it.
        nearest: String,
    },
    /// A value that its key cannot have.
    #[error("{}:{line}: `{key}`: {message}", path.display())]
    WrongValue {
        /// Which file.
        path: PathBuf,
        /// Where, from 1 on.
        line: usize,
        /// The key, with its section.
        key: String,
        /// What is wrong with it.
        message: String,
    },
    /// A variable whose value its key cannot have.
    #[error("the variable {name}: {message}")]
    WrongVariable {
        /// Its name.
        name: String,
        /// What is wrong with it.
        message: String,
    },
    /// A key that a project may not set.
    #[error("{}:{line}: a project cannot set `{key}`", path.display())]
    NotForProjects {
        /// Which file.
        path: PathBuf,
        /// Where, from 1 on.
        line: usize,
        /// The key, with its section.
        key: String,
    },
}

impl ConfigError {
    /// What to do next.
    pub(crate) fn hint(&self) -> String {
        match self {
            ConfigError::Unreadable { .. } => {
                "make the file readable, or move it away to use the built-in settings".to_owned()
            }
            ConfigError::UnknownKey { nearest, .. } => format!("did you mean `{nearest}`?"),
            ConfigError::NotForProjects { key, .. } if key.starts_with("hooks.") => {
                "hooks run as you and without walls, so no repository brings its own; put this \
                 into your own configuration (`shellglass config path`)"
                    .to_owned()
            }
            ConfigError::NotForProjects { .. } => {
                "a project can only lower [limits]; put this into your own configuration \
                 (`shellglass config path`)"
                    .to_owned()
            }
            ConfigError::Syntax { .. }
            | ConfigError::WrongValue { .. }
            | ConfigError::WrongVariable { .. } => {
                "`shellglass config schema` lists every setting and its values".to_owned()
            }
        }
    }
}
