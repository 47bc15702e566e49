//! Who a caller is.
//!
//! On the Unix socket the kernel says which process connected: one of ours by
//! user, an agent if it descends from the keeper, whatever it presents. Over
//! TCP only a token counts.

use crate::peer::PeerInfo;
use glass_model::Role;
use glass_session::Caller;
use tonic::Status;
use tonic::metadata::MetadataMap;

/// The secrets that callers present. Each is as good as the role it names.
#[derive(Clone)]
pub struct Tokens {
    /// Presented by a person's programs.
    pub person: String,
    /// Presented by agents.
    pub agent: String,
}

impl Tokens {
    /// The role that a token stands for.
    pub(crate) fn role(&self, token: &str) -> Option<Role> {
        if same(token, &self.agent) {
            Some(Role::Agent)
        } else if same(token, &self.person) {
            Some(Role::Person)
        } else {
            None
        }
    }

    /// The token of a role.
    pub(crate) fn of(&self, role: Role) -> &str {
        match role {
            Role::Agent => &self.agent,
            Role::Person => &self.person,
        }
    }

    /// The caller behind a request.
    pub(crate) fn caller(
        &self,
        metadata: &MetadataMap,
        peer: Option<&PeerInfo>,
    ) -> Result<Caller, Status> {
        let presented = metadata
            .get("authorization")
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "));
        let by_token = match presented {
            None => None,
            Some(token) => match self.role(token) {
                Some(role) => Some(role),
                None => return Err(refused("the token is not one of this daemon's")),
            },
        };
        let role = match (peer, by_token) {
            (
                Some(PeerInfo {
                    inside_session: true,
                }),
                _,
            ) => Role::Agent,
            (Some(_), by_token) => by_token.unwrap_or(Role::Person),
            (None, Some(role)) => role,
            (None, None) => return Err(refused("a token is needed")),
        };
        Ok(Caller { role })
    }
}

fn refused(why: &str) -> Status {
    let hint = "pass 'authorization: Bearer TOKEN'; 'shellglass config path' shows the token files";
    crate::status::with_hint(tonic::Code::Unauthenticated, why, hint)
}

/// Compares without telling by its time how much was right.
pub(crate) fn same(given: &str, secret: &str) -> bool {
    let (given, secret) = (given.as_bytes(), secret.as_bytes());
    given.len() == secret.len()
        && given
            .iter()
            .zip(secret)
            .fold(0, |differ, (a, b)| differ | (a ^ b))
            == 0
}

#[cfg(test)]
mod tests {
    use super::{PeerInfo, Role, Tokens};
    use tonic::metadata::MetadataMap;

    fn role(token: Option<&str>, peer: Option<bool>) -> Option<Role> {
        let tokens = Tokens {
            person: "p-secret".to_owned(),
            agent: "a-secret".to_owned(),
        };
        let mut metadata = MetadataMap::new();
        if let Some(token) = token {
            let value = format!("Bearer {token}")
                .parse()
                .expect("tokens are plain text");
            metadata.insert("authorization", value);
        }
        let peer = peer.map(|inside_session| PeerInfo { inside_session });
        tokens
            .caller(&metadata, peer.as_ref())
            .ok()
            .map(|caller| caller.role)
    }

    #[test]
    fn whoever_runs_inside_a_session_is_an_agent() {
        assert_eq!(role(None, Some(true)), Some(Role::Agent));
        assert_eq!(role(Some("p-secret"), Some(true)), Some(Role::Agent));
    }

    #[test]
    fn the_socket_trusts_its_user_and_tcp_trusts_tokens() {
        assert_eq!(role(None, Some(false)), Some(Role::Person));
        assert_eq!(role(Some("a-secret"), Some(false)), Some(Role::Agent));
        assert_eq!(role(Some("p-secret"), None), Some(Role::Person));
        assert_eq!(role(Some("a-secret"), None), Some(Role::Agent));
        assert_eq!(role(None, None), None);
        assert_eq!(role(Some("guess"), None), None);
        assert_eq!(role(Some("guess"), Some(false)), None);
    }
}
