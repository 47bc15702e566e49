// What settings mean for shells and for tools. Pure.

import type { Session, ShellHabits } from '../../../web/src/contract';
import { isBelow } from './names';
import type { Look } from './view';

/** What is set for the shells of new sessions; what is not set is as the daemon is configured. */
export interface Habits {
  integration?: boolean | undefined;
  integrationTimeoutMs?: number | undefined;
  zshZdotdir?: boolean | undefined;
  zshClearEndOfLineMark?: boolean | undefined;
  zshOhMyZsh?: boolean | undefined;
  zshPowerlevel10k?: boolean | undefined;
  promptDelayMs?: number | undefined;
  powershellCounter?: boolean | undefined;
}

/** What a new session is asked for then. Nothing is said of what is not set, which older daemons would not know. */
export function habitsOf({ zshClearEndOfLineMark, ...others }: Habits): { habits?: ShellHabits } {
  const all: ShellHabits = { ...others, zshClearEolMark: zshClearEndOfLineMark } as ShellHabits;
  const set = Object.entries(all).filter(([, value]) => value !== undefined);
  return set.length === 0 ? {} : { habits: Object.fromEntries(set) };
}

/** What is set for what models read; it is told by the environment of what they are given tools by. */
export interface Reading {
  compressProgress?: boolean | undefined;
}

/** The variables by which `shellglass mcp` is told. */
export function readingVariables({ compressProgress }: Reading): Record<string, string> {
  return compressProgress === undefined ? {} : { SHELLGLASS_TEXT_COMPRESS_PROGRESS: String(compressProgress) };
}

/** What is set for the tools of models; 0 is as the tools have it. */
export interface Limits {
  timeoutMs: number;
  /** Beginnings of commands, by whole words, that have no such timeout. */
  timeoutExempt: string[];
  linesMax: number;
  charactersMax: number;
}

/** What a tool is called with: what the model says comes before what is set. */
export function limited(tool: string, input: Record<string, unknown>, limits: Limits): Record<string, unknown> {
  if (tool !== 'execute_command' && tool !== 'read_output') return input;
  const set: Record<string, unknown> = {};
  if (limits.charactersMax > 0) set.max_chars = limits.charactersMax;
  if (limits.linesMax > 0 && tool === 'read_output') set.lines = limits.linesMax;
  const saysLines = input.head !== undefined || input.tail !== undefined;
  if (limits.linesMax > 0 && tool === 'execute_command' && !saysLines) {
    set.head = Math.ceil(limits.linesMax / 2);
    set.tail = Math.floor(limits.linesMax / 2);
  }
  const isTimed = tool === 'execute_command' && input.background !== true && limits.timeoutMs > 0;
  if (isTimed && !isExempt(String(input.command), limits.timeoutExempt)) set.timeout_ms = limits.timeoutMs;
  return { ...set, ...input };
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

function isExempt(command: string, beginnings: string[]): boolean {
  const said = words(command);
  return beginnings.map(words).some((it) => it.length > 0 && it.every((word, at) => said[at] === word));
}

/** What is set for consoles: `on`, `off`, or anything else for as it is configured. */
export interface ConsoleSettings {
  prompt: string;
  promptTemplate: string;
  hiddenEcho: string;
  showExit: string;
}

/** How consoles look then. */
export function lookOf({ prompt, promptTemplate, hiddenEcho, showExit }: ConsoleSettings): Look {
  const flag = (value: string) => (value === 'on' ? true : value === 'off' ? false : undefined);
  const look = {
    prompt: flag(prompt),
    promptTemplate: promptTemplate === '' ? undefined : promptTemplate,
    hiddenEcho: flag(hiddenEcho),
    showExit: flag(showExit),
  };
  return Object.fromEntries(Object.entries(look).filter(([, value]) => value !== undefined));
}

/** Which sessions are opened by themselves. */
export type AutoOpen = 'off' | 'workspace' | 'all';

/** Whether a command has just begun in a session that is to be opened then. */
export function opensByItself(which: AutoOpen, now: Session, before: Session | undefined, folders: string[]): boolean {
  const isWanted = which === 'all'
    || (which === 'workspace' && folders.some((folder) => isBelow(now.workingDirectory, folder)));
  const wasRunning = before?.running === true && before.lastShellId === now.lastShellId;
  return isWanted && now.running && !wasRunning && now.mode !== 'SESSION_MODE_PTY';
}

/** Whether a version is older than another, or none at all. */
export function isOlder(version: string, than: string): boolean {
  const numbers = (text: string) => (/^(\d+)\.(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number);
  const [mine, other] = [numbers(version), numbers(than)];
  if (mine.length === 0) return true;
  const at = mine.findIndex((number, at) => number !== other[at]);
  return at >= 0 && (mine[at] as number) < (other[at] ?? 0);
}
