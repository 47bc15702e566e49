// What `/ws/events` has told so far. The page and the editor share it.

import type { Approval, Shown } from './wire';

/** What is known at one moment. */
export interface Knowledge {
  readonly sessions: ReadonlyMap<string, Shown>;
  readonly approvals: ReadonlyMap<string, Approval>;
  /** The daemon's version. */
  readonly version: string;
}

/** The same, while it is put together. */
interface Draft {
  sessions: Map<string, Shown>;
  approvals: Map<string, Approval>;
  version: string;
}

export class Known {
  private now: Knowledge = { sessions: new Map(), approvals: new Map(), version: '' };
  /** What is told before `ready` replaces what was known, all at once. */
  private fresh: Draft | null = null;

  /** Another connection begins: everything will be told again. */
  begin(): void {
    this.fresh = { sessions: new Map(), approvals: new Map(), version: this.now.version };
  }

  /** Takes a message. Answers with what is known then, or none while it is not all. */
  take(message: { type: string; [key: string]: unknown }): Knowledge | null {
    const { sessions, approvals, version } = this.now;
    // A draft is changed in place; what somebody has been handed is not.
    const next = this.fresh ?? { sessions: new Map(sessions), approvals: new Map(approvals), version };
    switch (message.type) {
      case 'session:created':
      case 'session:updated': {
        const shown = message as unknown as Shown;
        next.sessions.set(shown.session.sessionId, shown);
        break;
      }
      case 'session:disposed':
        next.sessions.delete(message.sessionId as string);
        break;
      case 'approval:pending': {
        const approval = message.approval as Approval;
        next.approvals.set(approval.approvalId, approval);
        break;
      }
      case 'approval:resolved':
        next.approvals.delete(message.approvalId as string);
        break;
      case 'capabilities':
        next.version = (message.capabilities as { programVersion: string }).programVersion;
        break;
    }
    if (this.fresh !== null && message.type !== 'ready') return null;
    this.fresh = null;
    this.now = next;
    return next;
  }
}
