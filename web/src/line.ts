// A WebSocket that comes back by itself. The page and the editor share it, so it
// is told how a socket is opened.

import { pause } from './backoff';

/** A WebSocket, as much of one as is needed. */
export interface Wire {
  readonly readyState: number;
  onopen: (() => void) | null;
  onmessage: ((event: { data: string | ArrayBuffer }) => void) | null;
  onclose: (() => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
}

/** The way to the daemon. */
export interface Way {
  socket(path: string): Wire;
  /** Whether the daemon is there and no longer knows us. */
  isTurnedAway(): Promise<boolean>;
}

/** What `readyState` is while something can be sent. */
const OPEN = 1;

/** How a line stands. */
export type Standing =
  | { kind: 'connecting'; again: boolean }
  | { kind: 'live' }
  | { kind: 'waiting'; until: number }
  | { kind: 'lost' }
  | { kind: 'turned away' };

export interface Listener {
  /** A connection is there; nothing has been said on it. */
  opened(line: Line): void;
  /** A message; says whether the line is live now. */
  text(message: { type: string; [key: string]: unknown }, line: Line): void;
  bytes?(bytes: Uint8Array): void;
  stands(standing: Standing): void;
}

export class Line {
  private current: Wire | null = null;
  private tries = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;

  constructor(
    private readonly way: Way,
    private readonly path: string,
    private readonly listener: Listener,
  ) {
    this.connect();
  }

  /** Sends, where there is somebody to send to. */
  send(message: object | Uint8Array<ArrayBuffer>): void {
    if (this.current?.readyState !== OPEN) return;
    this.current.send(message instanceof Uint8Array ? message : JSON.stringify(message));
  }

  /** The other side has said all that there was: the line works. */
  live(): void {
    this.tries = 0;
    this.listener.stands({ kind: 'live' });
  }

  /** Tries again now, as if nothing had failed yet. */
  retry(): void {
    this.tries = 0;
    clearTimeout(this.timer);
    this.drop();
    this.connect();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.drop();
  }

  private drop(): void {
    const old = this.current;
    this.current = null;
    old?.close();
  }

  private connect(): void {
    this.listener.stands({ kind: 'connecting', again: this.tries > 0 });
    const opened = this.way.socket(this.path);
    this.current = opened;
    opened.onopen = () => {
      if (this.current === opened) this.listener.opened(this);
    };
    opened.onmessage = ({ data }) => {
      if (this.current !== opened) return;
      if (typeof data === 'string') this.listener.text(JSON.parse(data), this);
      else this.listener.bytes?.(new Uint8Array(data));
    };
    opened.onclose = () => {
      if (this.current !== opened || this.closed) return;
      this.current = null;
      void this.later();
    };
  }

  private async later(): Promise<void> {
    const wait = pause(this.tries);
    this.tries += 1;
    if (wait === null) {
      this.listener.stands({ kind: 'lost' });
      return;
    }
    this.listener.stands({ kind: 'waiting', until: Date.now() + wait });
    this.timer = setTimeout(() => this.connect(), wait);
    if (await this.way.isTurnedAway()) {
      clearTimeout(this.timer);
      if (!this.closed && this.current === null) this.listener.stands({ kind: 'turned away' });
    }
  }
}
