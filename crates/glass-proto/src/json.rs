//! The contract as JSON.
