// What the page knows, and how it learns it.

import { computed, signal } from '@preact/signals';
import { call, way } from './api';
import { Known } from './known';
import { Line, type Standing } from './line';
import { Refused } from './refused';
import type { Approval, Execution, Session, Shown } from './wire';

export const sessions = signal<ReadonlyMap<string, Shown>>(new Map());
export const ended = signal<Session[] | null>(null);
export const approvals = signal<ReadonlyMap<string, Approval>>(new Map());
export const standing = signal<Standing>({ kind: 'connecting', again: false });
export const version = signal('');
export const selected = signal<string | null>(null);
export const search = signal('');
export const now = signal(Date.now());
export const hints = signal(false);
export const drawer = signal(false);
export const notice = signal<string | null>(null);
/** What went well, for a moment. */
export const toast = signal<string | null>(null);
/** Whether history is being searched. */
export const finding = signal(false);
/** The execution that is looked at closely. */
export const inspected = signal<{ sessionId: string; execution: Execution } | null>(null);

/** A group of sessions in the sidebar. */
export interface Group {
  title: string;
  members: Shown[];
}

function matches(shown: Shown, wanted: string): boolean {
  const { session } = shown;
  const text = [session.name, session.sessionId, session.workingDirectory, session.taskId];
  text.push(session.activeCommand, session.lastCommand, session.gitBranch, session.host);
  text.push(...session.processes.map((process) => process.command));
  return text.join('\n').toLowerCase().includes(wanted);
}

/** The sessions as the sidebar has them, by task and host. */
export const groups = computed<Group[]>(() => {
  const wanted = search.value.trim().toLowerCase();
  const found = new Map<string, Shown[]>();
  const oldest = [...sessions.value.values()];
  oldest.sort((a, b) => Number(a.session.createdUnixMs) - Number(b.session.createdUnixMs)
    || (a.session.sessionId < b.session.sessionId ? -1 : 1));
  for (const shown of oldest) {
    if (!matches(shown, wanted)) continue;
    const { taskId, host } = shown.session;
    const task = shown.isEphemeral ? 'Single commands' : taskId === '' ? 'Sessions' : taskId;
    const title = host === '' || host === 'local' ? task : `${task} on ${host}`;
    found.set(title, [...(found.get(title) ?? []), shown]);
  }
  return [...found].map(([title, members]) => ({ title, members }));
});

/** The same as one list, in the order in which they are numbered. */
export const ordered = computed<Shown[]>(() => groups.value.flatMap((group) => group.members));

export function select(id: string | null): void {
  selected.value = id;
  drawer.value = false;
  const hash = id === null ? '' : `#${id}`;
  history.replaceState(null, '', `${location.pathname}${hash}`);
}

/** Selects the session `by` places further. */
export function step(by: number): void {
  const list = ordered.value;
  if (list.length === 0) return;
  const at = list.findIndex((shown) => shown.session.sessionId === selected.value);
  const next = list[(at + by + list.length) % list.length] ?? list[0];
  if (next !== undefined) select(next.session.sessionId);
}

/** Terminals that were made here, or whose keyboard was taken. */
export const held = signal<ReadonlySet<string>>(new Set());

/** Takes a terminal's keyboard, or gives it back. */
export function hold(id: string, writes: boolean): void {
  const next = new Set(held.value);
  if (writes) next.add(id);
  else next.delete(id);
  held.value = next;
}

/** Makes a terminal and shows it. */
export async function newTerminal(): Promise<void> {
  try {
    const { sessionId } = await call<Session>('CreateSession', { mode: 'SESSION_MODE_PTY' });
    hold(sessionId, true);
    select(sessionId);
  } catch (error) {
    complain(error);
  }
}

/** How long a good message stays. */
const TOAST_MS = 3000;

let toastTimer = 0;

/** Tells the person what went well. */
export function mention(text: string): void {
  toast.value = text;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { toast.value = null; }, TOAST_MS);
}

/** Tells the person what went wrong. */
export function complain(error: unknown): void {
  const hint = error instanceof Refused && error.hint !== '' ? ` (${error.hint})` : '';
  notice.value = `${error instanceof Error ? error.message : String(error)}${hint}`;
}

/** Reads the sessions that are over, or lets go of them. */
export async function toggleEnded(): Promise<void> {
  if (ended.value !== null) {
    ended.value = null;
    return;
  }
  try {
    const answer = await call<{ sessions: Session[] }>('ListSessions', { includeDisposed: true });
    const living = sessions.value;
    const over = answer.sessions.filter((session) => !living.has(session.sessionId));
    over.sort((a, b) => Number(b.lastActivityUnixMs) - Number(a.lastActivityUnixMs));
    ended.value = over.slice(0, 200);
  } catch (error) {
    complain(error);
  }
}

let line: Line | null = null;

/** Follows what the daemon tells. */
export function follow(): void {
  const known = new Known();
  line?.close();
  line = new Line(way, '/ws/events', {
    opened() {
      known.begin();
    },
    text(message, line) {
      const next = known.take(message);
      if (next === null) return;
      sessions.value = next.sessions;
      approvals.value = next.approvals;
      version.value = next.version;
      if (message.type === 'ready') line.live();
    },
    stands(next) {
      now.value = Date.now();
      standing.value = next;
    },
  });
}

export function retry(): void {
  line?.retry();
}

setInterval(() => {
  now.value = Date.now();
}, 1000);
