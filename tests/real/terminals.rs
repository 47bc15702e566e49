//! Sessions in terminals: mirrors of pipe and line sessions, and sessions that
//! are terminals themselves.

mod attach;
mod crash;
mod mirror;
mod programs;
mod pty;
mod rights;
mod sizes;
mod tmux;
mod tty;
mod viewer;
