//! `page`: where the daemon's page is, for people and for programs.

use crate::cli::Page;
use crate::client::{Context, connect, data_dir};
use crate::commands::serve::token_file;
use crate::error::{Failure, Kind};
use crate::stdout;
use glass_proto::shellglass::v1::Empty;
use serde_json::json;
use std::fs;
use std::process::ExitCode;

/// Prints the address. A daemon with a data directory of its own, which its
/// flags gave it, has its tokens there, and we cannot know where that is.
pub(super) async fn page(arguments: &Page) -> Result<ExitCode, Failure> {
    let context = Context::load()?;
    let mut client = connect(&context).await?;
    let answer = client.get_capabilities(Empty {}).await?.into_inner();
    if answer.page.is_empty() {
        return Err(
            Failure::new(Kind::Failed, "the daemon serves no page").hint(
                "set daemon.listen to \"auto\" and start the daemon again; \
                 a daemon of an older version has to be started again as well",
            ),
        );
    }
    let data = data_dir(&context.dirs, &context.loaded.settings);
    let (person, agent) = (token_file(&data, "person"), token_file(&data, "agent"));
    if arguments.json {
        stdout::print_json(&json!({
            "address": answer.page,
            "personTokenFile": person,
            "agentTokenFile": agent,
            "version": answer.version,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let token = fs::read_to_string(&person).map_err(|error| {
        let message = format!("the token {} cannot be read: {error}", person.display());
        Failure::new(Kind::Failed, message).hint("only the person who runs the daemon can read it")
    })?;
    stdout::print(&format!("{}/#token={}\n", answer.page, token.trim()))?;
    Ok(ExitCode::SUCCESS)
}
