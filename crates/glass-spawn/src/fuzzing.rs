//! What fuzz targets reach of the protocol. Not part of an ordinary build.

use prost::Message;

use crate::report::Report;
use crate::walls::{Plan, split_path};
use crate::wire::{self, Answer, Cover, Covered, Request, WallsMessage};

/// Reads bytes as everything that they could be.
pub fn read_any(bytes: &[u8]) {
    comes_back::<Request>(bytes);
    comes_back::<Answer>(bytes);
    comes_back::<Cover>(bytes);
    comes_back::<Covered>(bytes);
    if let Ok(walls) = wire::decode::<WallsMessage>(bytes)
        && let Some(walls) = walls.understood()
    {
        // Whatever is planned, it is laid out or refused.
        let _ = Plan::new(walls);
    }
    // A path as a command names it.
    if let Some((above, name)) = split_path(bytes) {
        assert!(!name.is_empty() && !name.contains(&b'/'));
        assert!(bytes.starts_with(&[above, name].concat()));
    }
    if let Some(report) = Report::decode(bytes) {
        assert_eq!(Report::decode(&report.encode()), Some(report));
    }
}

fn comes_back<M: Message + Default + PartialEq>(bytes: &[u8]) {
    if let Ok(message) = wire::decode::<M>(bytes) {
        let again = wire::decode::<M>(&message.encode_to_vec());
        assert!(again.is_ok_and(|again| again == message));
    }
}
