//! The wire: the contract's messages and the conversions between them and the
//! vocabulary of `glass-model`. Nothing else sees both sides.
#![forbid(unsafe_code)]
