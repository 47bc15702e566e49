//! `cancel`: ends what runs, and answers when nothing of it is left.

use crate::cli::Cancel;
use crate::client::{Context, connect};
use crate::error::Failure;
use glass_proto::shellglass::v1::CancelRequest;
use std::process::ExitCode;

/// Cancels a session's command, or one execution.
pub(super) async fn cancel(arguments: &Cancel) -> Result<ExitCode, Failure> {
    let mut client = connect(&Context::load()?).await?;
    let answer = client.cancel(request(&arguments.id)).await?.into_inner();
    let said = if answer.cancelled {
        "cancelled"
    } else {
        "nothing was running"
    };
    eprintln!("shellglass: {said}");
    Ok(ExitCode::SUCCESS)
}

/// A number names an execution, anything else a session.
fn request(id: &str) -> CancelRequest {
    match id.parse() {
        Ok(shell_id) => CancelRequest {
            shell_id: Some(shell_id),
            ..CancelRequest::default()
        },
        Err(_) => CancelRequest {
            session_id: id.to_owned(),
            ..CancelRequest::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::request;

    #[test]
    fn a_number_names_an_execution() {
        assert_eq!(request("17").shell_id, Some(17));
        assert_eq!(request("s-abc").session_id, "s-abc");
        assert_eq!(request("s-abc").shell_id, None);
    }
}
