//! `audit`: who asked, what was decided, what ran; and whether that was
//! tampered with.

use crate::cli::{Audit, AuditCommand, AuditVerify};
use crate::client::{Client, Context, connect};
use crate::commands::{now_ms, time};
use crate::error::{Failure, Kind};
use crate::stdout::{self, Reader};
use glass_policy::text::visible;
use glass_proto::json;
use glass_proto::shellglass::v1::audit_record::What;
use glass_proto::shellglass::v1::{
    AuditRecord, ReadAuditRequest, VerifyAuditRequest, VerifyAuditResponse,
};
use std::process::ExitCode;

/// Prints the audit, or verifies it.
pub(super) async fn audit(arguments: &Audit) -> Result<ExitCode, Failure> {
    let mut client = connect(&Context::load()?).await?;
    match &arguments.command {
        Some(AuditCommand::Verify(arguments)) => verify(&mut client, arguments).await,
        None => list(&mut client, arguments).await,
    }
}

async fn list(client: &mut Client, arguments: &Audit) -> Result<ExitCode, Failure> {
    let request = ReadAuditRequest {
        since_unix_ms: arguments.since.map_or(0, |when| when.unix_ms(now_ms())),
        session_id: arguments.session.clone().unwrap_or_default(),
        limit: arguments.newest.unwrap_or(0),
    };
    let mut records = client.read_audit(request).await?.into_inner();
    while let Some(record) = records.message().await? {
        let text = if arguments.json {
            format!("{}\n", json::value(&record))
        } else {
            line(&record)
        };
        if stdout::write(text.as_bytes())? == Reader::Gone {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// One entry on one line: its number, when, which session and execution, who
/// asked, what happened. Nothing in it moves the cursor.
fn line(record: &AuditRecord) -> String {
    let session = match record.session_id.as_str() {
        "" => "-",
        id => id,
    };
    let mut line = format!(
        "{:>6}  {}  {}  {:>6}  {}  {}",
        record.number,
        time(record.unix_ms),
        visible(session),
        record.shell_id,
        visible(&record.asked_by),
        visible(&what(record)),
    );
    if !record.command.is_empty() {
        line.push_str(&format!(": {}", visible(&record.command)));
    }
    if !record.detail.is_empty() {
        line.push_str(&format!(" ({})", visible(&record.detail)));
    }
    line.push('\n');
    line
}

fn what(record: &AuditRecord) -> String {
    match &record.what {
        Some(What::Decided(decided)) => {
            format!(
                "{} by {}{}",
                decided.verdict,
                decided.by,
                because(&decided.reason)
            )
        }
        Some(What::Asked(asked)) => {
            let until = match asked.deadline_unix_ms {
                0 => String::new(),
                deadline => format!(" until {}", time(deadline)),
            };
            format!(
                "asked {}{until}{}",
                asked.approval_id,
                because(&asked.reason)
            )
        }
        Some(What::Answered(answered)) => {
            let verb = if answered.approved {
                "approved"
            } else {
                "refused"
            };
            let scope = match answered.scope.as_str() {
                "" => String::new(),
                scope => format!(" ({scope})"),
            };
            let (id, by) = (&answered.approval_id, &answered.by);
            format!("{verb} {id} by {by}{scope}{}", because(&answered.reason))
        }
        Some(What::Ran(ran)) => format!("ran in {} (sandbox {})", ran.cwd, ran.sandbox),
        Some(What::Ended(ended)) => match ended.exit_code {
            Some(code) => format!("ended {code} ({})", ended.how),
            None => format!("ended ({})", ended.how),
        },
        None => "something that this program does not know".to_owned(),
    }
}

fn because(reason: &str) -> String {
    if reason.is_empty() {
        String::new()
    } else {
        format!(", because {reason}")
    }
}

async fn verify(client: &mut Client, arguments: &AuditVerify) -> Result<ExitCode, Failure> {
    let (noted_number, noted_hash) = arguments.noted.clone().unwrap_or_default();
    let request = VerifyAuditRequest {
        noted_number,
        noted_hash,
    };
    let answer = client.verify_audit(request).await?.into_inner();
    if arguments.json {
        stdout::print_json(&json::value(&answer))?;
    } else if answer.broken.is_none() {
        stdout::print(&holding(&answer))?;
    }
    match answer.broken {
        None => Ok(ExitCode::SUCCESS),
        Some(broken) => {
            let message = format!(
                "the audit is broken at entry {}: {}; {} before it hold",
                broken.number,
                visible(&broken.why),
                answer.entries
            );
            Err(Failure::new(Kind::Failed, message).hint(
                "somebody wrote to the database besides the daemon; compare with a copy of \
                 journal.db, and keep this one",
            ))
        }
    }
}

fn holding(answer: &VerifyAuditResponse) -> String {
    let kept = match answer.entries {
        0 => "no entries".to_owned(),
        1 => format!("1 entry ({}), as it was written", answer.last),
        count => format!(
            "{count} entries ({} to {}), all as they were written",
            answer.first, answer.last
        ),
    };
    format!("{kept}\nhead {}:{}\n", answer.last, answer.head_hash)
}

/// The number and the hash that `audit verify` has printed.
pub(crate) fn noted(text: &str) -> Result<(u64, String), String> {
    let expected = || "expected what 'audit verify' prints as the head, NUMBER:HASH".to_owned();
    let (number, hash) = text.split_once(':').ok_or_else(expected)?;
    let number = number.parse().map_err(|_| expected())?;
    let hash: glass_model::AuditHash = hash
        .parse()
        .map_err(|error| format!("{}: {error}", expected()))?;
    Ok((number, hash.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{line, noted};
    use glass_proto::shellglass::v1::audit_record::What;
    use glass_proto::shellglass::v1::{
        AuditAnswered, AuditAsked, AuditDecided, AuditEnded, AuditRan, AuditRecord,
    };

    fn check(what: What, command: &str, expected: &str) {
        let record = AuditRecord {
            number: 7,
            session_id: "s-a".to_owned(),
            shell_id: 3,
            asked_by: "agent:t".to_owned(),
            command: command.to_owned(),
            what: Some(what),
            ..AuditRecord::default()
        };
        let expected = format!("     7  1970-01-01 00:00:00Z  s-a       3  agent:t  {expected}\n");
        assert_eq!(line(&record), expected);
    }

    #[test]
    fn an_entry_is_one_line_and_moves_no_cursor() {
        let ran = AuditRan {
            cwd: "/a\nb".to_owned(),
            sandbox: "none".to_owned(),
        };
        check(
            What::Ran(ran),
            "echo \u{1b}[2J\u{202e}\nls",
            "ran in /a\\nb (sandbox none): echo <U+001B>[2J<U+202E>\\nls",
        );
    }

    #[test]
    fn every_kind_has_its_words() {
        let decided = AuditDecided {
            verdict: "deny".to_owned(),
            by: "built-in: rm".to_owned(),
            reason: "it removes files".to_owned(),
        };
        check(
            What::Decided(decided),
            "rm -rf /",
            "deny by built-in: rm, because it removes files: rm -rf /",
        );
        let asked = AuditAsked {
            approval_id: "a-1".to_owned(),
            reason: "no rule".to_owned(),
            deadline_unix_ms: 1000,
        };
        check(
            What::Asked(asked),
            "",
            "asked a-1 until 1970-01-01 00:00:01Z, because no rule",
        );
        let answered = AuditAnswered {
            approval_id: "a-1".to_owned(),
            approved: false,
            by: "deadline".to_owned(),
            ..AuditAnswered::default()
        };
        check(What::Answered(answered), "", "refused a-1 by deadline");
        let ended = AuditEnded {
            exit_code: Some(3),
            how: "exited".to_owned(),
        };
        check(What::Ended(ended), "", "ended 3 (exited)");
    }

    #[test]
    fn a_noted_head_is_a_number_and_a_hash() {
        let hash = "ab".repeat(32);
        assert_eq!(noted(&format!("12:{hash}")), Ok((12, hash.clone())));
        for bad in ["", "12", &hash, "x:", &format!("12:{}", &hash[1..])] {
            assert!(noted(bad).is_err(), "{bad}");
        }
    }
}
