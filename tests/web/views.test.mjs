// The same session in several views, pages of others, and everybody's way through
// every view.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { Browser, barriers, rows, select, untilRow } from './browser.mjs';
import { Daemon, until } from './daemon.mjs';
import { browser, daemon } from './scene.mjs';

/** `shellglass attach` in a terminal of its own, and what it has shown. */
function attach(id) {
  const command = `${process.env.SHELLGLASS_BIN} attach ${id}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...daemon.environment, TERM: 'xterm-256color' }, stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (bytes) => { text += bytes; });
  const shown = () => text.replace(/\u001b\][^\u0007]*\u0007|\u001b\[[0-9;?]*[a-zA-Z]|\u001b./g, '').split(/\r?\n/).map((row) => row.trimEnd());
  // Ctrl+] leaves.
  const leave = async () => {
    const gone = once(child, 'exit');
    child.stdin.write('\u001d');
    await gone;
  };
  return { shown, leave };
}

test('two browsers and attach show the same, from the history on', async () => {
  const other = await Browser.open({ viewport: { width: 900, height: 600 } });
  try {
    const id = await daemon.session('everybody');
    await daemon.run(id, 'echo shown-before');
    const views = [];
    for (const each of [browser, other]) {
      const page = await each.page(daemon.address);
      await select(page, id);
      views.push(() => rows(page));
    }
    const attached = attach(id);
    await until('attach is there', () => attached.shown().includes('shown-before'));
    views.push(attached.shown);
    await daemon.run(id, 'for n in 1 2 3; do echo shown-$n; echo shown-err-$n >&2; done; exit 4');
    await daemon.run(id, 'echo shown-last');
    for (const view of views) await until('the last line', async () => (await view()).includes('shown-last'));
    const lines = [];
    for (const view of views) lines.push((await view()).filter((row) => /^(\$ .*|shown-.*)$/.test(row)));
    assert.equal(lines[0].filter((row) => row.startsWith('shown-')).length, 8);
    assert.deepEqual(lines[1], lines[0]);
    assert.deepEqual(lines[2].filter((row) => row !== '$'), lines[0].filter((row) => row !== '$'));
    await attached.leave();
    assert.deepEqual([...browser.errors, ...other.errors], []);
  } finally {
    await other.close();
  }
});

test('a browser that draws nothing slows nobody, and shows the end once it does', async () => {
  const id = await daemon.session('uneven');
  const slow = await browser.context.newPage();
  // What it has drawn is not told until it may be.
  const late = [];
  let isSlow = true;
  await slow.routeWebSocket('**/ws/terminal', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      if (isSlow && typeof message === 'string' && message.includes('"ack"')) late.push(() => server.send(message));
      else server.send(message);
    });
  });
  await slow.goto(daemon.address);
  await select(slow, id);
  const quick = await browser.page(daemon.address);
  await select(quick, id);
  await daemon.run(id, "yes 'a line of many' | head -c 3000000; echo all of it");
  await untilRow(quick, 'the end', (row) => row === 'all of it');
  await daemon.run(id, 'echo and more');
  await untilRow(quick, 'what came after', (row) => row === 'and more');
  assert.ok(!(await rows(slow)).includes('all of it'), 'it is behind');
  isSlow = false;
  for (const send of late.splice(0)) send();
  await untilRow(slow, 'the same end', (row) => row === 'and more');
  assert.deepEqual((await rows(slow)).filter((row) => row.startsWith('a')).slice(-3), ['a line of many', 'all of it', 'and more']);
});

test('a terminal in the page outlives the daemon, and goes on with its screen and its size', async () => {
  const page = await browser.page(daemon.address);
  await page.getByRole('button', { name: 'New terminal' }).click();
  await page.getByText('your keyboard').waitFor();
  await page.locator('.screen').click();
  await page.keyboard.type('kept=some; stty size; echo here-$((2 * 21))\n');
  await untilRow(page, 'the answer', (row) => row === 'here-42');
  // The prompt comes after the answer, and belongs to the screen.
  const prompted = async () => /[$#]$/.test((await rows(page)).findLast((row) => row !== '') ?? '');
  await until('the prompt', prompted);
  const before = await rows(page);
  const size = before.find((row) => /^\d+ \d+$/.test(row));
  await daemon.kill();
  await page.getByText(/The daemon does not answer/).waitFor();
  await daemon.begin();
  await page.getByText('your keyboard').waitFor();
  await until('the same screen', async () => (await rows(page)).join('\n') === before.join('\n'));
  await page.locator('.screen').click();
  await page.keyboard.type('echo $kept-more\n');
  await untilRow(page, 'its shell remembers', (row) => row === 'some-more');
  // The banner took some room, and gives it back.
  await until('the same size', async () => {
    await page.keyboard.type('clear; echo size: $(stty size)\n');
    await untilRow(page, 'a size', (row) => /^size: \d+ \d+$/.test(row));
    return (await rows(page)).includes(`size: ${size}`);
  });
});

test('a page of somebody else gets nothing, and cannot show ours', async () => {
  const own = await browser.page(daemon.address);
  await own.getByRole('button', { name: 'New terminal' }).waitFor();
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>other</title><iframe src="${daemon.origin}/"></iframe>`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const page = await browser.context.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const got = await page.evaluate(async (origin) => {
      const fetched = async (path, options) => {
        try {
          return (await fetch(`${origin}${path}`, { credentials: 'include', ...options })).status;
        } catch {
          return 'refused';
        }
      };
      const socket = (path) => new Promise((done) => {
        const opened = new WebSocket(`${origin.replace('http', 'ws')}${path}`, ['shellglass']);
        opened.onopen = () => done('open');
        opened.onerror = () => done('refused');
      });
      return [
        await fetched('/healthz'),
        await fetched('/api/v1/ListSessions', { method: 'POST', body: '{}' }),
        await fetched('/api/v1/ExportRecording?sessionId=x'),
        await socket('/ws/events'),
        await socket('/ws/terminal'),
      ];
    }, daemon.origin);
    assert.deepEqual(got, Array(5).fill('refused'));
    const framed = page.frames().find((frame) => frame !== page.mainFrame());
    assert.equal(await framed?.locator('#app').count() ?? 0, 0, 'it is not framed');
    await own.reload();
    await own.getByRole('button', { name: 'New terminal' }).waitFor();
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test('the sidebar shows the branch, what runs inside, and another host', async () => {
  const id = await daemon.session('all of it');
  const page = await browser.context.newPage();
  // What the daemon tells, with more of it.
  await page.routeWebSocket('**/ws/events', (socket) => {
    const server = socket.connectToServer();
    server.onMessage((text) => {
      const message = JSON.parse(text);
      if (message.session?.sessionId === id) {
        Object.assign(message.session, {
          gitBranch: 'feature/<b>', host: 'ssh://ada@far', quietReason: 'password',
          processes: ['vim', 'node', 'make', 'cc'].map((command, at) => ({ pid: at + 2, command, source: at ? 'tmux' : 'direct' })),
        });
      }
      socket.send(JSON.stringify(message));
    });
  });
  await page.goto(daemon.address);
  const item = page.locator(`[data-session="${id}"]`);
  await item.locator('.branch', { hasText: 'feature/<b>' }).waitFor();
  assert.deepEqual(await item.locator('.inside code').allInnerTexts(), ['vim', 'node', 'make']);
  assert.match(await item.locator('.inside').getAttribute('title'), /^vim \(2\)\nnode \(3, in tmux\)/);
  await item.getByText('+1').waitFor();
  await item.getByText('waits for a password').waitFor();
  await page.getByRole('heading', { name: 'Sessions on ssh://ada@far' }).waitFor();
  await page.getByLabel('Search sessions').fill('tmux-nothing');
  await page.getByText('None of them matches.').waitFor();
  await page.getByLabel('Search sessions').fill('vim');
  await until('by what runs inside', async () => (await page.locator('.session').count()) === 1);
  assert.deepEqual(await barriers(page), []);
});

test('every view is open to those who read or type differently, in light and dark', async () => {
  const id = await daemon.session('for everybody');
  await daemon.run(id, 'echo text; false');
  const gone = await daemon.session('over');
  await daemon.run(gone, 'echo was');
  await daemon.call('DisposeSession', { sessionId: gone });
  for (const colorScheme of ['light', 'dark']) {
    const check = async (page, view) => assert.deepEqual(await barriers(page), [], `${view}, ${colorScheme}`);
    const out = await browser.context.newPage();
    await out.emulateMedia({ colorScheme });
    await out.goto(daemon.origin);
    await out.evaluate(() => localStorage.removeItem('shellglass-key'));
    await out.reload();
    await out.getByLabel('Address or token').fill('wrong');
    await out.getByRole('button', { name: 'Open' }).click();
    await out.getByRole('alert').waitFor();
    await check(out, 'who is not signed in');
    await out.close();

    const page = await browser.context.newPage();
    await page.emulateMedia({ colorScheme });
    await page.goto(daemon.address);
    await page.getByRole('button', { name: 'Show ended sessions' }).click();
    await page.locator(`[data-session="${gone}"]`).waitFor();
    await check(page, 'the sessions');
    await select(page, gone);
    await untilRow(page, 'what was', (row) => row === 'was');
    await check(page, 'a session that is over');
    await select(page, id);
    await page.locator('.entry').first().getByRole('button', { name: 'What the model saw' }).click();
    await page.locator('.model', { hasText: 'exit code 1' }).waitFor();
    await check(page, 'a command closely');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Shift+F');
    await page.locator('.find input[type=search]:focus').waitFor();
    await page.keyboard.type('text');
    await page.locator('.found').first().waitFor();
    await check(page, 'a search');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('slider').waitFor();
    await check(page, 'a replay');
    await page.setViewportSize({ width: 390, height: 780 });
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.getByRole('button', { name: 'Sessions', exact: true }).click();
    await check(page, 'the drawer of a phone');
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `the page is ${width} wide`);
    await page.close();
  }
});

/** What the page may load before it can be used, as it comes over the wire. */
const FIRST_LOAD_BYTES_MAX = 300 * 1024;

test('the first load is small, and a long history begins with what is missing', async () => {
  const id = await daemon.session('long', 'person', { scrollback: 100 });
  // Much that takes no room, so that its beginning is on the screen.
  await daemon.run(id, "printf '\\033[0m%.0s' {1..10000}; echo the end");
  // One that has kept nothing.
  const fresh = await Browser.open();
  try {
    const page = await fresh.page(daemon.address);
    await select(page, id);
    await untilRow(page, 'the end', (row) => row === 'the end');
    const loaded = await page.evaluate(() => ['navigation', 'resource']
      .flatMap((kind) => performance.getEntriesByType(kind))
      .filter((entry) => !new URL(entry.name).pathname.startsWith('/api/'))
      .map((entry) => [entry.name, entry.transferSize]));
    const total = loaded.reduce((sum, [, bytes]) => sum + bytes, 0);
    assert.ok(total > 10_000 && total <= FIRST_LOAD_BYTES_MAX, JSON.stringify(loaded));
    const notice = await untilRow(page, 'the notice', (row) => row.startsWith('[Terminal output truncated'));
    assert.match(notice, /^\[Terminal output truncated: ~\d+KB dropped from beginning\]$/);
    assert.deepEqual(fresh.errors, []);
  } finally {
    await fresh.close();
  }
});

test('a shell in the page knows its terminal and its session', async () => {
  const page = await browser.page(daemon.address);
  await page.getByRole('button', { name: 'New terminal' }).click();
  await page.getByText('your keyboard').waitFor();
  await page.locator('.screen').click();
  await page.keyboard.type('echo "<$TERM $COLORTERM $SHELLGLASS_SESSION_ID>"\n');
  const row = await untilRow(page, 'what it knows', (row) => /^<.*>$/.test(row));
  const [terminal, colours, id] = row.slice(1, -1).split(' ');
  assert.deepEqual([terminal, colours], ['xterm-256color', 'truecolor']);
  const { sessions } = await daemon.call('ListSessions');
  assert.ok(sessions.some((session) => session.sessionId === id), row);
});

test('where that is wanted, a session ends when the page looks elsewhere', async () => {
  const config = '[sandbox]\ndefault = "none"\nagent = "none"\n[views]\ndispose_on_close = true\n';
  const other = await Daemon.start(config);
  try {
    const [left, kept] = [await other.session('left'), await other.session('kept')];
    const page = await browser.page(other.address);
    await select(page, left);
    const running = other.run(left, 'echo begun; sleep 1000');
    await untilRow(page, 'the command', (row) => row === 'begun');
    await select(page, kept);
    assert.equal((await running).failure.aborted, true);
    await page.locator(`[data-session="${left}"]`).waitFor({ state: 'detached' });
    await other.run(kept, 'echo still here');
    await untilRow(page, 'the other', (row) => row === 'still here');
  } finally {
    await other.end();
  }
});
