// Whoever runs commands may name, ask and write what they like: the page shows it, and stays what it is.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { afterEach, test } from 'node:test';
import { barriers, clipboard, rows, select, untilRow } from './browser.mjs';
import { until } from './daemon.mjs';
import { browser, daemon } from './scene.mjs';

afterEach(async () => {
  await denyAll();
  assert.deepEqual(browser.errors.splice(0), []);
});

/** Becomes something wherever it is taken for more than text; part of it would be shown backwards. */
const EVIL = '<img src=x onerror="document.title=1"><b>bold</b>\u202egpj.exe';
const SHOWN = EVIL.replace('\u202e', '<U+202E>');

/** More than one message of a socket can be. */
const HUGE = 'y'.repeat(5 << 18);

/** Ends what an agent waits for, whatever comes of it. */
async function denyAll() {
  for (const { approvalId } of (await daemon.call('ListApprovals')).approvals ?? []) {
    await daemon.call('ResolveApproval', { approvalId, approve: false });
  }
}

test('names, directories, tasks, commands and messages are text, and nothing in them hides', async () => {
  const place = `${daemon.home}/<i>here\u202e`;
  mkdirSync(place);
  const id = await daemon.session(EVIL, 'agent', { taskId: EVIL, workingDirectory: place });
  await daemon.run(id, `true '${EVIL}'`);
  const page = await browser.context.newPage();
  const asked = [];
  page.on('request', (request) => asked.push(new URL(request.url()).origin));
  await page.goto(daemon.address);
  await select(page, id);
  const item = page.locator(`[data-session="${id}"]`);
  const waiting = daemon.run(id, `touch '${EVIL}'`, 'agent');
  await page.locator('.approval').waitFor();
  assert.equal(await item.locator('.title').innerText(), SHOWN);
  assert.equal(await item.locator('.path').innerText(), `${daemon.home}/<i>here<U+202E>`);
  assert.equal(await page.locator('.list h2').innerText(), SHOWN);
  assert.equal(await page.locator('.view-head h1').innerText(), SHOWN);
  for (const place of ['.entry .command', '.approval .asked', '.approval .link', '.list']) {
    const text = await page.locator(place).first().innerText();
    assert.ok(!/[\u202a-\u202e]/.test(text) && /202e/i.test(text), `${place}: ${text}`);
  }
  // The beginning of it is what the view is called.
  assert.match(await page.locator('.view-head .named code').innerText(), /^true '<img src=x onerror="/);
  await page.keyboard.press('Control+Shift+F');
  await page.locator('.find input[type=search]:focus').waitFor();
  await page.keyboard.type('onerror');
  await page.locator('.found').first().waitFor();
  assert.equal(await page.locator('img, #app b:not(.program), #app i').count(), 0, 'nothing became an element');
  assert.equal(await page.title(), '(1) Shellglass');
  assert.deepEqual(new Set(asked), new Set([daemon.origin]), 'nobody else was asked for anything');
  await page.keyboard.press('Escape');
  await denyAll();
  await waiting;
  await daemon.call('DisposeSession', { sessionId: id });
});

test('a command of megabytes takes nothing from anybody, and is whole where it is wanted', async () => {
  const page = await browser.page(daemon.address);
  const id = await daemon.session('huge');
  await select(page, id);
  await daemon.run(id, `true ${HUGE}`);
  const entry = page.locator('.entry').first();
  await entry.locator('.chip.good').waitFor();
  const shown = await page.locator('#app').innerText();
  assert.ok(shown.length < 50_000, `${shown.length} characters`);
  // The stream of events goes on, for this page and for the next.
  const next = await browser.page(daemon.address);
  for (const view of [page, next]) await view.locator(`[data-session="${id}"] .chip.good`).waitFor();
  const other = await daemon.session('after it');
  for (const view of [page, next]) await view.locator(`[data-session="${other}"]`).waitFor();
  assert.equal(await page.locator('.banner').count(), 0);
  await entry.getByRole('button', { name: 'Copy command' }).click();
  await until('all of it is copied', async () => (await clipboard(page)).length === 5 + HUGE.length);
  await entry.getByRole('button', { name: 'Run again' }).click();
  await until('it ran again', async () => (await page.locator('.entry .chip.good').count()) === 2);
  const { executions } = await daemon.call('GetSessionHistory', { sessionId: id, omitEvents: true });
  assert.deepEqual(executions.map((run) => run.command.length), Array(2).fill(5 + HUGE.length));
  await daemon.call('DisposeSession', { sessionId: id });
  await daemon.call('DisposeSession', { sessionId: other });
});

test('what is not seen whole is not allowed, and many questions leave room for each', async () => {
  const page = await browser.page(daemon.address);
  const id = await daemon.session('asks', 'agent');
  const card = page.locator('.approval').first();
  const once = card.getByRole('button', { name: /Allow once/ });
  const deny = card.getByRole('button', { name: /Deny/ });
  const isArmed = () => deny.isEnabled();

  // What is asked for hides below many lines: it has to be read.
  const hidden = daemon.run(id, `touch a${'\n'.repeat(200)}touch b`, 'agent');
  await card.getByText('There is more of it').waitFor();
  await until('it takes answers', isArmed);
  assert.equal(await once.isDisabled(), true);
  await page.keyboard.press('Alt+a');
  for (const key of ['o', 's', 'w']) await page.keyboard.press(key);
  assert.deepEqual(await barriers(page), []);
  assert.equal((await daemon.call('ListApprovals')).approvals.length, 1, 'no key allows it');
  await card.locator('.asked').focus();
  await page.keyboard.press('End');
  await card.getByText('There is more of it').waitFor({ state: 'detached' });
  assert.deepEqual(await card.locator('.program').allInnerTexts(), ['touch', 'touch']);
  await once.click();
  assert.equal((await hidden).success.exitCode, 0);

  // One that nobody could read is only refused.
  const huge = daemon.run(id, `touch ${HUGE}`, 'agent');
  await card.getByText('too long to be shown').waitFor();
  await until('it takes answers', isArmed);
  assert.equal(await once.isDisabled(), true);
  await deny.click();
  assert.ok((await huge).rejected);

  const all = [];
  for (let n = 0; n < 25; n += 1) {
    const one = await daemon.session(`asks ${n}`, 'agent');
    all.push(daemon.run(one, `touch ${n}`, 'agent'));
  }
  await page.getByRole('button', { name: '25 waiting' }).waitFor();
  await page.getByText('5 more come up as these are answered.').waitFor();
  assert.equal(await page.locator('.approval').count(), 20);
  await denyAll();
  await Promise.all(all);
  await page.locator('.approvals').waitFor({ state: 'hidden' });
});

test('a large paste arrives whole, and a mirror takes one as one refusal', async () => {
  const page = await browser.page(daemon.address);
  const paste = async (text) => {
    await page.evaluate((text) => navigator.clipboard.writeText(text), text);
    await page.keyboard.press('Control+Shift+V');
  };
  await page.getByRole('button', { name: 'New terminal' }).click();
  await page.getByText('your keyboard').waitFor();
  await page.locator('.screen').click();
  const lines = 'a line that is pasted\n'.repeat(10_000);
  await page.keyboard.type(`stty -echo; echo ready; head -c ${lines.length} | md5sum; stty echo\n`);
  await untilRow(page, 'it reads', (row) => row === 'ready');
  await paste(lines);
  const sum = createHash('md5').update(lines).digest('hex');
  await untilRow(page, 'its sum', (row) => row === `${sum}  -`);

  const id = await daemon.session('only shown');
  await select(page, id);
  await page.locator('.screen').click();
  await paste(lines);
  await page.locator('.screen.flash').waitFor();
  await daemon.run(id, 'echo still here');
  await untilRow(page, 'what came after', (row) => row === 'still here');
  assert.equal(await page.locator('.banner').count(), 0, 'the connection stayed');
  assert.ok(!(await rows(page)).some((row) => row.includes('pasted')));
});

test('by keyboard alone a terminal is made, used, left and given back', async () => {
  const page = await browser.page(daemon.address);
  await page.getByRole('button', { name: 'New terminal' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('your keyboard').waitFor();
  await page.locator('.screen textarea:focus').waitFor();
  await page.keyboard.type('echo by-hand-$((6 * 7))\n');
  await untilRow(page, 'its answer', (row) => row === 'by-hand-42');
  // Tab is the shell's, so there is another way out.
  await page.keyboard.press('Tab');
  assert.equal(await page.locator('.screen textarea:focus').count(), 1);
  await page.keyboard.press('Alt+0');
  const give = page.getByRole('button', { name: 'Give the keyboard back' });
  for (let n = 0; n < 10 && !(await give.evaluate((button) => button === document.activeElement)); n += 1) {
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await page.getByText('read-only', { exact: true }).waitFor();
  assert.ok(!(await rows(page)).some((row) => /0$/.test(row)), 'Alt+0 was not typed');
});
