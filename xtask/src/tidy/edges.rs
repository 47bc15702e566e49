//! Which crate may depend on which of ours. A crate that is not in the table
//! may depend on none.

use super::{Finding, Tree};

/// A crate, and those of ours that it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("glass-model", &[]),
    ("glass-adapt", &["glass-model", "glass-policy"]),
    ("glass-client", &["glass-proto"]),
    ("glass-hooks", &["glass-spawn"]),
    ("glass-vt", &[]),
    ("glass-policy", &["glass-model"]),
    ("glass-redact", &[]),
    ("glass-remote", &[]),
    ("glass-sandbox", &["glass-model"]),
    ("glass-spawn", &["glass-model"]),
    ("glass-store", &["glass-model"]),
    (
        "glass-session",
        &[
            "glass-adapt",
            "glass-hooks",
            "glass-model",
            "glass-policy",
            "glass-redact",
            "glass-remote",
            "glass-sandbox",
            "glass-spawn",
            "glass-store",
            "glass-vt",
        ],
    ),
    ("glass-proto", &["glass-model"]),
    (
        "glass-server",
        &["glass-model", "glass-proto", "glass-session", "glass-vt"],
    ),
    (
        "shellglass",
        &[
            "glass-adapt",
            "glass-client",
            "glass-hooks",
            "glass-model",
            "glass-policy",
            "glass-proto",
            "glass-redact",
            "glass-remote",
            "glass-sandbox",
            "glass-server",
            "glass-session",
            "glass-spawn",
            "glass-store",
            "glass-vt",
        ],
    ),
];

/// The tables of a manifest that make an edge.
const DEPENDENCY_TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Finds edges that the table does not have, folders that are not named as
/// their crate, and crates that do not share the workspace's lints.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let folder = file.path.strip_prefix("crates/");
        let folder = folder.and_then(|rest| rest.strip_suffix("/Cargo.toml"));
        let Some(folder) = folder.filter(|folder| !folder.contains('/')) else {
            continue;
        };
        match file.text.parse::<toml::Table>() {
            Ok(manifest) => findings.extend(check_manifest(&file.path, folder, &manifest)),
            Err(error) => findings.push(Finding::new(&file.path, 0, error.to_string())),
        }
    }
    findings
}

fn check_manifest(path: &str, folder: &str, manifest: &toml::Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    let name = manifest
        .get("package")
        .and_then(|package| package.get("name"));
    if name.and_then(toml::Value::as_str) != Some(folder) {
        findings.push(Finding::new(
            path,
            0,
            "the folder and the crate have different names",
        ));
    }
    let lints = manifest
        .get("lints")
        .and_then(|lints| lints.get("workspace"));
    if lints.and_then(toml::Value::as_bool) != Some(true) {
        findings.push(Finding::new(path, 0, "does not use the workspace's lints"));
    }
    let allowed = ALLOWED.iter().find(|(from, _)| *from == folder);
    let Some((_, allowed)) = allowed else {
        let message = "is not in the table of allowed edges (xtask/src/tidy/edges.rs)";
        findings.push(Finding::new(path, 0, message));
        return findings;
    };
    for used in ours(manifest).filter(|used| !allowed.contains(used)) {
        findings.push(Finding::new(
            path,
            0,
            format!("{folder} may not depend on {used}"),
        ));
    }
    findings
}

fn ours(manifest: &toml::Table) -> impl Iterator<Item = &str> {
    let tables = DEPENDENCY_TABLES
        .iter()
        .filter_map(|name| manifest.get(*name)?.as_table());
    tables
        .flat_map(toml::Table::keys)
        .map(String::as_str)
        .filter(|name| is_ours(name))
}

fn is_ours(name: &str) -> bool {
    name.starts_with("glass-") || name == "shellglass"
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::Tree;

    fn check_one(name: &str, dependencies: &str, expected: &[&str]) {
        let manifest = format!(
            "[package]\nname = \"{name}\"\n[lints]\nworkspace = true\n[dependencies]\n{dependencies}"
        );
        let tree = Tree::of(&[(&format!("crates/{name}/Cargo.toml"), &manifest)]);
        let found: Vec<String> = check(&tree).into_iter().map(|f| f.message).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_edge_upwards_is_found() {
        check_one(
            "glass-store",
            "glass-model.workspace = true\nlibc = \"1\"",
            &[],
        );
        check_one(
            "glass-store",
            "glass-session.workspace = true",
            &["glass-store may not depend on glass-session"],
        );
    }

    #[test]
    fn a_crate_that_nobody_thought_about_is_found() {
        check_one(
            "glass-utils",
            "",
            &["is not in the table of allowed edges (xtask/src/tidy/edges.rs)"],
        );
    }

    #[test]
    fn a_crate_without_shared_lints_or_its_own_name_is_found() {
        let tree = Tree::of(&[(
            "crates/glass-model/Cargo.toml",
            "[package]\nname = \"model\"",
        )]);
        assert_eq!(check(&tree).len(), 2);
    }
}
