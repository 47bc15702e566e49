// How views behave where everybody sees it. The page and the editor share it.

/** Resizes that rest for so long are applied; the first is at once. */
export const RESIZE_REST_MS = 500;

/** How long a view flashes when input was refused. */
export const FLASH_MS = 300;

/** The longest piece of input, in bytes; the daemon takes twice as much. */
export const INPUT_BYTES_MAX = 32 << 10;
