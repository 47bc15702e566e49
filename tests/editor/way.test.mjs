// The way from the extension to a real daemon: finding it, frames, and the tools
// that models in the editor are given.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { globalAgent } from 'node:https';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BINARY, Broken, Daemon as Client, MESSAGE_BYTES_MAX, McpClient, Reader, TEXT, View, find, frame,
} from '../../editors/vscode/dist/testable.mjs';
import { Daemon, until } from '../web/daemon.mjs';
import { SecureDaemon } from '../web/secure.mjs';

const binary = process.env.SHELLGLASS_BIN;
const manifest = JSON.parse(readFileSync(new URL('../../editors/vscode/package.json', import.meta.url)));
let daemon;

before(async () => {
  daemon = await Daemon.start();
  process.env.SHELLGLASS_HOME = daemon.home;
});
after(async () => {
  await daemon.end();
});

const here = { binary, address: '', tokenFile: '', token: undefined };

test('the daemon is found by its socket, called and listened to', async () => {
  const place = await find(here);
  assert.deepEqual([place.address, place.token], [daemon.origin, daemon.token('person')]);
  const client = new Client(() => find(here));
  const { sessionId } = await client.call('CreateSession', { mode: 'SESSION_MODE_LINE', shell: 'bash' });
  await assert.rejects(client.call('GetSession', { sessionId: 'none' }), { status: 404 });
  const told = [];
  const line = client.line('/ws/events', {
    opened: () => {}, text: (message) => told.push(message), stands: () => {},
  });
  await until('it is told', () => told.some((message) => message.session?.sessionId === sessionId));
  line.close();
  assert.equal(await client.isTurnedAway(), false);
  const stranger = new Client(async () => ({ ...place, token: 'x'.repeat(64) }));
  assert.equal(await stranger.isTurnedAway(), true);
});

test('no token goes to an address in the clear, or to one that is none', async () => {
  const elsewhere = { ...here, token: 'secret' };
  for (const address of ['http://example.org:7583', 'ftp://127.0.0.1', 'nonsense', 'http://127.0.0.1.example.org']) {
    await assert.rejects(find({ ...elsewhere, address }), { trouble: 'bad address' });
  }
  const near = await find({ ...elsewhere, address: 'http://127.0.0.1:7583/#x' });
  assert.equal(near.address, 'http://127.0.0.1:7583');
  assert.equal((await find({ ...elsewhere, address: 'https://example.org' })).token, 'secret');
  await assert.rejects(find({ ...here, address: 'https://example.org' }), { trouble: 'no token' });
});

test('a daemon elsewhere is reached over TLS with the token of a file, if it can prove who it is', async () => {
  const secure = await SecureDaemon.start();
  const tokenFile = `${secure.home}/data/person.token`;
  try {
    const client = new Client(() => find({ ...here, address: secure.origin, tokenFile }));
    await assert.rejects(client.call('GetCapabilities', {}), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    globalAgent.options.ca = secure.ca;
    const { programVersion } = await client.call('GetCapabilities', {});
    assert.match(programVersion, /^\d+\.\d+\.\d+/);
    let isReady = false;
    const line = client.line('/ws/events', {
      opened: () => {}, stands: () => {}, text: ({ type }) => { isReady ||= type === 'ready'; },
    });
    await until('it is listened to', () => isReady);
    line.close();
  } finally {
    delete globalAgent.options.ca;
    globalAgent.destroy();
    await secure.end();
  }
});

test('what is typed into a console long after its last command is not taken for late, and none of it is lost', async () => {
  const client = new Client(() => find(here));
  const { sessionId } = await client.call('CreateSession', { mode: 'SESSION_MODE_LINE', shell: 'bash' });
  let [shown, times] = ['', 0];
  const view = new View('console', {
    line: (path, listener) => client.line(path, {
      ...listener,
      text: (message, line) => {
        times += message.type === 'opened' ? 1 : 0;
        listener.text(message, line);
      },
    }),
    session: async () => sessionId, look: () => ({ promptTemplate: '{name}# ' }),
    refused: () => {}, over: () => {}, failed: (why) => assert.fail(why),
  });
  view.onDidWrite((text) => { shown += text; });
  view.open({ columns: 80, rows: 30 });
  await until('there is a prompt of ours', () => shown.includes('# '));
  view.handleInput('echo first\r');
  await until('it has run', () => shown.includes('\x1b]633;D;0'));
  // Longer than a view may be late.
  await sleep(2500);
  for (const key of 'second') view.handleInput(key);
  await until('every key is there', () => shown.includes('# second'));
  assert.equal(times, 1, 'it was opened once');
  view.close();
});

test('an answer that no daemon of ours would give is an error and nothing worse', async () => {
  const answers = { GetCapabilities: [200, '<html>'], GetSession: [502, 'Bad gateway'], ListSessions: [404, '{"message": 7}'] };
  const other = createServer((request, response) => {
    const [status, body] = answers[request.url.split('/').at(-1)];
    response.writeHead(status).end(body);
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  try {
    let searches = 0;
    const client = new Client(async () => {
      searches += 1;
      return { address: `http://127.0.0.1:${other.address().port}`, token: 'x', agentTokenFile: null };
    });
    const asked = Object.entries(answers).map(([method, [status]]) =>
      assert.rejects(client.call(method, {}), { status, message: /no daemon that we understand/ }));
    await Promise.all(asked);
    assert.equal(searches, 1, 'it is looked for once for all who ask at once');
  } finally {
    other.close();
  }
});

test('what is missing is named', async () => {
  await assert.rejects(find({ ...here, binary: '/nowhere/shellglass' }), { trouble: 'no program' });
  const other = `${daemon.home}/other`;
  writeFileSync(other, '#!/bin/sh\necho "error: no" >&2; exit 1\n');
  chmodSync(other, 0o755);
  await assert.rejects(find({ ...here, binary: other }), { trouble: 'no daemon', message: 'error: no' });
});

test('whoever takes the port of a daemon that is gone is sent no token', async () => {
  const seen = [];
  const { port } = daemon;
  await daemon.kill();
  const thief = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end('{}');
  }).listen(port, '127.0.0.1');
  await once(thief, 'listening');
  try {
    // The extension asks again where the daemon is, which starts one elsewhere.
    writeFileSync(`${daemon.home}/config/config.toml`, '[daemon]\nlisten = "127.0.0.1:0"\n');
    const client = new Client(() => find(here));
    await client.call('GetCapabilities', {});
    assert.deepEqual(seen, []);
    daemon.port = Number(new URL((await find(here)).address).port);
  } finally {
    thief.close();
  }
});

test('the tools of models are those of the MCP server, with an agent’s rights', async () => {
  const client = new McpClient(() => binary, () => daemon.home, '0');
  const offered = new Map((await client.tools()).map((tool) => [tool.name, tool]));
  for (const { name, inputSchema } of manifest.contributes.languageModelTools) {
    const known = Object.keys(offered.get(name.replace(/^shellglass_/, ''))?.inputSchema.properties ?? {});
    const unknown = Object.keys(inputSchema.properties).filter((key) => !known.includes(key));
    assert.deepEqual(unknown, [], name);
  }
  const answer = await client.call('execute_command', { command: 'echo from a model; pwd' });
  assert.match(answer.content[0].text, /from a model/);
  assert.ok(answer.content[0].text.includes(daemon.home));
  // What a person may do unasked, a model may not.
  const aborted = new AbortController();
  const cancelled = client.call('execute_command', { command: 'sleep 1000', yield_ms: 50_000 }, aborted.signal);
  const { approvalId, askedBy } = await until('it is asked about', async () => (await daemon.call('ListApprovals')).approvals[0]);
  assert.equal(askedBy, 'agent');
  await daemon.call('ResolveApproval', { approvalId, approve: true });
  const runs = async () => (await daemon.call('ListSessions')).sessions.some((session) => session.running);
  await until('it runs', runs);
  aborted.abort();
  await assert.rejects(cancelled, /cancelled/);
  await until('the command is gone with its call', async () => !(await runs()));
  await assert.rejects(client.call('execute_command', { command: 'echo never' }, aborted.signal), /cancelled/);
  client.close();
});

/** A frame as a server sends it. */
function served(opcode, payload, { isLast = true } = {}) {
  const masked = frame(opcode, payload, new Uint8Array(4));
  const head = masked.length - payload.length - 4;
  masked[1] &= 0x7f;
  if (!isLast) masked[0] &= 0x7f;
  return Buffer.concat([masked.subarray(0, head), payload]);
}

test('frames are read whole, wherever they are cut', () => {
  const long = Buffer.alloc(70_000, 'ä');
  const bytes = Buffer.concat([
    served(TEXT, Buffer.from('first')),
    served(BINARY, Buffer.from('sec'), { isLast: false }), served(0x9, Buffer.from('ping')), served(0x0, Buffer.from('ond')),
    served(BINARY, Buffer.alloc(300, 1)), served(BINARY, long),
  ]);
  const expected = [[TEXT, 'first'], [0x9, 'ping'], [BINARY, 'second'], [BINARY, '\x01'.repeat(300)], [BINARY, long.toString()]];
  for (const size of [1, 2, 3, 7, 1000, bytes.length]) {
    const reader = new Reader();
    const read = [];
    for (let at = 0; at < bytes.length; at += size) read.push(...reader.take(bytes.subarray(at, at + size)));
    assert.deepEqual(read.map(({ opcode, payload }) => [opcode, payload.toString()]), expected, `pieces of ${size}`);
  }
});

test('any bytes are frames or an error, and none of them takes memory', () => {
  const huge = Buffer.alloc(10);
  huge[0] = 0x82;
  huge[1] = 127;
  huge.writeBigUInt64BE(BigInt(MESSAGE_BYTES_MAX) + 1n, 2);
  for (const bad of [huge, Buffer.from([0xf2, 0]), Buffer.from([0x82, 0x80, 0, 0, 0, 0]), Buffer.from([0x80, 0]), Buffer.from([0x89, 126, 0, 200])]) {
    assert.throws(() => new Reader().take(Buffer.concat([bad, Buffer.alloc(300)])), Broken);
  }
  let seed = 7;
  const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) >> 8;
  for (let round = 0; round < 2000; round += 1) {
    const bytes = Buffer.from(Array.from({ length: random() % 40 }, random));
    try {
      new Reader().take(bytes);
    } catch (error) {
      assert.ok(error instanceof Broken, String(error));
    }
  }
});
