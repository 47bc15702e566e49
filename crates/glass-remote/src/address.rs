//! Where another host is. An address may come from anybody, and becomes an
//! argument of `ssh`: only what cannot be taken for anything else is one.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

/// How an address begins.
const SCHEME: &str = "ssh://";

/// Longest name of a host, in bytes; that of a user is as long at most.
const NAME_BYTES_MAX: usize = 253;

/// A host and how it is reached: `ssh://user@host:port`, where the user and the
/// port may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    user: Option<String>,
    host: String,
    port: Option<u16>,
}

/// Why a text is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// It does not begin as one.
    #[error("it does not begin with 'ssh://'")]
    Scheme,
    /// Its user is none.
    #[error(
        "its user may have letters, digits, '.', '_' and '-', and begins with none of the last"
    )]
    User,
    /// Its host is none.
    #[error(
        "its host may have letters, digits, '.', '_' and '-', and begins with a letter or digit"
    )]
    Host,
    /// Its port is none.
    #[error("its port is not a number from 1 to 65535")]
    Port,
}

impl Address {
    /// The user there; `ssh` decides where there is none.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The host's name, as `ssh` knows it.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port there; `ssh` decides where there is none.
    pub fn port(&self) -> Option<u16> {
        self.port
    }
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Address, BadAddress> {
        let rest = text.strip_prefix(SCHEME).ok_or(BadAddress::Scheme)?;
        let (user, place) = match rest.split_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, rest),
        };
        if user.is_some_and(|user| !is_name(user, |c| c.is_ascii_alphanumeric() || c == '_')) {
            return Err(BadAddress::User);
        }
        let (host, port) = match place.strip_prefix('[') {
            Some(bracketed) => {
                let (host, rest) = bracketed.split_once(']').ok_or(BadAddress::Host)?;
                host.parse::<Ipv6Addr>().map_err(|_| BadAddress::Host)?;
                match rest {
                    "" => (host, None),
                    rest => (host, Some(rest.strip_prefix(':').ok_or(BadAddress::Port)?)),
                }
            }
            None => {
                let (host, port) = match place.split_once(':') {
                    Some((host, port)) => (host, Some(port)),
                    None => (place, None),
                };
                if !is_name(host, |c| c.is_ascii_alphanumeric()) {
                    return Err(BadAddress::Host);
                }
                (host, port)
            }
        };
        let port = port.map(port_of).transpose()?;
        Ok(Address {
            user: user.map(str::to_owned),
            host: host.to_owned(),
            port,
        })
    }
}

/// A sign would be a second way to write the same number.
fn port_of(text: &str) -> Result<u16, BadAddress> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let port = is_number.then(|| text.parse().ok()).flatten();
    port.filter(|port| *port > 0).ok_or(BadAddress::Port)
}

fn is_name(text: &str, may_begin: impl Fn(char) -> bool) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    text.len() <= NAME_BYTES_MAX && text.starts_with(may_begin) && text.chars().all(is_plain)
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SCHEME)?;
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        match self.host.contains(':') {
            true => write!(f, "[{}]", self.host)?,
            false => f.write_str(&self.host)?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, BadAddress};
    use proptest::prelude::*;

    #[test]
    fn an_address_comes_back_as_it_was() {
        for text in [
            "ssh://build",
            "ssh://ann@build.example",
            "ssh://ann@build.example:2222",
            "ssh://10.0.0.1:22",
            "ssh://a_b@[::1]:22",
            "ssh://[fe80::1]",
        ] {
            let address: Address = text.parse().expect(text);
            assert_eq!(address.to_string(), text);
        }
    }

    #[test]
    fn what_ssh_could_take_for_something_else_is_no_address() {
        use BadAddress::{Host, Port, Scheme, User};
        for (text, why) in [
            ("", Scheme),
            ("build", Scheme),
            ("-oProxyCommand=touch x", Scheme),
            ("SSH://build", Scheme),
            ("ssh://", Host),
            ("ssh://-oProxyCommand=x", Host),
            ("ssh://-x", Host),
            ("ssh://.x", Host),
            ("ssh://-l@build", User),
            ("ssh://@build", User),
            ("ssh://a@b@c", Host),
            ("ssh://ann:secret@build", User),
            ("ssh://a b", Host),
            ("ssh://a\nb", Host),
            ("ssh://a;b", Host),
            ("ssh://a$(b)", Host),
            ("ssh://a%h", Host),
            ("ssh://build/path", Host),
            ("ssh://build:", Port),
            ("ssh://build:0", Port),
            ("ssh://build:+22", Port),
            ("ssh://build:65536", Port),
            ("ssh://build:22/", Port),
            ("ssh://build:22:22", Port),
            ("ssh://[::1", Host),
            ("ssh://[::1]22", Port),
            ("ssh://[-oX]", Host),
            ("ssh://b\u{fc}ro", Host),
        ] {
            assert_eq!(text.parse::<Address>(), Err(why), "{text}");
        }
        let long = format!("ssh://{}", "a".repeat(300));
        assert_eq!(long.parse::<Address>(), Err(Host));
    }

    proptest! {
        #[test]
        fn whatever_is_an_address_is_no_option(text in "(ssh://)?[-a-z@:\\[\\]./%$ ]{0,20}") {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert!(!address.host().starts_with('-') && !address.host().is_empty());
                prop_assert!(address.user().is_none_or(|user| !user.starts_with('-')));
                prop_assert_eq!(address.to_string(), text);
            }
        }
    }
}
