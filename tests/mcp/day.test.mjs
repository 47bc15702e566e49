// A day of an agent's work with the official TypeScript SDK: the same over
// standard input and output and over HTTP.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Daemon, PATIENCE_MS, until } from '../web/daemon.mjs';

/** Doubtful is here what is called deploy, and nothing else. */
const CONFIG = `
[sandbox]
default = "none"
agent = "none"
[policy]
agent = "deny"
[[policy.rule]]
prefix = ["./deploy"]
decision = "ask"
reason = "It changes what others see."
[approvals]
elicit = "everybody"
`;

/** A server that says its port, and answers with what it is asked for. */
const SERVER = `
const server = require('node:http').createServer((asked, answer) => answer.end('you asked for ' + asked.url));
server.listen(0, '127.0.0.1', () => console.log('listening on', server.address().port));
`;

const TESTS = `
const said = async (path) => (await fetch('http://127.0.0.1:' + process.env.PORT + path)).text();
const check = (name, holds) => {
  console.log((holds ? 'ok ' : 'not ok ') + name);
  if (!holds) process.exitCode = 1;
};
(async () => {
  check('it answers', await said('/a') === 'you asked for /a');
  check('it is polite', (await said('/b')).includes('please'));
})();
`;

const LOG_LINE = 'some words of a log that nobody reads';

const options = { timeout: 4 * PATIENCE_MS };

function overStdio(daemon) {
  return new StdioClientTransport({
    command: process.env.SHELLGLASS_BIN,
    args: ['mcp'],
    cwd: daemon.home,
    env: daemon.environment,
    stderr: 'inherit',
  });
}

function overHttp(daemon) {
  const address = new URL(`${daemon.origin}/mcp?cwd=${encodeURIComponent(daemon.home)}`);
  const headers = { Authorization: `Bearer ${daemon.token('agent')}` };
  return new StreamableHTTPClientTransport(address, { requestInit: { headers } });
}

/** Whether a process with this word on its command line runs in this daemon's care. */
async function isRunning(daemon, command) {
  const { sessions = [] } = await daemon.call('ListSessions');
  return sessions.some((session) => session.running && session.activeCommand === command);
}

for (const [way, transport] of [['stdio', overStdio], ['HTTP', overHttp]]) {
  describe(`a day over ${way}`, () => {
    let daemon;
    let client;
    const questions = [];

    const call = async (name, given = {}, more = {}) => {
      const result = await client.callTool({ name, arguments: given }, undefined, { ...options, ...more });
      const text = result.content.map((part) => part.text).join('');
      return { text, isError: result.isError === true, ...result.structuredContent };
    };
    const run = (command, given = {}, more = {}) => call('execute_command', { command, ...given }, more);

    before(async () => {
      daemon = await Daemon.start(CONFIG);
      for (const [name, text] of [['server.cjs', SERVER], ['tests.cjs', TESTS]]) {
        writeFileSync(`${daemon.home}/${name}`, text);
      }
      writeFileSync(`${daemon.home}/deploy`, '#!/bin/sh\necho deployed "$@"\n', { mode: 0o755 });
      client = new Client({ name: 'day', version: '1' }, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        questions.push(params);
        return { action: 'accept', content: { decision: 'once' } };
      });
      await client.connect(transport(daemon));
    });
    after(async () => {
      await client.close();
      await daemon.end();
    });

    test('a dev server is started, waited for and tested', async () => {
      const { tools } = await client.listTools();
      assert.equal(tools.length, 8);
      const server = await run('node server.cjs', { background: true });
      assert.equal(server.running, true);
      const shell_id = server.shell_id;
      const waited = server.output.includes('listening')
        ? server
        : await call('wait', { shell_id, pattern: 'listening on \\d+' });
      const port = Number(/listening on (\d+)/.exec(waited.output)[1]);
      const listens = await call('wait', { shell_id, port });
      assert.deepEqual([listens.reason, listens.matched], ['port', String(port)]);
      const reports = [];
      const onprogress = (report) => reports.push(report.progress);
      const tests = await run(`sleep 1.2; PORT=${port} node tests.cjs`, {}, { onprogress });
      assert.equal(tests.exit_code, 1);
      assert.equal(tests.output, 'ok it answers\nnot ok it is polite\n');
      assert.match(tests.text, /\[exit code 1/);
      assert.ok(reports.length >= 1);
      assert.equal((await call('cancel', { shell_id })).cancelled, true);
      const over = await call('wait', { shell_id, exit: true });
      assert.deepEqual([over.reason, over.running], ['exit', false]);
    });

    test('the middle of a log of 50 MB is read', async () => {
      const bytes = `00000000 ${LOG_LINE}\n`.length;
      const count = Math.ceil(50_000_000 / bytes);
      const print = `awk 'BEGIN { for (i = 0; i < ${count}; i++) printf "%08d ${LOG_LINE}\\n", i }'`;
      let log = await run(print, { yield_ms: 50_000 });
      for (let round = 0; log.running && round < 5; round += 1) {
        log = { ...log, ...await call('wait', { shell_id: log.shell_id, exit: true, timeout_ms: 50_000 }) };
      }
      assert.equal(log.exit_code, 0);
      assert.ok(log.text.length < 20_000);
      const middle = Math.floor(count / 2);
      const { shell_id } = log;
      const line = `${String(middle).padStart(8, '0')} ${LOG_LINE}\n`;
      const read = await call('read_output', { shell_id, offset: middle * bytes, lines: 1 });
      assert.equal(read.output, line);
      const found = await call('read_output', { shell_id, search: `^${line.slice(0, 8)} ` });
      assert.equal(found.output, `${middle * bytes}: ${line}`);
      const beyond = await call('read_output', { shell_id, offset: count * bytes + 1 });
      assert.equal(beyond.isError, true);
      assert.match(beyond.text, /hint: /);
    });

    test('a prompt is answered through standard input', async () => {
      const ask = 'printf "your name? "; read -r name; echo "hello $name"; exit 4';
      const { shell_id } = await run(ask, { background: true });
      const said = await call('write_stdin', { shell_id, chars: 'world\n' });
      const over = said.running ? await call('wait', { shell_id, exit: true }) : said;
      assert.equal(over.exit_code, 4);
      const whole = await call('read_output', { shell_id, offset: 0 });
      assert.equal(whole.output, 'your name? hello world\n');
      const late = await call('write_stdin', { shell_id, chars: 'x' });
      assert.equal(late.isError, true);
      assert.match(late.text, /is over/);
    });

    test('a call that is given up ends its command', async () => {
      const command = 'sleep 1000; touch never';
      const giveUp = new AbortController();
      const cancelled = run(command, { yield_ms: 50_000 }, { signal: giveUp.signal });
      const caught = assert.rejects(cancelled);
      await until('the command runs', () => isRunning(daemon, command));
      giveUp.abort('enough');
      await caught;
      await until('the command has ended', async () => !await isRunning(daemon, command));
      assert.equal((await run('echo on')).output, 'on\n');
      assert.equal(existsSync(`${daemon.home}/never`), false);
    });

    test('a doubtful command is put to the person', async () => {
      const deployed = await run('./deploy once');
      assert.equal(deployed.output, 'deployed once\n');
      assert.equal(questions.length, 1);
      assert.match(questions[0].message, /\| \.\/deploy once/);
      assert.match(questions[0].message, /It changes what others see/);
    });

    test('resources are listed and read', async () => {
      const { shell_id, session_id } = await run('echo kept');
      const { resources } = await client.listResources();
      assert.ok(resources.some((one) => one.uri === `shellglass://session/${session_id}`));
      const { contents } = await client.readResource({ uri: `shellglass://output/${shell_id}` });
      assert.equal(contents[0].text, 'kept\n');
    });

    test('resources are watched, and told of no longer than they are', async () => {
      const told = [];
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => told.push(params.uri));
      const go = `${daemon.home}/go`;
      const step = (number) => `until test -e ${go}${number}; do sleep 0.02; done; echo ${number}`;
      const { shell_id, session_id } = await run(`${step(1)}; ${step(2)}`, { yield_ms: 0 });
      const beside = await run(`${step(3)}; ${step(4)}`, { background: true, yield_ms: 0 });
      const uri = `shellglass://output/${shell_id}`;
      const other = `shellglass://output/${beside.shell_id}`;
      const session = `shellglass://session/${session_id}`;
      const news = (about) => told.filter((one) => one === about).length;
      for (const each of [uri, other, session]) await client.subscribeResource({ uri: each });
      for (const number of [1, 3]) writeFileSync(`${go}${number}`, '');
      await until('both outputs are news', () => news(uri) > 0 && news(other) > 0);
      await client.unsubscribeResource({ uri });
      const heard = news(uri);
      writeFileSync(`${go}2`, '');
      await call('wait', { shell_id, exit: true, timeout_ms: 50_000 });
      await until('the session is news', () => told.includes(session));
      const { contents } = await client.readResource({ uri });
      assert.equal(contents[0].text, '1\n2\n');
      await client.unsubscribeResource({ uri: session });
      // What is over is no news, and takes no place from what is not.
      await client.subscribeResource({ uri });
      const last = news(other);
      writeFileSync(`${go}4`, '');
      await until('the other goes on to be news', () => news(other) > last);
      assert.equal(news(uri), heard);
      for (let count = 0; count < 40; count += 1) {
        const ended = await run('true');
        const watched = () => client.subscribeResource({ uri: `shellglass://output/${ended.shell_id}` });
        await until('there is room', () => watched().then(() => true, () => false));
      }
      for (const wrong of ['shellglass://output/4000000', 'shellglass://session/none', 'file:///etc/passwd']) {
        await assert.rejects(client.subscribeResource({ uri: wrong }));
      }
    });

    test('messages are sent from the level on that is wanted', async () => {
      const said = [];
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => said.push(params));
      await run('echo before');
      assert.deepEqual(said, []);
      await client.setLoggingLevel('notice');
      const quiet = await run('echo quiet');
      await run('./deploy twice');
      await client.setLoggingLevel('debug');
      const { shell_id } = await run('exit 3', { background: true, yield_ms: 20_000 });
      await until('the end is told', () => said.some(({ data }) => data.shell_id === shell_id));
      const end = said.find(({ data }) => data.shell_id === shell_id);
      assert.deepEqual([end.level, end.data.exit_code, end.logger], ['debug', 3, 'shellglass']);
      assert.ok(said.some(({ level, data }) => level === 'notice' && data.waits_for_approval));
      assert.ok(!said.some(({ data }) => data.shell_id === quiet.shell_id));
      await client.setLoggingLevel('emergency');
    });

    test('work goes on after the daemon was killed', async () => {
      const held = `${daemon.home}/held`;
      const home = await run('cd /usr; X=kept; pwd');
      const waiting = `echo one; until test -e ${held}; do sleep 0.02; done; echo two; (exit 6)`;
      const { shell_id } = await run(waiting, { yield_ms: 0 });
      await daemon.kill();
      writeFileSync(held, '');
      if (way === 'HTTP') await daemon.begin();
      const over = await call('wait', { shell_id, exit: true, timeout_ms: 50_000 });
      assert.deepEqual([over.reason, over.exit_code], ['exit', 6]);
      const whole = await call('read_output', { shell_id, offset: 0 });
      assert.equal(whole.output, 'one\ntwo\n');
      const same = await run('echo $X; pwd');
      assert.deepEqual([same.output, same.session_id], ['kept\n/usr\n', home.session_id]);
      rmSync(held);
    });

    // Over HTTP the daemon is who answers, and there is nobody to say it.
    if (way !== 'stdio') return;
    test('whoever wants to know is told that the daemon was lost', async () => {
      const said = [];
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => said.push(params));
      const [held, begun] = [`${daemon.home}/held`, `${daemon.home}/begun`];
      const waiting = `touch ${begun}; until test -e ${held}; do sleep 0.02; done; echo through`;
      for (const [level, expected] of [['error', []], ['warning', [['warning', 'shellglass']]]]) {
        await client.setLoggingLevel(level);
        const running = run(waiting, { yield_ms: 50_000 });
        await until('it runs', () => existsSync(begun));
        // The last one was begun by whoever missed the one before.
        process.kill(Number(readFileSync(`${daemon.home}/run/daemon.pid`, 'utf8')), 'SIGKILL');
        writeFileSync(held, '');
        assert.equal((await running).output, 'through\n');
        for (const path of [held, begun]) rmSync(path);
        assert.deepEqual(said.map((one) => [one.level, one.logger]), expected);
      }
      assert.match(said[0].data, /lost, and found again/);
    });
  });
}
