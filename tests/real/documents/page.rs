//! What a page of the documentation asks for.
//!
//! Two kinds of fenced blocks are run: `sh`, whose command lines must succeed
//! (or end as a comment says: `# exits with 3`), and `console`, where what
//! follows a `$ command` is what it prints. An HTML comment in front of a block
//! can have commands of its own (`<!-- before:`) or say why the block is not run
//! (`<!-- not run: REASON -->`).

use super::reader;

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) name: String,
    pub(super) blocks: Vec<Block>,
    /// Code in running text, with its line.
    pub(super) spans: Vec<(usize, String)>,
    /// Where links lead, with their line.
    pub(super) links: Vec<(usize, String)>,
}

/// A block of command lines.
#[derive(Debug)]
pub(super) enum Block {
    Run { section: String, steps: Vec<Step> },
    NotRun { line: usize, reason: String },
}

impl Page {
    /// The part of it below one heading.
    pub(super) fn section(mut self, wanted: &str) -> Page {
        let is_there =
            |block: &Block| matches!(block, Block::Run { section, .. } if section == wanted);
        self.blocks.retain(is_there);
        assert!(!self.blocks.is_empty(), "{} has no {wanted:?}", self.name);
        self
    }
}

impl Block {
    /// What is run of it.
    pub(super) fn steps(&self) -> &[Step] {
        match self {
            Block::Run { steps, .. } => steps,
            Block::NotRun { .. } => &[],
        }
    }
}

/// A command and what is promised about it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) line: usize,
    pub(super) command: String,
    pub(super) status: i32,
    /// What it prints; nothing is promised where nothing is shown.
    pub(super) shown: Option<Vec<String>>,
}

impl Page {
    /// Reads a page.
    pub(super) fn read(name: &str, text: &str) -> Result<Page, String> {
        let mut page = Page {
            name: name.to_owned(),
            blocks: Vec::new(),
            spans: Vec::new(),
            links: Vec::new(),
        };
        let mut before = Vec::new();
        let mut reason = None;
        let mut section = String::new();
        let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
        while let Some((at, line)) = lines.next() {
            if let Some(first) = line.strip_prefix("<!-- ") {
                let said = until(&mut lines, first, "-->");
                if let Some(why) = said.strip_prefix("not run:") {
                    reason = Some(why.trim().to_owned());
                } else if let Some(commands) = said.strip_prefix("before:") {
                    before = steps_of_sh(at, commands)?;
                }
            } else if let Some(language) = line.trim_start().strip_prefix("```") {
                let body: Vec<(usize, &str)> = lines
                    .by_ref()
                    .take_while(|(_, line)| line.trim() != "```")
                    .collect();
                let steps = match language {
                    "sh" => steps_of_sh(at, &joined(&body))?,
                    "console" => steps_of_console(&body),
                    _ => continue,
                };
                if steps.is_empty() {
                    return Err(format!("{name}:{at}: a block without a command"));
                }
                page.blocks.push(match reason.take() {
                    Some(reason) => Block::NotRun { line: at, reason },
                    None => Block::Run {
                        section: section.clone(),
                        steps: before.drain(..).chain(steps).collect(),
                    },
                });
            } else {
                if let Some(heading) = line.strip_prefix("## ") {
                    heading.clone_into(&mut section);
                }
                page.spans.extend(reader::spans(at, line));
                page.links.extend(reader::links(at, line));
            }
        }
        if reason.is_some() || !before.is_empty() {
            return Err(format!("{name}: a comment without its block"));
        }
        Ok(page)
    }
}

fn joined(body: &[(usize, &str)]) -> String {
    body.iter().map(|(_, line)| format!("\n{line}")).collect()
}

/// The text up to a mark that may stand on a later line.
fn until<'a>(lines: &mut impl Iterator<Item = (usize, &'a str)>, first: &str, end: &str) -> String {
    let mut text = first.to_owned();
    while !text.contains(end) {
        let Some((_, line)) = lines.next() else { break };
        text.push('\n');
        text.push_str(line);
    }
    text.split(end).next().unwrap_or_default().to_owned()
}

/// The commands of a script, each as many lines as the shell needs.
fn steps_of_sh(at: usize, text: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut command = String::new();
    for (offset, line) in text.lines().enumerate() {
        let is_blank = line.trim().is_empty() || line.trim_start().starts_with('#');
        if command.is_empty() && is_blank {
            continue;
        }
        command.push_str(line);
        command.push('\n');
        if !reader::is_complete(&command) {
            continue;
        }
        let command = std::mem::take(&mut command);
        steps.push(Step {
            line: at + offset,
            status: promised_status(&command),
            command,
            shown: None,
        });
    }
    if command.is_empty() {
        Ok(steps)
    } else {
        Err(format!("line {at}: this has no end:\n{command}"))
    }
}

/// The commands of a dialogue and what is shown after each.
fn steps_of_console(body: &[(usize, &str)]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, line) in body {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                line: *at,
                command: format!("{command}\n"),
                status: promised_status(command),
                shown: None,
            });
        } else if let Some(step) = steps.last_mut() {
            step.shown.get_or_insert_default().push((*line).to_owned());
        }
    }
    steps
}

fn promised_status(command: &str) -> i32 {
    let comment = command.rsplit_once('#').map_or("", |(_, comment)| comment);
    let promise = comment.split("exits with ").nth(1);
    let number = promise.map(|rest| rest.chars().take_while(char::is_ascii_digit));
    number.map_or(0, |digits| {
        digits.collect::<String>().parse().expect("a status")
    })
}
