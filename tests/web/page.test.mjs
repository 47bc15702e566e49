// A person with a browser: what they see of sessions, and what they can do.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Browser, barriers, clipboard, rows, select, untilRow } from './browser.mjs';
import { Daemon, until } from './daemon.mjs';

let daemon;
let browser;

before(async () => { browser = await Browser.open(); });
after(() => browser.close());
beforeEach(async () => {
  daemon = await Daemon.start();
  browser.errors.length = 0;
});
afterEach(async () => {
  for (const page of browser.context.pages()) await page.close();
  await browser.context.clearCookies();
  await daemon.end();
});

test('sessions appear as they are made, change and go', async () => {
  const page = await browser.page(daemon.address);
  await page.getByText('No session lives.').waitFor();
  const id = await daemon.session('first light', 'agent', { taskId: 'task seven' });
  const item = page.locator(`[data-session="${id}"]`);
  await item.getByText('first light').waitFor();
  await page.getByRole('heading', { name: 'task seven' }).waitFor();
  await item.getByText('no command yet').waitFor();
  await daemon.run(id, 'exit 3');
  await item.locator('.chip.bad').getByText('3').waitFor();
  const sleeping = daemon.run(id, 'sleep 100');
  await item.locator('.dot.running').waitFor();
  await item.getByText('sleep 100').first().waitFor();
  await item.locator('.time').waitFor();
  await daemon.call('Cancel', { sessionId: id });
  await sleeping;
  await item.locator('.dot.idle').waitFor();
  await daemon.call('DisposeSession', { sessionId: id });
  await item.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Show ended sessions' }).click();
  await item.getByText('first light').waitFor();
  assert.deepEqual(browser.errors, []);
});

test('who opens the address once more disturbs no page that is open', async () => {
  const page = await browser.page(daemon.address);
  const id = await daemon.session('kept');
  await select(page, id);
  // The answer to the second page has come, cookie and all, and it has not read its key yet.
  const second = await browser.context.newPage();
  let isHeld = false;
  let letGo;
  const released = new Promise((resolve) => { letGo = resolve; });
  await second.route('**/api/session', async (route) => {
    const response = await route.fetch();
    isHeld = true;
    await released;
    await route.fulfill({ response });
  });
  // The end of a pass is told in seconds: another second makes another pass.
  await page.waitForTimeout(1_100);
  await second.goto(daemon.address);
  await until('the answer is held', () => isHeld);
  await daemon.run(id, 'echo seen');
  await page.getByRole('button', { name: 'Run again' }).click();
  await until('it ran again', async () => (await page.locator('.entry .chip.good').count()) === 2);
  // Nor does the way back after a crash lead to the question for a token.
  await daemon.kill();
  await daemon.begin();
  await page.locator('.banner').waitFor({ state: 'detached' });
  await select(page, id);
  letGo();
  await second.locator(`[data-session="${id}"]`).waitFor();
  // Neither does an address with a token that is none.
  await second.goto('about:blank');
  await second.goto(`${daemon.origin}/#token=${'0'.repeat(32)}`);
  await second.getByRole('alert').waitFor();
  await page.getByRole('button', { name: 'Run again' }).first().click();
  await until('it ran once more', async () => (await page.locator('.entry .chip.good').count()) === 3);
  assert.deepEqual(browser.errors.filter((text) => text.includes('401')), []);
});

test('the token leaves the address, and the pass stays', async () => {
  const page = await browser.page(daemon.address);
  await page.getByText('No session lives.').waitFor();
  assert.equal(page.url(), `${daemon.origin}/`);
  const cookies = await browser.context.cookies();
  const own = cookies.find((cookie) => cookie.name === `shellglass-${daemon.port}`);
  assert.equal(own.httpOnly, true);
  assert.equal(own.sameSite, 'Strict');
  assert.ok(!own.value.includes(daemon.token('person')));
  await page.reload();
  await page.getByText('No session lives.').waitFor();
  await browser.context.clearCookies();
  await page.reload();
  await page.getByLabel('Address or token').fill(daemon.address);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByText('No session lives.').waitFor();
});

test('output streams while a command runs, and the timeline tells its end', async () => {
  const id = await daemon.session('streams');
  await daemon.run(id, 'echo before; false');
  const page = await browser.page(daemon.address);
  await select(page, id);
  await untilRow(page, 'the replay', (row) => row === 'before');
  const running = daemon.run(id, `echo live-1; until [ -e go ]; do sleep 0.02; done; echo live-2; exit 7`);
  await untilRow(page, 'the first line', (row) => row === 'live-1');
  assert.ok(!(await rows(page)).includes('live-2'));
  const entry = page.locator('.entry').first();
  await entry.locator('.chip.running').waitFor();
  await daemon.program('run', '--cwd', daemon.home, 'touch go');
  await untilRow(page, 'the second line', (row) => row === 'live-2');
  await running;
  await entry.locator('.chip.bad').getByText('exit 7').waitFor();
  await entry.getByText('no sandbox').waitFor();
  await page.getByLabel('failed only').check();
  assert.equal(await page.locator('.entry').count(), 2);
  await entry.getByRole('button', { name: 'Copy output' }).click();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await until('the output is copied', async () => (await copied()) === 'live-1\nlive-2\n');
  assert.deepEqual(browser.errors, []);
});

test('a mirror only shows: input flashes, and Ctrl+C cancels', async () => {
  const id = await daemon.session('mirror');
  const page = await browser.page(daemon.address);
  await select(page, id);
  await page.locator('.screen').click();
  await page.keyboard.type('x');
  await page.locator('.screen.flash').waitFor();
  await page.locator('.screen:not(.flash)').waitFor();
  await page.keyboard.press('Control+C');
  await page.locator('.screen.flash').waitFor();
  const running = daemon.run(id, 'echo begun; sleep 100');
  await untilRow(page, 'the command', (row) => row === 'begun');
  await page.keyboard.press('Control+C');
  const result = await running;
  assert.equal(result.failure.aborted, true);
  await page.locator('.entry').first().getByText('cancelled').waitFor();
  assert.ok(!(await rows(page)).some((row) => row.includes('x')), 'nothing was typed');
});

test('what waits is seen and answered in the page', async () => {
  const page = await browser.page(daemon.address);
  await page.getByText('No session lives.').waitFor();
  const id = await daemon.session('agent', 'agent');
  const allowed = daemon.run(id, 'touch one && touch \u202etwo', 'agent');
  const card = page.locator('.approval');
  await card.waitFor();
  assert.match(await page.title(), /^\(1\)/);
  assert.match(await card.locator('.asked').innerText(), /touch <U\+202E>two/);
  await card.getByText('no sandbox: everything that you may do').waitFor();
  await until('its parts', async () => (await card.locator('.parts li').count()) === 2);
  await card.getByRole('button', { name: /Allow once/ }).click();
  assert.equal((await allowed).success.exitCode, 0);
  await card.waitFor({ state: 'detached' });

  const denied = daemon.run(id, 'touch three', 'agent');
  await card.waitFor();
  await card.getByLabel('A message for who asked').fill('not today');
  await card.getByRole('button', { name: /Deny/ }).click();
  assert.match((await denied).rejected.reason, /not today/);

  const kept = daemon.run(id, 'touch four', 'agent');
  await card.waitFor();
  await until('the card takes answers', () => card.getByRole('button', { name: /session/ }).isEnabled());
  await page.keyboard.press('Alt+a');
  await page.keyboard.press('s');
  assert.equal((await kept).success.exitCode, 0);
  assert.equal((await daemon.run(id, 'touch four', 'agent')).success.exitCode, 0);
  assert.deepEqual(browser.errors, []);
});

test('a killed daemon comes back, and the page shows every line once', async () => {
  const id = await daemon.session('survivor');
  await daemon.run(id, 'echo earlier');
  const page = await browser.page(daemon.address);
  await select(page, id);
  const lost = daemon.run(id, 'for n in $(seq 1 8); do echo line-$n; until [ -e go-$n ]; do sleep 0.02; done; done')
    .catch(() => 'lost');
  await untilRow(page, 'the first line', (row) => row === 'line-1');
  await daemon.kill();
  await page.getByText('The daemon does not answer.').waitFor();
  assert.equal(await lost, 'lost');
  await daemon.begin();
  for (let n = 1; n <= 8; n += 1) await daemon.program('run', '--cwd', daemon.home, `touch go-${n}`);
  await untilRow(page, 'the last line', (row) => row === 'line-8');
  await until('the banner goes', async () => (await page.locator('.banner').count()) === 0);
  const wanted = ['earlier', ...Array.from({ length: 8 }, (_, n) => `line-${n + 1}`)];
  const shown = (await rows(page)).filter((row) => /^(earlier|line-\d)$/.test(row));
  assert.deepEqual(shown, wanted);
});

test('after ten tries a person is asked', async () => {
  const page = await browser.page('about:blank');
  // Long waits are noted, and made short.
  await page.addInitScript(() => {
    const real = window.setTimeout;
    window.waits = [];
    window.setTimeout = (act, ms, ...rest) => {
      if (ms >= 1000) window.waits.push(ms);
      return real(act, Math.min(ms, 50), ...rest);
    };
  });
  await page.goto(daemon.address);
  await page.getByText('No session lives.').waitFor();
  await daemon.kill();
  await page.getByText('The daemon does not answer.', { exact: true }).waitFor();
  const waits = await page.evaluate(() => window.waits);
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 16, 16, 16, 16, 16].map((seconds) => seconds * 1000));
  await daemon.begin();
  await page.getByRole('button', { name: 'Try now' }).click();
  await until('the banner goes', async () => (await page.locator('.banner').count()) === 0);
  const id = await daemon.session('back again');
  await page.locator(`[data-session="${id}"]`).waitFor();
});

test('a terminal is opened, used, given back and watched by another', async () => {
  const page = await browser.page(daemon.address);
  await page.getByRole('button', { name: 'New terminal' }).click();
  await page.getByText('your keyboard').waitFor();
  await page.locator('.screen').click();
  await page.keyboard.type('echo $((40 + 2)); stty size\n');
  await untilRow(page, 'the answer', (row) => row === '42');
  const watching = await browser.page(page.url());
  await watching.getByText('read-only', { exact: true }).waitFor();
  await untilRow(watching, 'the same', (row) => row === '42');
  await watching.locator('.screen').click();
  await watching.keyboard.type('echo no');
  await watching.locator('.screen.flash').waitFor();
  await page.getByRole('button', { name: 'Give the keyboard back' }).click();
  await page.getByText('read-only', { exact: true }).waitFor();
  await watching.getByRole('button', { name: 'Take the keyboard' }).click();
  await watching.getByText('your keyboard').waitFor();
  await page.getByText('another has the keyboard').waitFor();
  assert.equal(await watching.getByText('the keyboard', { exact: false }).filter({ hasText: 'another' }).count(), 0);
  await page.getByRole('button', { name: 'Attach' }).click();
  await until('the command is copied', async () => /^shellglass attach s-\w+$/.test(await clipboard(page)));
  await watching.locator('.screen').click();
  await watching.keyboard.type('echo taken-$((1 + 1))\n');
  for (const view of [page, watching]) await untilRow(view, 'what was typed', (row) => row === 'taken-2');
  assert.ok(!(await rows(page)).some((row) => row.includes('echo no')), 'nothing was typed read-only');
  assert.deepEqual(browser.errors, []);
});

test('hostile output stays output', async () => {
  const id = await daemon.session('hostile');
  const page = await browser.page(daemon.address);
  await select(page, id);
  const evil = '<img src=x onerror=document.title=1><script>document.title=2</script>';
  await daemon.run(id, `printf '%s\\n' '${evil}'; printf '\\033]0;owned\\007'; printf '\\033]8;;javascript:alert(1)\\007link\\033]8;;\\007\\n'; printf '\\033]633;E;forged\\007\\033]633;D;0\\007'; head -c 300000 /dev/urandom; printf '\\033c\\nstill-here\\n'; false`);
  await untilRow(page, 'the end', (row) => row.includes('still-here'));
  assert.equal(await page.title(), 'Shellglass');
  assert.equal(await page.locator('img').count(), 0);
  const entry = page.locator('.entry').first();
  await entry.locator('.chip.bad').getByText('exit 1').waitFor();
  assert.equal(await page.locator('.entry').count(), 1);
  assert.ok((await entry.locator('code').innerText()).includes(evil));
  assert.deepEqual(browser.errors, []);
});

test('keys choose sessions, and numbers show while they are held', async () => {
  const ids = [];
  for (const name of ['one', 'two', 'three']) ids.push(await daemon.session(name));
  const page = await browser.page(daemon.address);
  const current = () => page.locator('[aria-current="true"]').getAttribute('data-session');
  await page.locator(`[data-session="${ids[2]}"]`).waitFor();
  await page.keyboard.down('Alt');
  await page.locator('.session kbd').first().waitFor();
  await page.keyboard.press('2');
  await page.keyboard.up('Alt');
  assert.equal(await page.locator('.session kbd').count(), 0);
  assert.equal(await current(), ids[1]);
  await page.keyboard.press('Alt+ArrowDown');
  assert.equal(await current(), ids[2]);
  // A terminal takes the keyboard when it is there, and not after the next key.
  await page.locator('.state[data-state="live"]').waitFor();
  await page.locator('.brand').click();
  await page.keyboard.press('/');
  await page.keyboard.type('tw');
  await until('only one is found', async () => (await page.locator('.session').count()) === 1);
});

test('two browsers see the same, and a phone has room', async () => {
  const id = await daemon.session('shared');
  await daemon.run(id, 'echo common; echo $((6 * 7))');
  const phone = await Browser.open({ viewport: { width: 390, height: 780 } });
  try {
    const page = await browser.page(daemon.address);
    const small = await phone.page(daemon.address);
    await select(page, id);
    await small.getByRole('button', { name: 'Sessions' }).click();
    await select(small, id);
    for (const view of [page, small]) await untilRow(view, 'the output', (row) => row === '42');
    const width = await small.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `the page is ${width} wide`);
    assert.deepEqual(phone.errors, []);
  } finally {
    await phone.close();
  }
});

test('nothing stands in the way of those who read or type differently', async () => {
  const id = await daemon.session('readable', 'agent');
  await daemon.run(id, 'echo text');
  const page = await browser.page(daemon.address);
  await select(page, id);
  const waiting = daemon.run(id, 'touch x', 'agent');
  await page.locator('.approval').waitFor();
  for (const theme of ['light', 'dark']) {
    while (!(await page.getByRole('button', { name: `Theme: ${theme}` }).count())) {
      await page.getByRole('button', { name: /^Theme:/ }).click();
    }
    const found = await barriers(page);
    assert.deepEqual(found, [], theme);
  }
  const folder = process.env.SHELLGLASS_SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/page.png` });
  await page.locator('.approval').getByRole('button', { name: /Deny/ }).click();
  await waiting;
});
