// What somebody else's program prints, without what it would put on the person's
// clipboard (OSC 52): VS Code obeys that in every terminal, live or replayed. The
// daemon has left out everything else that a terminal answers or obeys, and the
// controls by which a sequence could begin otherwise than with ESC.

/** The longest beginning of a sequence that is held back, in characters; a longer number is none. */
const HELD_CHARS_MAX = 16;

/** An OSC that is not yet known to be one of ours, at the end of a text. */
const UNDECIDED = new RegExp(`\\x1b(?:\\][0-9]{0,${HELD_CHARS_MAX}})?$`);

const CLIPBOARD = /\x1b\]0*52(?![0-9])/;
const END = /\x07|\x1b\\?|[\x18\x1a]/;

export class Unclipped {
  private held = '';
  private isDropping = false;

  /** What is to be shown of the next piece. */
  take(piece: string): string {
    let rest = this.held + piece;
    this.held = '';
    let shown = '';
    while (rest !== '') {
      if (this.isDropping) {
        const end = END.exec(rest);
        if (end === null) return shown;
        // An ESC may be the first half of an end.
        if (end[0] === '\x1b' && end.index === rest.length - 1) {
          this.held = '\x1b';
          return shown;
        }
        this.isDropping = false;
        // Another sequence begins there, and ends this one.
        rest = rest.slice(end.index + (end[0] === '\x1b' ? 0 : end[0].length));
        continue;
      }
      const found = CLIPBOARD.exec(rest);
      const undecided = UNDECIDED.exec(rest);
      if (found === null || (undecided !== null && undecided.index <= found.index)) {
        const until = undecided?.index ?? rest.length;
        this.held = rest.slice(until);
        return shown + rest.slice(0, until);
      }
      shown += rest.slice(0, found.index);
      rest = rest.slice(found.index + found[0].length);
      this.isDropping = true;
    }
    return shown;
  }
}
