//! Other machines that sessions can be on, as they are written in a file.

use glass_remote::Ssh;
use glass_session::{AgentUse, Host, Hosts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Most hosts that can be listed.
const HOSTS_MAX: usize = 64;

/// Longest name of a host, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Other machines that sessions can be on, through the system's `ssh`. No walls of
/// ours stand there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HostSettings {
    /// The `ssh` that is used, an absolute path.
    pub ssh: String,
    /// Its configuration, an absolute path; empty for its usual ones.
    pub ssh_config: String,
    /// The hosts, the preferred first. Agents can use no others.
    pub host: Vec<HostSetting>,
}

impl Default for HostSettings {
    fn default() -> HostSettings {
        HostSettings {
            ssh: "/usr/bin/ssh".to_owned(),
            ssh_config: String::new(),
            host: Vec::new(),
        }
    }
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostSetting {
    /// What it is called: letters, digits, '.', '_' and '-'.
    pub name: String,
    /// Where it is: "ssh://user@host:port".
    pub address: String,
    /// Whether agents may use it: "deny", "ask" (each command waits for a person) or
    /// "allow" (the rules decide, as they do here).
    #[serde(default)]
    pub agents: AgentsName,
    /// The shell of a session there that asks for none; empty for bash.
    #[serde(default)]
    pub shell: String,
    /// The directory of a session there that asks for none; empty for the home
    /// directory.
    #[serde(default)]
    pub directory: String,
    /// Whether the daemon keeps a connection up. As long as it is up, sessions go
    /// there that ask for nothing that is only here.
    #[serde(default)]
    pub connect: bool,
}

/// Whether agents may use a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AgentsName {
    /// Not at all.
    Deny,
    /// Each command waits for a person.
    #[default]
    Ask,
    /// The rules decide.
    Allow,
}

impl HostSettings {
    /// What the program works with, or why it cannot.
    pub(crate) fn hosts(&self, relay: PathBuf) -> Result<Hosts, String> {
        for (key, path) in [("ssh", &self.ssh), ("ssh_config", &self.ssh_config)] {
            let is_usual = key == "ssh_config" && path.is_empty();
            if !path.starts_with('/') && !is_usual {
                return Err(format!("{key} = \"{path}\" is not an absolute path"));
            }
        }
        if self.host.len() > HOSTS_MAX {
            return Err(format!("there are more than {HOSTS_MAX} hosts"));
        }
        let mut listed: Vec<Host> = Vec::new();
        for setting in &self.host {
            let host = setting.host()?;
            if listed.iter().any(|known| known.name == host.name) {
                return Err(format!("there are two hosts '{}'", host.name));
            }
            listed.push(host);
        }
        Ok(Hosts {
            ssh: Ssh {
                program: PathBuf::from(&self.ssh),
                config: (!self.ssh_config.is_empty()).then(|| PathBuf::from(&self.ssh_config)),
            },
            relay,
            listed,
        })
    }
}

impl HostSetting {
    fn host(&self) -> Result<Host, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let begins_well = self.name.starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_name = begins_well && self.name.chars().all(is_plain);
        if !is_name || self.name.len() > NAME_BYTES_MAX || self.name == glass_model::LOCAL_HOST {
            return Err(format!(
                "'{}' cannot be the name of a host",
                self.name.escape_debug()
            ));
        }
        let address = self
            .address
            .parse()
            .map_err(|error| format!("the address of '{}' is none: {error}", self.name))?;
        Ok(Host {
            name: self.name.clone(),
            address,
            agents: match self.agents {
                AgentsName::Deny => AgentUse::Deny,
                AgentsName::Ask => AgentUse::Ask,
                AgentsName::Allow => AgentUse::Allow,
            },
            shell: self.shell.clone(),
            directory: self.directory.clone(),
            connect: self.connect,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::HostSettings;

    fn check(text: &str, expected: &str) {
        let settings: HostSettings = toml::from_str(text).expect(text);
        let told = match settings.hosts("/shellglass".into()) {
            Ok(hosts) => format!("{} hosts", hosts.listed.len()),
            Err(why) => why,
        };
        assert_eq!(told, expected, "{text}");
    }

    #[test]
    fn hosts_that_could_be_taken_for_something_else_are_refused() {
        let host = |name: &str, address: &str| {
            format!("[[host]]\nname = \"{name}\"\naddress = \"{address}\"\n")
        };
        check("", "0 hosts");
        check(&host("build", "ssh://ann@build:22"), "1 hosts");
        let both = host("a", "ssh://x") + &host("a", "ssh://y");
        check(&both, "there are two hosts 'a'");
        check(
            &host("local", "ssh://x"),
            "'local' cannot be the name of a host",
        );
        check(&host("-x", "ssh://x"), "'-x' cannot be the name of a host");
        check(
            &host("a:b", "ssh://x"),
            "'a:b' cannot be the name of a host",
        );
        check(
            &host("a", "-oProxyCommand=x"),
            "the address of 'a' is none: it does not begin with 'ssh://'",
        );
        check("ssh = \"ssh\"", "ssh = \"ssh\" is not an absolute path");
    }
}
