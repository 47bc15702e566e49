// The terminals of the editor that show sessions: opening them, naming them, and
// bringing them back when the window is loaded again.

import * as vscode from 'vscode';
import type { Daemon } from './daemon';
import { opensByItself } from './habits';
import type { Change, Hub } from './hub';
import { mirrorName, said, sessionName, terminalName } from './names';
import { autoOpen, consoleLook, newSession } from './settings';
import { type Kind, View } from './view';

/** Where the open terminals are remembered, for each folder that is opened. */
const MEMORY = 'shellglass.terminals';

/** Terminals that were opened by themselves and whose session has ended; older ones are closed. */
const ENDED_BY_THEMSELVES_MAX = 3;

/** How long the status bar says why a key did nothing. */
const SAID_MS = 4000;

const WHY_READ_ONLY = 'Shellglass: this terminal only shows an agent’s session. Ctrl+C cancels what runs; other keys do nothing.';
const WHY_DEAF = 'Shellglass: the session has ended, or the daemon cannot be reached.';

/** By its eye a person knows what only shows. */
const ICONS: Record<Kind, string> = { mirror: 'eye', terminal: 'terminal-bash', console: 'terminal' };

interface Remembered {
  sessionId: string;
  kind: Kind;
}

interface Shown {
  kind: Kind;
  view: View;
  terminal: vscode.Terminal;
  /** Known once the session is. */
  sessionId: string;
  isByItself: boolean;
  isOver: boolean;
}

export class Terminals implements vscode.Disposable {
  private readonly shown = new Set<Shown>();
  /** Those that the editor has been given and has not opened yet. */
  private readonly unopened = new Map<vscode.Pseudoterminal, Omit<Shown, 'terminal'>>();
  /** Those that were chosen as a profile: the editor opens them, and may leave them out of sight. */
  private readonly chosen = new WeakSet<vscode.Pseudoterminal>();
  private readonly disposables: vscode.Disposable[] = [];

  constructor(
    private readonly daemon: Daemon,
    private readonly hub: Hub,
    private readonly memory: vscode.Memento,
  ) {
    this.disposables.push(
      hub.onDidChange((change) => this.changed(change)),
      hub.onDidStand(({ kind }) => {
        if (kind === 'live') for (const { view } of this.shown) view.retry();
      }),
      vscode.window.onDidCloseTerminal((terminal) => this.closed(terminal)),
      vscode.window.registerTerminalProfileProvider('shellglass.terminal', {
        provideTerminalProfile: () => {
          const options = this.made('terminal', null);
          this.chosen.add(options.pty);
          return new vscode.TerminalProfile(options);
        },
      }),
      vscode.window.onDidOpenTerminal((terminal) => this.opened(terminal)),
    );
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }

  /** Opens again what was open when the window was loaded last. */
  restore(): void {
    for (const { sessionId, kind } of this.memory.get<Remembered[]>(MEMORY, [])) {
      this.open(kind, sessionId, { preserveFocus: true });
    }
  }

  /** Shows a session; a terminal of its own where none is given. */
  open(kind: Kind, sessionId: string | null, how: { preserveFocus: boolean; isByItself?: boolean }): void {
    const known = [...this.shown].find((it) => it.sessionId === sessionId && it.kind === kind);
    if (known !== undefined) return known.terminal.show(how.preserveFocus);
    const options = this.made(kind, sessionId, how.isByItself ?? false);
    vscode.window.createTerminal(options).show(how.preserveFocus);
  }

  /** Whether a session is shown. */
  shows(sessionId: string): boolean {
    return [...this.shown].some((it) => it.sessionId === sessionId);
  }

  /** A terminal that VS Code has not opened yet. */
  private made(kind: Kind, sessionId: string | null, isByItself = false): vscode.ExtensionTerminalOptions {
    let mine: Omit<Shown, 'terminal'> | undefined;
    const view = new View(kind, {
      line: (path, listener) => this.daemon.line(path, listener),
      session: async ({ columns, rows }) => {
        if (sessionId !== null) return sessionId;
        const request = { ...newSession(kind), cols: columns, rows };
        const session = await this.daemon.call('CreateSession', request);
        if (mine !== undefined) mine.sessionId = session.sessionId;
        view.rename(this.name(kind, session.sessionId));
        this.remember();
        return session.sessionId;
      },
      look: consoleLook,
      refused: () => {
        const why = kind === 'mirror' && mine?.isOver !== true ? WHY_READ_ONLY : WHY_DEAF;
        vscode.window.setStatusBarMessage(`$(lock) ${why}`, SAID_MS);
      },
      over: () => {
        if (mine !== undefined) mine.isOver = true;
        this.remember();
        this.tidy();
      },
      failed: (message) => {
        if (mine !== undefined) mine.isOver = true;
        this.remember();
        void vscode.window.showErrorMessage(said(message));
      },
    });
    mine = { kind, view, sessionId: sessionId ?? '', isByItself, isOver: false };
    this.unopened.set(view, mine);
    return {
      name: sessionId === null ? 'Shellglass' : this.name(kind, sessionId),
      pty: view,
      iconPath: new vscode.ThemeIcon(ICONS[kind]),
      isTransient: true,
    };
  }

  private name(kind: Kind, sessionId: string): string {
    const session = this.hub.now.sessions.get(sessionId)?.session;
    if (session === undefined) return 'Shellglass';
    return kind === 'mirror' ? mirrorName(session) : terminalName(sessionName(session));
  }

  private opened(terminal: vscode.Terminal): void {
    const { pty } = terminal.creationOptions as vscode.ExtensionTerminalOptions;
    const mine = pty === undefined ? undefined : this.unopened.get(pty);
    if (mine === undefined) return;
    this.unopened.delete(mine.view);
    this.shown.add(Object.assign(mine, { terminal }));
    if (this.chosen.has(mine.view)) terminal.show();
    this.remember();
  }

  /** What a person closes is not opened again; what a window takes along is. */
  private closed(terminal: vscode.Terminal): void {
    const mine = [...this.shown].find((it) => it.terminal === terminal);
    if (mine === undefined) return;
    this.shown.delete(mine);
    if (terminal.exitStatus?.reason !== vscode.TerminalExitReason.Shutdown) this.remember();
  }

  private remember(): void {
    const living = [...this.shown].filter((it) => !it.isOver && it.sessionId !== '');
    const remembered: Remembered[] = living.map(({ sessionId, kind }) => ({ sessionId, kind }));
    void this.memory.update(MEMORY, remembered);
  }

  private changed({ before, now, isFirst }: Change): void {
    for (const it of this.shown) {
      const session = now.sessions.get(it.sessionId)?.session;
      if (session !== undefined && session !== before.sessions.get(it.sessionId)?.session) {
        it.view.rename(this.name(it.kind, it.sessionId));
      }
    }
    if (!isFirst) this.openByThemselves({ before, now, isFirst });
  }

  private openByThemselves({ before, now }: Change): void {
    const which = autoOpen();
    if (which === 'off') return;
    const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
    for (const [id, { session }] of now.sessions) {
      const last = before.sessions.get(id)?.session;
      if (!opensByItself(which, session, last, folders) || this.shows(id)) continue;
      this.open('mirror', id, { preserveFocus: true, isByItself: true });
    }
  }

  /** Closes the oldest of those that nobody asked for and that show nothing new any more. */
  private tidy(): void {
    const ended = [...this.shown].filter((it) => it.isByItself && it.isOver);
    const active = vscode.window.activeTerminal;
    const old = ended.slice(0, Math.max(0, ended.length - ENDED_BY_THEMSELVES_MAX));
    for (const it of old) if (it.terminal !== active) it.terminal.dispose();
  }
}
