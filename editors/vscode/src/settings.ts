// What the person has set. Settings that name programs, addresses or tokens are
// of the machine: a folder that is opened cannot change them.

import * as vscode from 'vscode';
import type { CreateSessionRequest, SessionMode } from '../../../web/src/contract';
import type { Sparse } from './daemon';
import type { Wanted } from './place';
import type { Kind } from './view';

export type AutoOpen = 'off' | 'workspace' | 'all';

const TOKEN_SECRET = 'shellglass.token';

function all(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration('shellglass');
}

export function binary(): string {
  return all().get<string>('binary') || 'shellglass';
}

export function isElsewhere(): boolean {
  return all().get<string>('address', '') !== '';
}

export function autoOpen(): AutoOpen {
  return all().get<AutoOpen>('autoOpen', 'off');
}

export function externalTerminal(): string[] {
  return all().get<string[]>('externalTerminal', []);
}

export function offersTools(): boolean {
  return all().get<boolean>('languageModelTools', true);
}

export function offersMcp(): boolean {
  return all().get<boolean>('mcpServer', true);
}

/** Where the daemon is to be looked for. */
export async function wanted(secrets: vscode.SecretStorage): Promise<Wanted> {
  const settings = all();
  return {
    binary: binary(),
    address: settings.get<string>('address', ''),
    tokenFile: settings.get<string>('tokenFile', ''),
    token: await secrets.get(TOKEN_SECRET),
  };
}

/** Asks for a token, and keeps it where the editor keeps secrets. */
export async function askForToken(secrets: vscode.SecretStorage): Promise<boolean> {
  const token = await vscode.window.showInputBox({
    title: 'Shellglass: the token of the daemon',
    prompt: 'person.token in the data directory there has it (shellglass config path)',
    password: true,
    ignoreFocusOut: true,
  });
  if (token === undefined || token.trim() === '') return false;
  await secrets.store(TOKEN_SECRET, token.trim());
  return true;
}

/** How commands of a console are run. */
const MODES: Record<string, SessionMode> = {
  auto: 'SESSION_MODE_AUTO', line: 'SESSION_MODE_LINE', pipe: 'SESSION_MODE_PIPE',
};

/** How sessions are made that the editor asks for. */
export function newSession(kind: Kind): Sparse<CreateSessionRequest> {
  const settings = all();
  const mode = MODES[settings.get<string>('session.mode', '')] ?? 'SESSION_MODE_UNSPECIFIED';
  const folder = vscode.workspace.workspaceFolders?.find((it) => it.uri.scheme === 'file');
  return {
    mode: kind === 'terminal' ? 'SESSION_MODE_PTY' : mode,
    shell: settings.get<string>('session.shell', ''),
    startup: settings.get<string>('session.startup', ''),
    env: settings.get<Record<string, string>>('session.env', {}),
    scrollback: settings.get<number>('session.scrollback', 0),
    // A daemon elsewhere has other folders.
    workingDirectory: folder === undefined || isElsewhere() ? '' : folder.uri.fsPath,
  };
}
