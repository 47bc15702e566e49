// Calls to the daemon, and lines to it.

import { type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Methods } from '../../../web/src/contract';
import { Line, type Listener, type Way } from '../../../web/src/line';
import { Refused, isTurnedAway } from '../../../web/src/refused';
import type { Call, Sparse } from '../../../web/src/taking';
import type { Place } from './place';
import { Socket } from './socket';

/** Time for an answer that does not wait for a command. */
const ANSWER_MS_MAX = 30_000;

/** The longest answer, in bytes. */
const ANSWER_BYTES_MAX = 64 << 20;

export class Daemon implements Way {
  private finding: Promise<Place> | null = null;

  constructor(private readonly locate: () => Promise<Place>) {}

  /** Where the daemon is. It is looked for once for all who ask meanwhile. */
  find(): Promise<Place> {
    this.finding ??= this.locate().finally(() => { this.finding = null; });
    return this.finding;
  }

  /** Calls a method of the service. */
  readonly call: Call = async <Name extends keyof Methods & string>(
    method: Name,
    request: Sparse<Methods[Name]['request']>,
  ): Promise<Methods[Name]['answer']> => {
    const { status, body } = await post(await this.find(), `/api/v1/${method}`, JSON.stringify(request));
    const answer = parsed(body);
    if (status === 200 && answer !== undefined) return answer as Methods[Name]['answer'];
    throw Refused.from(status, answer, `there is no daemon that we understand: it answers ${status} to ${method}`);
  };

  /** A line that comes back by itself. */
  line(path: string, listener: Listener): Line {
    return new Line(this, path, listener);
  }

  socket(path: string): Socket {
    return new Socket(this.find(), path);
  }

  isTurnedAway(): Promise<boolean> {
    return isTurnedAway(() => this.call('GetCapabilities', {}));
  }
}

/** What JSON says; nothing where it is none. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body === '' ? '{}' : body);
  } catch {
    return undefined;
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
