// Calls to the daemon. The pass has two halves: a cookie that scripts cannot
// read, and a key that only pages of this origin can.

const KEY = 'shellglass-key';

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

export function hasKey(): boolean {
  return localStorage.getItem(KEY) !== null;
}

async function refused(response: Response): Promise<Refused> {
  const body: { message?: string; hint?: string } = await response.json().catch(() => ({}));
  return new Refused(response.status, body.message ?? response.statusText, body.hint ?? '');
}

/** Turns a token into a pass. */
export async function logIn(token: string): Promise<void> {
  const response = await fetch('/api/session', { method: 'POST', body: JSON.stringify({ token }) });
  if (!response.ok) throw await refused(response);
  const { key } = (await response.json()) as { key: string };
  localStorage.setItem(KEY, key);
}

/** Forgets the pass. */
export function logOut(): void {
  localStorage.removeItem(KEY);
}

/** Calls a method of the service. */
export async function call<Answer>(method: string, request: object = {}): Promise<Answer> {
  const response = await fetch(`/api/v1/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-shellglass-key': localStorage.getItem(KEY) ?? '' },
    body: JSON.stringify(request),
  });
  if (!response.ok) throw await refused(response);
  return (await response.json()) as Answer;
}

/** Opens a WebSocket of ours. */
export function socket(path: string): WebSocket {
  const opened = new WebSocket(`ws://${location.host}${path}`, [
    'shellglass',
    `key-${localStorage.getItem(KEY) ?? ''}`,
  ]);
  opened.binaryType = 'arraybuffer';
  return opened;
}

/** Whether the daemon is there and no longer knows us. */
export async function isTurnedAway(): Promise<boolean> {
  try {
    await call('GetCapabilities');
    return false;
  } catch (error) {
    return error instanceof Refused && error.status === 401;
  }
}
