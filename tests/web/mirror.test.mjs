// A mirror in the page: what it is told over the wire, and what a person sees of it.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { rows, select, untilRow } from './browser.mjs';
import { until } from './daemon.mjs';
import { browser, daemon } from './scene.mjs';

afterEach(() => assert.deepEqual(browser.errors.splice(0), []));

const PROMPT = '\u001b]633;A\u0007$ \u001b]633;B\u0007';

/** A command as a mirror is told of it. */
function told(escaped, text, output, code) {
  return `\u001b]633;E;${escaped}\u0007${text}\r\n\u001b]633;C\u0007${output}\u001b]633;D;${code}\u0007${PROMPT}`;
}

/**
 * What comes over the wire to the views that a page opens from now on: one list for each, with
 * messages as objects and the bytes between two of them as one text.
 */
function listen(page) {
  const views = [];
  page.on('websocket', (socket) => {
    if (!socket.url().endsWith('/ws/terminal')) return;
    const heard = [];
    views.push(heard);
    socket.on('framereceived', ({ payload }) => {
      if (typeof payload === 'string') heard.push(JSON.parse(payload));
      else if (typeof heard.at(-1) === 'string') heard.push(heard.pop() + payload.toString('utf8'));
      else heard.push(payload.toString('utf8'));
    });
  });
  return views;
}

/** Every byte that a view was shown. */
function bytes(heard) {
  return heard.filter((it) => typeof it === 'string').join('');
}

/** The rows that a page shows, without the empty ones below the last. */
async function filled(page) {
  const shown = await rows(page);
  return shown.slice(0, shown.findLastIndex((row) => row !== '') + 1);
}

test('a mirror opens in order, speaks its markers, and shows commands and output and nothing else', async () => {
  const id = await daemon.session('in order');
  const page = await browser.page(daemon.address);
  const views = listen(page);
  await select(page, id);
  const opening = `\u001b]633;P;Cwd=${daemon.home}\u0007\u001b]633;P;HasRichCommandDetection=True\u0007`;
  assert.deepEqual(views[0], [
    { type: 'opened', pid: -1, cwd: daemon.home, sessionId: id, name: 'in order', icon: 'eye' },
    opening,
    { type: 'property', name: 'initialCwd', value: daemon.home },
    PROMPT,
    { type: 'ready', nextIndex: '0' },
  ]);
  assert.deepEqual(await filled(page), ['$']);

  // Line feeds with and without a carriage return, both streams, an end that is no success.
  await daemon.run(id, "printf 'a\\nbb\\r\\nc\\n'; echo d >&2; (exit 3)");
  // Everything that is escaped: a semicolon, a backslash, a tab, an escape and a line feed.
  await daemon.run(id, "cd sub\\dir 2>/dev/null; # \u001b\t\necho e");
  const all = [
    told("printf 'a\\\\nbb\\\\r\\\\nc\\\\n'\\x3b echo d >&2\\x3b (exit 3)", "printf 'a\\nbb\\r\\nc\\n'; echo d >&2; (exit 3)", 'a\r\nbb\r\nc\r\nd\r\n', 3),
    told('cd sub\\\\dir 2>/dev/null\\x3b # \\x1b\\x09\\x0aecho e', 'cd sub\\dir 2>/dev/null; # ^[\t\r\necho e', 'e\r\n', 0),
  ].join('');
  await until('all of it came', () => bytes(views[0]).length >= opening.length + PROMPT.length + all.length);
  assert.equal(bytes(views[0]), opening + PROMPT + all);
  const shown = [
    "$ printf 'a\\nbb\\r\\nc\\n'; echo d >&2; (exit 3)", 'a', 'bb', 'c', 'd',
    '$ cd sub\\dir 2>/dev/null; # ^[', 'echo e', 'e', '$',
  ];
  await until('it is drawn', async () => (await filled(page)).length === shown.length);
  assert.deepEqual(await filled(page), shown);

  // A replay says and shows the same, and then goes on with what runs.
  const running = daemon.run(id, 'echo begun; until [ -e go ]; do sleep 0.02; done; echo over');
  await untilRow(page, 'it runs', (row) => row === 'begun');
  await page.reload();
  await untilRow(page, 'it is replayed', (row) => row === 'begun');
  await page.locator('.state[data-state="live"]').waitFor();
  const command = 'echo begun; until [ -e go ]; do sleep 0.02; done; echo over';
  const last = told(command.replaceAll(';', '\\x3b'), command, 'begun\r\nover\r\n', 0);
  await daemon.run(await daemon.session('the other'), 'touch go');
  await running;
  await until('the end came', () => bytes(views[1]).endsWith(last));
  assert.equal(bytes(views[1]), opening + PROMPT + all + last);
  const more = [`$ ${command}`, 'begun', 'over', '$'];
  await until('the end is drawn', async () => (await filled(page)).length === shown.length + 3);
  assert.deepEqual(await filled(page), [...shown.slice(0, -1), ...more]);
});

test('a mirror takes what terminals are sent, answers what is asked, and is called after what it runs', async () => {
  const id = await daemon.session('called');
  const page = await browser.page(daemon.address);
  await select(page, id);
  const name = page.locator('.view-head .named[data-icon="eye"]');
  await name.waitFor();
  assert.equal(await name.locator('code').count(), 0, 'it is called as the session is');

  // A view that the page opens as it opens its own, with a command that nobody has run yet.
  const heard = await page.evaluate(async (sessionId) => {
    const own = ['shellglass', `key-${localStorage.getItem('shellglass-key')}`];
    const socket = new WebSocket(`ws://${location.host}/ws/terminal`, own);
    socket.binaryType = 'arraybuffer';
    const heard = [];
    const until = (wanted) => new Promise((done) => {
      socket.onmessage = ({ data }) => {
        heard.push(typeof data === 'string' ? JSON.parse(data) : new TextDecoder().decode(data));
        if (wanted(heard.at(-1))) done();
      };
    });
    await new Promise((done) => { socket.onopen = done; });
    const say = (message) => socket.send(JSON.stringify(message));
    say({ type: 'init', sessionId, command: 'make it so' });
    await until((it) => String(it).endsWith('make it so'));
    say({ type: 'binary', data: '\u001b[M\u00ff' });
    say({ type: 'clear' });
    say({ type: 'ack', bytes: 7 });
    say({ type: 'unicode', version: '11' });
    say({ type: 'set', name: 'title', value: 'x' });
    say({ type: 'resize', cols: 10, rows: 10 });
    for (const asked of ['cwd', 'initialCwd', 'icon', 'shellType']) say({ type: 'refresh', name: asked });
    await until((it) => it.type === 'unsupported');
    socket.close();
    return heard;
  }, id);
  const ready = heard.findIndex((it) => it.type === 'ready');
  const answers = heard.slice(ready + 1).filter((it) => typeof it === 'object');
  assert.deepEqual(answers.map((it) => [it.type, it.name, it.value]), [
    ['property', 'cwd', daemon.home], ['property', 'initialCwd', daemon.home],
    ['property', 'icon', 'eye'], ['unsupported', 'shellType', undefined],
  ]);
  assert.match(answers.at(-1).message, /not supported/);
  assert.ok(bytes(heard).endsWith(`${PROMPT}\u001b]633;E;make it so\u0007make it so`), JSON.stringify(heard));
  assert.deepEqual(await filled(page), ['$'], 'the others were told nothing');
  assert.equal((await daemon.call('GetSessionHistory', { sessionId: id })).executions.length, 0);

  await daemon.run(id, "echo 'to\u202eofni'");
  await name.getByText("echo 'to\\u{202e}ofni'", { exact: true }).waitFor();
  await daemon.run(id, 'true "<i>and more</i>"');
  await name.getByText('true "<i>and more</i>"', { exact: true }).waitFor();
  await page.reload();
  await name.getByText('true "<i>and more</i>"', { exact: true }).waitFor();
});
