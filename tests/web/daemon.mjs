// A daemon of a test's own, in a directory of its own, driven over HTTP and the
// command line as any program would.
import { execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Longest wait for anything that should come at once, on a loaded machine. */
export const PATIENCE_MS = 60_000;

/** Ports that the kernel gives to nobody who does not name them. */
const PORT_FIRST = 10_000;
const PORTS = 20_000;

const program = process.env.SHELLGLASS_BIN;
if (!program) throw new Error('SHELLGLASS_BIN names the program under test');

const CONFIG = `
[sandbox]
default = "none"
agent = "none"
[policy]
`;

export async function freePort() {
  for (;;) {
    const port = PORT_FIRST + randomInt(PORTS);
    const server = createServer().listen(port, '127.0.0.1');
    const is_free = await once(server, 'listening').then(() => true, () => false);
    if (!is_free) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Waits until `probe` gives something that is true, and returns it. */
export async function until(what, probe) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`in vain: ${what}`);
    await sleep(20);
  }
}

export class Daemon {
  static async start(config = CONFIG) {
    const daemon = new this();
    daemon.home = mkdtempSync('/tmp/sg-web-');
    mkdirSync(`${daemon.home}/config`);
    daemon.prepare();
    writeFileSync(`${daemon.home}/config/config.toml`, config);
    daemon.port = await freePort();
    await daemon.begin();
    return daemon;
  }

  /** What is to be there before it begins. */
  prepare() {
    this.flags = [];
  }

  get origin() {
    return `http://127.0.0.1:${this.port}`;
  }

  get address() {
    return `${this.origin}/#token=${this.token('person')}`;
  }

  get environment() {
    return { ...process.env, SHELLGLASS_HOME: this.home, HOME: this.home };
  }

  token(role) {
    return readFileSync(`${this.home}/data/${role}.token`, 'utf8').trim();
  }

  log() {
    return readFileSync(`${this.home}/log`, 'utf8');
  }

  async begin() {
    const log = openSync(`${this.home}/log`, 'a');
    const listen = ['serve', '--listen', `127.0.0.1:${this.port}`, ...this.flags];
    const child = spawn(program, listen, { env: this.environment, stdio: ['ignore', 'ignore', log] });
    this.child = child;
    await until('the daemon answers', async () => {
      if (child.exitCode !== null) throw new Error(`the daemon ended:\n${this.log()}`);
      return this.answers();
    });
  }

  /** Whether it serves. */
  async answers() {
    const answer = await fetch(`${this.origin}/healthz`).catch(() => null);
    return answer?.ok;
  }

  /** Kills the process alone, as a crash would. */
  async kill() {
    if (this.child === null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
    this.child = null;
  }

  /** Calls a method of the service. */
  async call(method, request = {}, role = 'person') {
    const response = await fetch(`${this.origin}/api/v1/${method}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token(role)}` },
      body: JSON.stringify(request),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method}: ${JSON.stringify(answer)}`);
    return answer;
  }

  async session(name, role = 'person', more = {}) {
    const request = { name, shell: 'bash', startup: 'none', workingDirectory: this.home, ...more };
    return (await this.call('CreateSession', request, role)).sessionId;
  }

  run(sessionId, command, role = 'person') {
    return this.call('Run', { sessionId, args: { command } }, role);
  }

  /** Runs the program with these words. */
  async program(...words) {
    return (await promisify(execFile)(program, words, { env: this.environment })).stdout;
  }

  /** Ends everything that was started here. */
  async end() {
    await this.kill();
    const marked = `SHELLGLASS_HOME=${this.home}`;
    for (let round = 0; round < 50; round += 1) {
      const left = readdirSync('/proc').filter((name) => {
        if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
        try {
          return readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(marked);
        } catch {
          return false;
        }
      });
      if (left.length === 0) break;
      for (const pid of left) {
        try {
          process.kill(Number(pid), 'SIGKILL');
        } catch {
          // It has gone by itself.
        }
      }
      await sleep(20);
    }
    const log = this.log();
    rmSync(this.home, { recursive: true, force: true });
    if (log.includes('panicked at')) throw new Error(`the daemon panicked:\n${log}`);
  }
}
