//! What is new in the output of a command that has run before.
//!
//! Lines that stand in both outputs, in the same order, are left out like any
//! other: by the exact range of raw bytes that held them. Lines that look like
//! errors are shown whether or not they are new.

use super::row::Piece;
use super::split::Split;
use super::{Budget, Compressor, Page, looks_like_error};
use std::cell::Cell;
use std::collections::HashMap;

/// Rows of an output that are compared with another's; longer ones are not.
pub const ROWS_MAX: usize = 100_000;

/// An output compared with an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    /// What is new, and what looks like an error.
    pub page: Page,
    /// Rows that stand in both.
    pub same: usize,
    /// Rows of the earlier one that are not there any more.
    pub gone: usize,
}

/// The page of what `now` has and `before` had not; none where one of them has
/// too many rows.
pub fn compress_since(before: &[u8], now: &[u8], budget: &Budget) -> Option<Since> {
    let before = rows(before, budget)?;
    let rows = rows(now, budget)?;
    let same = align(&before, &rows);
    let count = same.iter().filter(|same| **same).count();
    let keeps: Vec<bool> = rows
        .iter()
        .zip(&same)
        .map(|(row, same)| !same || looks_like_error(row))
        .collect();
    // The compressor cuts the output into the very same rows.
    let at = Cell::new(0);
    let matcher = move |_: &str| keeps.get(at.replace(at.get() + 1)).copied().unwrap_or(true);
    let mut compressor = Compressor::new(budget, 0).matching(Box::new(matcher));
    compressor.push(now);
    Some(Since {
        page: compressor.finish(),
        same: count,
        gone: before.len() - count,
    })
}

fn rows(bytes: &[u8], budget: &Budget) -> Option<Vec<String>> {
    // A row has one byte at least, so that this much is never a surprise.
    let mut rows = Vec::new();
    let mut is_too_long = false;
    let mut sink = |piece: Piece<'_>| {
        is_too_long |= rows.len() == ROWS_MAX;
        if !is_too_long {
            rows.push(piece.text.to_owned());
        }
    };
    let mut split = Split::within(budget, 0);
    split.push(bytes, &mut sink);
    split.finish(&mut sink);
    (!is_too_long).then_some(rows)
}

/// For each row of `now`, whether it is one of `before`; each of those at most
/// once, and in the same order.
fn align(before: &[String], now: &[String]) -> Vec<bool> {
    let mut same = vec![false; now.len()];
    let mut from = (0, 0);
    let anchors = anchors(before, now);
    let ends = (before.len(), now.len());
    for anchor in anchors.into_iter().chain([ends]) {
        let mut to = anchor;
        // From the last pair on, and back from the next one.
        while from.0 < to.0 && from.1 < to.1 && before[from.0] == now[from.1] {
            same[from.1] = true;
            from = (from.0 + 1, from.1 + 1);
        }
        while to.0 > from.0 && to.1 > from.1 && before[to.0 - 1] == now[to.1 - 1] {
            same[to.1 - 1] = true;
            to = (to.0 - 1, to.1 - 1);
        }
        if anchor != ends {
            same[anchor.1] = true;
        }
        from = (anchor.0 + 1, anchor.1 + 1);
    }
    same
}

/// Pairs of the same row that stands once in each, as many as keep their order.
fn anchors(before: &[String], now: &[String]) -> Vec<(usize, usize)> {
    #[derive(Default)]
    struct Places {
        before: Place,
        now: Place,
    }
    let mut places: HashMap<&str, Places> = HashMap::new();
    for (at, row) in before.iter().enumerate() {
        places.entry(row).or_default().before.see(at);
    }
    for (at, row) in now.iter().enumerate() {
        if let Some(places) = places.get_mut(row.as_str()) {
            places.now.see(at);
        }
    }
    let mut pairs: Vec<(usize, usize)> = places
        .values()
        .filter_map(|places| match (places.before, places.now) {
            (Place::Once(before), Place::Once(now)) => Some((before, now)),
            _ => None,
        })
        .collect();
    pairs.sort_unstable_by_key(|pair| pair.1);
    longest_rising(&pairs)
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, Default)]
enum Place {
    #[default]
    Nowhere,
    Once(usize),
    Often,
}

impl Place {
    fn see(&mut self, at: usize) {
        *self = match self {
            Place::Nowhere => Place::Once(at),
            Place::Once(_) | Place::Often => Place::Often,
        };
    }
}

/// The longest subsequence of pairs whose first numbers rise.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair with the lowest first number that ends such a
    // subsequence; and for each pair, the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].0 < pair.0);
        previous.push(length.checked_sub(1).map(|before| ends[before]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut rising = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(pair) = at {
        rising.push(pairs[pair]);
        at = previous[pair];
    }
    rising.reverse();
    rising
}
