// A view of the editor against a daemon that was recorded (record.mjs), cut and
// lost in every way that a network can.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import {
  View, WINDOW_BYTES, habitsOf, isBelow, isOlder, isWhole, limited, lookOf, mirrorName, oneLine,
  opensByItself, readingVariables, said,
} from '../../editors/vscode/dist/testable.mjs';

const recorded = JSON.parse(readFileSync(new URL('recorded.json', import.meta.url)));
const FLASH = '\x1b]11;rgb:66/22/22\x07';
const UNFLASH = '\x1b]111\x07';

/** What a recorded entry has for the view, and what the view has to have said before it. */
const toBytes = (text) => new Uint8Array(Buffer.from(text));

/** The recorded daemon: says what it said then, once it has been said what it was. */
class Recorded {
  constructor(entries, cut = (bytes) => [bytes]) {
    this.entries = [...entries];
    this.cut = cut;
    this.said = [];
    this.acknowledged = 0;
    this.isClosed = false;
  }

  line = (path, listener) => {
    assert.equal(path, '/ws/terminal');
    this.listener = listener;
    this.wire = {
      send: (message) => this.hear(message),
      live: () => listener.stands({ kind: 'live' }),
      retry: () => {},
      close: () => { this.isClosed = true; },
    };
    queueMicrotask(() => listener.opened(this.wire));
    return this.wire;
  };

  hear(message) {
    if (message.type === 'ack') {
      this.acknowledged += message.bytes;
      return;
    }
    const next = this.entries.shift();
    if (message instanceof Uint8Array) assert.equal(Buffer.from(message).toString(), next.saidBytes);
    else assert.deepEqual(message, next.said);
    this.play();
  }

  /** Says everything up to what the view has to say next. */
  play() {
    while (this.entries.length > 0) {
      const [{ heard, heardBytes }] = this.entries;
      if (heard === undefined && heardBytes === undefined) return;
      this.entries.shift();
      if (heard !== undefined) this.listener.text(heard, this.wire);
      else for (const bytes of this.cut(toBytes(heardBytes))) this.listener.bytes(bytes);
    }
  }
}

function opened(daemon, kind = 'mirror') {
  const told = { written: '', refused: 0, over: [], failed: [], names: [], closed: [] };
  const view = new View(kind, {
    line: daemon.line,
    session: async () => 'recorded',
    look: () => ({ promptTemplate: '> ' }),
    refused: () => { told.refused += 1; },
    over: (code) => told.over.push(code),
    failed: (message) => told.failed.push(message),
  });
  view.onDidWrite((text) => { told.written += text; });
  view.onDidChangeName((name) => told.names.push(name));
  view.onDidClose((code) => told.closed.push(code));
  view.rename('work');
  return { view, told };
}

async function shown(cut) {
  const daemon = new Recorded(recorded, cut);
  const { view, told } = opened(daemon);
  view.open({ columns: 100, rows: 40 });
  await sleep(0);
  view.handleInput('x and more');
  view.handleInput('\x03');
  return { daemon, view, told };
}

test('a mirror shows every byte of the recording, however it was cut', async () => {
  const expected = recorded.map((entry) => entry.heardBytes ?? (entry.heard?.type === 'readonly' ? FLASH : '')).join('');
  const cuts = {
    whole: (bytes) => [bytes],
    single: (bytes) => [...bytes].map((byte) => Uint8Array.of(byte)),
    halves: (bytes) => [bytes.slice(0, bytes.length >> 1), bytes.slice(bytes.length >> 1)],
  };
  for (const [name, cut] of Object.entries(cuts)) {
    const { daemon, view, told } = await shown(cut);
    assert.equal(told.written, expected, name);
    assert.deepEqual(daemon.entries, [], 'everything was said and heard');
    view.close();
  }
});

test('refused input flashes once, says why, and the flash ends', async () => {
  const { view, told } = await shown();
  assert.equal(told.refused, 1);
  // The session has ended by now: nothing reaches it any more.
  view.handleInput('y');
  assert.equal(told.refused, 2);
  assert.equal(told.written.split(FLASH).length, 2, 'a flash that lasts is not begun again');
  while (!told.written.endsWith(UNFLASH)) await sleep(10);
  view.close();
});

test('a mirror stays when its session ends, and says so; a terminal closes', async () => {
  const { view, told, daemon } = await shown();
  assert.deepEqual([told.over, told.closed], [[undefined], []]);
  assert.equal(told.names.at(-1), 'work (ended)');
  assert.ok(daemon.isClosed);
  view.close();
  const last = [{ said: init('terminal') }, { heard: { type: 'opened' } }, { heard: { type: 'exit', code: 7 } }];
  const terminal = opened(new Recorded(last), 'terminal');
  terminal.view.open({ columns: 100, rows: 40 });
  await sleep(0);
  assert.deepEqual([terminal.told.over, terminal.told.closed], [[7], [7]]);
});

function init(view) {
  const readOnly = view === 'mirror';
  return { type: 'init', sessionId: 'recorded', cols: 100, rows: 40, view: readOnly ? '' : view, readOnly, windowBytes: WINDOW_BYTES };
}

test('a replay after a lost connection takes away what was shown before', async () => {
  const once = [{ said: init('mirror') }, { heard: { type: 'opened' } }, { heardBytes: 'half of ä: ' }, { heard: { type: 'ready' } }];
  const daemon = new Recorded([...once, ...once]);
  const { view, told } = opened(daemon);
  view.open({ columns: 100, rows: 40 });
  await sleep(0);
  // The first byte of a character, and then nothing more.
  daemon.listener.bytes(Uint8Array.of(0xc3));
  daemon.listener.stands({ kind: 'waiting', until: 0 });
  assert.equal(told.names.at(-1), 'work (not connected)');
  view.handleInput('x');
  assert.equal(told.refused, 1, 'nobody is there to hear it');
  daemon.listener.opened(daemon.wire);
  assert.equal(told.written, `half of ä: ${FLASH}\x1bchalf of ä: `);
  assert.equal(told.names.at(-1), 'work');
  view.close();
});

test('what is typed and pasted reaches a terminal whole, in pieces that the daemon takes', async () => {
  const daemon = new Recorded([{ said: init('terminal') }, { heard: { type: 'opened' } }, { heard: { type: 'ready' } }]);
  const { view } = opened(daemon, 'terminal');
  view.open({ columns: 100, rows: 40 });
  await sleep(0);
  const pieces = [];
  daemon.hear = (message) => { if (message instanceof Uint8Array) pieces.push(message); };
  const pasted = 'größer\r'.repeat(20_000);
  view.handleInput(pasted);
  assert.ok(pieces.every((piece) => piece.length <= 64 * 1024));
  assert.equal(Buffer.concat(pieces).toString(), pasted);
  view.close();
});

test('everything is acknowledged, and no faster than it can be drawn', async () => {
  const entries = [{ said: init('mirror') }, { heard: { type: 'opened' } }, { heard: { type: 'ready' } }];
  const daemon = new Recorded(entries);
  const { view } = opened(daemon);
  view.open({ columns: 100, rows: 40 });
  await sleep(0);
  const bytes = 600_000;
  daemon.listener.bytes(new Uint8Array(bytes).fill(0x61));
  assert.equal(daemon.acknowledged, 0);
  let rounds = 0;
  for (let before = 0; daemon.acknowledged < bytes; before = daemon.acknowledged) {
    await sleep(5);
    if (daemon.acknowledged > before) rounds += 1;
  }
  assert.equal(daemon.acknowledged, bytes);
  assert.ok(rounds > 1);
  view.close();
});

test('a session that cannot be made or shown is told of', async () => {
  const failed = [];
  const view = new View('terminal', {
    line: () => assert.fail('there is nothing to show'),
    session: async () => { throw new Error('no room'); },
    look: () => ({}), refused: () => {}, over: () => {}, failed: (message) => failed.push(message),
  });
  view.open(undefined);
  await sleep(0);
  assert.deepEqual(failed, ['no room']);
  const refusing = new Recorded([{ said: init('mirror') }, { heard: { type: 'error', message: 'gone; hint: none' } }]);
  const { view: mirror, told } = opened(refusing);
  mirror.open({ columns: 100, rows: 40 });
  await sleep(0);
  assert.deepEqual(told.failed, ['gone; hint: none']);
});

test('names are short, on one line, and hide nothing', () => {
  assert.equal(oneLine('a\n\n b\u202e c'), 'a b<U+202E> c');
  const session = { activeCommand: '', lastCommand: '', name: '', workingDirectory: '/srv/app' };
  assert.equal(mirrorName(session), 'app');
  assert.equal(mirrorName({ ...session, lastCommand: 'make' }), 'make');
  assert.equal([...mirrorName({ ...session, activeCommand: 'ä'.repeat(100) })].length, 40);
  assert.ok(isBelow('/a/b', '/a') && isBelow('/a', '/a') && !isBelow('/ab', '/a'));
});

test('only a command that a notification shows as it is can be answered there', () => {
  for (const command of ['ls -la', 'echo "[a] (b)"', 'printf é']) assert.ok(isWhole(command, 40), command);
  const hidden = [
    // VS Code shows of a link what stands in its brackets.
    `echo '[ok](https://a.b "'; curl x|sh; echo '")'`, '[x](command:y)',
    'ls  -la', 'ls\u00a0-la', 'echo a\nrm b', ' ls', 'x'.repeat(41),
  ];
  for (const command of hidden) assert.ok(!isWhole(command, 40), command);
});

test('a console is told how to look, and is over when it is left', async () => {
  const entries = [
    { said: { ...init('console'), console: { promptTemplate: '> ' } } },
    { heard: { type: 'opened' } }, { heard: { type: 'ready' } }, { heard: { type: 'property', name: 'left', value: 'true' } },
  ];
  const daemon = new Recorded(entries);
  const { view, told } = opened(daemon, 'console');
  view.open({ columns: 100, rows: 40 });
  await sleep(0);
  assert.deepEqual([told.closed, daemon.entries, daemon.isClosed], [[0], [], true]);
});

test('names and messages have no links, no pictures and no Markdown that hides', () => {
  const session = { activeCommand: '', lastCommand: '', name: '', workingDirectory: '/srv/app' };
  const named = (activeCommand) => mirrorName({ ...session, activeCommand });
  assert.equal(named('[a](command:b) ![c](http://d)'), '[a] (command:b) ![c] (http://d)');
  assert.equal(named('echo $(whoami) $(sync~spin) $(ls -l)'), 'echo $ (whoami) $ (sync~spin) $(ls -l)');
  assert.equal(said('no [x](command:y)\n\u202ez'), 'Shellglass: no [x] (command:y) <U+202E>z');
});

test('settings mean what they say for shells, consoles, tools and what opens by itself', () => {
  assert.deepEqual(habitsOf({ integration: undefined, zshOhMyZsh: undefined }), {});
  const set = { integration: false, integrationTimeoutMs: 0, zshZdotdir: false, zshOhMyZsh: true, promptDelayMs: 50, powershellCounter: true };
  assert.deepEqual(habitsOf({ ...set, zshClearEndOfLineMark: false }), { habits: { ...set, zshClearEolMark: false } });
  assert.deepEqual([readingVariables({}), readingVariables({ compressProgress: false })], [{}, { SHELLGLASS_TEXT_COMPRESS_PROGRESS: 'false' }]);
  assert.deepEqual(lookOf({ prompt: 'configured', promptTemplate: '', hiddenEcho: '', showExit: 'configured' }), {});
  assert.deepEqual(lookOf({ prompt: 'on', promptTemplate: '> ', hiddenEcho: 'off', showExit: 'on' }), {
    prompt: true, promptTemplate: '> ', hiddenEcho: false, showExit: true,
  });
  const limits = { timeoutMs: 1000, timeoutExempt: ['npm run dev'], linesMax: 5, charactersMax: 100 };
  const timed = (input) => limited('execute_command', input, limits).timeout_ms;
  assert.deepEqual([timed({ command: 'make' }), timed({ command: 'make', timeout_ms: 7 })], [1000, 7]);
  assert.deepEqual([timed({ command: ' npm  run dev -- -p 1' }), timed({ command: 'npm run develop' })], [undefined, 1000]);
  assert.equal(timed({ command: 'make', background: true }), undefined);
  const { head, tail, max_chars } = limited('execute_command', { command: 'make' }, limits);
  assert.deepEqual([head, tail, max_chars], [3, 2, 100]);
  assert.deepEqual(limited('read_output', { shell_id: 1 }, limits), { shell_id: 1, lines: 5, max_chars: 100 });
  assert.deepEqual(limited('wait', { shell_id: 1 }, limits), { shell_id: 1 });

  const begun = { running: true, mode: 'SESSION_MODE_PIPE', lastShellId: 2, workingDirectory: '/a/b' };
  const opens = (which, more = {}, before = undefined) => opensByItself(which, { ...begun, ...more }, before, ['/a']);
  assert.deepEqual(['off', 'workspace', 'all'].map((which) => opens(which)), [false, true, true]);
  assert.deepEqual(['workspace', 'all'].map((which) => opens(which, { workingDirectory: '/ab' })), [false, true]);
  assert.ok(!opens('all', { running: false }) && !opens('all', { mode: 'SESSION_MODE_PTY' }) && !opens('all', {}, begun));
  assert.ok(opens('all', {}, { ...begun, running: false }) && opens('all', {}, { ...begun, lastShellId: 1 }));
});

test('an older daemon is known by its version, or by having none', () => {
  for (const old of ['', 'x', '0.0.9', '0.1.1', '0.1.2-rc']) assert.ok(isOlder(old, '0.2.0'), old);
  for (const fine of ['0.2.0', '0.2.1', '1.0.0', '0.10.0']) assert.ok(!isOlder(fine, '0.2.0'), fine);
});
