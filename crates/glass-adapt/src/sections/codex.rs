//! Events of `codex exec --json`.

use super::page::{Page, count, text, tokens};
use serde_json::Value;

/// Shows an event. None where it is not known.
pub(super) fn show(event: &Value, page: &mut Page) -> Option<()> {
    match text(event, "type")? {
        "thread.started" => page.line("session", text(event, "thread_id")?),
        "turn.started" => {}
        "turn.completed" => {
            let usage = event.get("usage")?;
            let used = tokens(
                count(usage, "input_tokens"),
                count(usage, "cached_input_tokens"),
                count(usage, "output_tokens"),
            );
            page.line("usage", &used);
        }
        "turn.failed" => page.line("error", text(event.get("error")?, "message")?),
        "error" => page.line("error", text(event, "message")?),
        "item.started" => started(event.get("item")?, page)?,
        "item.updated" => updated(event.get("item")?, page)?,
        "item.completed" => completed(event.get("item")?, page)?,
        _ => return None,
    }
    Some(())
}

fn started(item: &Value, page: &mut Page) -> Option<()> {
    match kind(item)? {
        "command_execution" => page.line("command", text(item, "command")?),
        "mcp_tool_call" => {
            let arguments = item.get("arguments").filter(|it| !it.is_null());
            let arguments = arguments.map(Value::to_string).unwrap_or_default();
            let called = format!("{} {arguments}", name_of(item)?);
            page.line("tool", called.trim_end());
        }
        "todo_list" => plan(item, page)?,
        // The others say everything when they are completed.
        "agent_message" | "reasoning" | "file_change" | "web_search" | "error" => {}
        _ => return None,
    }
    Some(())
}

fn updated(item: &Value, page: &mut Page) -> Option<()> {
    match kind(item)? {
        "todo_list" => plan(item, page)?,
        "command_execution" | "mcp_tool_call" | "agent_message" | "reasoning" => {}
        _ => return None,
    }
    Some(())
}

fn completed(item: &Value, page: &mut Page) -> Option<()> {
    match kind(item)? {
        "agent_message" => {
            let said = text(item, "text")?;
            page.line("assistant", "");
            page.body(said);
        }
        "reasoning" => {
            let thought = text(item, "text")?;
            page.line("reasoning", "");
            page.body(thought);
        }
        "command_execution" => {
            let command = text(item, "command")?;
            let end = match item.get("exit_code").and_then(Value::as_i64) {
                Some(code) => format!("exit {code}"),
                None => text(item, "status").unwrap_or("ended").to_owned(),
            };
            page.line(&end, command);
            page.short_body(text(item, "aggregated_output").unwrap_or_default());
        }
        "file_change" => {
            let changes = item.get("changes")?.as_array()?;
            let lines = changes.iter().filter_map(|change| {
                Some(format!(
                    "{} {}",
                    text(change, "kind")?,
                    text(change, "path")?
                ))
            });
            let lines: Vec<String> = lines.collect();
            page.line("files", text(item, "status").unwrap_or_default());
            page.short_body(&lines.join("\n"));
        }
        "mcp_tool_call" => ended_call(item, page)?,
        "web_search" => page.line("search", text(item, "query")?),
        "todo_list" => plan(item, page)?,
        "error" => page.line("error", text(item, "message")?),
        _ => return None,
    }
    Some(())
}

fn ended_call(item: &Value, page: &mut Page) -> Option<()> {
    let error = item.get("error").filter(|error| !error.is_null());
    if let Some(error) = error {
        let message = text(error, "message").unwrap_or("failed");
        page.line("error", &format!("{}: {message}", name_of(item)?));
        return Some(());
    }
    page.line("tool result", &name_of(item)?);
    let contents = item
        .get("result")
        .and_then(|it| it.get("content")?.as_array());
    for content in contents.into_iter().flatten() {
        page.short_body(text(content, "text").unwrap_or_default());
    }
    Some(())
}

fn plan(item: &Value, page: &mut Page) -> Option<()> {
    let steps = item.get("items")?.as_array()?;
    let steps = steps.iter().filter_map(|step| {
        let is_done = step.get("completed").and_then(Value::as_bool);
        let mark = if is_done == Some(true) { 'x' } else { ' ' };
        Some(format!("[{mark}] {}", text(step, "text")?))
    });
    let steps: Vec<String> = steps.collect();
    page.line("plan", "");
    page.short_body(&steps.join("\n"));
    Some(())
}

/// The kind of an item; older versions call it `item_type`.
fn kind(item: &Value) -> Option<&str> {
    text(item, "type").or_else(|| text(item, "item_type"))
}

fn name_of(item: &Value) -> Option<String> {
    Some(format!("{}.{}", text(item, "server")?, text(item, "tool")?))
}
