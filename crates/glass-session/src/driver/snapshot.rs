//! The state that a shell leaves behind: its directory and its exported
//! variables.

/// What of a shell outlives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// What it called `$PWD`; empty where it did not know.
    pub cwd: Vec<u8>,
    /// Its exported variables, as `NAME=VALUE`.
    pub env: Vec<Vec<u8>>,
}

/// How the names of the drivers' own variables begin. `set -a` exports them in
/// a shell that has no arrays.
const OURS: &[u8] = b"__sg_";

/// Reads a state file. None where it is not whole: a shell may die while it
/// writes.
pub fn parse_state(bytes: &[u8]) -> Option<State> {
    let body = bytes.strip_suffix(b"\0")?;
    let mut fields = body.split(|&byte| byte == 0);
    let cwd = fields.next()?.to_vec();
    let env: Vec<Vec<u8>> = fields
        .filter(|field| !field.starts_with(OURS))
        .map(<[u8]>::to_vec)
        .collect();
    let sound = env.iter().all(|variable| {
        variable
            .iter()
            .position(|&b| b == b'=')
            .is_some_and(|at| at > 0)
    });
    // No shell runs without a single exported variable: `env` itself gets `_`
    // or `PWD` from each of them.
    (sound && !env.is_empty()).then_some(State { cwd, env })
}

#[cfg(test)]
mod tests {
    use super::{State, parse_state};
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn a_whole_state_is_read() {
        let state = parse_state(b"/tmp\0A=1\0__sg_dir=x\0B=two\nlines\0");
        let expected = State {
            cwd: b"/tmp".to_vec(),
            env: vec![b"A=1".to_vec(), b"B=two\nlines".to_vec()],
        };
        assert_eq!(state, Some(expected));
    }

    #[test]
    fn a_torn_state_is_no_state() {
        for torn in [
            &b""[..],
            b"/tmp",
            b"/tmp\0",
            b"/tmp\0A=1\0B=tw",
            b"/tmp\0A\0",
            b"/\0=x\0",
        ] {
            assert_eq!(parse_state(torn), None, "{torn:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_sound_state_or_none(
            bytes in vec(prop_oneof![any::<u8>(), Just(0), Just(b'='), Just(b'/')], 0..300),
        ) {
            if let Some(State { env, .. }) = parse_state(&bytes) {
                prop_assert!(!env.is_empty() && bytes.ends_with(b"\0"));
                prop_assert!(env.iter().all(|entry| entry.contains(&b'=')));
            }
        }

        #[test]
        fn a_state_that_is_cut_off_is_never_more_than_there_was(
            names in vec("[A-Z]{1,8}", 1..8),
            at in any::<prop::sample::Index>(),
        ) {
            let mut text = "/tmp\0".to_owned();
            for name in &names {
                text.push_str(&format!("{name}=value\0"));
            }
            let whole = parse_state(text.as_bytes()).expect("it is whole");
            let cut = &text.as_bytes()[..at.index(text.len())];
            if let Some(state) = parse_state(cut) {
                prop_assert_eq!(&state.env[..], &whole.env[..state.env.len()]);
            }
        }
    }
}
