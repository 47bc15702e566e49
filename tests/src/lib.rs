//! The integration tests of Shellglass live in `tests/`.
