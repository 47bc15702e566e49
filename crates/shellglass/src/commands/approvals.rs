//! `approvals`: what waits for a person, and the person's word.
//!
//! A command is shown so that nothing in it can hide or move anything else on
//! the person's terminal.

use crate::cli::{ApprovalAction, Approvals, ScopeName};
use crate::client::{Client, Context, connect};
use crate::error::Failure;
use crate::stdout;
use glass_policy::text;
use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::agent::v1::sandbox_policy::Type;
use glass_proto::json;
use glass_proto::shellglass::v1::{Approval, ApprovalScope, Empty, ResolveApprovalRequest};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// Columns of a text; longer lines are folded, so that no terminal folds them
/// without saying so.
const COLUMNS: usize = 72;

/// Lists what waits, or answers.
pub(super) async fn approvals(arguments: &Approvals) -> Result<ExitCode, Failure> {
    let mut client = connect(&Context::load()?).await?;
    match &arguments.action {
        None => list(&mut client, arguments.json).await,
        Some(ApprovalAction::List { json }) => list(&mut client, *json || arguments.json).await,
        Some(ApprovalAction::Approve(approve)) => {
            let scope = match approve.scope {
                ScopeName::Once => ApprovalScope::Once,
                ScopeName::Session => ApprovalScope::Session,
                ScopeName::Always => ApprovalScope::Always,
            };
            let request = ResolveApprovalRequest {
                approval_id: approve.id.clone(),
                approve: true,
                reason: approve.reason.clone(),
                scope: scope.into(),
            };
            resolve(&mut client, request, "approved").await
        }
        Some(ApprovalAction::Deny(deny)) => {
            let request = ResolveApprovalRequest {
                approval_id: deny.id.clone(),
                approve: false,
                reason: deny.reason.clone(),
                scope: ApprovalScope::Once.into(),
            };
            resolve(&mut client, request, "denied").await
        }
    }
}

async fn resolve(
    client: &mut Client,
    request: ResolveApprovalRequest,
    said: &str,
) -> Result<ExitCode, Failure> {
    client.resolve_approval(request).await?;
    eprintln!("shellglass: {said}");
    Ok(ExitCode::SUCCESS)
}

async fn list(client: &mut Client, as_json: bool) -> Result<ExitCode, Failure> {
    let waiting = client.list_approvals(Empty {}).await?.into_inner();
    if as_json {
        stdout::print_json(&json::value(&waiting))?;
        return Ok(ExitCode::SUCCESS);
    }
    if waiting.approvals.is_empty() {
        eprintln!("shellglass: nothing waits");
    }
    for approval in &waiting.approvals {
        stdout::print(&page(approval, now_ms()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a person has to see before the answer: the command, where it would run,
/// with which rights, and why there is a question.
pub(super) fn question(approval: &Approval) -> String {
    let mut page = String::new();
    for line in text::shown(&approval.command, COLUMNS) {
        page += &format!("  | {line}\n");
    }
    page += &format!("  in {}\n", text::visible(&approval.working_directory));
    let rights = approval.sandbox_policy.as_ref().map(rights);
    page += &format!("  with {}\n", rights.unwrap_or_default());
    page += "  because\n";
    for line in text::shown(&approval.reason, COLUMNS) {
        page += &format!("  : {line}\n");
    }
    match approval.prefixes.as_slice() {
        [] => page += "  only once, or word for word in its session\n",
        prefixes => {
            let prefixes: Vec<String> = prefixes
                .iter()
                .map(|prefix| format!("`{}`", text::visible(prefix)))
                .collect();
            let prefixes = prefixes.join(", ");
            page += &format!("  for its session, or always, it would be {prefixes}\n");
        }
    }
    page
}

fn page(approval: &Approval, now_ms: i64) -> String {
    let mut page = approval.approval_id.clone();
    for (what, text) in [
        ("session", &approval.session_id),
        ("task", &approval.task_id),
        ("asked by", &approval.asked_by),
    ] {
        if !text.is_empty() {
            page += &format!("  {what} {}", text::visible(text));
        }
    }
    let left = (approval.deadline_unix_ms - now_ms).max(0) / 1000;
    page += &format!("  {left} s left\n");
    page += &question(approval);
    page
}

/// The rights that a command would have, in words.
fn rights(policy: &SandboxPolicy) -> String {
    let files = match policy.r#type() {
        Type::InsecureNone | Type::Unspecified => return "no sandbox at all".to_owned(),
        Type::WorkspaceReadwrite => "a writable workspace",
        Type::WorkspaceReadonly => "a read-only workspace",
    };
    let mut text = files.to_owned();
    for path in &policy.additional_readwrite_paths {
        text += &format!(", writing {}", text::visible(path));
    }
    text += match policy.network_access {
        Some(true) => ", the network",
        _ => ", no network",
    };
    text
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::page;
    use glass_proto::shellglass::v1::Approval;

    #[test]
    fn nothing_in_a_command_hides_or_moves_anything() {
        let approval = Approval {
            approval_id: "ask-3".to_owned(),
            session_id: "s-1".to_owned(),
            command: "ls\n\u{1b}[2J\u{202e}rm -rf x\r<U+0041>".to_owned(),
            reason: "no rule allows it\n\u{1b}]0;title\u{7}".to_owned(),
            working_directory: "/w\u{9b}".to_owned(),
            deadline_unix_ms: 2_000,
            ..Approval::default()
        };
        assert_eq!(
            page(&approval, 0),
            "ask-3  session s-1  2 s left
  | ls
  | <U+001B>[2J<U+202E>rm -rf x<U+000D><U+003C>U+0041>
  in /w<U+009B>
  with \n  because
  : no rule allows it
  : <U+001B>]0;title<U+0007>
  only once, or word for word in its session
"
        );
    }
}
