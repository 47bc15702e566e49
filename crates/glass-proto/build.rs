//! Compiles the contract with a protoc written in Rust, so that building needs
//! nothing beyond cargo, and writes the descriptor set that reflection serves.

use prost::Message as _;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let descriptors = protox::compile(["agent_v1.proto", "shellglass_v1.proto"], ["proto"])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .bytes(".agent.v1")
        .bytes(".shellglass.v1.AttachOutput")
        .bytes(".shellglass.v1.AttachInput")
        .compile_fds(descriptors)?;
    Ok(())
}
