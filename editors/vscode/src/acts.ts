// What a person can do with sessions and executions.

import { spawn } from 'node:child_process';
import * as vscode from 'vscode';
import type { Execution } from '../../../web/src/contract';
import { Refused } from '../../../web/src/refused';
import { type Purpose, modelText, outputName, rawOutput } from '../../../web/src/taking';
import type { Daemon } from './daemon';
import { said } from './names';
import { externalTerminal, binary, isElsewhere } from './settings';

/** How long a good message stays. */
const SAID_MS = 4000;

/** How a text is put before the chat of the editor. */
const CHAT = 'workbench.action.chat.open';

/** Time for the editor to say which models it has. */
const CHAT_MS_MAX = 3000;

/** Documents that show what a model saw. */
export const MODEL_TEXT = 'shellglass-text';

function say(text: string): void {
  vscode.window.setStatusBarMessage(`$(check) Shellglass: ${text}`, SAID_MS);
}

/** Does something, and says it if it fails. */
export async function tried(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    const hint = error instanceof Refused && error.hint !== '' ? ` (${error.hint})` : '';
    void vscode.window.showErrorMessage(said(`${error instanceof Error ? error.message : String(error)}${hint}`));
  }
}

async function toClipboard(text: string, what: string): Promise<void> {
  await vscode.env.clipboard.writeText(text);
  say(`${what} copied`);
}

/** Whether there is a chat with a model in it; an editor that does not say soon has none. */
async function hasChat(): Promise<boolean> {
  if (!(await vscode.commands.getCommands(true)).includes(CHAT)) return false;
  const models = vscode.lm?.selectChatModels?.().then((found) => found.length > 0, () => false);
  const none = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), CHAT_MS_MAX));
  return Promise.race([models ?? false, none]);
}

export class Acts implements vscode.TextDocumentContentProvider {
  constructor(private readonly daemon: Daemon) {}

  /** What a model reads of an execution; its document's path has the number. */
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const shellId = Number(/^\/(\d+)\//.exec(uri.path)?.[1]);
    const { output, end } = await modelText(this.daemon.call, shellId);
    return `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}[${end}]\n`;
  }

  async showModelText({ shellId }: Execution): Promise<void> {
    const uri = vscode.Uri.from({ scheme: MODEL_TEXT, path: `/${shellId}/what the model saw` });
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }

  /** Hands command, cleaned output and end to the editor's chat, else to the clipboard. */
  async hand({ shellId }: Execution, purpose: Purpose): Promise<void> {
    const { markdown } = await modelText(this.daemon.call, shellId, purpose);
    if (await hasChat()) {
      await vscode.commands.executeCommand(CHAT, { query: markdown, isPartialQuery: true });
      return;
    }
    await toClipboard(markdown, 'Markdown for a model');
  }

  copyCommand(execution: Execution): Promise<void> {
    return toClipboard(execution.command, 'Command');
  }

  async copyOutput({ shellId }: Execution): Promise<void> {
    const { text, isCut } = await rawOutput(this.daemon.call, shellId);
    await toClipboard(text, outputName(isCut));
  }

  async cancel(what: { sessionId: string } | { shellId: number }): Promise<void> {
    const { cancelled } = await this.daemon.call('Cancel', what);
    say(cancelled ? 'cancelled' : 'nothing was running');
  }

  async dispose(sessionId: string): Promise<void> {
    const yes = 'End the Session';
    const answer = await vscode.window.showWarningMessage(
      'End this session? What runs in it is cancelled.', { modal: true }, yes);
    if (answer === yes) await this.daemon.call('DisposeSession', { sessionId });
  }

  /** Opens a session in a terminal outside of the editor, or says what to type there. */
  async attachOutside(sessionId: string): Promise<void> {
    const words = [binary(), 'attach', sessionId];
    const [program, ...first] = externalTerminal();
    if (program === undefined || isElsewhere()) {
      const quoted = words.map((word) => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
      return toClipboard(quoted.join(' '), 'The command for a terminal');
    }
    const child = spawn(program, [...first, ...words], { detached: true, stdio: 'ignore' });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
  }
}
