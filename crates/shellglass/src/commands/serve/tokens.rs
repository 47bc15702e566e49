//! The secrets that callers over TCP present, kept from one daemon to the next
//! so that a program needs to be told once.

use crate::dirs;
use crate::error::{Failure, Kind};
use glass_server::Tokens;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Longest token file that is read, in bytes.
const TOKEN_BYTES_MAX: u64 = 256;

/// Shortest token that is believed to be one of ours, in characters.
const TOKEN_CHARS_MIN: usize = 32;

/// Where a role's token is kept.
pub(crate) fn token_file(data_dir: &Path, role: &str) -> PathBuf {
    data_dir.join(format!("{role}.token"))
}

/// Whether there is a token that can be used; none where none was made yet. It
/// is read as the daemon would, and not handed out.
pub(crate) fn look(path: &Path) -> io::Result<Option<()>> {
    match fs::File::open(path) {
        Ok(file) => read(file).map(|_| Some(())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the tokens, and makes those that are missing.
pub(super) fn load(data_dir: &Path) -> Result<Tokens, Failure> {
    dirs::make_private(data_dir)?;
    Ok(Tokens {
        person: token(data_dir, "person")?,
        agent: token(data_dir, "agent")?,
    })
}

fn token(data_dir: &Path, role: &str) -> Result<String, Failure> {
    let path = token_file(data_dir, role);
    read_or_make(&path).map_err(|error| {
        Failure::new(
            Kind::Failed,
            format!("the token {}: {error}", path.display()),
        )
        .hint("remove the file, and a new token is made")
    })
}

fn read_or_make(path: &Path) -> io::Result<String> {
    match fs::File::open(path) {
        Ok(file) => read(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(path),
        Err(error) => Err(error),
    }
}

fn read(file: fs::File) -> io::Result<String> {
    if file.metadata()?.mode() & 0o077 != 0 {
        return Err(io::Error::other("others can read it"));
    }
    let mut token = String::new();
    file.take(TOKEN_BYTES_MAX).read_to_string(&mut token)?;
    let token = token.trim();
    if token.len() < TOKEN_CHARS_MIN {
        return Err(io::Error::other("it is too short to be a token"));
    }
    Ok(token.to_owned())
}

/// Written beside and then named: a crash leaves no half of a token.
fn make(path: &Path) -> io::Result<String> {
    let token = glass_session::random_token();
    let new = path.with_extension("token.new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)?;
    writeln!(file, "{token}")?;
    fs::rename(&new, path)?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::{load, token_file};
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn tokens_are_kept_private_and_stay_the_same() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        let first = load(&data).expect("made");
        let second = load(&data).expect("read");
        assert_eq!(
            (&first.person, &first.agent),
            (&second.person, &second.agent)
        );
        assert_ne!(first.person, first.agent);
        let path = token_file(&data, "agent");
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("chmod");
        assert!(load(&data).is_err());
    }

    #[test]
    fn an_empty_token_opens_no_door() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = token_file(folder.path(), "person");
        fs::write(&path, "\n").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("chmod");
        assert!(load(folder.path()).is_err());
    }
}
