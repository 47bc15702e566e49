//! A terminal whose shell is on another host.

use crate::context::{Context, set_variable};
use crate::engine::TERM;
use crate::errors::NoHost;
use crate::remote::terminal_command;
use glass_model::Session;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

/// `ssh` in place of a shell, at a terminal where a person answers what it asks.
pub(super) fn ssh_argv(context: &Context, session: &Session) -> Result<Vec<Vec<u8>>, NoHost> {
    let hosts = &context.settings.hosts;
    let elsewhere = hosts.resolve(&session.host)?;
    let begin = match session.cwd.as_str() {
        "~" => None,
        directory => terminal_command(directory),
    };
    let words = hosts.ssh.terminal(&elsewhere.address, begin.as_deref());
    Ok(words.into_iter().map(OsString::into_vec).collect())
}

/// Its environment.
pub(super) fn ssh_env(context: &Context) -> Vec<Vec<u8>> {
    let mut env = context.ssh_env();
    set_variable(&mut env, TERM.0, TERM.1);
    env
}
