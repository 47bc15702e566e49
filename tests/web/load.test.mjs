// Many sessions, and one that writes as fast as it can: the page stays quick.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, rows, select, untilRow } from './browser.mjs';
import { Daemon, until } from './daemon.mjs';

const SESSIONS = 200;

/** Time from a key to what the page shows for it, in milliseconds, at the 95th percentile. */
const ECHO_MS_MAX = 150;

const KEYS = 40;

let daemon;
let browser;

before(async () => {
  daemon = await Daemon.start();
  browser = await Browser.open();
});
after(async () => {
  await browser.close();
  await daemon.end();
});

/** Presses a key in the page and waits until it flashes, all inside the page. */
function echo(page) {
  return page.evaluate(async () => {
    const screen = document.querySelector('.screen');
    while (screen.classList.contains('flash')) await new Promise((done) => setTimeout(done, 10));
    const flashed = new Promise((done) => {
      const observer = new MutationObserver(() => {
        if (!screen.classList.contains('flash')) return;
        observer.disconnect();
        done(performance.now());
      });
      observer.observe(screen, { attributes: true });
    });
    const begun = performance.now();
    const field = screen.querySelector('textarea');
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'q', keyCode: 81, bubbles: true }));
    field.dispatchEvent(new KeyboardEvent('keypress', { key: 'q', charCode: 113, bubbles: true }));
    return (await flashed) - begun;
  });
}

test('two hundred sessions and a flood leave the page quick', async () => {
  const made = [];
  for (let n = 0; n < SESSIONS; n += 1) {
    made.push(await daemon.session(`session ${n}`, 'person', { mode: 'SESSION_MODE_LINE' }));
  }
  const begun = Date.now();
  const page = await browser.page(daemon.address);
  await until('all are listed', async () => (await page.locator('.session').count()) === SESSIONS);
  const listed = Date.now() - begun;
  const flooding = await daemon.session('flood');
  await select(page, flooding);
  const flood = daemon.run(flooding, 'exec yes "the quick brown fox jumps over the lazy dog"');
  await untilRow(page, 'the flood', (row) => row.startsWith('the quick'));
  const times = [];
  for (let n = 0; n < KEYS; n += 1) times.push(await echo(page));
  times.sort((a, b) => a - b);
  const late = times[Math.floor(KEYS * 0.95)];
  const memory = await page.evaluate(() => performance.memory.usedJSHeapSize / (1 << 20));
  console.log(`listed in ${listed} ms; echo p95 ${late.toFixed(0)} ms; heap ${memory.toFixed(0)} MiB`);
  await daemon.call('Cancel', { sessionId: flooding });
  await flood;
  assert.ok(late < ECHO_MS_MAX, `a key takes ${late.toFixed(0)} ms`);
  assert.ok(memory < 200, `the page has ${memory.toFixed(0)} MiB`);
  await daemon.run(flooding, 'echo calm again');
  await untilRow(page, 'what came after', (row) => row === 'calm again');
  assert.equal((await rows(page)).filter((row) => row === 'calm again').length, 1);
  assert.deepEqual(browser.errors, []);
});
