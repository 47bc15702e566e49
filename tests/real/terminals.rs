//! Sessions in terminals: mirrors of pipe and line sessions, and sessions that
//! are terminals themselves.

mod attach;
mod clipboard;
mod commands;
mod console;
mod crash;
mod desk;
mod habits;
mod inside;
mod integration;
mod judged;
mod looks;
mod mirror;
mod nushell;
pub(crate) mod one_command;
mod programs;
mod pty;
mod rights;
mod sizes;
mod spoof;
mod status;
mod tmux;
mod tty;
pub mod viewer;
mod watch;
mod zellij;
