// A WebSocket over Node's own HTTP: with a token in its head, which the
// WebSockets of browsers cannot have, and without a dependency.

import { createHash, randomBytes } from 'node:crypto';
import { type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Wire } from '../../../web/src/line';
import { BINARY, CLOSE, PING, PONG, Reader, TEXT, frame } from './frames';
import type { Place } from './place';

/** Time for the daemon to take the connection. */
const OPEN_MS_MAX = 15_000;

/** How long the daemon may say nothing; it asks every 20 s whether we are there. */
const SILENCE_MS_MAX = 60_000;

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 3;

export class Socket implements Wire {
  readyState = CONNECTING;
  onopen: Wire['onopen'] = null;
  onmessage: Wire['onmessage'] = null;
  onclose: Wire['onclose'] = null;
  private stream: Duplex | null = null;

  /** Opens a path of the daemon once it has been found. */
  constructor(place: Promise<Place>, path: string) {
    place.then(
      (found) => {
        if (this.readyState === CONNECTING) this.connect(found, path);
      },
      () => this.end(),
    );
  }

  send(data: string | Uint8Array): void {
    if (typeof data === 'string') this.write(TEXT, Buffer.from(data));
    else this.write(BINARY, data);
  }

  close(): void {
    this.write(CLOSE, Buffer.alloc(0));
    this.end();
  }

  private write(opcode: number, payload: Uint8Array): void {
    if (this.readyState === OPEN) this.stream?.write(frame(opcode, payload, randomBytes(4)));
  }

  private connect(place: Place, path: string): void {
    const key = randomBytes(16).toString('base64');
    const url = new URL(path, place.address);
    const request = (url.protocol === 'https:' ? overHttps : overHttp)(url, {
      headers: {
        authorization: `Bearer ${place.token}`,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-key': key,
        'sec-websocket-version': '13',
      },
      timeout: OPEN_MS_MAX,
    });
    const giveUp = () => {
      request.destroy();
      this.end();
    };
    request.on('timeout', giveUp);
    request.on('error', giveUp);
    request.on('response', giveUp);
    request.on('upgrade', (response: IncomingMessage, stream: Duplex, head: Buffer) => {
      const expected = createHash('sha1').update(key + MAGIC).digest('base64');
      if (response.headers['sec-websocket-accept'] !== expected) return giveUp();
      if (this.readyState !== CONNECTING) return void stream.destroy();
      this.opened(stream, head);
    });
    request.end();
  }

  private opened(stream: Duplex, head: Buffer): void {
    this.stream = stream;
    this.readyState = OPEN;
    const reader = new Reader();
    const heard = (bytes: Buffer) => {
      try {
        for (const { opcode, payload } of reader.take(bytes)) this.take(opcode, payload);
      } catch {
        // Whoever breaks the rules is left; the line tries again.
        this.end();
      }
    };
    const silence = setTimeout(() => this.end(), SILENCE_MS_MAX);
    stream.on('data', (bytes: Buffer) => {
      silence.refresh();
      heard(bytes);
    });
    stream.on('error', () => this.end());
    stream.on('close', () => {
      clearTimeout(silence);
      this.end();
    });
    this.onopen?.();
    if (head.length > 0) heard(head);
  }

  private take(opcode: number, payload: Buffer): void {
    if (this.readyState !== OPEN) return;
    if (opcode === TEXT) this.onmessage?.({ data: payload.toString('utf8') });
    else if (opcode === BINARY) this.onmessage?.({ data: new Uint8Array(payload).buffer });
    else if (opcode === PING) this.write(PONG, payload);
    else if (opcode === CLOSE) this.end();
  }

  private end(): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.stream?.destroy();
    this.onclose?.();
  }
}
