//! The ways in which an execution ends.

use glass_model::{AbortReason, ExitDetails, Outcome, WaitStatus, signal_of_exit_code};

pub(super) fn ended(code: i32) -> Outcome {
    let details = ExitDetails {
        signal: signal_of_exit_code(code),
        ..ExitDetails::default()
    };
    Outcome {
        code: Some(code),
        details,
        ..Outcome::default()
    }
}

pub(crate) fn outcome_of(status: WaitStatus) -> Outcome {
    match status {
        WaitStatus::Exited(code) => ended(code),
        WaitStatus::Signaled(signal) => ended(128 + signal),
        WaitStatus::Unknown => Outcome::default(),
    }
}

pub(super) fn aborted(reason: AbortReason) -> Outcome {
    Outcome {
        abort: Some(reason),
        ..Outcome::default()
    }
}

pub(crate) fn rejected(why: String) -> Outcome {
    Outcome {
        rejected: Some(why),
        ..Outcome::default()
    }
}

pub(crate) fn never_ran(why: String) -> Outcome {
    Outcome {
        spawn_error: Some(why),
        ..Outcome::default()
    }
}
