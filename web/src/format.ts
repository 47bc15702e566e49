// Words for what the page shows. Pure.

import type { Execution, SandboxPolicy } from './wire';

/** A length of time, short: `0.4 s`, `12 s`, `3 min 04 s`, `2 h 10 min`. */
export function duration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < 10_000) return `${(whole / 1000).toFixed(1)} s`;
  const seconds = Math.floor(whole / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const two = (n: number) => String(n).padStart(2, '0');
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
}

/** The time of day of a moment, with its date where that is not today's. */
export function moment(unixMs: number, now: number): string {
  const then = new Date(unixMs);
  const time = then.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  const isToday = then.toDateString() === new Date(now).toDateString();
  return isToday ? time : `${then.toLocaleDateString()} ${time}`;
}

/** The last part of a path. */
export function baseName(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  return parts[parts.length - 1] ?? '/';
}

export type Ending = 'running' | 'good' | 'bad' | 'unknown';

/** How an execution stands. */
export function ending(execution: Execution): Ending {
  if (execution.rejected !== '' || execution.spawnError !== '') return 'bad';
  if (execution.endIndex === undefined) return 'running';
  if (execution.exitCode === undefined) return 'unknown';
  return execution.exitCode === 0 && !execution.aborted ? 'good' : 'bad';
}

/** Signals whose meaning helps. */
const SIGNALS: Record<string, string> = {
  SIGABRT: 'it aborted itself',
  SIGFPE: 'it calculated what cannot be',
  SIGILL: 'it executed an illegal instruction',
  SIGKILL: 'somebody killed it, or the kernel did for want of memory',
  SIGPIPE: 'nobody read what it wrote',
  SIGSEGV: 'it used memory that is not its own',
  SIGSYS: 'it made a system call that is not allowed',
  SIGTERM: 'it was asked to end',
};

/** How an execution ended, in words. */
export function explained(execution: Execution): string {
  if (execution.rejected !== '') return `refused: ${execution.rejected}`;
  if (execution.spawnError !== '') return `not run: ${execution.spawnError}`;
  if (execution.endIndex === undefined) return 'running';
  if (execution.aborted) {
    return execution.abortReason.endsWith('TIMEOUT') ? 'its time ran out' : 'cancelled';
  }
  const { exitCode, signal } = execution;
  if (exitCode === undefined) return 'exit code unknown';
  if (signal !== '') {
    const meaning = SIGNALS[signal];
    return `exit ${exitCode}: ended by ${signal}${meaning === undefined ? '' : `, ${meaning}`}`;
  }
  if (exitCode === 126) return 'exit 126: usually, found but not executable';
  if (exitCode === 127) return 'exit 127: usually, a command was not found';
  return `exit ${exitCode}`;
}

/** Rights in a word or two. */
export function rights(policy: SandboxPolicy | undefined): string {
  switch (policy?.type) {
    case 'TYPE_INSECURE_NONE':
      return 'no sandbox';
    case 'TYPE_WORKSPACE_READWRITE':
      return 'writes workspace';
    case 'TYPE_WORKSPACE_READONLY':
      return 'read-only';
    default:
      return 'default rights';
  }
}

/** Rights in full, one to a line. */
export function rightsInFull(policy: SandboxPolicy | undefined): string[] {
  if (policy === undefined) return ['the configured rights'];
  if (policy.type === 'TYPE_INSECURE_NONE') return ['no sandbox: everything that you may do'];
  const lines = [
    policy.type === 'TYPE_WORKSPACE_READONLY' ? 'may write nothing' : 'may write its workspace',
    policy.networkAccess === true ? 'may use the network' : 'no network',
  ];
  for (const path of policy.additionalReadwritePaths) lines.push(`may write ${visible(path)}`);
  for (const path of policy.additionalReadonlyPaths) lines.push(`may read ${visible(path)}`);
  if (policy.blockGitWrites === true) lines.push('may not write git');
  if (policy.disableTmpWrite === true) lines.push('may not write /tmp');
  return lines;
}

/** Characters of a command that lists show of it; it is whole where it is looked at closely. */
const LISTED_CHARS_MAX = 2000;

/** The beginning of a text that may be megabytes, for places that show many. */
export function clipped(text: string): string {
  const left = text.length - LISTED_CHARS_MAX;
  return left <= 0 ? text : `${text.slice(0, LISTED_CHARS_MAX)}… (${left} more characters)`;
}

/** Controls, and characters that reorder or are not seen; not line feed and tab. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** A word, and a letter in it that only looks like a Latin one. */
const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const FOREIGN = /(?!\p{Script=Latin})\p{L}/gu;

function escaped(c: string): string {
  return `<U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** What somebody has named, in whatever script: nothing in it reorders or cannot be seen. */
export function named(text: string): string {
  return clipped(text).replace(HIDDEN, escaped);
}

/**
 * A text in which nothing hides: what `HIDDEN` has, and letters of another
 * script among Latin ones, are written as `<U+202E>`.
 */
export function visible(text: string): string {
  const words = text.replace(WORD, (word) =>
    /\p{Script=Latin}/u.test(word) ? word.replace(FOREIGN, escaped) : word,
  );
  return words.replace(HIDDEN, escaped);
}
