// The tree of sessions: by task, and what ran in each below it.

import * as vscode from 'vscode';
import { duration, ending, explained, moment, rights } from '../../../web/src/format';
import type { Shown } from '../../../web/src/wire';
import type { Execution } from '../../../web/src/contract';
import type { Daemon } from './daemon';
import type { Hub } from './hub';
import { oneLine, sessionName } from './names';

/** Executions that are shown of a session, the newest first. */
const EXECUTIONS_MAX = 100;

/** Changes within this time are shown as one. */
const GATHER_MS = 200;

export type Node =
  | { kind: 'task'; task: string; host: string }
  | { kind: 'session'; sessionId: string }
  | { kind: 'execution'; sessionId: string; execution: Execution };

const ICONS = {
  running: new vscode.ThemeIcon('sync~spin'),
  good: new vscode.ThemeIcon('pass', new vscode.ThemeColor('testing.iconPassed')),
  bad: new vscode.ThemeIcon('error', new vscode.ThemeColor('testing.iconFailed')),
  unknown: new vscode.ThemeIcon('question'),
};

export class Tree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly subscription: vscode.Disposable;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** What ran in sessions, as they were told of last. */
  private readonly known = new WeakMap<Shown, Node[]>();

  constructor(
    private readonly daemon: Daemon,
    private readonly hub: Hub,
  ) {
    this.subscription = hub.onDidChange(() => {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        this.changed.fire(undefined);
      }, GATHER_MS);
    });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.subscription.dispose();
    this.changed.dispose();
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node === undefined) return this.tasks();
    if (node.kind === 'task') return this.sessions(node);
    if (node.kind === 'session') return this.executions(node.sessionId);
    return [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (node.kind === 'task') {
      const title = node.task === '' ? 'No task' : `Task ${oneLine(node.task, 60)}`;
      const item = new vscode.TreeItem(title, vscode.TreeItemCollapsibleState.Expanded);
      if (node.host !== 'local') item.description = oneLine(node.host, 60);
      item.contextValue = 'task';
      return item;
    }
    return node.kind === 'session' ? this.sessionItem(node.sessionId) : executionItem(node);
  }

  private shown(): Shown[] {
    const all = [...this.hub.now.sessions.values()];
    return all.sort((a, b) => Number(b.session.createdUnixMs) - Number(a.session.createdUnixMs));
  }

  private tasks(): Node[] {
    const tasks = new Map<string, Node>();
    for (const { session } of this.shown()) {
      const key = `${session.host}\0${session.taskId}`;
      if (!tasks.has(key)) tasks.set(key, { kind: 'task', task: session.taskId, host: session.host });
    }
    return [...tasks.values()];
  }

  private sessions(task: Node & { kind: 'task' }): Node[] {
    const members = this.shown().filter(({ session }) => session.taskId === task.task && session.host === task.host);
    return members.map(({ session }) => ({ kind: 'session', sessionId: session.sessionId }));
  }

  /** They are asked for again once something has happened in their session. */
  private async executions(sessionId: string): Promise<Node[]> {
    const shown = this.hub.now.sessions.get(sessionId);
    if (shown === undefined) return [];
    const known = this.known.get(shown);
    if (known !== undefined) return known;
    const history = await this.daemon.call('GetSessionHistory', { sessionId, omitEvents: true });
    const newest = history.executions.slice(-EXECUTIONS_MAX).reverse();
    const nodes: Node[] = newest.map((execution) => ({ kind: 'execution', sessionId, execution }));
    this.known.set(shown, nodes);
    return nodes;
  }

  private sessionItem(sessionId: string): vscode.TreeItem {
    const shown = this.hub.now.sessions.get(sessionId);
    if (shown === undefined) return new vscode.TreeItem('(ended)');
    const { session } = shown;
    const item = new vscode.TreeItem(sessionName(session), vscode.TreeItemCollapsibleState.Collapsed);
    item.id = sessionId;
    const does = session.running ? `$ ${oneLine(session.activeCommand, 60)}` : session.busy ? 'waits' : 'idle';
    const branch = session.gitBranch === '' ? '' : ` (${oneLine(session.gitBranch, 40)})`;
    item.description = `${does}${branch}`;
    item.tooltip = `${sessionId}\n${oneLine(session.workingDirectory)}${shown.queued > 0 ? `\n${shown.queued} wait` : ''}`;
    const isPty = session.mode === 'SESSION_MODE_PTY';
    item.contextValue = `session.${isPty ? 'terminal' : 'mirror'}.${session.running ? 'running' : 'idle'}`;
    item.iconPath = session.running ? ICONS.running : new vscode.ThemeIcon(isPty ? 'terminal' : 'eye');
    item.command = { command: 'shellglass.open', title: 'Open', arguments: [{ kind: 'session', sessionId } satisfies Node] };
    return item;
  }
}

function executionItem({ execution, sessionId }: Node & { kind: 'execution' }): vscode.TreeItem {
  const item = new vscode.TreeItem(oneLine(execution.command, 120));
  item.id = `${sessionId}/${execution.shellId}`;
  const stands = ending(execution);
  const began = Number(execution.startedUnixMs);
  const took = execution.endedUnixMs === undefined ? '' : duration(Number(execution.endedUnixMs) - began);
  const how = oneLine(explained(execution));
  item.description = [stands === 'good' ? '' : how, took].filter((it) => it !== '').join(' · ');
  item.tooltip = [
    oneLine(execution.command, 2000), `in ${oneLine(execution.cwd)}`, how,
    rights(execution.sandboxPolicy), `began ${moment(began, Date.now())}`,
  ].join('\n');
  item.iconPath = ICONS[stands];
  item.contextValue = `execution.${stands}`;
  return item;
}
