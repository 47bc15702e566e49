//! The ignore mapping of a policy: directories, and patterns for each.

use std::fmt;

use glass_model::SandboxPolicy;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use crate::Refusal;

/// The longest mapping.
const MAPPING_BYTES_MAX: usize = 1 << 20;

/// The most patterns in all.
const PATTERNS_MAX: usize = 10_000;

/// Directories with their patterns, in order. A directory may be there more
/// than once: its lists are then separate, so that a `!pattern` of one does
/// not take back what another ignores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mapping {
    entries: Vec<(String, Vec<String>)>,
}

impl Mapping {
    /// Adds what a JSON text says.
    pub(crate) fn add(&mut self, text: &str) -> Result<(), Refusal> {
        if text.trim().is_empty() {
            return Ok(());
        }
        if text.len() > MAPPING_BYTES_MAX {
            return Err(Refusal::TooMany {
                what: "bytes of ignore mapping",
                max: MAPPING_BYTES_MAX,
            });
        }
        let Pairs(pairs) = serde_json::from_str(text).map_err(|error| Refusal::Ignore {
            why: error.to_string(),
        })?;
        for pair in pairs {
            if pair.0.contains('\0') {
                let why = "a directory has a NUL in its name".to_owned();
                return Err(Refusal::Ignore { why });
            }
            if !self.entries.contains(&pair) {
                self.entries.push(pair);
            }
        }
        let patterns: usize = self.entries.iter().map(|(_, list)| list.len()).sum();
        if patterns > PATTERNS_MAX {
            return Err(Refusal::TooMany {
                what: "ignore patterns",
                max: PATTERNS_MAX,
            });
        }
        Ok(())
    }

    /// The mapping of a policy that was settled.
    pub(crate) fn of_policy(policy: &SandboxPolicy) -> Mapping {
        let mut mapping = Mapping::default();
        if let Some(text) = &policy.ignore_mapping_json {
            // What was settled was parsed before; if it was not, it hides
            // nothing and so counts as the widest.
            let _ = mapping.add(text);
        }
        mapping
    }

    /// Whether this hides everything that another hides.
    pub(crate) fn includes(&self, other: &Mapping) -> bool {
        other
            .entries
            .iter()
            .all(|entry| self.entries.contains(entry))
    }

    /// The directories and their patterns.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.entries
            .iter()
            .map(|(directory, list)| (directory.as_str(), list.as_slice()))
    }

    /// As JSON. A directory's second list has its name with `/.` behind it,
    /// which is the same directory and another key.
    pub(crate) fn to_json(&self) -> String {
        let mut object = serde_json::Map::new();
        for (directory, list) in &self.entries {
            let mut key = directory.clone();
            while object.contains_key(&key) {
                key.push_str("/.");
            }
            object.insert(key, list.clone().into());
        }
        serde_json::Value::Object(object).to_string()
    }
}

/// A JSON object as pairs, so that a key that is there twice counts twice.
struct Pairs(Vec<(String, Vec<String>)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of directories with lists of patterns")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::Mapping;

    fn mapping(texts: &[&str]) -> Mapping {
        let mut mapping = Mapping::default();
        for text in texts {
            mapping.add(text).unwrap();
        }
        mapping
    }

    #[test]
    fn a_key_that_is_there_twice_counts_twice() {
        let found = mapping(&[r#"{"/a": ["x"], "/a": ["y"]}"#]);
        assert_eq!(found.iter().count(), 2);
    }

    #[test]
    fn lists_of_one_directory_survive_json() {
        let found = mapping(&[r#"{"/a": ["*.env"]}"#, r#"{"/a": ["!b.env"]}"#]);
        let again = mapping(&[&found.to_json()]);
        assert_eq!(again.iter().count(), 2);
    }

    #[test]
    fn more_hidden_includes_less_hidden() {
        let more = mapping(&[r#"{"/a": ["x"], "/b": ["y"]}"#]);
        let less = mapping(&[r#"{"/a": ["x"]}"#]);
        assert!(more.includes(&less));
        assert!(!less.includes(&more));
    }

    #[test]
    fn nonsense_is_refused() {
        let mut found = Mapping::default();
        for text in [
            "[]",
            "{",
            r#"{"/a": "x"}"#,
            r#"{"/a": [1]}"#,
            "{\"a\\u0000\": []}",
        ] {
            assert!(found.add(text).is_err(), "{text}");
        }
        assert!(found.add("").is_ok());
    }
}
