//! The wire's names and numbers do not change: what the contract has must be
//! in our copy of it, with the same number and type. Additions are free.

use super::{Finding, Tree};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto};
use prost_types::{FileDescriptorProto, FileDescriptorSet, ServiceDescriptorProto};
use std::collections::BTreeSet;
use std::path::Path;

/// The names and numbers that are promised, one to a line.
const LOCK: &str = include_str!("contract.lock");

const FOLDER: &str = "crates/glass-proto/proto";
const FILES: [&str; 2] = ["agent_v1.proto", "shellglass_v1.proto"];

/// Finds promised names that are gone or mean something else.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = FILES.iter().filter_map(|name| {
        let file = tree.get(&format!("{FOLDER}/{name}"))?;
        Some((*name, file.text.as_str()))
    });
    match compile(&sources.collect::<Vec<_>>()) {
        Ok(set) => missing(LOCK, &promises(&set)),
        Err(error) => vec![Finding::new(FOLDER, 0, error)],
    }
}

fn missing(lock: &str, promises: &BTreeSet<String>) -> Vec<Finding> {
    let lines = lock
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let absent = lines.filter(|line| !promises.contains(*line));
    absent
        .map(|line| Finding::new(FOLDER, 0, format!("the contract has `{line}`")))
        .collect()
}

/// Compiles the files as they are in the tree, without a protoc.
fn compile(sources: &[(&str, &str)]) -> Result<FileDescriptorSet, String> {
    struct Sources(Vec<(String, String)>);
    impl protox::file::FileResolver for Sources {
        fn open_file(&self, name: &str) -> Result<protox::file::File, protox::Error> {
            match self.0.iter().find(|(known, _)| known == name) {
                Some((_, text)) => protox::file::File::from_source(name, text),
                None => Err(protox::Error::file_not_found(name)),
            }
        }
    }
    let owned = sources
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let mut compiler = protox::Compiler::with_file_resolver(Sources(owned.collect()));
    compiler.include_imports(true);
    for (name, _) in sources {
        compiler
            .open_file(Path::new(name))
            .map_err(|error| error.to_string())?;
    }
    Ok(compiler.file_descriptor_set())
}

/// One line for each name that others rely on.
fn promises(set: &FileDescriptorSet) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for file in &set.file {
        of_file(file, &mut lines);
    }
    lines
}

fn of_file(file: &FileDescriptorProto, lines: &mut BTreeSet<String>) {
    let package = file.package();
    for message in &file.message_type {
        of_message(&format!("{package}.{}", message.name()), message, lines);
    }
    for kind in &file.enum_type {
        of_enum(&format!("{package}.{}", kind.name()), kind, lines);
    }
    for service in &file.service {
        of_service(&format!("{package}.{}", service.name()), service, lines);
    }
}

fn of_message(name: &str, message: &DescriptorProto, lines: &mut BTreeSet<String>) {
    lines.insert(format!("message {name}"));
    for field in &message.field {
        lines.insert(format!("field {name}.{}", of_field(field)));
    }
    for kind in &message.enum_type {
        of_enum(&format!("{name}.{}", kind.name()), kind, lines);
    }
    for nested in &message.nested_type {
        of_message(&format!("{name}.{}", nested.name()), nested, lines);
    }
}

fn of_field(field: &FieldDescriptorProto) -> String {
    let shape = match field.label() {
        Label::Repeated => "repeated ",
        _ if field.proto3_optional() => "optional ",
        _ => "",
    };
    let kind = match field.r#type() {
        Type::Message | Type::Enum => field.type_name().to_owned(),
        scalar => scalar
            .as_str_name()
            .trim_start_matches("TYPE_")
            .to_lowercase(),
    };
    format!("{} = {} {shape}{kind}", field.name(), field.number())
}

fn of_enum(name: &str, kind: &EnumDescriptorProto, lines: &mut BTreeSet<String>) {
    for value in &kind.value {
        lines.insert(format!(
            "value {name}.{} = {}",
            value.name(),
            value.number()
        ));
    }
}

fn of_service(name: &str, service: &ServiceDescriptorProto, lines: &mut BTreeSet<String>) {
    for method in &service.method {
        let side = |streaming: bool| if streaming { "stream " } else { "" };
        lines.insert(format!(
            "method {name}.{}({}{}) -> {}{}",
            method.name(),
            side(method.client_streaming()),
            method.input_type(),
            side(method.server_streaming()),
            method.output_type(),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::{LOCK, compile, missing, promises};

    const PROTO: &str = "syntax = \"proto3\"; package p; message M { string a = 1; }";

    fn lines(proto: &str) -> std::collections::BTreeSet<String> {
        promises(&compile(&[("p.proto", proto)]).expect("compiles"))
    }

    #[test]
    fn a_changed_number_is_found_and_an_addition_is_not() {
        let lock = lines(PROTO).into_iter().collect::<Vec<_>>().join("\n");
        assert_eq!(lock, "field p.M.a = 1 string\nmessage p.M");
        assert!(missing(&lock, &lines(PROTO)).is_empty());
        let added = PROTO.replace("a = 1;", "a = 1; optional string b = 1000;");
        assert!(missing(&lock, &lines(&added)).is_empty());
        let renumbered = PROTO.replace("a = 1;", "a = 2;");
        assert_eq!(missing(&lock, &lines(&renumbered)).len(), 1);
    }

    #[test]
    fn the_lock_promises_the_whole_contract() {
        assert!(LOCK.contains("method shellglass.v1.ShellExec.Execute("));
        assert!(LOCK.lines().count() > 250, "{}", LOCK.lines().count());
    }

    /// Prints the lock for the files named in `CONTRACT_FOLDER`; how
    /// `contract.lock` was made.
    #[test]
    #[ignore = "a tool for when the contract itself grows"]
    fn print_the_lock() {
        let folder = std::env::var("CONTRACT_FOLDER").expect("CONTRACT_FOLDER names a folder");
        let texts = super::FILES.map(|name| {
            let path = std::path::Path::new(&folder).join(name);
            std::fs::read_to_string(path).expect("a contract file")
        });
        let sources: Vec<(&str, &str)> = super::FILES
            .into_iter()
            .zip(texts.iter().map(String::as_str))
            .collect();
        for line in promises(&compile(&sources).expect("compiles")) {
            eprintln!("{line}");
        }
    }
}
