// What programs in terminals want of a person: answers, keys, the clipboard.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { afterEach, test } from 'node:test';
import { barriers, clipboard, rows, select, untilRow } from './browser.mjs';
import { until } from './daemon.mjs';
import { browser, daemon } from './scene.mjs';

afterEach(() => assert.deepEqual(browser.errors.splice(0), []));

/** A terminal of one's own, with its keyboard. */
async function terminal(page) {
  await page.getByRole('button', { name: 'New terminal' }).click();
  await page.getByText('your keyboard').waitFor();
  await page.locator('.screen').click();
}

/** Every file below a folder. */
function files(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = `${folder}/${name}`;
    const kind = statSync(path, { throwIfNoEntry: false });
    if (kind?.isDirectory()) return files(path);
    return kind?.isFile() ? [path] : [];
  });
}

/** A file's bytes; none if it has gone since it was listed. */
function content(path) {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** What a program writes to put a text on the clipboard. */
function osc52(text) {
  return `printf '\\033]52;c;${Buffer.from(text).toString('base64')}\\007'`;
}

test('a question gets a field, and a secret goes to the terminal and nowhere else', async () => {
  const page = await browser.page(daemon.address);
  await terminal(page);
  const secret = 'Zwetschge-0815-Mus';
  await page.keyboard.type(`read -rsp 'The word: ' word; echo; echo "it has \${#word} letters"\n`);
  const ask = page.getByRole('form', { name: 'A question' });
  const field = ask.getByLabel('The word:');
  await field.waitFor();
  assert.equal(await field.getAttribute('type'), 'password');
  assert.deepEqual(await barriers(page), []);
  await field.fill(secret);
  const sent = [];
  page.on('request', (request) => sent.push(request.postData() ?? ''));
  await field.press('Enter');
  await untilRow(page, 'its length', (row) => row === `it has ${secret.length} letters`);
  await ask.waitFor({ state: 'detached' });
  assert.ok(!sent.some((body) => body.includes(secret)), 'no call has it');
  assert.ok(!(await rows(page)).join('\n').includes(secret), 'it is not shown');
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]) + document.documentElement.outerHTML);
  assert.ok(!kept.includes(secret), 'the page has forgotten it');
  const holding = files(daemon.home).filter((path) => content(path).includes(secret));
  assert.deepEqual(holding, [], 'no file of the daemon has it');
});

test('a question that is answered openly, seen by another who takes the keyboard', async () => {
  const page = await browser.page(daemon.address);
  await terminal(page);
  await page.keyboard.type(`read -rp 'Continue? [y/N] ' word; echo "said $word"\n`);
  await page.getByRole('form', { name: 'A question' }).getByLabel('Continue? [y/N]').waitFor();
  const other = await browser.page(page.url());
  await other.getByRole('button', { name: 'Take the keyboard to answer' }).click();
  const field = other.getByRole('form', { name: 'A question' }).getByLabel('Continue? [y/N]');
  assert.equal(await field.getAttribute('type'), 'text');
  await field.fill('y');
  await field.press('Enter');
  for (const view of [page, other]) await untilRow(view, 'the answer', (row) => row === 'said y');
  await page.getByRole('form', { name: 'A question' }).waitFor({ state: 'detached' });
});

test('commands that are typed into a terminal are listed, with their ends', async () => {
  const page = await browser.page(daemon.address);
  await terminal(page);
  await page.keyboard.type('echo typed-$((3 * 3)); (exit 5)\n');
  await untilRow(page, 'its output', (row) => row === 'typed-9');
  await page.getByRole('button', { name: 'Commands' }).click();
  const entry = page.locator('.entry').first();
  await entry.locator('.chip.bad').getByText('exit 5').waitFor();
  assert.equal(await page.locator('.entry').count(), 1, 'the shell itself is none of them');
  await entry.locator('.command').click();
  const model = page.locator('.model', { hasText: 'exit code 5' });
  await model.waitFor();
  assert.equal(await model.innerText(), 'typed-9\n[exit code 5]');
});

/** Processes that belong to a session, by what their environment says. */
function processesOf(id) {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(`SHELLGLASS_SESSION_ID=${id}`);
    } catch {
      return false;
    }
  });
}

test('a session that is ended in the page leaves nothing, whatever ran in it', async () => {
  const page = await browser.page(daemon.address);
  const end = async (id) => {
    assert.ok(processesOf(id).length > 0, 'there was something to end');
    const asked = page.waitForEvent('dialog').then((dialog) => dialog.accept());
    await page.getByRole('button', { name: 'End session' }).click();
    await asked;
    await page.getByText('over', { exact: true }).waitFor();
    await page.locator(`[data-session="${id}"]`).waitFor({ state: 'detached' });
    await until('nothing is left', () => processesOf(id).length === 0);
  };
  // One that hears no request, one that hides from its group, and one that does both.
  const deaf = (word) => `sh -c 'trap "" HUP INT TERM; echo > ${word}; while :; do sleep 1; done'`;
  const stubborn = (name) => `${deaf(`${name}-one`)} & setsid -f sleep 1000; setsid -f ${deaf(`${name}-two`)}`;
  const begun = (name) => until('they run', () => ['one', 'two'].every((n) => existsSync(`${daemon.home}/${name}-${n}`)));

  await terminal(page);
  const id = page.url().split('#')[1];
  await page.keyboard.type(`cd ${daemon.home}; ${stubborn('terminal')}; ${deaf('terminal-front')}\n`);
  await begun('terminal');
  await until('one is in front', () => existsSync(`${daemon.home}/terminal-front`));
  await end(id);

  const other = await daemon.session('stubborn');
  await select(page, other);
  const running = daemon.run(other, `${stubborn('mirror')}; echo begun; exec sleep 1000`);
  await untilRow(page, 'it runs', (row) => row === 'begun');
  await begun('mirror');
  await end(other);
  assert.ok((await running).failure.aborted);
});

test('a terminal has the first size at once, and then the one that rests', async () => {
  const page = await browser.page('about:blank');
  // Whoever waits for sizes to rest waits until the test says that they do.
  await page.addInitScript((restMs) => {
    const [real, clear] = [window.setTimeout, window.clearTimeout];
    const resting = new Map();
    window.setTimeout = (act, ms, ...more) => {
      if (ms !== restMs) return real(act, ms, ...more);
      const id = -1 - Math.random();
      resting.set(id, act);
      return id;
    };
    window.clearTimeout = (id) => { if (!resting.delete(id)) clear(id); };
    window.rest = () => {
      const acts = [...resting.values()];
      resting.clear();
      for (const act of acts) act();
      return acts.length;
    };
  }, 500);
  const sent = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => {
    const message = typeof payload === 'string' ? JSON.parse(payload) : {};
    if (message.type === 'init' || message.type === 'resize') sent.push([message.type, message.cols, message.rows]);
  }));
  await page.goto(daemon.address);
  await terminal(page);
  const size = () => page.locator('.screen').evaluate((screen) => screen.getBoundingClientRect().width);
  const told = async () => {
    await page.keyboard.type('clear; echo "<$(stty size)>"\n');
    return (await untilRow(page, 'a size', (row) => /^<\d+ \d+>$/.test(row))).slice(1, -1);
  };
  const rowsAndColumns = ([, cols, rows]) => `${rows} ${cols}`;
  await until('the first size', async () => (await told()) === rowsAndColumns(sent.at(-1)));
  await until('it rests', async () => (await page.evaluate(() => window.rest())) > 0);
  assert.deepEqual(sent.map(([type]) => type), ['init']);

  let before = await size();
  for (const width of [1200, 1100, 1000, 1050, 1150]) {
    await page.setViewportSize({ width, height: 700 });
    await until('the page is as wide', async () => (await size()) !== before);
    before = await size();
    await until('the first was sent', () => sent.length > 1);
  }
  assert.equal(sent.length, 2, JSON.stringify(sent));
  await until('the first is applied', async () => (await told()) === rowsAndColumns(sent[1]));
  await until('they rest', async () => (await page.evaluate(() => window.rest())) > 0);
  await until('the last was sent', () => sent.length > 2);
  assert.equal(sent.length, 3, JSON.stringify(sent));
  assert.ok(sent[2][1] < sent[1][1], 'it is narrower than at 1200');
  await until('the last is applied', async () => (await told()) === rowsAndColumns(sent[2]));
});

test('Option moves by words, and deletes one', async () => {
  const page = await browser.page(daemon.address);
  await terminal(page);
  await page.keyboard.type('echo ready; cat -v\n');
  await untilRow(page, 'the command', (row) => row === 'ready');
  for (const key of ['Alt+ArrowLeft', 'Alt+ArrowRight', 'Alt+Backspace']) await page.keyboard.press(key);
  await page.keyboard.press('Enter');
  // The terminal's line discipline takes the DEL itself, and with it the ESC.
  await untilRow(page, 'what was sent', (row) => row === '^[b^[f');
});

test('a program copies into the clipboard, never silently', async () => {
  const page = await browser.page(daemon.address);
  await terminal(page);
  await page.evaluate(() => navigator.clipboard.writeText('before'));
  await page.keyboard.type(`${osc52('from a program')}\n`);
  await page.getByText('The terminal copied 14 characters.').waitFor();
  assert.equal(await clipboard(page), 'from a program');
  // What is asked for, or too much, is ignored.
  await page.keyboard.type(`printf '\\033]52;c;?\\007'; printf '\\033]52;c;%s\\007' "$(head -c 1500000 /dev/zero | base64 -w0)"; echo done-$((1 + 1))\n`);
  await untilRow(page, 'the end', (row) => row === 'done-2');
  assert.equal(await clipboard(page), 'from a program');

  const id = await daemon.session('watched');
  await select(page, id);
  await daemon.run(id, `${osc52('from another')}; sleep 0.1`);
  const button = page.getByRole('button', { name: 'Copy to clipboard' });
  await button.waitFor();
  assert.equal(await clipboard(page), 'from a program', 'somebody else does not write it');
  await page.locator('.screen').click();
  await page.keyboard.press('Escape');
  await button.waitFor({ state: 'detached' });
  assert.equal(await page.locator('.screen.flash').count(), 0, 'Escape was not sent');
  await daemon.run(id, osc52('from another'));
  await button.click();
  await until('it is copied', async () => (await clipboard(page)) === 'from another');
  // A replay offers nothing.
  await page.reload();
  await page.locator('.state[data-state="live"]').waitFor();
  await untilRow(page, 'the replay', (row) => row.startsWith('$ printf'));
  assert.equal(await button.count(), 0);
});

test('where the browser refuses the clipboard, a button stands at the cursor', async () => {
  const page = await browser.page(daemon.address);
  await terminal(page);
  await page.evaluate(() => {
    const real = navigator.clipboard.writeText.bind(navigator.clipboard);
    let isFirst = true;
    navigator.clipboard.writeText = (text) => {
      if (!isFirst) return real(text);
      isFirst = false;
      return Promise.reject(new Error('no'));
    };
  });
  await page.keyboard.type(`${osc52('by hand')}\n`);
  await page.getByRole('button', { name: 'Copy to clipboard' }).click();
  await until('it is copied', async () => (await clipboard(page)) === 'by hand');
});

test('links open only where they lead to a page', async () => {
  const id = await daemon.session('links');
  const page = await browser.page(daemon.address);
  await page.evaluate(() => {
    window.opened = [];
    window.open = (uri) => { window.opened.push(uri); return null; };
  });
  await select(page, id);
  const link = (uri, text) => `printf '\\033]8;;${uri}\\007${text}\\033]8;;\\007\\n'`;
  await daemon.run(id, `${link('javascript:alert(1)', 'script')}; ${link('file:///etc/passwd', 'file')}; ${link('https://example.org/x', 'page')}`);
  await untilRow(page, 'the last', (row) => row === 'page');
  const click = async (text) => {
    const at = (await rows(page)).indexOf(text);
    const box = await page.locator('.xterm-rows > div').nth(at).boundingBox();
    const [x, y] = [box.x + 10, box.y + box.height / 2];
    await page.mouse.move(x - 3, y);
    await page.mouse.move(x, y, { steps: 3 });
    await page.mouse.click(x, y);
  };
  await until('the page is opened', async () => {
    await click('page');
    return (await page.evaluate(() => window.opened)).length > 0;
  });
  for (const text of ['script', 'file', 'page']) await click(text);
  const opened = await page.evaluate(() => window.opened);
  assert.deepEqual([...new Set(opened)], ['https://example.org/x']);
});

test('a background command is written to', async () => {
  const page = await browser.page(daemon.address);
  const args = { command: 'read -r line; echo "heard $line"; sleep 100', enableWriteShellStdinTool: true, workingDirectory: daemon.home };
  const begun = await daemon.call('SpawnBackground', { args });
  const item = page.locator('.session', { hasText: 'heard' });
  await item.click();
  await page.locator('.state[data-state="live"]').waitFor();
  await page.getByLabel('Its input').fill('a word');
  await page.getByLabel('Its input').press('Enter');
  await untilRow(page, 'the answer', (row) => row === 'heard a word');
  await daemon.call('Cancel', { shellId: begun.success.shellId });
});

test('the console of a session is taken, typed into, and left', async () => {
  const id = await daemon.session('typed into');
  const page = await browser.page(daemon.address);
  await select(page, id);
  const watching = await browser.page(page.url());
  await page.locator('.screen').click();
  await page.keyboard.type('x');
  await page.getByRole('button', { name: 'Take the console' }).click();
  await page.getByText('your console').waitFor();
  await untilRow(page, 'the prompt', (row) => row.endsWith('$'));
  assert.deepEqual(await barriers(page), []);
  await page.locator('.screen').click();
  await page.keyboard.type('echo wrong six');
  for (const key of ['Alt+ArrowLeft', 'Alt+Backspace']) await page.keyboard.press(key);
  await page.keyboard.type('$((40 + 2)) ');
  await page.keyboard.press('Enter');
  for (const view of [page, watching]) await untilRow(view, 'its output', (row) => row === '42 six');
  await page.keyboard.type('sleep 600\n');
  await until('it runs', async () => (await daemon.call('GetSession', { sessionId: id })).running);
  await page.keyboard.press('Control+c');
  await until('it is cancelled', async () => !(await daemon.call('GetSession', { sessionId: id })).running);
  await page.keyboard.type('exit\n');
  await page.getByText('read-only').waitFor();
  await page.getByRole('button', { name: 'Take the console' }).waitFor();
  const history = await daemon.call('GetSessionHistory', { sessionId: id });
  assert.deepEqual(history.executions.map((run) => run.command), ['echo $((40 + 2)) six', 'sleep 600']);
});
