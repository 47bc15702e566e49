// What waits for a person: a notification for each question, and a view that has
// all of them with their reasons and rights.

import * as vscode from 'vscode';
import { rightsInFull, visible } from '../../../web/src/format';
import type { Approval, ApprovalScope } from '../../../web/src/contract';
import { tried } from './acts';
import type { Daemon } from './daemon';
import type { Hub } from './hub';
import { isWhole, oneLine, unlinked } from './names';

/** Characters of a command that a notification shows. */
const SHOWN_CHARS_MAX = 300;

/** An answer, and what it means. */
export type Answer = 'once' | 'session' | 'always' | 'refuse';

const SCOPES: Record<Answer, ApprovalScope> = {
  once: 'APPROVAL_SCOPE_ONCE',
  session: 'APPROVAL_SCOPE_SESSION',
  always: 'APPROVAL_SCOPE_ALWAYS',
  refuse: 'APPROVAL_SCOPE_ONCE',
};

export type Question = { kind: 'approval'; approvalId: string } | { kind: 'detail'; text: string; icon: string };

export class Approvals implements vscode.TreeDataProvider<Question>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly subscription: vscode.Disposable;
  /** Questions that a notification has put; none is put twice. */
  private asked = new Set<string>();

  constructor(
    private readonly daemon: Daemon,
    private readonly hub: Hub,
  ) {
    this.subscription = hub.onDidChange(({ before, now }) => {
      const isSame = before.approvals.size === now.approvals.size
        && [...now.approvals.keys()].every((id) => before.approvals.has(id));
      if (isSame) return;
      this.changed.fire(undefined);
      void vscode.commands.executeCommand('setContext', 'shellglass.waiting', now.approvals.size > 0);
      for (const approval of now.approvals.values()) void this.ask(approval);
      this.asked = new Set([...this.asked].filter((id) => now.approvals.has(id)));
    });
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }

  getChildren(node?: Question): Question[] {
    if (node === undefined) {
      const waiting = [...this.hub.now.approvals.values()];
      waiting.sort((a, b) => Number(a.askedUnixMs) - Number(b.askedUnixMs));
      return waiting.map(({ approvalId }) => ({ kind: 'approval', approvalId }));
    }
    const approval = node.kind === 'approval' ? this.hub.now.approvals.get(node.approvalId) : undefined;
    return approval === undefined ? [] : details(approval);
  }

  getTreeItem(node: Question): vscode.TreeItem {
    if (node.kind === 'detail') {
      const item = new vscode.TreeItem(node.text);
      item.iconPath = new vscode.ThemeIcon(node.icon);
      item.tooltip = node.text;
      return item;
    }
    const approval = this.hub.now.approvals.get(node.approvalId);
    const item = new vscode.TreeItem(
      oneLine(approval?.command ?? '', SHOWN_CHARS_MAX), vscode.TreeItemCollapsibleState.Expanded);
    item.id = node.approvalId;
    item.tooltip = visible(approval?.command ?? '');
    item.iconPath = new vscode.ThemeIcon('bell');
    item.contextValue = (approval?.prefixes.length ?? 0) > 0 ? 'approval.always' : 'approval';
    return item;
  }

  /** Takes an answer that was given beside a line of the view. */
  async answerInView(approvalId: string, answer: Answer): Promise<void> {
    const approval = this.hub.now.approvals.get(approvalId);
    if (approval === undefined) return;
    if (answer === 'refuse') await this.refuse(approvalId);
    else if (isWhole(approval.command, SHOWN_CHARS_MAX)) await this.answer(approvalId, answer);
    else await this.review(approvalId);
  }

  /** Answers a question. */
  private answer(approvalId: string, answer: Answer, reason = ''): Promise<void> {
    return tried(async () => {
      await this.daemon.call('ResolveApproval', {
        approvalId, approve: answer !== 'refuse', scope: SCOPES[answer], reason,
      });
    });
  }

  /** Refuses, with words for who asked. */
  private async refuse(approvalId: string): Promise<void> {
    const reason = await vscode.window.showInputBox({
      title: 'Shellglass: refuse this command', prompt: 'A message for who asked; may be left empty',
    });
    if (reason !== undefined) await this.answer(approvalId, 'refuse', reason);
  }

  private async ask(approval: Approval): Promise<void> {
    const { approvalId } = approval;
    if (this.asked.has(approvalId)) return;
    this.asked.add(approvalId);
    if (!isWhole(approval.command, SHOWN_CHARS_MAX)) {
      const review = 'Review…';
      const text = `${who(approval)} wants to run a long command: ${oneLine(approval.command, SHOWN_CHARS_MAX)}`;
      if ((await vscode.window.showWarningMessage(unlinked(text), review)) === review) await this.review(approvalId);
      return;
    }
    const text = `${who(approval)} wants to run: ${oneLine(approval.command, SHOWN_CHARS_MAX)} — ${oneLine(approval.reason)} (${rightsInFull(approval.sandboxPolicy).join(', ')})`;
    const answers = answersTo(approval);
    const chosen = await vscode.window.showWarningMessage(unlinked(text), ...answers.keys());
    await this.answerIfWaiting(approvalId, answers.get(chosen ?? ''));
  }

  /** Shows all of a question, and takes the answer there. */
  async review(approvalId: string): Promise<void> {
    const approval = this.hub.now.approvals.get(approvalId);
    if (approval === undefined) return;
    const { command, reason, workingDirectory, sandboxPolicy } = approval;
    const detail = [
      visible(command), '', oneLine(reason), `in ${oneLine(workingDirectory)}`,
      rightsInFull(sandboxPolicy).join(', '),
    ].join('\n');
    const answers = answersTo(approval);
    const title = `${who(approval)} wants to run:`;
    const chosen = await vscode.window.showWarningMessage(title, { modal: true, detail }, ...answers.keys());
    await this.answerIfWaiting(approvalId, answers.get(chosen ?? ''));
  }

  /** A question may have been answered elsewhere since. */
  private async answerIfWaiting(approvalId: string, answer: Answer | undefined): Promise<void> {
    if (answer === undefined) return;
    if (this.hub.now.approvals.has(approvalId)) await this.answer(approvalId, answer);
    else void vscode.window.showInformationMessage('Shellglass: this was answered elsewhere, or nobody asks any more.');
  }
}

function who(approval: Approval): string {
  return approval.askedBy === 'agent' ? 'An agent' : 'A person';
}

function answersTo(approval: Approval): Map<string, Answer> {
  const answers = new Map<string, Answer>([['Allow Once', 'once'], ['Allow for Session', 'session']]);
  if (approval.prefixes.length > 0) answers.set('Always Allow', 'always');
  return answers.set('Refuse', 'refuse');
}

function details(approval: Approval): Question[] {
  const by = approval.askedBy === 'agent' ? 'an agent' : 'a person';
  const detail = (icon: string, text: string): Question => ({ kind: 'detail', icon, text });
  return [
    detail('question', oneLine(approval.reason)),
    detail('folder', oneLine(approval.workingDirectory)),
    ...rightsInFull(approval.sandboxPolicy).map((right) => detail('shield', oneLine(right))),
    detail('account', approval.taskId === '' ? by : `${by}, task ${oneLine(approval.taskId, 60)}`),
    ...(approval.prefixes.length > 0
      ? [detail('bookmark', `always would remember: ${approval.prefixes.map((it) => oneLine(it)).join(', ')}`)]
      : []),
  ];
}
