// The extension: everything is put together here and nothing is decided.

import * as vscode from 'vscode';
import type { Purpose } from '../../../web/src/taking';
import { Acts, MODEL_TEXT, tried } from './acts';
import { type Answer, Approvals, type Question } from './approvals';
import { Daemon } from './daemon';
import { diagnose } from './diagnose';
import { isOlder } from './habits';
import { Hub } from './hub';
import { McpClient } from './mcp';
import { inert, mirrorName, oneLine, said } from './names';
import { NotFound, find } from './place';
import { askForToken, binary, toolVariables, wanted } from './settings';
import { statusItem } from './status';
import { Terminals } from './terminals';
import { registerMcp, registerTools } from './tools';
import { type Node, Tree } from './tree';

export function activate(context: vscode.ExtensionContext): void {
  const trouble = new Trouble(context.secrets);
  const daemon = new Daemon(async () => {
    try {
      const place = await find(await wanted(context.secrets));
      trouble.over();
      return place;
    } catch (error) {
      trouble.tell(error);
      throw error;
    }
  });
  const hub = new Hub(daemon);
  trouble.retry = () => hub.follow();
  const terminals = new Terminals(daemon, hub, context.workspaceState);
  const tree = new Tree(daemon, hub);
  const approvals = new Approvals(daemon, hub);
  const version = String(context.extension.packageJSON.version);
  const folder = () => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const client = new McpClient(binary, folder, version, toolVariables);
  const acts = new Acts(daemon);
  context.subscriptions.push(
    hub, terminals, tree, approvals, statusItem(hub),
    { dispose: () => client.close() },
    ...registerTools(client), ...registerMcp(version),
    vscode.window.createTreeView('shellglass.sessions', { treeDataProvider: tree, showCollapseAll: true }),
    vscode.window.createTreeView('shellglass.approvals', { treeDataProvider: approvals }),
    vscode.workspace.registerTextDocumentContentProvider(MODEL_TEXT, acts),
    vscode.workspace.onDidChangeConfiguration((event) => {
      const keys = ['binary', 'address', 'tokenFile'];
      if (keys.some((key) => event.affectsConfiguration(`shellglass.${key}`))) trouble.again();
    }),
    hub.onDidChange(({ now, isFirst }) => {
      if (isFirst) trouble.age(now.version, version);
    }),
    ...commands({ daemon, hub, terminals, approvals, acts, trouble, secrets: context.secrets }),
  );
  hub.follow();
  terminals.restore();
}

export function deactivate(): void {
  // Everything is disposed of by the editor.
}

/** Says once that there is no daemon, and what can be done about it. */
class Trouble {
  private isTold = false;
  /** The version of the daemon that was said to be too old. */
  private oldest: string | undefined;
  retry: () => void = () => {};

  constructor(private readonly secrets: vscode.SecretStorage) {}

  /** Tries again, and may say again what is wrong. */
  again(): void {
    this.isTold = false;
    this.retry();
  }

  /** The daemon is there: should it go, that is worth saying again. */
  over(): void {
    this.isTold = false;
  }

  /** Says once for each daemon that it may not know everything that it will be asked. */
  age(daemon: string, extension: string): void {
    if (!isOlder(daemon, extension) || daemon === this.oldest) return;
    this.oldest = daemon;
    const which = daemon === '' ? 'does not say its version' : `is version ${daemon}`;
    const text = `the daemon ${which}, and this extension is ${extension}: some of it may not work until the daemon is a newer one.`;
    void vscode.window.showWarningMessage(said(text));
  }

  tell(error: unknown): void {
    if (!(error instanceof NotFound) || this.isTold) return;
    this.isTold = true;
    void this.ask(error);
  }

  private async ask({ trouble, message }: NotFound): Promise<void> {
    const [choose, settings, token, again] = ['Choose the Program…', 'Open Settings', 'Enter a Token…', 'Try Again'];
    const first = trouble === 'no program' ? choose : trouble === 'no token' ? token : settings;
    const chosen = await vscode.window.showErrorMessage(said(message), first, again);
    if (chosen === settings) await vscode.commands.executeCommand('workbench.action.openSettings', 'shellglass');
    else if (chosen === token) {
      if (await askForToken(this.secrets)) this.again();
    } else if (chosen === choose) {
      const [program] = (await vscode.window.showOpenDialog({ title: 'The shellglass program' })) ?? [];
      const where = vscode.workspace.getConfiguration('shellglass');
      if (program !== undefined) await where.update('binary', program.fsPath, vscode.ConfigurationTarget.Global);
    } else if (chosen === again) this.again();
  }
}

interface Parts {
  daemon: Daemon;
  hub: Hub;
  terminals: Terminals;
  approvals: Approvals;
  acts: Acts;
  trouble: Trouble;
  secrets: vscode.SecretStorage;
}

function commands({ daemon, hub, terminals, approvals, acts, trouble, secrets }: Parts): vscode.Disposable[] {
  const open = (sessionId: string) => {
    const mode = hub.now.sessions.get(sessionId)?.session.mode;
    terminals.open(mode === 'SESSION_MODE_PTY' ? 'terminal' : 'mirror', sessionId, { preserveFocus: false });
  };
  /** An act on a session or an execution of the tree, or on one that is picked. */
  const onNode = (act: (node: Node & { kind: 'session' | 'execution' }) => Promise<void> | void) =>
    (given?: Node) => tried(async () => {
      const node = given ?? (await pick(hub));
      if (node !== undefined && node.kind !== 'task') await act(node);
    });
  const onExecution = (act: (execution: (Node & { kind: 'execution' })['execution']) => Promise<void>) =>
    onNode((node) => (node.kind === 'execution' ? act(node.execution) : undefined));
  const hand = (purpose: Purpose) => onExecution((execution) => acts.hand(execution, purpose));
  const answer = (which: Answer) => (question?: Question) => tried(async () => {
    const first = approvals.getChildren()[0];
    const meant = question ?? first;
    if (meant?.kind === 'approval') await approvals.answerInView(meant.approvalId, which);
  });
  const all: Record<string, (...args: never[]) => unknown> = {
    newTerminal: () => terminals.open('terminal', null, { preserveFocus: false }),
    newConsole: () => terminals.open('console', null, { preserveFocus: false }),
    openConsole: onNode((node) => terminals.open('console', node.sessionId, { preserveFocus: false })),
    open: onNode((node) => open(node.sessionId)),
    openSession: onNode((node) => open(node.sessionId)),
    openMirror: onNode((node) => terminals.open('mirror', node.sessionId, { preserveFocus: false })),
    attachOutside: onNode((node) => acts.attachOutside(node.sessionId)),
    cancel: onNode((node) =>
      acts.cancel(node.kind === 'execution' ? { shellId: node.execution.shellId } : { sessionId: node.sessionId })),
    dispose: onNode((node) => acts.dispose(node.sessionId)),
    copyCommand: onExecution((execution) => acts.copyCommand(execution)),
    copyOutput: onExecution((execution) => acts.copyOutput(execution)),
    showModelText: onExecution((execution) => acts.showModelText(execution)),
    addToContext: hand('context'),
    fix: hand('fix'),
    explain: hand('explain'),
    allowOnce: answer('once'),
    allowForSession: answer('session'),
    allowAlways: answer('always'),
    refuse: answer('refuse'),
    review: (question?: Question) => {
      if (question?.kind === 'approval') return approvals.review(question.approvalId);
    },
    retry: () => trouble.again(),
    signIn: async () => {
      if (await askForToken(secrets)) trouble.again();
    },
    openPage: () => tried(async () => {
      const { address, token } = await daemon.find();
      await vscode.env.openExternal(vscode.Uri.parse(`${address}/#token=${token}`));
    }),
    diagnose: () => diagnose(binary()),
  };
  return Object.entries(all).map(([name, act]) => vscode.commands.registerCommand(`shellglass.${name}`, act));
}

/** Lets the person choose a session. */
async function pick(hub: Hub): Promise<Node | undefined> {
  const items = [...hub.now.sessions.values()].map(({ session }) => ({
    label: `$(${session.running ? 'sync~spin' : 'eye'}) ${mirrorName(session)}`,
    description: inert(oneLine(session.workingDirectory)),
    sessionId: session.sessionId,
  }));
  if (items.length === 0) {
    void vscode.window.showInformationMessage('Shellglass: no session lives.');
    return undefined;
  }
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: 'A session' });
  return chosen && { kind: 'session', sessionId: chosen.sessionId };
}
