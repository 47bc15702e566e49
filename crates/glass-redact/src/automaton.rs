//! Finds many literals at once, one table look-up a byte.
//!
//! Letters are compared without regard to case; whoever begins a candidate
//! compares again where case matters.

use std::collections::VecDeque;

/// A state: its row's place in the table.
pub(crate) type State = u32;

/// What is looked for.
#[derive(Clone, Debug)]
pub(crate) struct Literal {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether its first bytes must be held back until it is complete.
    pub is_held: bool,
}

/// Where a literal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The place of its last byte.
    pub at: usize,
    /// The state before that byte.
    pub before: State,
    /// The state after it.
    pub after: State,
}

/// A complete table: every state has a successor for every byte.
#[derive(Clone, Debug)]
pub(crate) struct Automaton {
    classes: [u8; 256],
    /// A row has so many bits of places.
    row_bits: u32,
    table: Vec<State>,
    /// States from here on end a literal.
    match_min: State,
    /// For each such state, the literals that end there.
    ends: Vec<Vec<u16>>,
    /// For each state, how many of the last bytes may begin a held literal.
    held: Vec<u8>,
}

#[derive(Debug, Default, Clone)]
struct Node {
    next: Vec<Option<usize>>,
    ends: Vec<u16>,
    depth: u8,
    is_held: bool,
    held: u8,
}

impl Automaton {
    /// An automaton for these literals. The order numbers them.
    pub(crate) fn new(literals: &[Literal]) -> Automaton {
        let (classes, count) = classes(literals);
        let mut nodes = trie(literals, &classes, count);
        let order = complete(&mut nodes, count);
        number(classes, count, &nodes, &order)
    }

    /// Where every search begins.
    pub(crate) fn start(&self) -> State {
        0
    }

    /// The state after one more byte.
    #[inline(always)]
    pub(crate) fn next(&self, state: State, byte: u8) -> State {
        self.table[state as usize + usize::from(self.classes[usize::from(byte)])]
    }

    /// The first place at which a literal ends, with the states before and
    /// after its last byte; or the state after all of the bytes.
    #[inline]
    pub(crate) fn find(&self, state: State, bytes: &[u8]) -> Result<Found, State> {
        let (table, classes, match_min) = (&self.table[..], &self.classes, self.match_min);
        let mut before = state;
        for (at, byte) in bytes.iter().enumerate() {
            let after = table[before as usize + usize::from(classes[usize::from(*byte)])];
            if after >= match_min {
                return Ok(Found { at, before, after });
            }
            before = after;
        }
        Err(before)
    }

    /// Whether a literal ends here.
    #[inline(always)]
    pub(crate) fn is_match(&self, state: State) -> bool {
        state >= self.match_min
    }

    /// The literals that end here, longest first.
    #[inline]
    pub(crate) fn ends(&self, state: State) -> &[u16] {
        match state.checked_sub(self.match_min) {
            Some(row) => &self.ends[(row >> self.row_bits) as usize],
            None => &[],
        }
    }

    /// How many of the last bytes may begin a literal that is held back.
    #[inline]
    pub(crate) fn held(&self, state: State) -> usize {
        usize::from(self.held[(state >> self.row_bits) as usize])
    }
}

/// Bytes that no literal has are one class.
fn classes(literals: &[Literal]) -> ([u8; 256], usize) {
    let mut is_used = [false; 256];
    for byte in literals.iter().flat_map(|literal| &literal.bytes) {
        is_used[usize::from(byte.to_ascii_lowercase())] = true;
    }
    let mut classes = [0_u8; 256];
    let mut count = 1;
    for byte in 0..=255_u8 {
        if is_used[usize::from(byte)] {
            // Upper-case letters have none of their own, so that at most 230
            // classes are in use.
            classes[usize::from(byte)] = u8::try_from(count).expect("fewer than 256 classes");
            count += 1;
        }
    }
    for byte in b'A'..=b'Z' {
        classes[usize::from(byte)] = classes[usize::from(byte.to_ascii_lowercase())];
    }
    (classes, count)
}

fn trie(literals: &[Literal], classes: &[u8; 256], count: usize) -> Vec<Node> {
    let node = |depth| Node {
        next: vec![None; count],
        depth,
        ..Node::default()
    };
    let mut nodes = vec![node(0)];
    for (number, literal) in literals.iter().enumerate() {
        let mut at = 0;
        for byte in &literal.bytes {
            let class = usize::from(classes[usize::from(*byte)]);
            at = match nodes[at].next[class] {
                Some(next) => next,
                None => {
                    let depth = nodes[at].depth.saturating_add(1);
                    nodes.push(node(depth));
                    let new = nodes.len() - 1;
                    nodes[at].next[class] = Some(new);
                    new
                }
            };
            nodes[at].is_held |= literal.is_held;
        }
        let number = u16::try_from(number).expect("the caller bounds the number of literals");
        nodes[at].ends.push(number);
    }
    nodes
}

/// Adds what follows where a literal does not go on, breadth first, and gives
/// that order.
fn complete(nodes: &mut [Node], count: usize) -> Vec<usize> {
    let mut fall_back = vec![0; nodes.len()];
    let mut order = vec![0];
    let mut queue = VecDeque::from([0]);
    while let Some(at) = queue.pop_front() {
        for class in 0..count {
            let elsewhere = nodes[fall_back[at]].next[class].unwrap_or(0);
            match nodes[at].next[class] {
                Some(next) => {
                    let fall = if at == 0 { 0 } else { elsewhere };
                    fall_back[next] = fall;
                    let more = nodes[fall].ends.clone();
                    nodes[next].ends.extend(more);
                    nodes[next].held = match nodes[next].is_held {
                        true => nodes[next].depth,
                        false => nodes[fall].held,
                    };
                    order.push(next);
                    queue.push_back(next);
                }
                None => nodes[at].next[class] = Some(if at == 0 { 0 } else { elsewhere }),
            }
        }
    }
    order
}

/// States that end a literal come last, so that one comparison tells them.
fn number(classes: [u8; 256], count: usize, nodes: &[Node], order: &[usize]) -> Automaton {
    let (quiet, ending): (Vec<usize>, Vec<usize>) =
        order.iter().partition(|at| nodes[**at].ends.is_empty());
    // Rows have a power of two of places, so that a shift finds their number.
    let stride = count.next_power_of_two();
    let mut row = vec![0; nodes.len()];
    for (number, at) in quiet.iter().chain(&ending).enumerate() {
        row[*at] = u32::try_from(number * stride).expect("the caller bounds the literals");
    }
    let mut table = Vec::with_capacity(nodes.len() * stride);
    for at in quiet.iter().chain(&ending) {
        table.extend(nodes[*at].next.iter().map(|next| row[next.unwrap_or(0)]));
        table.resize(table.len() + stride - count, 0);
    }
    Automaton {
        classes,
        row_bits: stride.trailing_zeros(),
        table,
        match_min: u32::try_from(quiet.len() * stride).expect("the caller bounds the literals"),
        ends: ending.iter().map(|at| nodes[*at].ends.clone()).collect(),
        held: quiet
            .iter()
            .chain(&ending)
            .map(|at| nodes[*at].held)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Automaton, Literal};

    fn automaton(words: &[(&str, bool)]) -> Automaton {
        let literals: Vec<Literal> = words
            .iter()
            .map(|(word, is_held)| Literal {
                bytes: word.as_bytes().to_vec(),
                is_held: *is_held,
            })
            .collect();
        Automaton::new(&literals)
    }

    #[test]
    fn every_literal_is_found_wherever_it_ends() {
        let automaton = automaton(&[("he", false), ("she", false), ("hers", false), ("%", false)]);
        let mut state = automaton.start();
        let mut found = Vec::new();
        for (at, byte) in b"uSHErs 5% he".iter().enumerate() {
            state = automaton.next(state, *byte);
            found.extend(automaton.ends(state).iter().map(|number| (at, *number)));
            assert_eq!(automaton.is_match(state), !automaton.ends(state).is_empty());
        }
        assert_eq!(found, [(3, 1), (3, 0), (5, 2), (8, 3), (11, 0)]);
    }

    #[test]
    fn only_the_beginning_of_a_held_literal_is_held() {
        let automaton = automaton(&[("token", false), ("kenobi", true)]);
        let mut state = automaton.start();
        let held: Vec<usize> = b"token x ken"
            .iter()
            .map(|byte| {
                state = automaton.next(state, *byte);
                automaton.held(state)
            })
            .collect();
        assert_eq!(held, [0, 0, 1, 2, 3, 0, 0, 0, 1, 2, 3]);
    }
}
