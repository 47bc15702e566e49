// Terminals of the Agent Client Protocol: the official SDK is the agent, and
// `shellglass acp` stands in for its client's terminals.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { agent, ndJsonStream } from '@agentclientprotocol/sdk';
import { Daemon, until } from '../web/daemon.mjs';

const CONFIG = `
[sandbox]
default = "rw"
agent = "rw"
[policy]
agent = "deny"
[[policy.rule]]
prefix = ["./deploy"]
decision = "ask"
reason = "It changes what others see."
`;

const sessionId = 'acp-session';

/** What the agent does with `shellglass acp` on the other side, until that has ended. */
async function served(daemon, work) {
  const child = spawn(process.env.SHELLGLASS_BIN, ['acp'], {
    cwd: `${daemon.home}/project`,
    env: daemon.environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = new Promise((resolve) => child.on('exit', resolve));
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  try {
    return await agent().connectWith(stream, work);
  } finally {
    child.stdin.destroy();
    assert.equal(await gone, 0);
  }
}

describe('terminals over ACP', () => {
  let daemon;
  before(async () => {
    daemon = await Daemon.start(CONFIG);
    mkdirSync(`${daemon.home}/project`);
    writeFileSync(`${daemon.home}/project/deploy`, '#!/bin/sh\necho deployed\n', { mode: 0o755 });
  });
  after(() => daemon.end());

  /** A terminal, and whether its command runs. */
  const begin = async (client, command) => {
    const made = await client.request('terminal/create', { sessionId, command });
    const handle = made._meta.shellglass;
    const isRunning = async () => {
      const { executions } = await daemon.call('GetSessionHistory', { sessionId: handle.sessionId });
      const found = executions.find(({ shellId }) => shellId === handle.shellId);
      return found.endIndex === undefined || found.endIndex === null;
    };
    return { named: { sessionId, terminalId: made.terminalId }, isRunning };
  };

  test('a command is run, read and waited for', () => served(daemon, async (client) => {
    const terminal = await client.createTerminal({
      sessionId,
      command: 'printf',
      args: ['%s|', '$HOME', "it's", '', 'a  b'],
    });
    assert.deepEqual(await terminal.waitForExit(), { exitCode: 0, signal: null });
    const { output, truncated, exitStatus } = await terminal.currentOutput();
    assert.deepEqual([output, truncated], ["$HOME|it's||a  b|", false]);
    assert.deepEqual(exitStatus, { exitCode: 0, signal: null });
    await terminal.release();
    await assert.rejects(terminal.currentOutput(), /no terminal/);
  }));

  test('a line is the shell\'s, in its directory and with its variables', () => served(daemon, async (client) => {
    mkdirSync(`${daemon.home}/project/below`);
    const terminal = await client.createTerminal({
      sessionId,
      command: 'pwd; echo "$GIVEN"; exit 7',
      cwd: `${daemon.home}/project/below`,
      env: [{ name: 'GIVEN', value: 'some words' }],
    });
    assert.equal((await terminal.waitForExit()).exitCode, 7);
    const { output } = await terminal.currentOutput();
    assert.equal(output, `${daemon.home}/project/below\nsome words\n`);
  }));

  test('the last of long output is kept, from a whole character on', () => served(daemon, async (client) => {
    const terminal = await client.createTerminal({
      sessionId,
      command: 'for i in $(seq 2000); do echo "ü$i"; done',
      outputByteLimit: 100,
    });
    await terminal.waitForExit();
    const { output, truncated } = await terminal.currentOutput();
    assert.equal(truncated, true);
    assert.ok(Buffer.byteLength(output) <= 100 && Buffer.byteLength(output) > 90, output);
    assert.ok(output.endsWith('ü1999\nü2000\n') && !output.includes('\ufffd'), output);
  }));

  test('a command is killed, and its terminal can still be read', () => served(daemon, async (client) => {
    const { named, isRunning } = await begin(client, 'echo begun; sleep 1000; echo never');
    const read = () => client.request('terminal/output', named);
    await until('it has said something', async () => (await read()).output === 'begun\n');
    assert.equal((await read()).exitStatus ?? null, null);
    assert.equal(await isRunning(), true);
    const waiting = client.request('terminal/wait_for_exit', named);
    await client.request('terminal/kill', named);
    assert.equal(await isRunning(), false);
    assert.deepEqual(await waiting, { exitCode: null, signal: 'SIGINT' });
    const { output, exitStatus } = await read();
    assert.equal(output, 'begun\n');
    assert.deepEqual(exitStatus, await waiting);
    await client.request('terminal/kill', named);
  }));

  test('what is released is ended', () => served(daemon, async (client) => {
    const { named, isRunning } = await begin(client, 'sleep 1001');
    assert.equal(await isRunning(), true);
    await client.request('terminal/release', named);
    assert.equal(await isRunning(), false);
  }));

  test('what a client leaves behind is ended', async () => {
    const isRunning = await served(daemon, async (client) => {
      const begun = await begin(client, 'sleep 1002');
      assert.equal(await begun.isRunning(), true);
      return begun.isRunning;
    });
    assert.equal(await isRunning(), false);
  });

  test('a command that a person is asked about says so, and runs when it is allowed', () => served(daemon, async (client) => {
    const terminal = await client.createTerminal({ sessionId, command: './deploy' });
    const asked = await terminal.currentOutput();
    assert.match(asked.output, /waits for a person's approval: .*It changes what others see/);
    assert.equal(asked.exitStatus ?? null, null);
    const { approvals } = await daemon.call('ListApprovals');
    assert.ok(asked.output.includes(`approvals approve ${approvals[0].approvalId}`));
    await daemon.call('ResolveApproval', { approvalId: approvals[0].approvalId, approve: true });
    assert.equal((await terminal.waitForExit()).exitCode, 0);
    assert.equal((await terminal.currentOutput()).output, 'deployed\n');
  }));

  test('an agent gets neither more rights nor another\'s terminal', () => served(daemon, async (client) => {
    const outside = `/var/lib/sg-acp-${process.pid}`;
    const terminal = await client.createTerminal({ sessionId, command: `touch ${outside}` });
    assert.equal((await terminal.waitForExit()).exitCode, 1);
    // Where it wants to be does not say what it may write.
    const elsewhere = client.createTerminal({ sessionId, command: `touch ${outside}`, cwd: '/var/lib' });
    await assert.rejects(elsewhere, /workspace/);
    assert.equal(existsSync(outside), false);
    await assert.rejects(client.createTerminal({ sessionId, command: 'rm -rf /' }), /refused/);
    const other = { sessionId: 'another', terminalId: terminal.id };
    for (const method of ['output', 'kill', 'release', 'wait_for_exit']) {
      await assert.rejects(client.request(`terminal/${method}`, other), /no terminal/);
    }
  }));

  test('what makes no sense has an error, and the next request is answered', () => served(daemon, async (client) => {
    const wrong = { sessionId, command: 'pwd', cwd: 'relative' };
    await assert.rejects(client.createTerminal(wrong), /absolute/);
    await assert.rejects(client.request('terminal/create', { sessionId }), /command/);
    await assert.rejects(client.request('fs/read_text_file', { sessionId, path: '/' }), /terminal\/create/);
    const terminals = [];
    for (let count = 0; count < 64; count += 1) {
      terminals.push(client.createTerminal({ sessionId, command: 'true' }));
    }
    const all = await Promise.all(terminals);
    await assert.rejects(client.createTerminal({ sessionId, command: 'true' }), /release some/);
    await all[0].release();
    const terminal = await client.createTerminal({ sessionId, command: 'echo on' });
    await terminal.waitForExit();
    assert.equal((await terminal.currentOutput()).output, 'on\n');
  }));

  test('whoever waits for too much is told so, and the rest goes on', () => served(daemon, async (client) => {
    const { named } = await begin(client, 'sleep 1003');
    const waiting = [];
    for (let count = 0; count < 256; count += 1) {
      waiting.push(client.request('terminal/wait_for_exit', named));
    }
    // The first is refused when all others are under way.
    const refused = () => client.request('terminal/output', named).then(() => false, (error) => error);
    const error = await until('there are too many', refused);
    assert.match(error.message, /256 requests are under way; ask again later/);
    // They end when the client goes.
    for (const each of waiting) each.catch(() => {});
  }));

  test('a megabyte of output is kept, whatever is asked for', () => served(daemon, async (client) => {
    const terminal = await client.createTerminal({
      sessionId,
      command: 'head -c 1500000 /dev/zero | tr "\\0" x; echo end',
      outputByteLimit: 4 << 20,
    });
    await terminal.waitForExit();
    const { output, truncated } = await terminal.currentOutput();
    assert.deepEqual([output.length, truncated], [1 << 20, true]);
    assert.ok(output.endsWith('xend\n'));
  }));

  test('a command that a person refuses later has neither a code nor a signal', () => served(daemon, async (client) => {
    const terminal = await client.createTerminal({ sessionId, command: './deploy' });
    const { approvals } = await daemon.call('ListApprovals');
    await daemon.call('ResolveApproval', { approvalId: approvals[0].approvalId, approve: false, reason: 'not today' });
    assert.deepEqual(await terminal.waitForExit(), { exitCode: null, signal: null });
    assert.match((await terminal.currentOutput()).output, /refused: .*not today/);
  }));

  test('a client that reads no answers is still heard when it stops', async () => {
    const child = spawn(process.env.SHELLGLASS_BIN, ['acp'], {
      cwd: `${daemon.home}/project`,
      env: daemon.environment,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const gone = new Promise((resolve) => child.on('exit', (code, signal) => resolve([code, signal])));
    // More answers than a pipe and our own end of it hold.
    child.stdin.on('error', () => {});
    child.stdin.write('{"id":1}\n'.repeat(20_000));
    const written = () => Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${child.pid}/io`, 'utf8'))[1]);
    let last = [];
    await until('nobody takes its answers', () => {
      last = [...last.slice(-9), written()];
      return last.length === 10 && last[0] > 0 && last[0] === last[9];
    });
    child.kill('SIGTERM');
    assert.deepEqual(await gone, [0, null]);
    child.stdin.destroy();
  });

  test('a terminal outlives the daemon', () => served(daemon, async (client) => {
    const held = `${daemon.home}/project/held`;
    const command = `echo one; until test -e ${held}; do sleep 0.02; done; echo two; exit 6`;
    const terminal = await client.createTerminal({ sessionId, command });
    await until('it has said something', async () => (await terminal.currentOutput()).output === 'one\n');
    const waiting = terminal.waitForExit();
    await daemon.kill();
    writeFileSync(held, '');
    assert.equal((await waiting).exitCode, 6);
    assert.equal((await terminal.currentOutput()).output, 'one\ntwo\n');
  }));
});
