//! What a caller asks for, within bounds.

use crate::errors::CreateError;
use rustix::fs::{Access, AtFlags, CWD};

/// Lines of scrollback that a view may keep.
const SCROLLBACK_LINES: std::ops::RangeInclusive<u32> = 100..=10_000;

/// Lines of scrollback where none are asked for.
const SCROLLBACK_LINES_DEFAULT: u32 = 1_000;

/// A view's size where none is asked for.
const COLS_DEFAULT: u32 = 80;
const ROWS_DEFAULT: u32 = 30;

/// Lines of scrollback, within bounds.
pub(in crate::engine) fn scrollback(asked: u32) -> u32 {
    or(asked, SCROLLBACK_LINES_DEFAULT).clamp(*SCROLLBACK_LINES.start(), *SCROLLBACK_LINES.end())
}

/// A view's width.
pub(in crate::engine) fn columns(asked: u32) -> u32 {
    or(asked, COLS_DEFAULT)
}

/// A view's height.
pub(in crate::engine) fn rows(asked: u32) -> u32 {
    or(asked, ROWS_DEFAULT)
}

fn or(value: u32, default: u32) -> u32 {
    if value == 0 { default } else { value }
}

pub(super) fn check_directory(path: &str) -> Result<(), CreateError> {
    let refuse = |why, forbidden| {
        Err(CreateError::Directory {
            path: path.to_owned(),
            why,
            forbidden,
        })
    };
    if !path.starts_with('/') {
        return refuse("it is not an absolute path", false);
    }
    if path.contains('\0') {
        return refuse("it has a NUL byte", false);
    }
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_dir() => refuse("it is not a directory", false),
        Ok(_) => match rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS) {
            Ok(()) => Ok(()),
            Err(_) => refuse("it may not be entered", true),
        },
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            refuse("it may not be entered", true)
        }
        Err(_) => refuse("it is not there", false),
    }
}
