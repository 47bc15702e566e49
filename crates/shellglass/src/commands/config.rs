//! `config show`, `config path`, `config schema` and `config reference`. No
//! daemon is needed.

mod reference;

use crate::cli::Config;
use crate::client::{self, Context};
use crate::commands::serve::token_file;
use crate::config;
use crate::dirs::Dirs;
use crate::error::{Failure, Kind};
use crate::stdout;
use std::process::ExitCode;

/// Prints what was asked for.
pub(super) fn config(command: &Config) -> Result<ExitCode, Failure> {
    match command {
        Config::Show => stdout::print(&config::render(&Context::load()?.loaded))?,
        Config::Path => stdout::print(&paths()?)?,
        Config::Schema => stdout::print_json(&schema()?)?,
        Config::Reference => stdout::print(&reference::markdown(&schema()?))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn schema() -> Result<serde_json::Value, Failure> {
    serde_json::to_value(config::schema()).map_err(|error| {
        let message = format!("the schema cannot be printed: {error}");
        Failure::new(Kind::Broken, message)
    })
}

/// Works without a valid configuration: this is how one finds the invalid one.
fn paths() -> Result<String, Failure> {
    let dirs = Dirs::of_this_process()?;
    let project = client::project_file().filter(|path| path.exists());
    let project = project.map_or_else(|| "none".to_owned(), |path| path.display().to_string());
    Ok(format!(
        "user    {}\nproject {project}\ndata    {}\nruntime {}\ntokens  {} {}\n",
        dirs.config_file().display(),
        dirs.data.display(),
        dirs.runtime.display(),
        token_file(&dirs.data, "person").display(),
        token_file(&dirs.data, "agent").display(),
    ))
}
