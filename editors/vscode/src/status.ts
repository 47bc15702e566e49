// The item of the status bar: what runs, what waits, or that nobody is there.

import * as vscode from 'vscode';
import type { Hub } from './hub';

export function statusItem(hub: Hub): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('shellglass.status', vscode.StatusBarAlignment.Left, 0);
  item.name = 'Shellglass';
  const show = () => {
    const { kind } = hub.standing;
    const waiting = hub.now.approvals.size;
    const running = [...hub.now.sessions.values()].filter(({ session }) => session.running).length;
    const isThere = kind === 'live';
    item.backgroundColor = isThere && waiting === 0 ? undefined : new vscode.ThemeColor('statusBarItem.warningBackground');
    if (!isThere) {
      item.text = '$(debug-disconnect) Shellglass';
      item.tooltip = kind === 'turned away' ? 'The daemon does not know our token.' : 'The daemon cannot be reached; click to try again.';
      item.command = 'shellglass.retry';
    } else if (waiting > 0) {
      item.text = `$(bell) Shellglass: ${waiting} ${waiting === 1 ? 'waits' : 'wait'}`;
      item.tooltip = 'Commands wait for you.';
      item.command = 'shellglass.approvals.focus';
    } else {
      item.text = running > 0 ? `$(eye) Shellglass: ${running} ${running === 1 ? 'runs' : 'run'}` : '$(eye) Shellglass';
      item.tooltip = 'Open a session';
      item.command = 'shellglass.openSession';
    }
    item.show();
  };
  show();
  return vscode.Disposable.from(item, hub.onDidChange(show), hub.onDidStand(show));
}
