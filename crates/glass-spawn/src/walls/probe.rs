//! Tries what walls can be made of, in processes that end afterwards.
