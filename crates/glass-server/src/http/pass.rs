//! What a caller over HTTP presents: a token, or the two halves of a pass.
//!
//! A browser sends a cookie to every port of a host, so a server that an agent
//! starts beside us would be handed it. Therefore the cookie alone opens
//! nothing: the page also presents a *key*, which it keeps where only pages of
//! our own port can read. Both are made from the token and survive the daemon.

use super::Glass;
use super::guesses::Penalty;
use crate::auth::{Tokens, same};
use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use glass_model::Role;
use glass_session::Caller;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// How long a pass holds, in seconds: a month.
pub(super) const PASS_SECONDS: u64 = 30 * 24 * 60 * 60;

/// The header in which the page's calls carry the key.
const KEY_HEADER: &str = "x-shellglass-key";

/// How a WebSocket, which has no headers of its own, carries it.
const KEY_PROTOCOL: &str = "key-";

/// Both halves.
pub(super) struct Pass {
    pub(super) cookie: String,
    pub(super) key: String,
}

impl Pass {
    /// A pass for a role, until a time in seconds since 1970.
    pub(super) fn new(tokens: &Tokens, role: Role, until: u64) -> Pass {
        Pass {
            cookie: Half::Cookie.written(tokens, role, until),
            key: Half::Key.written(tokens, role, until),
        }
    }

    /// The role that two halves stand for at a time. They may be of different
    /// passes: a page that logs in takes the cookie of all pages of its browser
    /// with it some time before it can tell them the key.
    fn role(tokens: &Tokens, cookie: &str, key: &str, now: u64) -> Option<Role> {
        let role = Half::Cookie.role(tokens, cookie, now)?;
        (Half::Key.role(tokens, key, now)? == role).then_some(role)
    }
}

/// One half of a pass: a role, an end, and the seal over both.
#[derive(Clone, Copy)]
enum Half {
    Cookie,
    Key,
}

impl Half {
    fn written(self, tokens: &Tokens, role: Role, until: u64) -> String {
        let (half, name) = (self.name(), role_name(role));
        let seal = seal(tokens.of(role), &format!("{half} {name} {until}"));
        format!("{name}.{until}.{seal}")
    }

    /// The role that it was made for, if it was and holds.
    fn role(self, tokens: &Tokens, presented: &str, now: u64) -> Option<Role> {
        let mut parts = presented.splitn(3, '.');
        let role = match parts.next()? {
            "person" => Role::Person,
            "agent" => Role::Agent,
            _ => return None,
        };
        let until: u64 = parts.next()?.parse().ok()?;
        let is_ours = same(presented, &self.written(tokens, role, until));
        (is_ours && now < until).then_some(role)
    }

    fn name(self) -> &'static str {
        match self {
            Half::Cookie => "cookie",
            Half::Key => "key",
        }
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Person => "person",
        Role::Agent => "agent",
    }
}

/// A text that only who knows the secret can make. Hashed twice with the secret
/// in front, so that one seal cannot be continued into another.
fn seal(secret: &str, text: &str) -> String {
    let inner = Sha256::new_with_prefix(secret)
        .chain_update(text)
        .finalize();
    let outer = Sha256::new_with_prefix(secret)
        .chain_update(inner)
        .finalize();
    let mut hex = String::with_capacity(64);
    for byte in outer {
        write!(hex, "{byte:02x}").expect("a String takes everything");
    }
    hex
}

/// Now, in seconds since 1970.
pub(super) fn now_seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// The name of our cookie: browsers do not tell ports apart.
pub(super) fn cookie_name(port: u16) -> String {
    format!("shellglass-{port}")
}

impl Glass {
    /// The caller behind a request, or the answer that it gets.
    pub(super) async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Response> {
        if let Some(presented) = headers.get(header::AUTHORIZATION) {
            let token = presented.to_str().ok();
            let token = token.and_then(|value| value.strip_prefix("Bearer "));
            return match token.and_then(|token| self.tokens.role(token)) {
                Some(role) => Ok(Caller { role }),
                None => Err(self.wrong_token().await),
            };
        }
        let cookie = cookie(headers, &cookie_name(self.addresses.port()));
        match (cookie, key(headers)) {
            (Some(cookie), Some(key)) => {
                match Pass::role(&self.tokens, cookie, key, now_seconds()) {
                    Some(role) => Ok(Caller { role }),
                    None => Err(self.wrong_token().await),
                }
            }
            _ => Err(unauthorized("a token is needed")),
        }
    }

    /// The answer to a token that is not one of ours.
    pub(super) async fn wrong_token(&self) -> Response {
        match self.guesses.wrong().await {
            Penalty::Wrong => unauthorized("the token is not one of this daemon's"),
            Penalty::TooMany => {
                let message = "too many wrong tokens";
                let hint = "wait a few seconds; 'shellglass config path' shows the token files";
                refusal(
                    StatusCode::TOO_MANY_REQUESTS,
                    "RESOURCE_EXHAUSTED",
                    message,
                    hint,
                )
            }
        }
    }
}

fn unauthorized(message: &str) -> Response {
    let hint = "open the address that 'shellglass serve' prints, or pass \
                'Authorization: Bearer TOKEN'";
    refusal(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED", message, hint)
}

/// An error as all of them look: a kind, a message, and what to do next.
pub(super) fn refusal(status: StatusCode, kind: &str, message: &str, hint: &str) -> Response {
    let body = serde_json::json!({ "status": kind, "message": message, "hint": hint });
    (status, Json(body)).into_response()
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut lines = headers.get_all(header::COOKIE).iter();
    lines.find_map(|line| {
        let mut pairs = line.to_str().ok()?.split(';');
        pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
    })
}

fn key(headers: &HeaderMap) -> Option<&str> {
    if let Some(key) = headers.get(KEY_HEADER) {
        return key.to_str().ok();
    }
    let mut lines = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    lines.find_map(|line| {
        let mut names = line.to_str().ok()?.split(',');
        names.find_map(|name| name.trim().strip_prefix(KEY_PROTOCOL))
    })
}

#[cfg(test)]
mod tests {
    use super::{Pass, Role, Tokens};

    fn tokens(secret: &str) -> Tokens {
        Tokens {
            person: format!("p-{secret}"),
            agent: format!("a-{secret}"),
        }
    }

    #[test]
    fn both_halves_are_needed_and_only_until_they_end() {
        let tokens = tokens("x");
        let pass = Pass::new(&tokens, Role::Person, 100);
        let role = |cookie: &str, key: &str, now| Pass::role(&tokens, cookie, key, now);
        assert_eq!(role(&pass.cookie, &pass.key, 99), Some(Role::Person));
        assert_eq!(role(&pass.cookie, &pass.key, 100), None);
        assert_eq!(role(&pass.cookie, "", 99), None);
        assert_eq!(role("", &pass.key, 99), None);
        assert_eq!(role(&pass.cookie, &pass.cookie, 99), None);
        assert_eq!(role(&pass.key, &pass.key, 99), None);
        let longer = |half: &str| half.replace(".100.", ".101.");
        assert_eq!(role(&longer(&pass.cookie), &pass.key, 99), None);
        assert_eq!(role(&pass.cookie, &longer(&pass.key), 99), None);
    }

    #[test]
    fn halves_of_two_passes_open_until_the_first_of_them_ends() {
        let tokens = tokens("x");
        let old = Pass::new(&tokens, Role::Person, 100);
        let new = Pass::new(&tokens, Role::Person, 200);
        for (cookie, key) in [(&new.cookie, &old.key), (&old.cookie, &new.key)] {
            let role = |now| Pass::role(&tokens, cookie, key, now);
            assert_eq!(role(99), Some(Role::Person));
            assert_eq!(role(100), None);
        }
    }

    #[test]
    fn an_agents_pass_is_an_agents() {
        let tokens = tokens("x");
        let agents = Pass::new(&tokens, Role::Agent, 100);
        let persons = Pass::new(&tokens, Role::Person, 100);
        let role = |cookie: &str, key: &str| Pass::role(&tokens, cookie, key, 1);
        let renamed = |half: &str| half.replace("agent", "person");
        assert_eq!(role(&agents.cookie, &agents.key), Some(Role::Agent));
        assert_eq!(role(&renamed(&agents.cookie), &renamed(&agents.key)), None);
        // An agent that was handed a person's cookie has no key to it.
        assert_eq!(role(&persons.cookie, &agents.key), None);
        assert_eq!(role(&persons.cookie, &renamed(&agents.key)), None);
        assert_eq!(role(&agents.cookie, &persons.key), None);
    }

    #[test]
    fn new_tokens_end_all_passes() {
        let pass = Pass::new(&tokens("x"), Role::Person, 100);
        assert_eq!(Pass::role(&tokens("y"), &pass.cookie, &pass.key, 1), None);
    }
}
