// One view of one session, as a terminal of the editor: a mirror, which only
// shows; a terminal, which is typed into; or a console, in which the daemon edits
// lines. The daemon says everything; here is only how it gets to the screen.

import type { Pseudoterminal, TerminalDimensions } from 'vscode';
import type { Line, Listener } from '../../../web/src/line';
import { FLASH_MS, RESIZE_REST_MS } from '../../../web/src/manners';
import { Emitter } from './emitter';

/** Bytes that may be on their way to us. */
export const WINDOW_BYTES = 1 << 20;

/** The editor does not say what it has drawn, so bytes are acknowledged at a pace that it can draw. */
const ACK_EVERY_MS = 16;
const ACK_BYTES_MAX = 1 << 17;

/** The longest piece of input, in bytes; the daemon takes twice as much. */
const INPUT_BYTES_MAX = 32 << 10;

/** What empties a terminal, its scrollback included. */
const RESET = '\x1bc';

/** Colours the ground, and gives it back. */
const FLASH = '\x1b]11;rgb:66/22/22\x07';
const UNFLASH = '\x1b]111\x07';

const DEFAULT_SIZE = { columns: 80, rows: 30 };

export type Kind = 'mirror' | 'terminal' | 'console';

/** How a console is to look; what is not said is as the daemon is configured. */
export interface Look {
  prompt?: boolean;
  promptTemplate?: string;
  hiddenEcho?: boolean;
  showExit?: boolean;
}

/** What a view needs of its surroundings. */
export interface Surroundings {
  /** Opens a line to a path of the daemon. */
  line(path: string, listener: Listener): Pick<Line, 'send' | 'live' | 'retry' | 'close'>;
  /** The session to show; made now where there is none yet. */
  session(size: { columns: number; rows: number }): Promise<string>;
  /** How consoles look. */
  look(): Look;
  /** The person typed where nothing can be typed. */
  refused(): void;
  /** The session has ended. */
  over(code: number | undefined): void;
  /** The view cannot be shown. */
  failed(message: string): void;
}

export class View implements Pseudoterminal {
  private readonly written = new Emitter<string>();
  private readonly closed = new Emitter<number | void>();
  private readonly renamed = new Emitter<string>();
  readonly onDidWrite = this.written.event;
  readonly onDidClose = this.closed.event;
  readonly onDidChangeName = this.renamed.event;

  private line: ReturnType<Surroundings['line']> | null = null;
  private size = DEFAULT_SIZE;
  private decoder = new TextDecoder();
  /** Something is shown that the next replay has to take away. */
  private isUsed = false;
  private isOver = false;
  private isShut = false;
  private isConnected = false;
  /** The daemon was there and has gone. */
  private isAway = false;
  private name = '';
  private unacknowledged = 0;
  private ackTimer: ReturnType<typeof setTimeout> | undefined;
  private flashTimer: ReturnType<typeof setTimeout> | undefined;
  private resizeTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly kind: Kind,
    private readonly surroundings: Surroundings,
  ) {}

  open(size: TerminalDimensions | undefined): void {
    if (size !== undefined) this.size = { columns: size.columns, rows: size.rows };
    void this.begin();
  }

  close(): void {
    this.isShut = true;
    for (const timer of [this.ackTimer, this.flashTimer, this.resizeTimer]) clearTimeout(timer);
    this.line?.close();
    this.line = null;
  }

  handleInput(data: string): void {
    if (this.isOver || this.line === null || !this.isConnected) return this.flash();
    const bytes = new TextEncoder().encode(data);
    // A mirror takes Ctrl+C and nothing else, so the rest of a paste says nothing new.
    const length = this.kind === 'mirror' ? Math.min(bytes.length, 1) : bytes.length;
    for (let at = 0; at < length; at += INPUT_BYTES_MAX) {
      this.line.send(bytes.slice(at, Math.min(at + INPUT_BYTES_MAX, length)));
    }
  }

  setDimensions(size: TerminalDimensions): void {
    this.size = { columns: size.columns, rows: size.rows };
    clearTimeout(this.resizeTimer);
    this.resizeTimer = setTimeout(() => {
      this.line?.send({ type: 'resize', cols: this.size.columns, rows: this.size.rows });
    }, RESIZE_REST_MS);
  }

  /** Tries to reach the daemon again, now. */
  retry(): void {
    if (!this.isOver && !this.isConnected) this.line?.retry();
  }

  /** Gives the view a name. */
  rename(name: string): void {
    this.name = name;
    this.showName();
  }

  private showName(): void {
    if (this.name === '') return;
    const state = this.isOver ? ' (ended)' : this.isAway ? ' (not connected)' : '';
    this.renamed.fire(`${this.name}${state}`);
  }

  private async begin(): Promise<void> {
    let sessionId: string;
    try {
      sessionId = await this.surroundings.session(this.size);
    } catch (error) {
      return this.fail(error instanceof Error ? error.message : String(error));
    }
    if (this.isShut) return;
    this.line = this.surroundings.line('/ws/terminal', {
      opened: (line) => {
        line.send({
          type: 'init',
          sessionId,
          cols: this.size.columns,
          rows: this.size.rows,
          // What only shows is shown as the session is: also a terminal can be watched.
          view: this.kind === 'mirror' ? '' : this.kind,
          readOnly: this.kind === 'mirror',
          windowBytes: WINDOW_BYTES,
          ...(this.kind === 'console' ? { console: this.surroundings.look() } : {}),
        });
      },
      text: (message, line) => this.told(message, line),
      bytes: (bytes) => this.show(bytes),
      stands: (standing) => {
        const { kind } = standing;
        this.isConnected = kind === 'live';
        this.isAway = kind !== 'live' && !(kind === 'connecting' && !standing.again);
        this.showName();
      },
    });
  }

  private told(message: { type: string; [key: string]: unknown }, line: Pick<Line, 'live'>): void {
    switch (message.type) {
      case 'opened':
        if (this.isUsed) this.written.fire(RESET);
        this.isUsed = true;
        this.decoder = new TextDecoder();
        this.unacknowledged = 0;
        break;
      case 'ready':
        line.live();
        break;
      case 'property':
        // A console that was left by `exit` or Ctrl+D; its session goes on.
        if (message.name === 'left') this.end(0);
        break;
      case 'readonly':
        this.flash();
        break;
      case 'exit':
        this.end(typeof message.code === 'number' ? message.code : undefined);
        break;
      case 'error':
        this.fail(String(message.message));
        break;
    }
  }

  private show(bytes: Uint8Array): void {
    const text = this.decoder.decode(bytes, { stream: true });
    if (text !== '') this.written.fire(text);
    this.unacknowledged += bytes.length;
    this.ackTimer ??= setTimeout(() => this.acknowledge(), ACK_EVERY_MS);
  }

  private acknowledge(): void {
    const bytes = Math.min(this.unacknowledged, ACK_BYTES_MAX);
    this.unacknowledged -= bytes;
    if (bytes > 0) this.line?.send({ type: 'ack', bytes });
    this.ackTimer = this.unacknowledged > 0 ? setTimeout(() => this.acknowledge(), ACK_EVERY_MS) : undefined;
  }

  /** What was shown stays; a terminal closes as any other does when its shell ends. */
  private end(code: number | undefined): void {
    this.isOver = true;
    this.line?.close();
    this.surroundings.over(code);
    if (this.kind === 'mirror') this.showName();
    else this.closed.fire(code ?? 0);
  }

  private fail(message: string): void {
    this.isOver = true;
    this.line?.close();
    this.showName();
    this.surroundings.failed(message);
  }

  private flash(): void {
    this.surroundings.refused();
    if (this.flashTimer === undefined) this.written.fire(FLASH);
    clearTimeout(this.flashTimer);
    this.flashTimer = setTimeout(() => {
      this.flashTimer = undefined;
      this.written.fire(UNFLASH);
    }, FLASH_MS);
  }
}
