// What the person has set. Settings that name programs, addresses or tokens are
// of the machine: a folder that is opened cannot change them.

import * as vscode from 'vscode';
import type { CreateSessionRequest, SessionMode } from '../../../web/src/contract';
import type { Sparse } from '../../../web/src/taking';
import type { Wanted } from './place';
import { type AutoOpen, type Limits, habitsOf, lookOf, readingVariables } from './habits';
import type { Kind, Look } from './view';

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

/** What the person has set; nothing where it is the default. */
function chosen<Value>(section: string, key: string): Value | undefined {
  const known = vscode.workspace.getConfiguration(`shellglass.${section}`).inspect<Value>(key);
  return known?.workspaceFolderValue ?? known?.workspaceValue ?? known?.globalValue;
}

/** What is asked for new sessions about their shells. */
function shellHabits() {
  return habitsOf({
    integration: chosen('shell', 'integration'),
    integrationTimeoutMs: chosen('shell', 'integrationTimeoutMs'),
    zshZdotdir: chosen('shell', 'zshZdotdir'),
    zshClearEndOfLineMark: chosen('shell', 'zshClearEndOfLineMark'),
    zshOhMyZsh: chosen('shell', 'zshOhMyZsh'),
    zshPowerlevel10k: chosen('shell', 'zshPowerlevel10k'),
    promptDelayMs: chosen('shell', 'promptDelayMs'),
    powershellCounter: chosen('shell', 'powershellCounter'),
  });
}

/** What `shellglass mcp` is started with for models in the editor. */
export function toolVariables(): Record<string, string> {
  return readingVariables({ compressProgress: chosen('tools', 'compressProgress') });
}

/** How consoles look. */
export function consoleLook(): Look {
  const settings = vscode.workspace.getConfiguration('shellglass.console');
  return lookOf({
    prompt: settings.get<string>('prompt', ''),
    promptTemplate: settings.get<string>('promptTemplate', ''),
    hiddenEcho: settings.get<string>('hiddenEcho', ''),
    showExit: settings.get<string>('showExit', ''),
  });
}

/** What the tools of models are held to. */
export function toolLimits(): Limits {
  const settings = vscode.workspace.getConfiguration('shellglass.tools');
  return {
    timeoutMs: settings.get<number>('timeoutMs', 0),
    timeoutExempt: settings.get<string[]>('timeoutExempt', []),
    linesMax: settings.get<number>('linesMax', 0),
    charactersMax: settings.get<number>('charactersMax', 0),
  };
}

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
    ...shellHabits(),
    scrollback: settings.get<number>('session.scrollback', 0),
    // A daemon elsewhere has other folders.
    workingDirectory: folder === undefined || isElsewhere() ? '' : folder.uri.fsPath,
  };
}
