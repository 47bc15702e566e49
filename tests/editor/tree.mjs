// The tree of sessions, and what its menus do.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { clipboard } from '../web/browser.mjs';
import { until } from '../web/daemon.mjs';
import { command, rows, tried, untilRow } from './editor.mjs';
import { choose, daemon, executionRow, page, sessionRow } from './scene.mjs';

test('the tree has sessions by task with what ran, and hands it over', async () => {
  const id = await daemon.session('grown', 'person', { taskId: 'task nine' });
  await daemon.run(id, 'echo a leaf; exit 4');
  await command(page, 'Shellglass: Focus on Sessions View');
  await page.locator('.monaco-list-row', { hasText: 'Task task nine' }).waitFor();
  const session = sessionRow('grown');
  await session.locator('.monaco-tl-twistie').click();
  const execution = executionRow('echo a leaf');
  await execution.locator('.label-description', { hasText: 'exit 4' }).waitFor();
  await execution.hover();
  await execution.getByRole('button', { name: 'Show What the Model Saw' }).click();
  await page.locator('.editor-instance .view-line', { hasText: 'a leaf' }).waitFor();
  await page.locator('.editor-instance .view-line', { hasText: 'exit code 4' }).waitFor();
  await execution.hover();
  await execution.getByRole('button', { name: 'Fix This Command' }).click();
  await until('it is on the clipboard', async () => /a leaf[^]*exit code 4/.test(await clipboard(page)));
  const opened = `${daemon.home}/opened`;
  await until('the terminal outside is opened', async () => {
    await command(page, 'Shellglass: Attach in an External Terminal');
    const entry = page.locator('.quick-input-list .monaco-list-row', { hasText: 'echo a leaf' }).first();
    if (!(await tried(() => entry.click({ timeout: 5000 })))) return false;
    return until('its file is there', () => existsSync(opened));
  });
  assert.deepEqual(readFileSync(opened, 'utf8').split('\n'), ['--', process.env.SHELLGLASS_BIN, 'attach', id, '']);
  await daemon.call('DisposeSession', { sessionId: id });
  await session.waitFor({ state: 'detached' });
});

test('the menus of the tree open, type, attach, cancel, end, copy and hand over', async () => {
  const id = await daemon.session('menued', 'person', { mode: 'SESSION_MODE_PIPE' });
  await daemon.run(id, 'echo a branch; exit 5');
  await command(page, 'Shellglass: Focus on Sessions View');
  const session = sessionRow('menued');
  await session.locator('.monaco-tl-twistie').click();
  const execution = executionRow('echo a branch');
  const isCopied = (wanted) => async () => wanted.test(await clipboard(page));
  await choose(execution, 'Copy Command', isCopied(/^echo a branch; exit 5$/));
  await choose(execution, 'Copy Output', isCopied(/^a branch\n$/));
  for (const [title, words] of [['Explain This Command', /xplain/], ['Fix This Command', /did not do what it should/], ['Add to Context', /a branch/]]) {
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await choose(execution, title, async () => {
      const text = await clipboard(page);
      return words.test(text) && /echo a branch[^]*exit code 5/.test(text);
    });
  }
  const seen = page.locator('.editor-instance .view-line', { hasText: 'exit code 5' });
  await choose(execution, 'Show What the Model Saw', async () => (await seen.count()) > 0);
  const prompt = `${daemon.home.split('/').at(-1)}>`;
  await choose(session, 'Type Into This Session', async () => (await rows(page)).includes(prompt));
  const opened = `${daemon.home}/opened`;
  rmSync(opened, { force: true });
  await choose(session, 'Attach in an External Terminal', () => existsSync(opened));
  assert.deepEqual(readFileSync(opened, 'utf8').split('\n'), ['--', process.env.SHELLGLASS_BIN, 'attach', id, '']);
  const running = daemon.run(id, 'echo begun again; sleep 1000');
  await choose(session, 'Open', async () => (await rows(page)).includes('begun again'));
  let end;
  running.then((answer) => { end = answer; });
  await choose(session, 'Cancel What Runs', () => end !== undefined);
  assert.equal(end.failure.aborted, true);
  const ended = async () => !(await daemon.call('ListSessions')).sessions.some(({ sessionId }) => sessionId === id);
  const sure = page.getByRole('dialog').getByRole('button', { name: 'End the Session' });
  await choose(session, 'End Session', async () => (await sure.count()) > 0);
  await sure.click();
  await until('it has ended', ended);
  await session.waitFor({ state: 'detached' });
});

test('a hundred sessions are in the tree, and what happens in one of them is seen there', async () => {
  const ids = [];
  for (let at = 0; at < 100; at += 1) {
    const { sessionId } = await daemon.call('CreateSession', {
      name: `leaf ${at}`, taskId: 'many', mode: 'SESSION_MODE_LINE', shell: 'bash', workingDirectory: daemon.home,
    });
    ids.push(sessionId);
  }
  await command(page, 'Shellglass: Focus on Sessions View');
  await sessionRow('leaf 99').waitFor();
  // The tree draws what is in sight; by its keys one gets anywhere.
  await sessionRow('leaf 99').click();
  await sessionRow('leaf 99').locator('.monaco-tl-twistie').click();
  await daemon.run(ids[99], 'echo grown further; exit 6');
  await executionRow('echo grown further').locator('.label-description', { hasText: 'exit 6' }).waitFor();
  const last = page.locator('.monaco-list-row[aria-level="2"]', { has: page.locator('.label-name', { hasText: /^leaf 0$/ }) });
  await until('the oldest is in sight', async () => {
    await sessionRow('leaf').first().press('End');
    return tried(() => last.waitFor({ timeout: 5000 }));
  });
  for (const sessionId of ids) await daemon.call('DisposeSession', { sessionId });
  await page.locator('.monaco-list-row', { hasText: 'Task many' }).waitFor({ state: 'detached' });
});
