//! The documentation, as somebody who follows it: every command line in it is
//! run, and what it shows is compared with what is printed. How pages say what
//! they mean is in CONTRIBUTING.md.

mod clean;
mod example;
mod page;
mod reader;
mod spans;
mod stage;

use page::{Block, Page};
use stage::Stage;
use std::path::{Path, PathBuf};

/// The repository.
fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("it is a folder of it").to_owned()
}

/// The pages that people read.
fn pages() -> Vec<Page> {
    let root = root();
    let mut files: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
        .iter()
        .map(|name| root.join(name))
        .collect();
    let documents = std::fs::read_dir(root.join("docs")).unwrap();
    let documents = documents.map(|entry| entry.unwrap().path());
    files.extend(documents.filter(|path| path.extension().is_some_and(|end| end == "md")));
    files.sort();
    let page = |path: &PathBuf| {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy();
        let text = std::fs::read_to_string(path).unwrap();
        Page::read(&name, &text).unwrap_or_else(|error| panic!("{error}"))
    };
    files.iter().map(page).collect()
}

#[test]
fn every_command_line_in_the_documents_works_as_it_is_written() {
    let mut failures = Vec::new();
    let (mut ran, mut left_out) = (0, 0);
    // One page alone, for whoever writes it.
    let wanted = std::env::var("SHELLGLASS_DOCUMENT").ok();
    let is_wanted = |page: &Page| wanted.as_ref().is_none_or(|name| *name == page.name);
    for page in pages().into_iter().filter(is_wanted) {
        for block in &page.blocks {
            if let Block::NotRun { line, reason } = block {
                eprintln!("not run: {}:{line}: {reason}", page.name);
                left_out += 1;
            }
        }
        match Stage::default().play(&page) {
            Ok(commands) => ran += commands,
            Err(failure) => failures.push(failure),
        }
    }
    eprintln!("{ran} command lines were run; {left_out} blocks were not");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(
        ran > 40 || wanted.is_some(),
        "only {ran} command lines were found"
    );
}

#[test]
fn what_the_documents_mention_in_passing_exists() {
    let mut help = spans::Help::default();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for page in pages() {
        for (line, span) in &page.spans {
            match help.check(span) {
                Ok(counted) => seen += usize::from(counted),
                Err(why) => wrong.push(format!("{}:{line}: `{span}`: {why}", page.name)),
            }
        }
        for (line, target) in &page.links {
            if let Err(why) = reader::follow(&root().join(&page.name), target) {
                wrong.push(format!("{}:{line}: {target}: {why}", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 30, "only {seen} command lines were found");
}

#[test]
fn the_package_installs_into_a_clean_root_and_the_tour_works_there() {
    let readme = pages().into_iter().find(|page| page.name == "README.md");
    let mut tour = readme.unwrap().section("A tour in two minutes");
    let first = Page::read("installed", clean::FIRST_LOOK).unwrap();
    tour.blocks.splice(0..0, first.blocks);
    let stage = Stage::clean();
    let ran = stage
        .play(&tour)
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert!(ran > 10, "only {ran} command lines were found");
}

#[test]
fn the_reference_of_the_configuration_is_that_of_the_program() {
    let page = std::fs::read_to_string(root().join("docs/configuration.md")).unwrap();
    let printed = shellglass_tests::program::Home::default().cli(&["config", "reference"]);
    let begin = printed.quiet();
    assert!(
        page.ends_with(&begin),
        "docs/configuration.md is stale; `make reference` writes it anew"
    );
}

#[test]
fn a_document_that_is_false_is_found_out() {
    let check = |text: &str, expected: &str| {
        let page = Page::read("false.md", text).unwrap();
        let failure = Stage::default().play(&page).unwrap_err();
        assert!(failure.contains(expected), "{failure}");
    };
    check("```sh\nshellglass no-such-thing\n```\n", "exited with 2");
    check("```sh\ntrue   # exits with 3\n```\n", "exited with 0");
    let shown = "```console\n$ shellglass policy check 'git status'\nask\n```\n";
    check(shown, "ask");
    check("```console\n$ echo one; echo two\none\n```\n", "two");
    check(
        "<!-- before:\nfalse\n-->\n```sh\ntrue\n```\n",
        "exited with 1",
    );
}
