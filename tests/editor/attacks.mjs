// An agent that names its session, its task and its commands so that the editor
// would do or hide something.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { clipboard } from '../web/browser.mjs';
import { until } from '../web/daemon.mjs';
import { command, rows, untilRow } from './editor.mjs';
import { daemon, page, sessionRow, toast } from './scene.mjs';

/** A link, a command link, a picture, an icon and an element, all in one. */
const HOSTILE = '[a](command:b) ![c](http://127.0.0.1/d) $(flame) <img src=x onerror=window.hit=1>';

/** The hover of something. The editor shows none for what it draws anew meanwhile, so that is tried again. */
async function hoverOf(target) {
  const hover = page.locator('.workbench-hover').first();
  for (let tries = 0; tries < 20; tries += 1) {
    await page.mouse.move(0, 0);
    await target.hover();
    if (await hover.waitFor({ timeout: 3000 }).then(() => true, () => false)) return hover;
  }
  throw new Error('no hover is shown');
}

test('no name, command or output of an agent is a link, an icon, an element or on the clipboard', async () => {
  const id = await daemon.session(`evil ${HOSTILE}`, 'person', { taskId: HOSTILE, mode: 'SESSION_MODE_LINE' });
  await page.evaluate(() => navigator.clipboard.writeText('mine'));
  // Plainly, and behind controls that a terminal ignores.
  const ways = ['\\033]52', '\\033\\000]52', '\\033]5\\0002', '\\033\\r]052'];
  const clip = ways.map((way) => `printf '${way};c;${Buffer.from('theirs').toString('base64')}\\007'`).join('; ');
  const running = daemon.run(id, `: $(flame) '${HOSTILE}'; ${clip}; echo it is out; sleep 1000`);
  await untilRow(page, 'its output', (row) => row === 'it is out');
  // What it runs is the name of its terminal: all of that is seen there.
  const tab = page.locator('.part.panel :is(.terminal-tabs-entry, .single-terminal-tab)', { hasText: ': $ (flame)' }).first();
  await tab.waitFor();
  await command(page, 'Shellglass: Focus on Sessions View');
  const session = sessionRow('evil [a](command:b)');
  await session.waitFor();
  await page.locator('.monaco-list-row[aria-level="1"]', { hasText: HOSTILE.slice(0, 40) }).waitFor();
  for (const target of [tab, session]) {
    const hover = await hoverOf(target);
    assert.equal(await hover.locator('a[data-href*="command:"], a[href*="command:"], img, .codicon-flame').count(), 0);
    await page.mouse.move(0, 0);
    await hover.waitFor({ state: 'detached' });
  }
  assert.equal(await page.locator('.codicon-flame, img[src="x"], [data-href^="command:b"]').count(), 0);
  assert.equal(await clipboard(page), 'mine');

  const asked = daemon.run(await daemon.session('asks', 'agent'), `touch hit; echo '${HOSTILE.slice(0, 40)}'`, 'agent');
  const question = toast('An agent wants to run');
  await question.waitFor();
  assert.equal(await question.locator('a[href]').count(), 0);
  assert.equal(await question.getByRole('button', { name: /Allow/ }).count(), 0, 'it is answered where it is seen whole');
  await question.getByRole('button', { name: 'Review…' }).click();
  const dialog = page.getByRole('dialog', { name: /wants to run/ });
  await dialog.getByText('[a](command:b)').waitFor();
  await dialog.getByRole('button', { name: 'Refuse' }).click();
  assert.ok((await asked).rejected.reason.length > 0);
  assert.ok(!existsSync(`${daemon.home}/hit`));

  await daemon.call('Cancel', { sessionId: id });
  await running;
  for (const { sessionId } of (await daemon.call('ListSessions')).sessions) await daemon.call('DisposeSession', { sessionId });
  assert.equal(await page.evaluate(() => window.hit), undefined);
  await until('the tree is empty', async () => (await session.count()) === 0);
  assert.equal(await clipboard(page), 'mine');
});
