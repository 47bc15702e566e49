// What is typed in the editor: terminals by their profile, and consoles.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../web/daemon.mjs';
import { command, rows, tried, untilRow } from './editor.mjs';
import { daemon, editor, focusTerminal, page } from './scene.mjs';

/** Sessions that are on a terminal, or are not. */
async function sessions(isTerminal) {
  const all = (await daemon.call('ListSessions')).sessions;
  return all.filter(({ mode }) => (mode === 'SESSION_MODE_PTY') === isTerminal);
}

/** Types a line, and waits for a row that it leads to. */
async function enter(line, what, wanted) {
  await page.keyboard.type(`${line}\n`);
  return untilRow(page, what, wanted);
}

test('a terminal is opened by its profile, in the folder, with what is set for the editor', async () => {
  const profile = page.locator('.quick-input-list .monaco-list-row', { hasText: 'Shellglass' }).first();
  let rounds = 0;
  await until('the profile is chosen', async () => {
    // The editor looks for profiles when those of the settings change; else it may have
    // looked once, before it knew of the extension.
    rounds += 1;
    editor.set({ 'terminal.integrated.profiles.linux': { [`sh ${rounds}`]: { path: '/bin/sh' } } });
    await command(page, 'Create New Terminal (With Profile)');
    return tried(async () => {
      await page.locator('.quick-input-list .monaco-list-row', { hasText: `sh ${rounds}` }).first().waitFor({ timeout: 5000 });
      await page.getByPlaceholder('Select the terminal profile to create').fill('Shellglass', { timeout: 5000 });
      await profile.click({ timeout: 5000 });
    });
  });
  const [{ sessionId, workingDirectory }] = await until('there is a terminal', async () => {
    const found = await sessions(true);
    return found.length > 0 && found;
  });
  assert.equal(workingDirectory, editor.folder);
  const { integration } = await daemon.call('GetSession', { sessionId });
  assert.equal(integration, 'none: it is switched off');
  await untilRow(page, 'a prompt', (row) => /[$#]$/.test(row));
  await focusTerminal();
  const variables = '$FROM_EDITOR/$ITERM_SHELL_INTEGRATION_INSTALLED/$POWERLEVEL9K_TERM_SHELL_INTEGRATION/${PROMPT_EOL_MARK-unset}/$VTE_VERSION';
  await enter(`echo "<${variables}>"`, 'its variables', (row) => row === '<yes/Yes/true//0>');
  await enter('exit', 'nothing', () => true);
  await until('it has ended', async () => !(await sessions(true)).some((session) => session.sessionId === sessionId));
});

test('a console has a prompt, a line that is edited, history, cd, clear, pastes and an end', async () => {
  await command(page, 'Shellglass: New Console');
  await untilRow(page, 'the prompt of the settings', (row) => row === 'folder>');
  const [{ sessionId, mode }] = await sessions(false);
  assert.equal(mode, 'SESSION_MODE_LINE');
  await focusTerminal();
  await page.keyboard.type('cho abd');
  for (const key of ['ArrowLeft', 'c', 'Home', 'e', 'End', 'e', 'ArrowLeft', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
  await untilRow(page, 'what was edited runs', (row) => row === 'abcde');
  const dim = page.locator('.terminal-wrapper.active .xterm-rows .xterm-dim', { hasText: 'abcde' });
  await until('it is shown in dim once it runs, and not twice', async () => (await dim.count()) === 1
    && (await rows(page)).filter((row) => row === 'folder> echo abcde').length === 1);
  await enter('exit 7 # is a command', 'its exit', (row) => row === '[exit 7]');
  await enter('cd nowhere', 'why not', (row) => /nowhere/.test(row) && /No such/.test(row));
  await untilRow(page, 'it is where it was', (row) => row === 'folder>');
  await enter('cd ..', 'it is elsewhere', (row) => row === `${editor.home.split('/').at(-1)}>`);
  for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowUp', 'Enter']) await page.keyboard.press(key);
  await until('what was entered before runs again', async () => (await rows(page)).filter((row) => row === 'abcde').length === 2);
  await enter('clear', 'an empty view', () => true);
  await until('nothing but a prompt', async () => (await rows(page)).filter((row) => row !== '').length === 1);

  await page.evaluate(() => navigator.clipboard.writeText('echo pasted; X=1\necho two lines'));
  await command(page, 'Terminal: Paste into Active Terminal');
  await untilRow(page, 'both lines', (row) => row.endsWith('echo two lines'));
  assert.ok(!(await rows(page)).includes('pasted'), 'nothing runs before it is entered');
  await focusTerminal();
  await page.keyboard.press('Enter');
  await untilRow(page, 'the second line has run', (row) => row === 'two lines');
  assert.ok((await rows(page)).includes('pasted'));
  assert.equal((await daemon.call('GetSessionHistory', { sessionId })).executions.at(-1).command, 'echo pasted; X=1\necho two lines');

  await enter('echo $((40 + 2)) begun; sleep 1000', 'it runs', (row) => row === '42 begun');
  await page.keyboard.press('Control+C');
  await untilRow(page, 'it was cancelled', (row) => row === '[cancelled]');
  await page.keyboard.type('exit\n');
  await page.locator('.terminal-wrapper.active .xterm-rows', { hasText: 'cancelled' }).waitFor({ state: 'detached' });
  assert.ok((await sessions(false)).some((session) => session.sessionId === sessionId), 'its session goes on');
  await daemon.call('DisposeSession', { sessionId });
});
