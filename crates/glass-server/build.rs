//! Makes the page part of the program: every file that `scripts/page` has built,
//! or a page that says how to build it.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Shown where the page was not built, so that the rest can be built without it.
const PLACEHOLDER: &str = "<!doctype html><meta charset=\"utf-8\"><title>Shellglass</title>\
<p>This program was built without its page.</p><p>hint: <code>make build</code></p>\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let dist = manifest.join("../../web/dist");
    println!("cargo:rerun-if-changed={}", dist.display());
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut files = built(&dist)?;
    if !files.iter().any(|file| file.ends_with("index.html")) {
        let placeholder = out.join("index.html");
        fs::write(&placeholder, PLACEHOLDER)?;
        files = vec![placeholder];
    }
    let mut table = String::from("const ASSETS: &[Asset] = &[\n");
    let is_compressed = |file: &Path| file.extension().is_some_and(|end| end == "gz");
    for file in files.iter().filter(|file| !is_compressed(file)) {
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or("a file of the page has a strange name")?;
        let mut hasher = DefaultHasher::new();
        fs::read(file)?.hash(&mut hasher);
        let tag = format!("\"{:016x}\"", hasher.finish());
        let compressed_tag = format!("\"{:016x}-gzip\"", hasher.finish());
        let kind = content_type(name);
        let path = format!("/{name}");
        let file = file.to_str().ok_or("the path is not text")?;
        let compressed = format!("{file}.gz");
        let gzip = match Path::new(&compressed).exists() {
            true => format!(
                "Some(Body {{ tag: {compressed_tag:?}, bytes: include_bytes!({compressed:?}) }})"
            ),
            false => "None".to_owned(),
        };
        writeln!(
            table,
            "Asset {{ path: {path:?}, content_type: {kind:?}, gzip: {gzip}, \
             plain: Body {{ tag: {tag:?}, bytes: include_bytes!({file:?}) }} }},"
        )?;
    }
    table.push_str("];\n");
    fs::write(out.join("assets.rs"), table)?;
    Ok(())
}

/// The files in a folder, in order; none where it is missing.
fn built(dist: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    match fs::read_dir(dist) {
        Ok(entries) => {
            for entry in entries {
                files.push(entry?.path().canonicalize()?);
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    files.sort();
    Ok(files)
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("webmanifest") => "application/manifest+json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
