// Names for what is shown. Pure.

import { baseName, visible } from '../../../web/src/format';
import type { Session } from '../../../web/src/contract';

/** The longest name of a terminal, in characters. */
const NAME_CHARS_MAX = 40;

/** The longest message about what went wrong, in characters. */
const SAID_CHARS_MAX = 500;

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

/** What VS Code draws as a picture, or hides, where a label may have icons. */
const ICON = /\$(?=\([A-Za-z0-9-]+(~[A-Za-z]+)?\))/g;

/** A text for where VS Code reads icons or Markdown, in which there is neither. */
export function inert(text: string): string {
  return unlinked(text.replace(ICON, '$ '));
}

/** What went wrong, for a notification. */
export function said(message: string): string {
  return unlinked(`Shellglass: ${oneLine(message, SAID_CHARS_MAX)}`);
}

/** What a mirror is called: after what it runs, or ran. */
export function mirrorName(session: Session): string {
  return terminalName(session.activeCommand || session.lastCommand || sessionName(session));
}

/** What a terminal is called, beside its icon. */
export function terminalName(name: string): string {
  return oneLine(inert(name), NAME_CHARS_MAX);
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
