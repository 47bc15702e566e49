//! The scripts that try to get out and those that must still work.

use glass_proto::agent::v1::SandboxPolicy;
use glass_proto::agent::v1::sandbox_policy::Type;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the sandboxed side has under its name, by variable.
pub type Variables = BTreeMap<String, String>;

/// One script with what it wants to run in and what it should say.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The file's name without its ending.
    pub name: String,
    /// What bash is given.
    pub script: String,
    /// What a good sandbox makes it say.
    pub expect: String,
    /// What the workspace has beside the usual.
    pub stages: Vec<String>,
    policy: Value,
}

/// Where the scripts are: beside this file, or where another user can read
/// them.
pub fn folder() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/sandbox");
    std::env::var_os("SHELLGLASS_TEST_CORPUS").map_or(beside, PathBuf::from)
}

/// Every script of the corpus, by name.
pub fn given() -> Vec<Probe> {
    read(&folder(), "")
}

/// Every script of our own, by name.
pub fn own() -> Vec<Probe> {
    let folder = folder().join("own");
    let preamble = std::fs::read_to_string(folder.join("preamble.sh")).unwrap();
    let mut probes = read(&folder, &preamble);
    probes.retain(|probe| probe.name != "preamble");
    probes
}

/// One script by its name.
pub fn named(name: &str) -> Probe {
    let found = given().into_iter().chain(own()).find(|p| p.name == name);
    found.unwrap_or_else(|| panic!("there is no probe {name}"))
}

fn read(folder: &Path, preamble: &str) -> Vec<Probe> {
    let entries = std::fs::read_dir(folder).expect("the corpus is here");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "sh"));
    paths.sort();
    paths.iter().map(|path| parse(path, preamble)).collect()
}

fn parse(path: &Path, preamble: &str) -> Probe {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let head = |key: &str| {
        let lines = text.lines().take_while(|line| line.starts_with('#'));
        let found = lines.filter_map(|line| line.strip_prefix(&format!("# {key}: ")));
        found.map(str::to_owned).collect::<Vec<_>>()
    };
    let policy = head("policy").pop().unwrap_or_else(|| "{}".to_owned());
    Probe {
        script: format!("{preamble}{text}"),
        expect: head("expect").pop().unwrap_or_default(),
        stages: head("stage"),
        policy: serde_json::from_str(&policy).expect("a policy is JSON"),
        name,
    }
}

impl Probe {
    /// The policy as the contract has it; names of variables become what they
    /// stand for.
    pub fn policy(&self, variables: &Variables) -> SandboxPolicy {
        let is = |key: &str| Some(self.policy[key].as_bool().unwrap_or(false));
        let kind = match self.policy["type"].as_str() {
            Some("WORKSPACE_READONLY") => Type::WorkspaceReadonly,
            Some("WORKSPACE_READWRITE") => Type::WorkspaceReadwrite,
            other => panic!("{}: an unknown policy {other:?}", self.name),
        };
        let mut policy = SandboxPolicy {
            r#type: kind.into(),
            network_access: is("network_access"),
            block_git_writes: is("block_git_writes"),
            disable_tmp_write: is("disable_tmp_write"),
            additional_readwrite_paths: self.paths("additional_readwrite_paths", variables),
            additional_readonly_paths: self.paths("additional_readonly_paths", variables),
            ..SandboxPolicy::default()
        };
        self.ignore(&mut policy, variables);
        policy
    }

    fn paths(&self, key: &str, variables: &Variables) -> Vec<String> {
        let items = self.policy[key].as_array().into_iter().flatten();
        let path = |item: &Value| {
            let name = item.as_str().unwrap().trim_start_matches('$');
            variables[name].clone()
        };
        items.map(path).collect()
    }

    /// The lists that are named become the mapping, as a client would make it
    /// that has such lists; it protects the lists themselves too.
    fn ignore(&self, policy: &mut SandboxPolicy, variables: &Variables) {
        let workspace = &variables["WORKSPACE"];
        let mut patterns = Vec::new();
        for list in self.policy["ignore_files"].as_array().into_iter().flatten() {
            let path = format!("{workspace}/{}", list.as_str().unwrap());
            let text = std::fs::read_to_string(&path).expect("a list can be read");
            patterns.extend(text.lines().map(str::to_owned));
            policy.additional_readonly_paths.push(path);
        }
        if !patterns.is_empty() {
            let mapping = serde_json::json!({ workspace: patterns });
            policy.ignore_mapping_json = Some(mapping.to_string());
        }
    }
}
