//! Why the keeper did not do what it was asked.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use glass_model::LaunchId;

use crate::stage::Stage;
use crate::wire::{Failed, Say};

/// There is no answer to be had from the keeper.
#[derive(Debug, thiserror::Error)]
pub enum KeeperGone {
    /// The connection is over.
    #[error("the connection to the keeper is lost")]
    Lost,
    /// It does not answer in time.
    #[error("the keeper did not answer within {seconds} s")]
    Silent {
        /// How long it was waited for.
        seconds: u64,
    },
    /// The request could not be sent; nothing was done.
    #[error("a request cannot be sent to the keeper")]
    Unsent(#[source] io::Error),
    /// It answers something else.
    #[error("the keeper's answer makes no sense")]
    Nonsense,
}

/// Why a process was not started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// A step of its start failed.
    #[error("{}", describe(*stage, path))]
    Failed {
        /// Which step.
        stage: Stage,
        /// The directory, program or mount that it was about.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The keeper would not try.
    #[error("the keeper refuses to start a process: {reason}")]
    Refused {
        /// Why not.
        reason: String,
    },
    /// The keeper would start it without its walls or limits.
    #[error("the running keeper is of an older version ({keeper}) that {lacks}")]
    KeeperTooOld {
        /// The protocol that it speaks.
        keeper: u32,
        /// What it does not do.
        lacks: &'static str,
    },
    /// The keeper is not there. The process may have been started.
    #[error(transparent)]
    Gone(#[from] KeeperGone),
}

fn describe(stage: Stage, path: &std::path::Path) -> String {
    let path = path.display();
    match stage {
        Stage::Fork => format!("cannot make a process for '{path}'"),
        Stage::Descriptors => format!("cannot give '{path}' its descriptors"),
        Stage::Directory => format!("cannot enter the directory '{path}'"),
        Stage::Execute => format!("cannot execute '{path}'"),
        Stage::Limits => format!("cannot limit what '{path}' may use"),
        Stage::Namespaces => format!("cannot make namespaces for '{path}'"),
        Stage::Identity => format!("cannot map the user of '{path}' into its namespace"),
        Stage::Network => format!("cannot raise a loopback for '{path}'"),
        Stage::Root => format!("cannot make a root directory for '{path}'"),
        Stage::Proc => format!("cannot make a /proc for '{path}'"),
        Stage::Devices => format!("cannot make a /dev for '{path}'"),
        Stage::Mount => format!("cannot build the wall at '{path}'"),
        Stage::Changed => format!("'{path}' is not what it was when its walls were planned"),
        Stage::Privileges => format!("cannot take the privileges of '{path}' away"),
        Stage::Landlock => format!("cannot put '{path}' into a Landlock domain"),
        Stage::Seccomp => format!("cannot filter the system calls of '{path}'"),
    }
}

pub(super) fn spawn_failure(
    failed: &Failed,
    program: Vec<u8>,
    cwd: Vec<u8>,
    mounts: &[Vec<u8>],
) -> SpawnError {
    let stage = Stage::of_number(failed.stage);
    let place = usize::try_from(failed.detail).unwrap_or(usize::MAX);
    let mount = place.checked_sub(1).and_then(|place| mounts.get(place));
    let path = match (stage, mount) {
        (Stage::Directory, _) => cwd,
        (_, Some(mount)) => mount.clone(),
        _ => program,
    };
    SpawnError::Failed {
        stage,
        path: PathBuf::from(OsString::from_vec(path)),
        source: io::Error::from_raw_os_error(failed.errno),
    }
}

/// Why a request about one launch was not done.
#[derive(Debug, thiserror::Error)]
pub enum HeldError {
    /// The keeper has no such launch.
    #[error("the keeper knows no launch {}", id.0)]
    UnknownLaunch {
        /// The one that was asked for.
        id: LaunchId,
    },
    /// This process has no room for the descriptors.
    #[error("the descriptors do not fit into this process")]
    DescriptorsLost,
    /// The keeper would not do it.
    #[error("the keeper refuses: {reason}")]
    Refused {
        /// Why not.
        reason: String,
    },
    /// The keeper is not there.
    #[error(transparent)]
    Gone(#[from] KeeperGone),
}

pub(super) fn held_refusal(id: LaunchId, say: Say) -> HeldError {
    match say {
        Say::Refused(refused) if refused.unknown_launch => HeldError::UnknownLaunch { id },
        Say::Refused(refused) => HeldError::Refused {
            reason: refused.reason,
        },
        _ => KeeperGone::Nonsense.into(),
    }
}
