//! The command line. These texts are the help, the man page and the
//! completions.

#[cfg(feature = "acp")]
mod acp;
mod advice;
mod approvals;
mod attach;
mod audit;
mod background;
mod deferred;
mod hosts;
mod sandbox;

use crate::commands::filter::Filter;
use crate::complete;
use crate::config::{Listen, LogFormat, ModeName, StartupName};
use crate::ink::When;
use clap::{Args, Parser, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;

#[cfg(feature = "acp")]
pub(crate) use acp::Acp;
pub(crate) use advice::parse;
pub(crate) use approvals::{ApprovalAction, Approvals, ScopeName};
pub(crate) use attach::{Attach, SessionModeName, Watch};
pub(crate) use audit::{Audit, AuditCommand, AuditVerify, PolicyReplay};
pub(crate) use background::{Stdin, Wait};
pub(crate) use deferred::Deferred;
pub(crate) use hosts::{Hosts, Relay};
pub(crate) use sandbox::SandboxFlags;

/// Runs shell commands exactly, and lets people watch.
///
/// Shellglass keeps warm shells whose results travel out of band: state
/// persists between commands, exit codes and bytes are exact, and nothing that
/// a command prints can change what Shellglass believes.
#[derive(Debug, Parser)]
#[command(name = "shellglass", version, disable_help_subcommand = true, after_long_help = AFTER)]
pub(crate) struct Cli {
    /// When to use colours: where a terminal shows them and NO_COLOR is not set,
    /// always, or never.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: When,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The number of an execution.
fn execution_number(text: &str) -> Result<u32, &'static str> {
    let number = text.parse();
    number.map_err(|_| "executions have numbers, which `shellglass history` shows")
}

const AFTER: &str = "Exit status:
  run exits as the command did. Otherwise 0 is success, 1 a failure, 2 bad
  usage, 124 a timeout, 125 a failure of Shellglass itself, 126 a command that
  was refused, 130 one that was cancelled.

Environment:
  SHELLGLASS_HOME overrides the configuration, data and runtime directories.
  SHELLGLASS_<SECTION>_<KEY> overrides a setting of the configuration.";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the daemon.
    Serve(Deferred<Serve>),
    /// Hold the children of a daemon.
    #[command(hide = true)]
    Keeper(Deferred<Keeper>),
    /// Carry a command to another host.
    #[command(hide = true)]
    Relay(Deferred<Relay>),
    /// Run a command and exit as it did.
    Run(Deferred<Run>),
    /// Make, list, show and dispose of sessions.
    #[command(subcommand)]
    Session(Deferred<Session>),
    /// Show a session in this terminal.
    Attach(Deferred<Attach>),
    /// Show all sessions with what runs in each.
    Watch(Deferred<Watch>),
    /// Show the hosts that sessions can be on.
    Hosts(Deferred<Hosts>),
    /// Cancel what runs.
    Cancel(Deferred<Cancel>),
    /// Show what ran in a session.
    History(Deferred<History>),
    /// Print the output of an execution.
    Output(Deferred<Output>),
    /// Write to a background command.
    Stdin(Deferred<Stdin>),
    /// Wait for something to happen in an execution.
    Wait(Deferred<Wait>),
    /// Show what waits for a person, and answer.
    Approvals(Deferred<Approvals>),
    /// Say what would happen to a command, and test rules.
    #[command(subcommand)]
    Policy(Deferred<Policy>),
    /// Show who decided what, and verify that nobody changed it.
    Audit(Deferred<Audit>),
    /// Serve an agent: MCP over standard input and output.
    ///
    /// Add it to a client as a local server, for example with `claude mcp add
    /// shellglass -- shellglass mcp`. The server is a client of the daemon, in
    /// the role of an agent, and starts the daemon if none runs. It ends when
    /// its standard input does.
    Mcp,
    /// Serve terminals to a client of the Agent Client Protocol.
    ///
    /// Answers `terminal/create`, `output`, `wait_for_exit`, `kill` and
    /// `release`, one JSON-RPC message a line, on standard input and output:
    /// what an editor hands on of what its agent asks for. The server is a
    /// client of the daemon, in the role of an agent, and starts the daemon if
    /// none runs. It ends when its standard input does, and with it what still
    /// runs.
    #[cfg(feature = "acp")]
    Acp(Deferred<Acp>),
    /// Print the page's address, and start the daemon if none runs.
    Page(Deferred<Page>),
    /// Try what works on this machine, and say how to mend what does not.
    Doctor(Deferred<Doctor>),
    /// Show the configuration.
    #[command(subcommand)]
    Config(Deferred<Config>),
    /// Filter standard input as the daemon would filter output.
    #[command(subcommand)]
    Filter(Deferred<Filter>),
    /// Print completions for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

/// The address is the one that the daemon itself names over its socket, so no
/// other program that has taken a port is ever sent a token.
#[derive(Debug, Args)]
pub(crate) struct Page {
    /// Print JSON: the address without a token, and the files that have the tokens.
    #[arg(long)]
    pub json: bool,
}

/// Tries everything that this machine and the configuration have to do with it,
/// in a daemon of its own that is gone afterwards. The report can be pasted: it
/// has no secret and names nobody. Exits with 1 where something that the
/// configuration needs is broken.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// The daemon listens on a Unix socket that only you can use, and on a loopback
/// port for the page. When it is ready it prints one line with the page's
/// address, which has the token in it.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Serve the page and gRPC on this address instead of 127.0.0.1:7583; "none"
    /// for nowhere. One that other machines can reach needs a certificate.
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: Option<Listen>,
    /// Serve the page with this certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// The certificate's key (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Say the address of --listen a second time to serve it to other machines
    /// without a certificate: whoever is on the way reads and writes everything.
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen_without_tls: Option<SocketAddr>,
    /// Listen on this Unix socket.
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// What is logged: a level, or a filter such as "info,glass_session=debug".
    #[arg(long, value_name = "FILTER")]
    pub log: Option<String>,
    /// How it is logged.
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// Keep the journal in this directory.
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Read this configuration instead of your own.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Go to the background once it is ready.
    #[arg(long)]
    pub detach: bool,
    /// Be the background process that `--detach` starts.
    #[arg(long, hide = true, conflicts_with = "detach")]
    pub detached: bool,
}

/// Holds the children of a daemon, and survives it.
#[derive(Debug, Args)]
pub(crate) struct Keeper {
    /// Listen on this Unix socket.
    #[arg(long, value_name = "PATH")]
    pub socket: PathBuf,
    /// Seconds without a child and without a daemon after which it ends.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub idle_seconds: u32,
}

/// Without a session, the command sees your working directory and environment,
/// and no state outlives it. The command's standard input is empty. Ctrl+C
/// cancels the command; a second one leaves at once.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The command, as one shell string.
    pub command: String,
    /// Run in this session.
    #[arg(long, value_name = "ID", conflicts_with_all = ["mode", "shell"], add = complete::sessions())]
    pub session: Option<String>,
    /// Run on this host: its name in the configuration, or ssh://user@host:port.
    #[arg(long, value_name = "HOST", conflicts_with = "session")]
    pub host: Option<String>,
    /// Run in this directory.
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Cancel the command after so many seconds, and exit with 124.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    #[command(flatten)]
    pub sandbox: SandboxFlags,
    /// How the command is run.
    #[arg(long)]
    pub mode: Option<ModeName>,
    /// The shell's name or path.
    #[arg(long)]
    pub shell: Option<String>,
    /// Set a variable for this command.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = assignment)]
    pub env: Vec<(String, String)>,
    /// Give it a terminal. What you type is for it, if you have one yourself.
    #[arg(long)]
    pub tty: bool,
    /// Leave it running, and print its number. Its standard input stays open:
    /// `shellglass stdin` writes to it.
    #[arg(long)]
    pub background: bool,
    /// Give a background command no standard input.
    #[arg(long, requires = "background")]
    pub no_stdin: bool,
    /// Do not wait for anybody's approval, where you may decide that.
    #[arg(long)]
    pub yes: bool,
    /// Print the result as JSON instead of the output.
    #[arg(long)]
    pub json: bool,
}

/// Sessions keep their directory, variables and functions between commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// Make a session and print its id.
    Create(Box<SessionCreate>),
    /// List the sessions.
    List {
        /// Also those that were disposed of.
        #[arg(long)]
        all: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show a session.
    Show {
        /// The session's id.
        #[arg(add = complete::sessions())]
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Cancel what runs in a session and end it.
    Dispose {
        /// The session's id.
        #[arg(add = complete::sessions())]
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// How a session is made.
#[derive(Debug, Args)]
pub(crate) struct SessionCreate {
    /// Make it on this host: its name in the configuration, or ssh://user@host:port.
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Begin in this directory; the current one, if not given.
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// What a workspace sandbox may write.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// How commands are run; "pty" makes a terminal to attach to.
    #[arg(long)]
    pub mode: Option<SessionModeName>,
    /// The shell's name or path.
    #[arg(long)]
    pub shell: Option<String>,
    /// Which start files a warm shell reads.
    #[arg(long)]
    pub startup: Option<StartupName>,
    /// Set a variable for this session.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = assignment)]
    pub env: Vec<(String, String)>,
    /// A name for people.
    #[arg(long, default_value = "")]
    pub name: String,
    /// The task that it belongs to.
    #[arg(long, value_name = "ID", default_value = "")]
    pub task: String,
    #[command(flatten)]
    pub sandbox: SandboxFlags,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Answers when nothing of the command is left.
#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// A session's id for what runs in it now, or the number of one execution.
    #[arg(add = complete::sessions())]
    pub id: String,
}

/// What ran in a session, in order; with --grep, what ran anywhere and has a text.
#[derive(Debug, Args)]
pub(crate) struct History {
    /// The session's id.
    #[arg(required_unless_present = "grep", add = complete::sessions())]
    pub id: Option<String>,
    /// Print every event as JSON; with --grep, one JSON object for each answer.
    #[arg(long)]
    pub json: bool,
    /// Look for this text in commands and output, the newest first.
    #[arg(long, value_name = "TEXT")]
    pub grep: Option<String>,
    /// The text is a regular expression over lines.
    #[arg(long, requires = "grep")]
    pub regex: bool,
    /// Print the session as an asciicast (version 2).
    #[arg(long, conflicts_with_all = ["json", "grep"])]
    pub asciicast: bool,
}

/// Both streams of an execution, as they arrived.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// The execution's number.
    #[arg(add = complete::executions(), value_parser = execution_number)]
    pub shell_id: u32,
    /// Begin at this byte.
    #[arg(long, default_value_t = 0)]
    pub offset: u64,
    /// Go on until the execution ends.
    #[arg(long)]
    pub follow: bool,
}

/// Nothing is run. Only `replay` needs the daemon, which has the history.
#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Say what a command line runs, whether it may, and why.
    Check(PolicyCheck),
    /// Test the rules of a file against their examples.
    Test {
        /// The rules file.
        file: PathBuf,
    },
    /// Say what rules would have decided about the recorded history.
    Replay(PolicyReplay),
}

/// Exits with 0 whatever is decided: the answer is on standard output.
#[derive(Debug, Args)]
pub(crate) struct PolicyCheck {
    /// The command, as one shell string.
    #[arg(allow_hyphen_values = true)]
    pub command: String,
    /// The shell whose language it is in.
    #[arg(long, default_value = "bash")]
    pub shell: String,
    /// Use these rules beside the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// The directory that it would run in.
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Say what would happen if you ran it, and not an agent.
    #[arg(long)]
    pub person: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// The configuration: one TOML file in layers.
#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Print the configuration in force, and where each value comes from.
    Show,
    /// Print the files and directories that are used.
    Path,
    /// Print the JSON schema of the configuration.
    Schema,
    /// Print every setting with its default, as Markdown.
    Reference,
}

/// Most milliseconds that the contract can carry, in seconds.
const TIMEOUT_SECONDS_MAX: f64 = i32::MAX as f64 / 1000.0;

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= TIMEOUT_SECONDS_MAX => Ok(seconds),
        Ok(_) => Err(format!(
            "must be more than 0 and at most {TIMEOUT_SECONDS_MAX}"
        )),
        Err(_) => Err("not a number of seconds, such as 2.5".to_owned()),
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if is_name(name) => Ok((name.to_owned(), value.to_owned())),
        Some((name, _)) => Err(format!("'{name}' is not a variable's name")),
        None => Err("expected NAME=VALUE".to_owned()),
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_part) && !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{Cli, assignment, seconds};
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_timeout_is_a_positive_number() {
        assert_eq!(seconds("0.25"), Ok(0.25));
        for bad in ["0", "-1", "NaN", "inf", "soon", "99999999"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_assignment_has_a_name() {
        assert_eq!(assignment("A=b=c"), Ok(("A".to_owned(), "b=c".to_owned())));
        assert_eq!(assignment("A="), Ok(("A".to_owned(), String::new())));
        for bad in ["A", "=b", "1A=b", "A B=c"] {
            assert!(assignment(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_session_has_its_own_shell() {
        let words = [
            "shellglass",
            "run",
            "--session",
            "s-x",
            "--shell",
            "zsh",
            "true",
        ];
        assert!(Cli::try_parse_from(words).is_err());
    }
}
