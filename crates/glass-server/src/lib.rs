//! Listens: gRPC over a Unix socket and, where asked for, gRPC and the page over
//! TCP; finds out who the caller is. It decides nothing about commands.
#![forbid(unsafe_code)]

mod answer;
mod attach;
mod audit;
mod auth;
mod authority;
mod background;
mod history;
mod http;
mod messages;
mod peer;
mod recording;
mod search;
mod serve;
mod service;
mod shorten;
mod status;
mod text;
mod translate;
mod watch;

pub use auth::Tokens;
pub use http::{Mcp, Tls, TlsError};
pub use serve::{Exposure, Listening, Options, ServeError, Tcp, serve};
