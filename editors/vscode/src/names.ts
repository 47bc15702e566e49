// Names for what is shown. Pure.

import { baseName, visible } from '../../../web/src/format';
import type { Session } from '../../../web/src/contract';

/** The longest name of a terminal, in characters. */
const NAME_CHARS_MAX = 40;

/** A text on one line, in which nothing hides. */
export function oneLine(text: string, charsMax = 200): string {
  const whole = [...visible(text.trim().replace(/\s+/g, ' '))];
  return whole.length <= charsMax ? whole.join('') : `${whole.slice(0, charsMax - 1).join('')}…`;
}

/** Whether a line shows all of a command; else nobody is asked to answer beside that line. */
export function isWhole(command: string, charsMax: number): boolean {
  return oneLine(command, charsMax) === visible(command) && unlinked(command) === command;
}

/**
 * A text for a notification, in which VS Code would show only the label of a link: with
 * these apart there is none, and everything is seen.
 */
export function unlinked(text: string): string {
  return text.replaceAll('](', '] (');
}

/** What a mirror is called: after what it runs, or ran. */
export function mirrorName(session: Session): string {
  return oneLine(session.activeCommand || session.lastCommand || sessionName(session), NAME_CHARS_MAX);
}

/** What a session is called. */
export function sessionName(session: Session): string {
  return oneLine(session.name || baseName(session.workingDirectory), NAME_CHARS_MAX);
}

/** Whether a path is a folder or in it. */
export function isBelow(path: string, folder: string): boolean {
  const top = folder.endsWith('/') ? folder : `${folder}/`;
  return path === folder || path.startsWith(top);
}
