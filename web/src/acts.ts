// What a person can do with an execution.

import { begin, call } from './api';
import { complain, mention } from './state';
import * as taking from './taking';
import type { Execution, History, ModelText, ShellResult } from './wire';

/** A command that is accepted is not waited for longer. */
const BEGIN_MS = 10_000;

export type Purpose = taking.Purpose;

/** Does something, and says it if it fails. */
async function tried(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    complain(error);
  }
}

async function toClipboard(text: string, what: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  mention(`${what} copied.`);
}

/** A command to its last character, where a list has only its beginning. */
export async function wholeCommand(sessionId: string, execution: Execution): Promise<string> {
  if (!execution.commandCut) return execution.command;
  const request = { sessionId, omitEvents: true, shellId: execution.shellId };
  const { executions: [found] } = await call<History>('GetSessionHistory', request);
  if (found === undefined) throw new Error('It is no longer known.');
  return found.command;
}

export function copyCommand(sessionId: string, execution: Execution): Promise<void> {
  return tried(async () => toClipboard(await wholeCommand(sessionId, execution), 'Command'));
}

/** Puts on the clipboard what shows a session in a terminal outside. */
export function copyAttach(sessionId: string): Promise<void> {
  return tried(() => toClipboard(`shellglass attach ${sessionId}`, 'The command for a terminal'));
}

/** The output as it was written, without secrets. */
export function rawOutput(shellId: number): Promise<{ text: string; isCut: boolean }> {
  return taking.rawOutput(call, shellId);
}

export function copyOutput(execution: Execution): Promise<void> {
  return tried(async () => {
    const { text, isCut } = await rawOutput(execution.shellId);
    await toClipboard(text, taking.outputName(isCut));
  });
}

/** What a model reads of it. */
export function modelText(shellId: number, markdownFor: Purpose | '' = ''): Promise<ModelText> {
  return taking.modelText(call, shellId, markdownFor);
}

/** Puts command, cleaned output and end on the clipboard, as Markdown. */
export function copyMarkdown(execution: Execution, purpose: Purpose): Promise<void> {
  return tried(async () => {
    const { markdown } = await modelText(execution.shellId, purpose);
    await toClipboard(markdown, 'Markdown for a model');
  });
}

/** Runs the command again: in its session, where it ran, with the rights it had. */
export function rerun(sessionId: string, execution: Execution): Promise<void> {
  return tried(async () => {
    const args = {
      command: await wholeCommand(sessionId, execution),
      workingDirectory: execution.cwd,
      requestedSandboxPolicy: execution.sandboxPolicy,
    };
    mention('Running it again.');
    const answer = await begin<ShellResult>('Run', { sessionId, args }, BEGIN_MS);
    // What a rule refuses is listed with the others; what could not even be asked for is not.
    const refused = answer?.permissionDenied ?? answer?.spawnError;
    if (refused !== undefined) throw new Error(refused.error);
  });
}

export function cancel(execution: Execution): Promise<void> {
  return tried(async () => {
    await call('Cancel', { shellId: execution.shellId });
  });
}
