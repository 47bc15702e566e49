// What the daemon tells of all sessions and approvals, for everything that the
// editor shows.

import * as vscode from 'vscode';
import { Known, type Knowledge } from '../../../web/src/known';
import type { Line, Standing } from '../../../web/src/line';
import type { Daemon } from './daemon';

/** What changed. */
export interface Change {
  before: Knowledge;
  now: Knowledge;
  /** Everything was told again: what is new to us is not new. */
  isFirst: boolean;
}

export class Hub implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Change>();
  private readonly stood = new vscode.EventEmitter<Standing>();
  readonly onDidChange = this.changed.event;
  readonly onDidStand = this.stood.event;
  now: Knowledge = { sessions: new Map(), approvals: new Map(), version: '' };
  standing: Standing = { kind: 'connecting', again: false };
  private line: Line | null = null;

  constructor(private readonly daemon: Daemon) {}

  /** Begins to listen, or begins anew. */
  follow(): void {
    const known = new Known();
    this.line?.close();
    this.line = this.daemon.line('/ws/events', {
      opened: () => known.begin(),
      text: (message, line) => {
        const now = known.take(message);
        if (now === null) return;
        const before = this.now;
        this.now = now;
        const isFirst = message.type === 'ready';
        if (isFirst) line.live();
        this.changed.fire({ before, now, isFirst });
      },
      stands: (standing) => {
        this.standing = standing;
        this.stood.fire(standing);
      },
    });
  }

  retry(): void {
    this.line?.retry();
  }

  dispose(): void {
    this.line?.close();
    this.changed.dispose();
    this.stood.dispose();
  }
}
