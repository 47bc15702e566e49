//! Where things live. `SHELLGLASS_HOME` overrides every directory at once;
//! else the XDG directories hold.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Longest path of a Unix socket, in bytes: what `sockaddr_un` holds, less its
/// closing NUL.
pub(crate) const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Only we may look inside.
const PRIVATE_MODE: u32 = 0o700;

/// Why the directories cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DirsError {
    /// No home directory is known.
    #[error("there is no home directory: HOME is not set to an absolute path")]
    NoHome,
    /// It would be another one wherever it is used.
    #[error("SHELLGLASS_HOME is no absolute path: {}", path.display())]
    RelativeHome {
        /// What it is.
        path: PathBuf,
    },
    /// A directory could not be made.
    #[error("{} cannot be made: {source}", path.display())]
    Make {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others could put their own socket there.
    #[error("{} is not a directory of our own that only we can use", path.display())]
    NotPrivate {
        /// Which.
        path: PathBuf,
    },
    /// The kernel cannot bind so long a path.
    #[error(
        "the socket's path has {} bytes and may have {SOCKET_PATH_BYTES_MAX}: {}",
        path.as_os_str().len(), path.display()
    )]
    SocketPathTooLong {
        /// Which.
        path: PathBuf,
    },
}

impl DirsError {
    /// What to do next.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            DirsError::NoHome => "set HOME, or SHELLGLASS_HOME to a directory of your own",
            DirsError::RelativeHome { .. } => "give the whole path, from / on",
            DirsError::Make { .. } => {
                "make it yourself, or set SHELLGLASS_HOME to a directory that you can write"
            }
            DirsError::NotPrivate { .. } => {
                "remove it or make it yours (chmod 700), or set SHELLGLASS_HOME elsewhere"
            }
            DirsError::SocketPathTooLong { .. } => {
                "set XDG_RUNTIME_DIR or SHELLGLASS_HOME to a shorter path, or use --socket"
            }
        }
    }
}

impl From<DirsError> for crate::error::Failure {
    fn from(error: DirsError) -> Self {
        let hint = error.hint();
        Self::new(crate::error::Kind::Failed, error.to_string()).hint(hint)
    }
}

/// The directories of this user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dirs {
    /// Holds `config.toml`.
    pub config: PathBuf,
    /// Holds the journal.
    pub data: PathBuf,
    /// Holds the sockets.
    pub runtime: PathBuf,
}

impl Dirs {
    /// Finds them; `variable` looks up the environment.
    pub(crate) fn find(
        variable: &dyn Fn(&str) -> Option<PathBuf>,
        uid: u32,
    ) -> Result<Dirs, DirsError> {
        // XDG says that a relative path is to be ignored.
        let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
        let home = variable("SHELLGLASS_HOME").filter(|home| !home.as_os_str().is_empty());
        if let Some(home) = home {
            // Whoever sets it means to stay away from the usual places.
            if !home.is_absolute() {
                return Err(DirsError::RelativeHome { path: home });
            }
            return Ok(Dirs {
                config: home.join("config"),
                data: home.join("data"),
                runtime: home.join("run"),
            });
        }
        let below_home = |name: &str, below: &str| match (absolute(name), absolute("HOME")) {
            (Some(path), _) => Ok(path.join("shellglass")),
            (None, Some(home)) => Ok(home.join(below).join("shellglass")),
            (None, None) => Err(DirsError::NoHome),
        };
        Ok(Dirs {
            config: below_home("XDG_CONFIG_HOME", ".config")?,
            data: below_home("XDG_DATA_HOME", ".local/share")?,
            runtime: match absolute("XDG_RUNTIME_DIR") {
                Some(path) => path.join("shellglass"),
                None => PathBuf::from(format!("/tmp/shellglass-{uid}")),
            },
        })
    }

    /// Those of the environment that we run in.
    pub(crate) fn of_this_process() -> Result<Dirs, DirsError> {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        Dirs::find(&variable, rustix::process::getuid().as_raw())
    }

    /// The user's configuration file.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The daemon's socket, unless it was put elsewhere.
    pub(crate) fn daemon_socket(&self) -> PathBuf {
        self.runtime.join("daemon.sock")
    }
}

/// Makes a directory that only we can use, or checks that it is one.
pub(crate) fn make_private(path: &Path) -> Result<(), DirsError> {
    let failed = |source| DirsError::Make {
        path: path.to_path_buf(),
        source,
    };
    if let Err(error) = fs::symlink_metadata(path) {
        if error.kind() != io::ErrorKind::NotFound {
            return Err(failed(error));
        }
        DirBuilder::new()
            .recursive(true)
            .mode(PRIVATE_MODE)
            .create(path)
            .map_err(failed)?;
    }
    let metadata = fs::symlink_metadata(path).map_err(failed)?;
    let is_private = metadata.is_dir()
        && metadata.uid() == rustix::process::getuid().as_raw()
        && metadata.mode() & 0o077 == 0;
    if is_private {
        Ok(())
    } else {
        Err(DirsError::NotPrivate {
            path: path.to_path_buf(),
        })
    }
}

/// Checks that the kernel can bind this path.
pub(crate) fn check_socket_path(path: &Path) -> Result<(), DirsError> {
    if path.as_os_str().len() > SOCKET_PATH_BYTES_MAX {
        return Err(DirsError::SocketPathTooLong {
            path: path.to_path_buf(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Dirs, DirsError, check_socket_path, make_private};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::{Path, PathBuf};

    fn check(variables: &[(&str, &str)], expected: [&str; 3]) {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| PathBuf::from(value))
        };
        let dirs = Dirs::find(&variable, 7).expect("a home");
        assert_eq!(
            [dirs.config, dirs.data, dirs.runtime],
            expected.map(PathBuf::from)
        );
    }

    #[test]
    fn one_variable_overrides_every_directory() {
        let all = ["/x/config", "/x/data", "/x/run"];
        check(
            &[
                ("SHELLGLASS_HOME", "/x"),
                ("HOME", "/h"),
                ("XDG_DATA_HOME", "/d"),
            ],
            all,
        );
    }

    #[test]
    fn xdg_directories_are_used_and_relative_ones_ignored() {
        let home = ("HOME", "/h");
        let tmp = "/tmp/shellglass-7";
        check(
            &[home],
            ["/h/.config/shellglass", "/h/.local/share/shellglass", tmp],
        );
        check(
            &[
                home,
                ("XDG_CONFIG_HOME", "/c"),
                ("XDG_DATA_HOME", "rel"),
                ("XDG_RUNTIME_DIR", "/r"),
            ],
            [
                "/c/shellglass",
                "/h/.local/share/shellglass",
                "/r/shellglass",
            ],
        );
        assert!(matches!(Dirs::find(&|_| None, 7), Err(DirsError::NoHome)));
        let relative = |_: &str| Some(PathBuf::from("rel"));
        let refused = Dirs::find(&relative, 7);
        assert!(matches!(refused, Err(DirsError::RelativeHome { .. })));
    }

    #[test]
    fn a_directory_that_others_can_use_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a/run");
        make_private(&path).expect("made");
        make_private(&path).expect("still private");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod");
        assert!(matches!(
            make_private(&path),
            Err(DirsError::NotPrivate { .. })
        ));
        let link = folder.path().join("link");
        symlink(folder.path().join("a"), &link).expect("a link");
        assert!(matches!(
            make_private(&link),
            Err(DirsError::NotPrivate { .. })
        ));
    }

    #[test]
    fn a_socket_path_has_at_most_107_bytes() {
        assert!(check_socket_path(Path::new(&"x".repeat(107))).is_ok());
        let error = check_socket_path(Path::new(&"x".repeat(108))).expect_err("too long");
        assert!(error.to_string().contains("108 bytes"), "{error}");
    }
}
