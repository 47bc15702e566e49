//! Memory of our own that nothing is in any more.

/// Gives what the allocator keeps for later back to the system. It keeps whatever
/// lies below something that is in use, which after a while is most of it.
/// Takes about a millisecond, in which others may have to wait for memory.
pub fn give_memory_back() {
    // SAFETY: it takes no pointer, changes nothing that is in use, and may be
    // called by any thread.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}
