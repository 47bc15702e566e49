// Calls to the daemon. The pass has two halves: a cookie that scripts cannot
// read, and a key that only pages of this origin can.

import type { Way, Wire } from './line';
import { Refused, isTurnedAway } from './refused';

const KEY = 'shellglass-key';

export function hasKey(): boolean {
  return localStorage.getItem(KEY) !== null;
}

async function refused(response: Response): Promise<Refused> {
  return Refused.from(response.status, await response.json().catch(() => ({})), response.statusText);
}

/** Turns a token into a pass. */
export async function logIn(token: string): Promise<void> {
  const response = await fetch('/api/session', { method: 'POST', body: JSON.stringify({ token }) });
  if (!response.ok) throw await refused(response);
  const { key } = (await response.json()) as { key: string };
  localStorage.setItem(KEY, key);
}

async function post(method: string, request: object, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(`/api/v1/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-shellglass-key': localStorage.getItem(KEY) ?? '' },
    body: JSON.stringify(request),
    ...(signal === undefined ? {} : { signal }),
  });
  if (!response.ok) throw await refused(response);
  return response;
}

/** Calls a method of the service. */
export async function call<Answer>(method: string, request: object = {}): Promise<Answer> {
  return (await (await post(method, request)).json()) as Answer;
}

/** Begins something that may take long. Does not wait for its end: it has no answer then. */
export async function begin<Answer>(method: string, request: object, patienceMs: number): Promise<Answer | null> {
  const gaveUp = new AbortController();
  const timer = setTimeout(() => gaveUp.abort(), patienceMs);
  try {
    return (await (await post(method, request, gaveUp.signal)).json()) as Answer;
  } catch (error) {
    // It has been accepted by now, and goes on without us.
    if (!gaveUp.signal.aborted) throw error;
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** A session as an asciicast, while it comes. */
export async function recording(sessionId: string, signal: AbortSignal): Promise<Response> {
  const path = `/api/v1/ExportRecording?sessionId=${encodeURIComponent(sessionId)}`;
  const response = await fetch(path, { headers: { 'x-shellglass-key': localStorage.getItem(KEY) ?? '' }, signal });
  if (!response.ok) throw await refused(response);
  return response;
}

/** Opens a WebSocket of ours. */
function socket(path: string): Wire {
  const opened = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}`, [
    'shellglass',
    `key-${localStorage.getItem(KEY) ?? ''}`,
  ]);
  opened.binaryType = 'arraybuffer';
  return opened as Wire;
}

/** The way to the daemon from a page. */
export const way: Way = { socket, isTurnedAway: () => isTurnedAway(() => call('GetCapabilities')) };
