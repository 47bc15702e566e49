//! `find`: its conditions are words of their own, and some of them act.

use super::{Refusal, open, unknown};
use crate::line::Word;

/// Conditions and actions without an argument that only look or print.
const ALONE: &[&str] = &[
    "-H",
    "-L",
    "-P",
    "-a",
    "-and",
    "-daystart",
    "-depth",
    "-d",
    "-empty",
    "-executable",
    "-false",
    "-follow",
    "-help",
    "--help",
    "-ignore_readdir_race",
    "-ls",
    "-mount",
    "-nogroup",
    "-noleaf",
    "-not",
    "-nouser",
    "-nowarn",
    "-o",
    "-or",
    "-print",
    "-print0",
    "-prune",
    "-quit",
    "-readable",
    "-true",
    "-version",
    "--version",
    "-warn",
    "-writable",
    "-xdev",
    "!",
    "(",
    ")",
    ",",
];

/// Those with one argument.
const WITH_VALUE: &[&str] = &[
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-newer",
    "-newermt",
    "-newerct",
    "-newerat",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-samefile",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-wholename",
    "-xtype",
];

/// Checks each word, from the left.
pub(super) fn check(words: &[Word]) -> Result<(), Refusal> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word.begins_openly() {
            return Err(open(word));
        }
        let acts = word.value.starts_with(['-', '(', ')', '!', ',']);
        if !acts {
            continue;
        }
        if word.pattern_at.is_some() {
            return Err(open(word));
        }
        if ALONE.contains(&word.value.as_str()) || is_level(&word.value) {
            continue;
        }
        if !WITH_VALUE.contains(&word.value.as_str()) {
            return Err(unknown(word));
        }
        // A pattern without quotes becomes any number of words.
        match rest.next() {
            Some(value) if value.pattern_at.is_none() => {}
            Some(value) => return Err(open(value)),
            None => return Err(format!("`{}` has no value", word.raw)),
        }
    }
    Ok(())
}

/// `-O1` to `-O3`.
fn is_level(word: &str) -> bool {
    matches!(word, "-O0" | "-O1" | "-O2" | "-O3")
}
