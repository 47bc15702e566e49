//! The exit status that an ending means.

use crate::error::{Failure, Kind};
use glass_proto::agent::v1::shell_result::Result as Ending;
use glass_proto::agent::v1::{ShellAbortReason, ShellFailure, ShellResult, ShellStreamExit};

/// The status of a result.
pub(super) fn of_result(result: &ShellResult) -> u8 {
    match &result.result {
        Some(Ending::Success(success)) => low_byte(success.exit_code),
        Some(Ending::Failure(failure)) => of_failure(failure),
        Some(Ending::Timeout(_)) => Kind::Timeout.status(),
        Some(Ending::Rejected(_) | Ending::PermissionDenied(_)) => Kind::Refused.status(),
        Some(Ending::SpawnError(_)) | None => Kind::Broken.status(),
    }
}

fn of_failure(failure: &ShellFailure) -> u8 {
    if failure.aborted {
        return of_abort(failure.abort_reason());
    }
    if failure.exit_code_unknown {
        return Kind::Broken.status();
    }
    low_byte(failure.exit_code)
}

/// The status of a stream's end.
pub(super) fn of_exit(exit: &ShellStreamExit) -> Result<u8, Failure> {
    if exit.aborted {
        return Ok(of_abort(exit.abort_reason()));
    }
    if exit.code_unknown {
        return Err(
            Failure::new(Kind::Broken, "how the command ended could not be learned")
                .hint("its output is whole; `shellglass history` has what is known"),
        );
    }
    Ok(low_byte(exit.code.cast_signed()))
}

fn of_abort(reason: ShellAbortReason) -> u8 {
    match reason {
        ShellAbortReason::Timeout => Kind::Timeout.status(),
        ShellAbortReason::UserAbort | ShellAbortReason::Unspecified => Kind::Cancelled.status(),
    }
}

/// What the kernel would keep of it.
fn low_byte(code: i32) -> u8 {
    code.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::{of_exit, of_result};
    use glass_proto::agent::v1::shell_result::Result as Ending;
    use glass_proto::agent::v1::{ShellFailure, ShellResult, ShellStreamExit, ShellTimeout};

    fn exit(code: u32, aborted: bool, reason: i32) -> ShellStreamExit {
        ShellStreamExit {
            code,
            aborted,
            abort_reason: Some(reason),
            ..Default::default()
        }
    }

    #[test]
    fn a_stream_ends_as_its_command_did() {
        assert_eq!(of_exit(&exit(7, false, 0)), Ok(7));
        assert_eq!(of_exit(&exit(143, true, 1)), Ok(130));
        assert_eq!(of_exit(&exit(0, true, 2)), Ok(124));
        let unknown = ShellStreamExit {
            code_unknown: true,
            ..Default::default()
        };
        assert_eq!(
            of_exit(&unknown).map_err(|failure| failure.kind.status()),
            Err(125)
        );
    }

    #[test]
    fn a_result_means_the_same() {
        let status = |ending| {
            of_result(&ShellResult {
                result: Some(ending),
                ..Default::default()
            })
        };
        assert_eq!(status(Ending::Timeout(ShellTimeout::default())), 124);
        let failure = ShellFailure {
            exit_code: 3,
            ..Default::default()
        };
        assert_eq!(status(Ending::Failure(failure.clone())), 3);
        let aborted = ShellFailure {
            aborted: true,
            abort_reason: Some(1),
            ..failure
        };
        assert_eq!(status(Ending::Failure(aborted)), 130);
        assert_eq!(of_result(&ShellResult::default()), 125);
    }
}
