//! How `ssh` is called. The configuration of the user's `ssh` holds, with its keys,
//! its known hosts and its way to get there; what we add only takes away.

use crate::address::Address;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Seconds for a connection to come up.
const CONNECT_S: u32 = 15;

/// Seconds after which a silent connection is asked whether it lives, and how often
/// it may not answer.
const ALIVE_S: u32 = 15;
const ALIVE_COUNT: u32 = 4;

/// What a command on another host is started with: a shell that reads what to do.
/// Every login shell understands this.
const REMOTE_SHELL: &str = "exec sh -s";

/// What holds for every call: nothing of this machine is lent to the other one,
/// and nothing is executed here because the configuration says so.
const ALWAYS: [&str; 5] = [
    "ForwardAgent=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "Tunnel=no",
];

/// Variables that `ssh` gets: who we are, where its agent is (which it asks and
/// does not lend), and what it needs to talk to a person.
const VARIABLES: [&str; 10] = [
    "HOME",
    "USER",
    "LOGNAME",
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "SSH_AUTH_SOCK",
    "KRB5CCNAME",
    "XDG_RUNTIME_DIR",
];

/// The system's `ssh`, and the file that configures it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ssh {
    /// The program.
    pub program: PathBuf,
    /// Its configuration instead of the user's; the usual one where there is none.
    pub config: Option<PathBuf>,
}

impl Ssh {
    /// The program and its arguments for a command without a person: it asks
    /// nothing, and what it has to say goes to `log`. Where `shared` is the socket of
    /// a connection that is up, it goes through that.
    pub fn command(&self, address: &Address, log: &Path, shared: Option<&Path>) -> Vec<OsString> {
        let mut argv = self.begin();
        argv.push("-T".into());
        without_a_person(&mut argv, log, shared);
        self.place(argv, address, Some(REMOTE_SHELL.into()))
    }

    /// The same for a command that has a terminal, which is to stand behind these words.
    /// Nobody may be there to answer what `ssh` asks, and what to run was carried there
    /// without a question.
    pub fn command_terminal(
        &self,
        address: &Address,
        log: &Path,
        shared: Option<&Path>,
    ) -> Vec<OsString> {
        let mut argv = self.begin();
        argv.push("-tt".into());
        options(&mut argv, &["EscapeChar=none".to_owned()]);
        // It would tell people that it leaves, as the command's last word.
        options(&mut argv, &["LogLevel=ERROR".to_owned()]);
        without_a_person(&mut argv, log, shared);
        self.place(argv, address, None)
    }

    /// The same for a session's terminal, at which a person answers what `ssh` asks. `begin` is
    /// what the other side is told to run; its login shell where there is none.
    pub fn terminal(&self, address: &Address, begin: Option<&str>) -> Vec<OsString> {
        let mut argv = self.begin();
        argv.push("-tt".into());
        options(&mut argv, &["EscapeChar=none".to_owned()]);
        options(&mut argv, &["ControlMaster=no".to_owned()]);
        options(&mut argv, &["ControlPath=none".to_owned()]);
        options(&mut argv, &alive());
        self.place(argv, address, begin.map(OsString::from))
    }

    /// The same for a connection that others share through this socket, and that
    /// runs nothing itself.
    pub fn shared(&self, address: &Address, log: &Path, socket: &Path) -> Vec<OsString> {
        let mut argv = self.begin();
        argv.extend(["-N".into(), "-T".into(), "-E".into(), log.into()]);
        options(&mut argv, &["BatchMode=yes".to_owned(), timeout()]);
        options(&mut argv, &alive());
        argv.extend(["-S".into(), socket.into()]);
        options(&mut argv, &["ControlMaster=yes".to_owned()]);
        options(&mut argv, &["ControlPersist=no".to_owned()]);
        self.place(argv, address, None)
    }

    fn begin(&self) -> Vec<OsString> {
        let mut argv = vec![self.program.clone().into_os_string()];
        if let Some(config) = &self.config {
            argv.extend(["-F".into(), config.into()]);
        }
        // Nor are tickets. As an option it is unknown to an `ssh` without Kerberos.
        argv.push("-k".into());
        options(&mut argv, &ALWAYS.map(str::to_owned));
        argv
    }

    /// Whatever the host is called, it is no option: nothing after `--` is one.
    fn place(
        &self,
        mut argv: Vec<OsString>,
        address: &Address,
        command: Option<OsString>,
    ) -> Vec<OsString> {
        if let Some(port) = address.port() {
            argv.extend(["-p".into(), port.to_string().into()]);
        }
        if let Some(user) = address.user() {
            argv.extend(["-l".into(), user.into()]);
        }
        argv.extend(["--".into(), address.host().into()]);
        argv.extend(command);
        argv
    }
}

/// Whether a variable of ours is for `ssh`.
pub fn is_for_ssh(name: &[u8]) -> bool {
    VARIABLES.iter().any(|known| known.as_bytes() == name)
}

/// What holds where nobody answers: nothing is asked, and nothing is waited for for ever.
fn without_a_person(argv: &mut Vec<OsString>, log: &Path, shared: Option<&Path>) {
    argv.extend(["-E".into(), log.into()]);
    options(argv, &["BatchMode=yes".to_owned(), timeout()]);
    options(argv, &alive());
    if let Some(socket) = shared {
        argv.extend(["-S".into(), socket.into()]);
    }
    options(argv, &["ControlMaster=no".to_owned()]);
}

fn timeout() -> String {
    format!("ConnectTimeout={CONNECT_S}")
}

fn alive() -> [String; 2] {
    [
        format!("ServerAliveInterval={ALIVE_S}"),
        format!("ServerAliveCountMax={ALIVE_COUNT}"),
    ]
}

fn options(argv: &mut Vec<OsString>, options: &[String]) {
    for option in options {
        argv.extend(["-o".into(), option.into()]);
    }
}

#[cfg(test)]
mod tests {
    use super::Ssh;
    use std::path::Path;

    #[test]
    fn a_host_stands_behind_the_end_of_options_and_its_key_is_always_checked() {
        let ssh = Ssh {
            program: "/usr/bin/ssh".into(),
            config: Some("/c".into()),
        };
        let address = "ssh://ann@build:2222".parse().expect("it is an address");
        let (log, socket) = (Path::new("/log"), Path::new("/socket"));
        let calls = [
            ssh.command(&address, log, Some(socket)),
            ssh.command_terminal(&address, log, Some(socket)),
            ssh.terminal(&address, None),
            ssh.shared(&address, log, socket),
        ];
        for call in calls {
            let words: Vec<&str> = call.iter().filter_map(|word| word.to_str()).collect();
            let end = words.iter().position(|word| *word == "--");
            let end = end.expect("options have an end");
            assert_eq!(words[end + 1], "build");
            assert!(words[..end].contains(&"ForwardAgent=no"), "{words:?}");
            assert!(words[..end].contains(&"-k"), "{words:?}");
            assert!(
                !words
                    .iter()
                    .any(|word| word.contains("StrictHostKeyChecking"))
            );
        }
    }

    #[test]
    fn a_command_asks_nobody_and_shares_a_connection_with_a_terminal_or_without() {
        let ssh = Ssh {
            program: "/usr/bin/ssh".into(),
            config: None,
        };
        let address = "ssh://build".parse().expect("it is an address");
        let (log, socket) = (Path::new("/log"), Path::new("/socket"));
        for call in [
            ssh.command(&address, log, Some(socket)),
            ssh.command_terminal(&address, log, Some(socket)),
        ] {
            let words: Vec<&str> = call.iter().filter_map(|word| word.to_str()).collect();
            for pair in [
                ["-E", "/log"],
                ["-o", "BatchMode=yes"],
                ["-o", "ConnectTimeout=15"],
                ["-S", "/socket"],
            ] {
                assert!(
                    words.windows(2).any(|two| two == pair),
                    "{pair:?} {words:?}"
                );
            }
        }
        // A person answers at the terminal of a session.
        let asks = ssh.terminal(&address, None);
        assert!(!asks.contains(&"BatchMode=yes".into()), "{asks:?}");
    }
}
