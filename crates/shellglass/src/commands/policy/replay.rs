//! `policy replay`: what other rules would have said to the recorded history.
//! Nothing is run.

use super::{read, unusable};
use crate::cli::PolicyReplay;
use crate::client::{Client, Context, connect};
use crate::commands::{now_ms, time};
use crate::config::Level;
use crate::error::Failure;
use crate::stdout;
use glass_model::{Decision, Role, ShellKind, Verdict};
use glass_policy::{Command, Layer, RuleFile, RuleSet, decide, decide_known, text::visible};
use glass_proto::shellglass::v1::{
    AuditRecord, Execution, HistoryRequest, ListSessionsRequest, ReadAuditRequest, Session,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::process::ExitCode;
use tonic::Code;

/// What the audit says of an execution.
#[derive(Default)]
struct Recorded {
    asked_by: Option<Role>,
    decided: Option<(Verdict, String)>,
}

/// How many commands were allowed, asked about, denied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    allow: u64,
    ask: u64,
    deny: u64,
}

/// A command about which the answer would be another one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Difference {
    session: String,
    shell_id: u32,
    started_ms: i64,
    command: String,
    before: Verdict,
    before_by: String,
    after: Verdict,
    after_by: String,
}

/// Rules, and what became of everything that they were asked about.
struct Replay {
    built_in: RuleSet,
    rules: RuleSet,
    /// How closely agents and persons are looked at.
    agent: Level,
    person: Level,
    recorded: HashMap<u32, Recorded>,
    before: Counts,
    after: Counts,
    differences: Vec<Difference>,
}

/// Decides anew about every command of the history.
pub(super) async fn replay(arguments: &PolicyReplay) -> Result<ExitCode, Failure> {
    let context = Context::load()?;
    let policy = &context.loaded.settings.policy;
    let mut rules = policy.rules()?;
    if let Some(path) = &arguments.rules {
        let file = RuleFile::parse(&read(path)?).map_err(|error| unusable(path, &error))?;
        rules = rules.with(Layer::User, file);
    }
    let since_ms = arguments.since.map_or(0, |when| when.unix_ms(now_ms()));
    let mut client = connect(&context).await?;
    let mut replay = Replay {
        built_in: RuleSet::new(),
        rules,
        agent: policy.agent,
        person: policy.person,
        recorded: recorded(&mut client, since_ms).await?,
        before: Counts::default(),
        after: Counts::default(),
        differences: Vec::new(),
    };
    let all = ListSessionsRequest {
        include_disposed: true,
    };
    for session in client.list_sessions(all).await?.into_inner().sessions {
        for execution in executions(&mut client, &session).await? {
            if execution.started_unix_ms >= since_ms {
                replay.decide(&session, &execution);
            }
        }
    }
    if arguments.json {
        stdout::print_json(&replay.value())?;
    } else {
        stdout::print(&replay.page())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Who asked for each execution and what was decided about it, as far as the
/// audit has it.
async fn recorded(
    client: &mut Client,
    since_unix_ms: i64,
) -> Result<HashMap<u32, Recorded>, Failure> {
    let request = ReadAuditRequest {
        since_unix_ms,
        ..ReadAuditRequest::default()
    };
    let mut records = client.read_audit(request).await?.into_inner();
    let mut found: HashMap<u32, Recorded> = HashMap::new();
    while let Some(record) = records.message().await? {
        found.entry(record.shell_id).or_default().add(record);
    }
    Ok(found)
}

async fn executions(client: &mut Client, session: &Session) -> Result<Vec<Execution>, Failure> {
    let request = HistoryRequest {
        session_id: session.session_id.clone(),
        omit_events: true,
        ..HistoryRequest::default()
    };
    match client.get_session_history(request).await {
        Ok(history) => Ok(history.into_inner().executions),
        // It was forgotten since we asked which there are.
        Err(status) if status.code() == Code::NotFound => Ok(Vec::new()),
        Err(status) => Err(status.into()),
    }
}

impl Replay {
    fn decide(&mut self, session: &Session, execution: &Execution) {
        let name = session.shell.rsplit('/').next().unwrap_or_default();
        let command = Command::parse(&execution.command, ShellKind::of_program(name));
        let recorded = self.recorded.get(&execution.shell_id);
        let level = match recorded.and_then(|recorded| recorded.asked_by) {
            Some(Role::Person) => self.person,
            Some(Role::Agent) => self.agent,
            None => Level::Ask,
        };
        let (mut after, mut after_by) = judged(&command, &self.rules, level);
        let (before, before_by) = match recorded.and_then(Recorded::by_rules) {
            Some((verdict, by)) => {
                // What these rules have no say in is said again.
                if is_elsewhere(by) && verdict > after {
                    (after, after_by) = (verdict, by.to_owned());
                }
                (verdict, by.to_owned())
            }
            None => judged(&command, &self.built_in, level),
        };
        self.before.count(before);
        self.after.count(after);
        if before != after {
            self.differences.push(Difference {
                session: session.session_id.clone(),
                shell_id: execution.shell_id,
                started_ms: execution.started_unix_ms,
                command: execution.command.clone(),
                before,
                before_by,
                after,
                after_by,
            });
        }
    }

    fn page(&self) -> String {
        let mut page = String::new();
        for difference in &self.differences {
            page.push_str(&format!(
                "{:>5} -> {:<5}  {}  {}  {:>6}  {} (was: {}; now: {})\n",
                difference.before.name(),
                difference.after.name(),
                time(difference.started_ms),
                difference.session,
                difference.shell_id,
                visible(&difference.command),
                visible(&difference.before_by),
                visible(&difference.after_by),
            ));
        }
        let (before, after) = (self.before, self.after);
        page.push_str(&format!(
            "{} commands, {} would be decided otherwise\n\
             allow {} -> {}, ask {} -> {}, deny {} -> {}\n",
            before.all(),
            self.differences.len(),
            before.allow,
            after.allow,
            before.ask,
            after.ask,
            before.deny,
            after.deny,
        ));
        page
    }

    fn value(&self) -> Value {
        let differences = self.differences.iter().map(|difference| {
            json!({
                "sessionId": difference.session,
                "shellId": difference.shell_id,
                "startedUnixMs": difference.started_ms.to_string(),
                "command": difference.command,
                "before": difference.before.name(),
                "beforeBy": difference.before_by,
                "after": difference.after.name(),
                "afterBy": difference.after_by,
            })
        });
        json!({
            "commands": self.before.all(),
            "before": self.before.value(),
            "after": self.after.value(),
            "differences": differences.collect::<Vec<Value>>(),
        })
    }
}

impl Recorded {
    fn add(&mut self, record: AuditRecord) {
        self.asked_by = match record.asked_by.split(':').next() {
            Some("person") => Some(Role::Person),
            Some("agent") => Some(Role::Agent),
            _ => self.asked_by,
        };
        let Some(verdict) = verdict_of(&record.decision) else {
            return;
        };
        // Where several had a say, the strictest won.
        if self
            .decided
            .as_ref()
            .is_none_or(|(known, _)| verdict > *known)
        {
            self.decided = Some((verdict, record.decided_by));
        }
    }

    /// What the rules had said: what ran because somebody had answered before,
    /// or because nobody was to be asked, was a question to them.
    fn by_rules(&self) -> Option<(Verdict, &str)> {
        let (verdict, by) = self.decided.as_ref()?;
        let was_question = by.starts_with("remembered") || by.starts_with("approval left out");
        let verdict = if was_question { Verdict::Ask } else { *verdict };
        Some((verdict, by))
    }
}

/// Whether it was said by hooks, or by files of a project, which may have changed
/// since.
fn is_elsewhere(by: &str) -> bool {
    ["hook", "ignore file", "project"]
        .iter()
        .any(|who| by.starts_with(who))
}

/// What rules say to somebody who is looked at this closely.
fn judged(command: &Command, rules: &RuleSet, level: Level) -> (Verdict, String) {
    let decision = match level {
        Level::Ask => decide(command, rules),
        Level::Deny => decide_known(command, rules),
        Level::Off => return (Verdict::Allow, "unchecked".to_owned()),
    };
    (decision.verdict, decided_by(&decision))
}

impl Counts {
    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Allow => self.allow += 1,
            Verdict::Ask => self.ask += 1,
            Verdict::Deny => self.deny += 1,
        }
    }

    fn all(self) -> u64 {
        self.allow + self.ask + self.deny
    }

    fn value(self) -> Value {
        json!({"allow": self.allow, "ask": self.ask, "deny": self.deny})
    }
}

/// The rule behind a decision, or else why there is none.
fn decided_by(decision: &Decision) -> String {
    match decision.reasons.first() {
        Some(reason) => reason.rule.clone().unwrap_or_else(|| reason.why.clone()),
        None => "no rule".to_owned(),
    }
}

fn verdict_of(name: &str) -> Option<Verdict> {
    [Verdict::Allow, Verdict::Ask, Verdict::Deny]
        .into_iter()
        .find(|verdict| verdict.name() == name)
}

#[cfg(test)]
mod tests {
    use super::{Counts, Recorded, Replay};
    use crate::config::Level;
    use glass_model::Verdict;
    use glass_policy::{Layer, RuleFile, RuleSet};
    use glass_proto::shellglass::v1::{AuditRecord, Execution, Session};
    use std::collections::HashMap;

    const RULES: &str = "[[rule]]\nprefix = [\"git\", \"push\"]\ndecision = \"allow\"\n\
         reason = \"Ours to push.\"\nmatch = [\"git push\"]\n";

    fn said(asked_by: &str, verdict: &str, by: &str) -> AuditRecord {
        AuditRecord {
            asked_by: asked_by.to_owned(),
            decision: verdict.to_owned(),
            decided_by: by.to_owned(),
            ..AuditRecord::default()
        }
    }

    /// What became of commands, the first of which have these records.
    fn replayed(records: Vec<AuditRecord>, commands: &[&str]) -> Replay {
        let file = RuleFile::parse(RULES).expect("rules");
        let mut recorded: HashMap<u32, Recorded> = HashMap::new();
        for (record, shell_id) in records.into_iter().zip(1..) {
            recorded.entry(shell_id).or_default().add(record);
        }
        let mut replay = Replay {
            built_in: RuleSet::new(),
            rules: RuleSet::new().with(Layer::User, file),
            agent: Level::Ask,
            person: Level::Deny,
            recorded,
            before: Counts::default(),
            after: Counts::default(),
            differences: Vec::new(),
        };
        let session = Session {
            session_id: "s-a".to_owned(),
            shell: "/bin/bash".to_owned(),
            ..Session::default()
        };
        for (command, shell_id) in commands.iter().zip(1..) {
            let execution = Execution {
                command: (*command).to_owned(),
                shell_id,
                ..Execution::default()
            };
            replay.decide(&session, &execution);
        }
        replay
    }

    #[test]
    fn only_what_the_rules_change_is_told() {
        let replay = replayed(Vec::new(), &["git status", "git push", "curl example.org"]);
        let page = replay.page();
        assert!(page.starts_with("  ask -> allow  "), "{page}");
        assert!(page.contains("git push (was: "), "{page}");
        assert!(page.contains("now: user: git push"), "{page}");
        let totals = "3 commands, 1 would be decided otherwise\n\
                      allow 1 -> 2, ask 2 -> 1, deny 0 -> 0\n";
        assert!(page.ends_with(totals), "{page}");
        assert_eq!(replay.value()["differences"][0]["shellId"], 2);
    }

    fn changed(replay: &Replay) -> Vec<(u32, Verdict, Verdict)> {
        let differences = replay.differences.iter();
        differences
            .map(|one| (one.shell_id, one.before, one.after))
            .collect()
    }

    #[test]
    fn what_was_recorded_counts_as_before() {
        let records = vec![
            said("agent:t", "allow", "unchecked"),
            said("agent", "ask", "no rule"),
            said("agent", "allow", "remembered for this session"),
        ];
        let replay = replayed(
            records,
            &["curl example.org", "git push", "curl example.org"],
        );
        assert_eq!(
            changed(&replay),
            [
                (1, Verdict::Allow, Verdict::Ask),
                (2, Verdict::Ask, Verdict::Allow)
            ]
        );
    }

    #[test]
    fn a_person_is_looked_at_as_persons_are() {
        let records = vec![said("person", "allow", "no rule")];
        let replay = replayed(records, &["curl example.org"]);
        assert_eq!(changed(&replay), []);
    }

    #[test]
    fn a_hook_says_the_same_under_other_rules() {
        let records = vec![said("agent", "deny", "hook: guard")];
        let replay = replayed(records, &["git push"]);
        assert_eq!(changed(&replay), []);
        assert_eq!((replay.before.deny, replay.after.deny), (1, 1));
    }
}
