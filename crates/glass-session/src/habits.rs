//! What is set for the shells of sessions: whether interactive ones are made to tell
//! what they do, how long they may take, and variables by which shells and what
//! people load into them know of us. Pure.

use crate::context::{set_variable, variable_name};
use glass_model::{Shell, ShellKind};
use std::borrow::Cow;
use std::time::Duration;

/// The longest pause after a command, in milliseconds.
pub const DELAY_MS_MAX: u32 = 60_000;

/// The longest time for integration to come up, in milliseconds.
pub const INTEGRATION_MS_MAX: u32 = 600_000;

/// What tells a command line of PowerShell to count, and to pause: its shell is told
/// by what is appended, and we by the session's environment.
const COUNTER: &str = "SHELLGLASS_POWERSHELL_COUNTER";
const PAUSE: &str = "SHELLGLASS_PROMPT_DELAY_MS";

/// What is said of a shell for which we have no script.
pub(crate) const SPEECHLESS: &str = "this shell does not mark its commands";

/// What is set for shells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    /// Whether shells on terminals are made to mark their commands.
    pub integration: bool,
    /// How long that may take before a command runs without it.
    pub integration_ms: u32,
    /// Whether zsh may be reached through `ZDOTDIR`, the only way that there is.
    pub zdotdir: bool,
    /// Whether zsh marks no line that has no end.
    pub clears_eol_mark: bool,
    /// Whether Oh My Zsh leaves its own integration out.
    pub oh_my_zsh: bool,
    /// Whether Powerlevel10k marks its prompts.
    pub powerlevel10k: bool,
    /// How long a shell pauses after a command.
    pub delay_ms: u32,
    /// Whether PowerShell is given a different line each time.
    pub powershell_counter: bool,
}

impl Default for Habits {
    fn default() -> Habits {
        Habits {
            integration: true,
            integration_ms: 30_000,
            zdotdir: true,
            clears_eol_mark: true,
            oh_my_zsh: true,
            powerlevel10k: false,
            delay_ms: 0,
            powershell_counter: false,
        }
    }
}

/// What the maker of a session wants otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HabitWish {
    /// As in [`Habits`]; none is as configured.
    pub integration: Option<bool>,
    /// As in [`Habits`].
    pub integration_ms: Option<u32>,
    /// As in [`Habits`].
    pub zdotdir: Option<bool>,
    /// As in [`Habits`].
    pub clears_eol_mark: Option<bool>,
    /// As in [`Habits`].
    pub oh_my_zsh: Option<bool>,
    /// As in [`Habits`].
    pub powerlevel10k: Option<bool>,
    /// As in [`Habits`].
    pub delay_ms: Option<u32>,
    /// As in [`Habits`].
    pub powershell_counter: Option<bool>,
}

impl Habits {
    /// These, but for what somebody wants otherwise.
    pub(crate) fn with(self, wish: &HabitWish) -> Habits {
        Habits {
            integration: wish.integration.unwrap_or(self.integration),
            integration_ms: wish.integration_ms.unwrap_or(self.integration_ms),
            zdotdir: wish.zdotdir.unwrap_or(self.zdotdir),
            clears_eol_mark: wish.clears_eol_mark.unwrap_or(self.clears_eol_mark),
            oh_my_zsh: wish.oh_my_zsh.unwrap_or(self.oh_my_zsh),
            powerlevel10k: wish.powerlevel10k.unwrap_or(self.powerlevel10k),
            delay_ms: wish.delay_ms.unwrap_or(self.delay_ms),
            powershell_counter: wish.powershell_counter.unwrap_or(self.powershell_counter),
        }
    }

    /// Why a shell is not made to mark its commands; none where it is.
    pub(crate) fn silence(&self, shell: &Shell) -> Option<&'static str> {
        match shell.kind {
            ShellKind::Posix | ShellKind::Other => Some(SPEECHLESS),
            _ if !self.integration => Some("it is switched off"),
            ShellKind::Zsh if !self.zdotdir => Some("the way through ZDOTDIR is switched off"),
            _ => None,
        }
    }

    /// How long integration may take.
    pub(crate) fn integration_wait(&self) -> Duration {
        let ms = self.integration_ms.min(INTEGRATION_MS_MAX);
        Duration::from_millis(u64::from(ms))
    }

    /// Sets the variables by which shells know of it.
    pub(crate) fn apply(&self, env: &mut Vec<Vec<u8>>) {
        if self.clears_eol_mark {
            set_variable(env, "PROMPT_EOL_MARK", "");
        }
        if self.oh_my_zsh {
            set_variable(env, "ITERM_SHELL_INTEGRATION_INSTALLED", "Yes");
        }
        if self.powerlevel10k {
            set_variable(env, "POWERLEVEL9K_TERM_SHELL_INTEGRATION", "true");
        }
        let delay_ms = self.delay_ms.min(DELAY_MS_MAX);
        if delay_ms > 0 {
            let seconds = f64::from(delay_ms) / 1000.0;
            set_variable(env, "PROMPT_COMMAND", &format!("sleep {seconds}"));
            set_variable(env, PAUSE, &delay_ms.to_string());
        }
        if self.powershell_counter {
            set_variable(env, COUNTER, "1");
        }
    }
}

/// What PowerShell is given instead of a command, as its session's environment says:
/// a number that makes each line another, and a pause. Whether the command succeeded
/// stays the last word. Other shells are given the command. Untested in PowerShell.
pub(crate) fn appended<'a>(
    shell: &Shell,
    env: &[Vec<u8>],
    command: &'a str,
    number: u32,
) -> Cow<'a, str> {
    let value = |name: &str| {
        let mut all = env.iter();
        let entry = all.find(|entry| variable_name(entry) == name.as_bytes())?;
        std::str::from_utf8(entry.get(name.len() + 1..)?).ok()
    };
    let counts = value(COUNTER) == Some("1");
    let pause_ms: u32 = value(PAUSE).and_then(|ms| ms.parse().ok()).unwrap_or(0);
    if !is_powershell(&shell.path) || (!counts && pause_ms == 0) {
        return Cow::Borrowed(command);
    }
    let mut line = format!("{command}\n$GlassDone = $?\n");
    if counts {
        line.push_str(&format!("\"(Shellglass: {number})\" > $null\n"));
    }
    if pause_ms > 0 {
        let ms = pause_ms.min(DELAY_MS_MAX);
        line.push_str(&format!("start-sleep -milliseconds {ms}\n"));
    }
    line.push_str("if (-not $GlassDone) { exit 1 }");
    Cow::Owned(line)
}

fn is_powershell(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    matches!(name, "pwsh" | "powershell" | "pwsh-preview")
}

#[cfg(test)]
mod tests {
    use super::{HabitWish, Habits, appended};
    use glass_model::{Shell, ShellKind};

    fn env(habits: Habits) -> Vec<String> {
        let mut env = Vec::new();
        habits.apply(&mut env);
        let text = |entry: Vec<u8>| String::from_utf8(entry).expect("text");
        env.into_iter().map(text).collect()
    }

    #[test]
    fn variables_are_set_as_the_settings_say() {
        let usual = env(Habits::default());
        assert_eq!(
            usual,
            ["PROMPT_EOL_MARK=", "ITERM_SHELL_INTEGRATION_INSTALLED=Yes"]
        );
        let wish = HabitWish {
            clears_eol_mark: Some(false),
            oh_my_zsh: Some(false),
            powerlevel10k: Some(true),
            delay_ms: Some(50),
            powershell_counter: Some(true),
            ..HabitWish::default()
        };
        let wished = env(Habits::default().with(&wish));
        assert_eq!(
            wished,
            [
                "POWERLEVEL9K_TERM_SHELL_INTEGRATION=true",
                "PROMPT_COMMAND=sleep 0.05",
                "SHELLGLASS_PROMPT_DELAY_MS=50",
                "SHELLGLASS_POWERSHELL_COUNTER=1",
            ]
        );
    }

    #[test]
    fn powershell_counts_and_pauses_and_no_other_shell_does() {
        let shell = |path: &str| Shell {
            kind: ShellKind::of_program(path),
            path: path.to_owned(),
        };
        let mut env = Vec::new();
        let habits = Habits {
            delay_ms: 50,
            powershell_counter: true,
            ..Habits::default()
        };
        habits.apply(&mut env);
        let pwsh = shell("/opt/microsoft/pwsh");
        assert_eq!(
            appended(&pwsh, &env, "Get-Date # now", 7),
            "Get-Date # now\n$GlassDone = $?\n\"(Shellglass: 7)\" > $null\n\
             start-sleep -milliseconds 50\nif (-not $GlassDone) { exit 1 }"
        );
        assert_eq!(appended(&pwsh, &[], "Get-Date", 7), "Get-Date");
        assert_eq!(appended(&shell("/bin/bash"), &env, "date", 7), "date");
    }
}
