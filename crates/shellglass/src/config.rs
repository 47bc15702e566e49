//! The configuration: one TOML file in layers, of which each later one wins.
//!
//! Built-in values, then the user's file, then the project's (which can only
//! narrow), then the environment. Flags are the last layer and belong to the
//! command that has them. Nothing is read that is not there, so that a command
//! without a configuration costs a few failed look-ups.

mod adapters;
mod commands;
mod console;
mod environment;
mod error;
mod hooks;
mod hosts;
mod integration;
mod layers;
mod limits;
mod nearest;
mod policy;
mod read;
mod redaction;
mod sandbox;
mod settings;
mod show;
mod text;
mod views;

pub(crate) use environment::of_this_process as variables;
pub(crate) use error::ConfigError;
pub(crate) use hooks::{FailureName, HookSettings};
pub(crate) use layers::{Loaded, Origins, Sources, load};
pub(crate) use policy::{Elicit, Level};
pub(crate) use redaction::RedactionSettings;
pub(crate) use sandbox::KindName;
pub(crate) use settings::{
    CgroupUse, DaemonSettings, Listen, LogFormat, ModeName, SessionSettings, Settings, StartupName,
};
pub(crate) use show::render;
pub(crate) use text::TextSettings;

/// The configuration's JSON schema.
pub(crate) fn schema() -> schemars::Schema {
    schemars::schema_for!(Settings)
}

/// The name of a project's file, at its workspace root.
pub(crate) const PROJECT_FILE: &str = ".shellglass.toml";
