//! Commands of every kind, made from a seed.

mod bash;
mod fish;
mod posix;

/// How a command's result compares with that of `SHELL -c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In everything, and the shell goes on.
    Same,
    /// In everything, and it ends the shell, which is begun anew.
    Ends,
    /// In everything, once its background job has ended, too.
    Late,
}

/// A command.
#[derive(Clone, Debug)]
pub struct Sample {
    pub command: String,
    pub kind: Kind,
}

/// What makes a command.
pub type Template = (Kind, fn(&mut Rng) -> String);

/// Commands for bash.
pub fn bash(count: usize, seed: u64) -> Vec<Sample> {
    let templates = [posix::COMMON, posix::WITH_PIPEFAIL, bash::ONLY].concat();
    let ends = [posix::ENDS, posix::ENDS_WITH_PIPEFAIL, bash::ENDS].concat();
    samples(&templates, &ends, count, seed)
}

/// Commands for zsh.
pub fn zsh(count: usize, seed: u64) -> Vec<Sample> {
    let templates = [posix::COMMON, posix::WITH_PIPEFAIL].concat();
    let ends = [posix::ENDS, posix::ENDS_WITH_PIPEFAIL].concat();
    samples(&templates, &ends, count, seed)
}

/// Commands for dash, which a syntax error ends.
pub fn dash(count: usize, seed: u64) -> Vec<Sample> {
    let ends = [posix::ENDS, posix::ENDS_DASH].concat();
    samples(posix::COMMON, &ends, count, seed)
}

/// Commands for fish.
pub fn fish(count: usize, seed: u64) -> Vec<Sample> {
    samples(fish::COMMON, fish::ENDS, count, seed)
}

/// Every template at least once where there is room, then any; one command in
/// forty ends its shell.
fn samples(templates: &[Template], ends: &[Template], count: usize, seed: u64) -> Vec<Sample> {
    let mut rng = Rng(seed);
    let make = |at: usize| {
        let (kind, make) = match at {
            _ if at % 40 == 39 => {
                let turn = at / 40;
                ends[turn % ends.len()]
            }
            _ if at < templates.len() => templates[at],
            _ => templates[rng.below(templates.len())],
        };
        Sample {
            command: make(&mut rng),
            kind,
        }
    };
    (0..count).map(make).collect()
}

/// A small generator of numbers that are the same on every machine.
pub struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % end
    }

    /// One of several.
    pub fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// A word that needs quotes.
    pub fn word(&mut self) -> &'static str {
        self.one(&[
            "plain",
            "two words",
            "żółć",
            "日本語",
            "🎉 party",
            "a\tb",
            "100%",
            "*",
            "$HOME",
            "\\n",
            "semi;colon",
            "e\u{301}",
            "-n",
            "~",
            "#no comment",
            "{a,b}",
            "[x]",
            "a&b|c",
        ])
    }
}
