//! What git executes and believes, found by reading and never by running git.

mod config;
mod index;
mod inert;
mod nested;
mod protect;
mod repository;

pub(crate) use config::{Relevant, relevant};
pub(crate) use index::gitlinks;
pub(crate) use inert::{has_steps, is_inert, plain_config};
pub(crate) use nested::{find_all as find_nested, find_work, modules};
pub(crate) use protect::{protect, refuses_new};
pub(crate) use repository::{Found, Repository, is_git_dir};
