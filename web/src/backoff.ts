// When a lost connection is tried again: after 1, 2, 4, 8 and 16 seconds, then
// every 16, ten times in all; then a person is asked.

const FIRST_MS = 1000;
const LONGEST_MS = 16_000;

/** Tries before a person is asked. */
export const TRIES_MAX = 10;

/** How long to wait before a try, counted from 0; none when there were enough. */
export function pause(tries: number): number | null {
  if (tries >= TRIES_MAX) return null;
  return Math.min(FIRST_MS * 2 ** tries, LONGEST_MS);
}
