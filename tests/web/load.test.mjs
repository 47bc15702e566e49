// Many sessions, and one that writes as fast as it can: the page stays quick.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { rows, select, untilRow } from './browser.mjs';
import { until } from './daemon.mjs';
import { browser, daemon } from './scene.mjs';

const SESSIONS = 200;

/** Time from a key to what the page shows for it, in milliseconds, at the 95th percentile. */
const ECHO_MS_MAX = 150;

/** Time from navigation to the first line of a terminal, in milliseconds. */
const FIRST_LINE_MS_MAX = 1000;

/** How much slower than without the flood it may be, where that is more. */
const SLOWER_MAX = 4;

/** A machine may be busy for a while, and a slow page is slow always. */
const ROUNDS_MAX = 6;

const KEYS = 20;

/** The page's heap, in MiB: 10,000 lines of a wide terminal, and the list of sessions. */
const PAGE_MIB_MAX = 200;

/** What is written before memory is looked at, in MiB: many times what anybody may keep. */
const FLOOD_MIB_MIN = 512;

/**
 * How much a daemon may grow over a flood and somebody who watches it, in MiB. It has a read of
 * 1 MiB and a view's 256 KiB to keep; the rest is what an allocator holds, with much to spare.
 */
const GROWN_MIB_MAX = 64;

/** Memory of a process in MiB, as the kernel counts it: what it has, or the most that it had. */
function memoryOf(pid, which) {
  const [, kilobytes] = new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) / 1024;
}

/** A key that has shown nothing after this many milliseconds took as long. */
const ECHO_MS_LOST = 10_000;

/** Presses a key in the page and waits until it flashes, all inside the page. */
function echo(page) {
  return page.evaluate(async (lostMs) => {
    const screen = document.querySelector('.screen');
    while (screen.classList.contains('flash')) await new Promise((done) => setTimeout(done, 10));
    const flashed = new Promise((done) => {
      setTimeout(() => done(performance.now()), lostMs);
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
  }, ECHO_MS_LOST);
}

/** How long keys take, at the 95th percentile. */
async function echoes(page) {
  const times = [];
  for (let n = 0; n < KEYS; n += 1) times.push(await echo(page));
  times.sort((a, b) => a - b);
  return times[Math.floor(KEYS * 0.95)];
}

/** What the flood has written so far, in MiB. */
function written() {
  const folder = `${daemon.home}/data/output`;
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.out'));
  return Math.max(...files.map((name) => statSync(`${folder}/${name}`).size)) / (1 << 20);
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
  const calm = await echoes(page);
  const before = memoryOf(daemon.child.pid, 'VmRSS');
  const allowed = Math.max(ECHO_MS_MAX, calm * SLOWER_MAX);
  const flood = daemon.run(flooding, 'exec yes "the quick brown fox jumps over the lazy dog"');
  await untilRow(page, 'the flood', (row) => row.startsWith('the quick'));
  let late = Infinity;
  for (let round = 0; round < ROUNDS_MAX && late >= allowed; round += 1) {
    late = Math.min(late, await echoes(page));
  }
  const memory = await page.evaluate(() => performance.memory.usedJSHeapSize / (1 << 20));
  console.log(`listed in ${listed} ms; echo p95 ${late.toFixed(0)} ms, calm ${calm.toFixed(0)} ms; heap ${memory.toFixed(0)} MiB`);
  await until('much more than may be kept', () => written() >= FLOOD_MIB_MIN);
  const grown = memoryOf(daemon.child.pid, 'VmHWM') - before;
  console.log(`the daemon had ${before.toFixed(0)} MiB and ${grown.toFixed(0)} more at most, while ${written().toFixed(0)} were written`);
  await daemon.call('Cancel', { sessionId: flooding });
  await flood;
  assert.ok(late < allowed, `a key takes ${late.toFixed(0)} ms`);
  assert.ok(memory < PAGE_MIB_MAX, `the page has ${memory.toFixed(0)} MiB`);
  assert.ok(grown < GROWN_MIB_MAX, `the daemon has grown by ${grown.toFixed(0)} MiB`);
  await daemon.run(flooding, 'echo calm again');
  await untilRow(page, 'what came after', (row) => row === 'calm again');
  assert.equal((await rows(page)).filter((row) => row === 'calm again').length, 1);
  const quick = made[0];
  await daemon.run(quick, 'echo at once');
  let took = Infinity;
  for (let round = 0; round < ROUNDS_MAX && took >= FIRST_LINE_MS_MAX; round += 1) {
    const went = Date.now();
    const other = await browser.page(`${daemon.origin}/#${quick}`);
    await untilRow(other, 'its first line', (row) => row === 'at once');
    took = Math.min(took, Date.now() - went);
    await other.close();
  }
  console.log(`the first line ${took} ms after navigation`);
  assert.ok(took < FIRST_LINE_MS_MAX, `the first line takes ${took} ms`);
  assert.deepEqual(browser.errors, []);
});
