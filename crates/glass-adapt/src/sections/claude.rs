//! Events of `claude -p --output-format stream-json`.

use super::page::{Page, count, text, tokens};
use serde_json::Value;

/// Shows an event. None where it is not known.
pub(super) fn show(event: &Value, page: &mut Page) -> Option<()> {
    match text(event, "type")? {
        "system" if text(event, "subtype")? == "init" => {
            let mut session = text(event, "session_id")?.to_owned();
            if let Some(model) = text(event, "model") {
                session += &format!(", model {model}");
            }
            page.line("session", &session);
        }
        "assistant" => blocks(event, page, said)?,
        "user" => blocks(event, page, answered)?,
        "result" => result(event, page)?,
        _ => return None,
    }
    Some(())
}

/// Shows what a message consists of; all of it or nothing.
fn blocks(event: &Value, page: &mut Page, show: fn(&Value, &mut Page) -> Option<()>) -> Option<()> {
    match event.get("message")?.get("content")? {
        Value::Array(blocks) => blocks
            .iter()
            .try_for_each(|block| show(block, page).ok_or(()))
            .ok(),
        Value::String(whole) => {
            page.line(text(event, "type")?, "");
            page.body(whole);
            Some(())
        }
        _ => None,
    }
}

fn said(block: &Value, page: &mut Page) -> Option<()> {
    match text(block, "type")? {
        "text" => {
            let said = text(block, "text")?;
            page.line("assistant", "");
            page.body(said);
        }
        "thinking" => {
            let thought = text(block, "thinking")?;
            page.line("reasoning", "");
            page.body(thought);
        }
        "redacted_thinking" => page.line("reasoning", "hidden"),
        "tool_use" => {
            let (name, input) = (text(block, "name")?, block.get("input")?);
            match text(input, "command").filter(|_| name == "Bash") {
                Some(command) => page.line("command", command),
                None => page.line("tool", &format!("{name} {input}")),
            }
        }
        _ => return None,
    }
    Some(())
}

fn answered(block: &Value, page: &mut Page) -> Option<()> {
    match text(block, "type")? {
        "text" => {
            let said = text(block, "text")?;
            page.line("user", "");
            page.body(said);
        }
        "tool_result" => {
            let failed = block.get("is_error").and_then(Value::as_bool) == Some(true);
            page.line(if failed { "tool error" } else { "tool result" }, "");
            match block.get("content") {
                Some(Value::String(whole)) => page.short_body(whole),
                Some(Value::Array(parts)) => {
                    for part in parts {
                        let kind = text(part, "type").unwrap_or("something");
                        match text(part, "text") {
                            Some(text) => page.short_body(text),
                            None => page.short_body(&format!("({kind})")),
                        }
                    }
                }
                _ => {}
            }
        }
        _ => return None,
    }
    Some(())
}

fn result(event: &Value, page: &mut Page) -> Option<()> {
    let subtype = text(event, "subtype")?;
    let failed = event.get("is_error").and_then(Value::as_bool) == Some(true);
    let name = if failed || subtype != "success" {
        "error"
    } else {
        "result"
    };
    let turns = count(event, "num_turns");
    let seconds = count(event, "duration_ms") / 1000;
    page.line(name, &format!("{subtype}, {turns} turns, {seconds} s"));
    page.body(text(event, "result").unwrap_or_default());
    if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
        let cached = count(usage, "cache_read_input_tokens");
        let made = count(usage, "cache_creation_input_tokens");
        let input = count(usage, "input_tokens")
            .saturating_add(cached)
            .saturating_add(made);
        let mut used = tokens(input, cached, count(usage, "output_tokens"));
        if let Some(cost) = event.get("total_cost_usd").and_then(Value::as_f64) {
            used += &format!(", ${cost:.4}");
        }
        page.line("usage", &used);
    }
    Some(())
}
