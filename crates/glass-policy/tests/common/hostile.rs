//! Lines that are made to be slow.

/// What a hostile line repeats.
pub const UNITS: &[&str] = &[
    "(",
    "((",
    "$((",
    "$(",
    "${",
    "${x:-$(",
    "`",
    "\\`",
    "{",
    "{{,",
    "[[ ",
    "<<E ",
    "<<E\n",
    "$'",
    "\"",
    "'",
    "\\\n",
    "a=(",
    "@(",
    "?(a)",
    "if ",
    "case x in ",
    "! ",
    "ls;",
    "ls|",
    "$[",
    "\"$(",
    "\"${x-",
    "a ",
    "é",
    "x;rm -rf /;",
    "sh -c 'sh -c ",
    "env ",
    "((' ",
    "$((a$((",
    "find -exec ",
    "{1..9}",
    "~",
    "=(",
    "<(",
    "coproc ",
    "f()",
    "time ",
    "[",
    "*",
    "find . -exec sh -c 'ls' +;",
    "sh -c 'ls;ls;ls';",
    "sudo -u a env b=c ",
    "$x",
    "a\\\n",
    "'a'",
    "ls &&\n",
    "((ls)) ",
    "[[ a ",
];

/// What it ends with.
pub const TAILS: &[&str] = &["", ")", "))", "}", "'", "\"", "\nE\n"];

/// A line of this length, or a little less.
pub fn line(unit: &str, tail: &str, bytes: usize) -> String {
    let mut line = unit.repeat((bytes - tail.len()) / unit.len());
    line.push_str(tail);
    line
}

/// A line of this length at most, of many units in an order that `pick` chooses.
pub fn mixture(bytes: usize, mut pick: impl FnMut(usize) -> usize) -> String {
    let mut line = String::new();
    loop {
        let unit = UNITS[pick(UNITS.len())];
        let times = 1 + pick(40);
        if line.len() + unit.len() * times > bytes {
            return line;
        }
        line.push_str(&unit.repeat(times));
    }
}
