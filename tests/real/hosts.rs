//! Sessions on other hosts, over a real `ssh` to a real `sshd` on loopback.

mod agents;
mod connections;
mod ending;
mod exactness;
mod input;
mod keys;
mod on_the_way;
mod one_command;
pub mod server;
mod terminal;
