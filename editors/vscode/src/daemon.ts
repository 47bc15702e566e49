// Calls to the daemon, and lines to it.

import { type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { Line, type Listener, type Way } from '../../../web/src/line';
import type { Methods } from '../../../web/src/contract';
import type { Place } from './place';
import { Socket } from './socket';

/** Time for an answer that does not wait for a command. */
const ANSWER_MS_MAX = 30_000;

/** The longest answer, in bytes. */
const ANSWER_BYTES_MAX = 64 << 20;

/** A message of which only what is wanted has to be said. */
export type Sparse<T> = T extends (infer Item)[]
  ? Sparse<Item>[]
  : T extends object
    ? { [Key in keyof T]?: Sparse<T[Key]> }
    : T;

/** What the daemon says when it refuses. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

export class Daemon implements Way {
  constructor(readonly find: () => Promise<Place>) {}

  /** Calls a method of the service. */
  async call<Name extends keyof Methods & string>(
    method: Name,
    request: Sparse<Methods[Name]['request']>,
  ): Promise<Methods[Name]['answer']> {
    const { status, body } = await post(await this.find(), `/api/v1/${method}`, JSON.stringify(request));
    const answer: unknown = JSON.parse(body === '' ? '{}' : body);
    if (status === 200) return answer as Methods[Name]['answer'];
    const { message, hint } = answer as { message?: string; hint?: string };
    throw new Refused(status, message ?? `the daemon answers ${status}`, hint ?? '');
  }

  /** A line that comes back by itself. */
  line(path: string, listener: Listener): Line {
    return new Line(this, path, listener);
  }

  socket(path: string): Socket {
    return new Socket(this.find(), path);
  }

  async isTurnedAway(): Promise<boolean> {
    try {
      await this.call('GetCapabilities', {});
      return false;
    } catch (error) {
      return error instanceof Refused && error.status === 401;
    }
  }
}

function post(place: Place, path: string, body: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const url = new URL(path, place.address);
    const sent = (url.protocol === 'https:' ? overHttps : overHttp)(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${place.token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
      timeout: ANSWER_MS_MAX,
    });
    sent.on('timeout', () => sent.destroy(new Error('the daemon does not answer')));
    sent.on('error', reject);
    sent.on('response', (response: IncomingMessage) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
        if (bytes > ANSWER_BYTES_MAX) sent.destroy(new Error('the answer is too long'));
        else parts.push(part);
      });
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') });
      });
    });
    sent.end(body);
  });
}
