//! The hosts that sessions can be on: this machine, those that are configured, and,
//! for persons, any that they name. One table says where a session goes.

use crate::errors::NoHost;
use glass_model::{LOCAL_HOST, Role};
use glass_remote::{Address, Ssh};
use std::path::PathBuf;

/// How sessions reach other hosts.
#[derive(Clone, Debug)]
pub struct Hosts {
    /// The system's `ssh`.
    pub ssh: Ssh,
    /// The program whose command `relay` stands beside a command elsewhere: ours.
    pub relay: PathBuf,
    /// The hosts that are configured, the preferred first.
    pub listed: Vec<Host>,
}

/// A host that is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// What it is called here.
    pub name: String,
    /// Where it is.
    pub address: Address,
    /// Whether agents may use it.
    pub agents: AgentUse,
    /// The shell of a session there that asks for none.
    pub shell: String,
    /// The directory of a session there that asks for none; empty is the home
    /// directory.
    pub directory: String,
    /// Whether a connection is kept up.
    pub connect: bool,
}

/// Whether agents may use a host, where no walls of ours stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentUse {
    /// Not at all.
    Deny,
    /// Each command waits for a person.
    Ask,
    /// The rules decide, as they do here.
    Allow,
}

/// Where a command of a session goes that is not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    /// What the host is called: its name, or its address.
    pub(crate) name: String,
    pub(crate) address: Address,
    pub(crate) agents: AgentUse,
    pub(crate) shell: String,
    pub(crate) directory: String,
}

/// The shell of a session elsewhere that asks for none.
const SHELL: &str = "bash";

impl Hosts {
    /// The host of this name or address, if this caller may use it; none is this
    /// machine.
    pub(crate) fn find(&self, asked: &str, role: Role) -> Result<Option<Elsewhere>, NoHost> {
        if asked == LOCAL_HOST {
            return Ok(None);
        }
        let elsewhere = self.resolve(asked)?;
        if role == Role::Agent && elsewhere.agents == AgentUse::Deny {
            return Err(NoHost {
                why: format!("agents may not use the host '{}'", elsewhere.name),
                hint: "[[hosts.host]] in the configuration says which hosts agents may use"
                    .to_owned(),
                forbidden: true,
            });
        }
        Ok(Some(elsewhere))
    }

    /// What is known of a host, for those who are on it already.
    pub(crate) fn resolve(&self, name: &str) -> Result<Elsewhere, NoHost> {
        if let Some(host) = self.listed.iter().find(|host| host.name == name) {
            return Ok(host.into());
        }
        let shown: String = name.escape_debug().take(SHOWN_CHARS_MAX).collect();
        let address: Address = match name.parse() {
            Ok(address) => address,
            Err(_) if !name.contains("://") => {
                return Err(NoHost {
                    why: format!("there is no host '{shown}'"),
                    hint: format!("there are {}", self.names().join(", ")),
                    forbidden: false,
                });
            }
            Err(error) => {
                return Err(NoHost {
                    why: format!("'{shown}' is no host: {error}"),
                    hint: "write ssh://user@host:port".to_owned(),
                    forbidden: false,
                });
            }
        };
        if let Some(host) = self.listed.iter().find(|host| host.address == address) {
            return Ok(host.into());
        }
        Ok(Elsewhere {
            name: address.to_string(),
            address,
            agents: AgentUse::Deny,
            shell: SHELL.to_owned(),
            directory: String::new(),
        })
    }

    fn names(&self) -> Vec<&str> {
        let listed = self.listed.iter().map(|host| host.name.as_str());
        std::iter::once(LOCAL_HOST).chain(listed).collect()
    }
}

/// Characters of what a caller gave that are shown.
const SHOWN_CHARS_MAX: usize = 80;

impl From<&Host> for Elsewhere {
    fn from(host: &Host) -> Elsewhere {
        let shell = match host.shell.as_str() {
            "" => SHELL,
            shell => shell,
        };
        Elsewhere {
            name: host.name.clone(),
            address: host.address.clone(),
            agents: host.agents,
            shell: shell.to_owned(),
            directory: host.directory.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AgentUse, Host, Hosts};
    use glass_model::Role;
    use glass_remote::Ssh;

    fn hosts() -> Hosts {
        let host = |name: &str, agents| Host {
            name: name.to_owned(),
            address: format!("ssh://ann@{name}:2222").parse().expect("one"),
            agents,
            shell: String::new(),
            directory: String::new(),
            connect: false,
        };
        Hosts {
            ssh: Ssh {
                program: "ssh".into(),
                config: None,
            },
            relay: "shellglass".into(),
            listed: vec![
                host("build", AgentUse::Ask),
                host("vault", AgentUse::Deny),
                host("toys", AgentUse::Allow),
            ],
        }
    }

    #[test]
    fn an_agent_reaches_only_what_is_listed_for_it() {
        let check = |asked: &str, agent: &str, person: &str| {
            let found = |role| match hosts().find(asked, role) {
                Ok(None) => "local".to_owned(),
                Ok(Some(elsewhere)) => elsewhere.name,
                Err(error) => error.to_string(),
            };
            assert_eq!(found(Role::Agent), agent, "{asked}");
            assert_eq!(found(Role::Person), person, "{asked}");
        };
        check("local", "local", "local");
        check("build", "build", "build");
        // The same host by its address is the same host.
        check("ssh://ann@build:2222", "build", "build");
        check("toys", "toys", "toys");
        check("vault", "agents may not use the host 'vault'", "vault");
        let other = "ssh://ann@build";
        check(
            other,
            "agents may not use the host 'ssh://ann@build'",
            other,
        );
        let none = "there is no host 'elsewhere'";
        check("elsewhere", none, none);
        let option = "there is no host '-oProxyCommand=x'";
        check("-oProxyCommand=x", option, option);
    }
}
