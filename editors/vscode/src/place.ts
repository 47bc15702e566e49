// Where the daemon is. The one on this machine is asked for over its own socket
// by `shellglass page`, which starts it where none runs: a port alone proves
// nothing, and whoever took it would be sent a token. So it is asked again
// before every connection.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** Time for the program to answer; a daemon that has to start has 10 s itself. */
const FIND_MS_MAX = 20_000;

/** The longest token that is believed to be one. */
const TOKEN_CHARS_MAX = 256;

/** A daemon, and what opens it. */
export interface Place {
  address: string;
  token: string;
  /** The file with an agent's token; none where the daemon is elsewhere. */
  agentTokenFile: string | null;
}

/** What the settings say. */
export interface Wanted {
  binary: string;
  address: string;
  tokenFile: string;
  /** A token that the person has given us. */
  token: string | undefined;
}

export type Trouble = 'no program' | 'no daemon' | 'no token' | 'bad address';

/** Why there is no daemon. */
export class NotFound extends Error {
  constructor(
    readonly trouble: Trouble,
    message: string,
  ) {
    super(message);
  }
}

/** Finds the daemon. */
export function find(wanted: Wanted): Promise<Place> {
  return wanted.address === '' ? here(wanted.binary) : elsewhere(wanted);
}

/** What the program prints, or what it says went wrong. */
export function output(binary: string, words: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: FIND_MS_MAX, maxBuffer: 1 << 20 };
    execFile(binary, words, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      if ('code' in error && (error.code === 'ENOENT' || error.code === 'EACCES')) {
        const message = `The program ${binary} is not there or cannot be executed.`;
        return reject(new NotFound('no program', message));
      }
      reject(new NotFound('no daemon', stderr.trim() || error.message));
    });
  });
}

async function here(binary: string): Promise<Place> {
  const told: unknown = JSON.parse(await output(binary, ['page', '--json']));
  const { address, personTokenFile, agentTokenFile } = told as Record<string, unknown>;
  if (typeof address !== 'string' || typeof personTokenFile !== 'string') {
    throw new NotFound('no daemon', `${binary} is not a Shellglass that this extension understands.`);
  }
  return {
    address,
    token: await token(personTokenFile),
    agentTokenFile: typeof agentTokenFile === 'string' ? agentTokenFile : null,
  };
}

async function elsewhere(wanted: Wanted): Promise<Place> {
  const address = checked(wanted.address);
  const given = wanted.tokenFile !== '' ? await token(wanted.tokenFile) : wanted.token;
  if (given === undefined) {
    throw new NotFound('no token', `A token is needed for ${address}.`);
  }
  return { address, token: given, agentTokenFile: null };
}

/** An address that a token may be sent to. */
function checked(address: string): string {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new NotFound('bad address', `shellglass.address is not an address: ${address}`);
  }
  const isNear = ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isNear)) {
    const message = 'shellglass.address has to begin with https://, unless it is on this machine: a token would travel in the clear.';
    throw new NotFound('bad address', message);
  }
  return url.origin;
}

async function token(path: string): Promise<string> {
  try {
    const found = (await readFile(path, 'utf8')).trim();
    if (/^[\x21-\x7e]+$/.test(found) && found.length <= TOKEN_CHARS_MAX) return found;
    throw new Error('it does not look like a token');
  } catch (error) {
    throw new NotFound('no token', `The token ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
