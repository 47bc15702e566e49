//! Control characters that mean something wherever they stand.

/// Asks a terminal who it is.
pub(crate) const ENQ: u8 = 0x05;
/// Rings, and ends what an operating system command says.
pub(crate) const BEL: u8 = 0x07;
/// Breaks a sequence off.
pub(crate) const CAN: u8 = 0x18;
/// Breaks a sequence off, too.
pub(crate) const SUB: u8 = 0x1a;
/// Begins a sequence.
pub(crate) const ESC: u8 = 0x1b;
