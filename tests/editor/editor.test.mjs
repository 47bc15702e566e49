// The extension in a real VS Code, driven as a person would.
import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { clipboard, rows as pageRows, select } from '../web/browser.mjs';
import { until } from '../web/daemon.mjs';
import { command, lives, rows, tried, untilRow, vsix } from './editor.mjs';
import { probed } from './probe.mjs';
import { daemon, editor, focusTerminal, nextPort, page, toast } from './scene.mjs';
// Registered before what is here, whose last test leaves no program behind.
import './typing.mjs';
import './tree.mjs';
import './attacks.mjs';

test('a command of another process appears with its end, and the page shows the same', async () => {
  const go = `${daemon.home}/go`;
  writeFileSync(`${daemon.home}/work`, `echo one; echo two >&2; until [ -e ${go} ]; do sleep 0.05; done; echo three; exit 3`);
  const running = daemon.program('run', 'sh ~/work').then(() => 0, (error) => error.code);
  await untilRow(page, 'its output', (row) => row === 'two');
  const glass = await editor.browser.page(daemon.address);
  await select(glass, await glass.locator('[data-session]').getAttribute('data-session'));
  const written = (lines) => lines.filter((row) => row !== '');
  await until('both show it while it runs', async () => {
    const [here, there] = [written(await rows(page)), written(await pageRows(glass))];
    return here.includes('two') && JSON.stringify(here) === JSON.stringify(there);
  });
  assert.deepEqual(written(await rows(page)), ['$ sh ~/work', 'one', 'two']);
  assert.equal(await page.locator('.terminal-wrapper.active .terminal-command-decoration.error').count(), 0, 'it has no end yet');
  writeFileSync(go, '');
  assert.equal(await running, 3);
  await untilRow(page, 'the rest', (row) => row === 'three');
  await page.locator('.terminal-wrapper.active .terminal-command-decoration.error').waitFor();
  await glass.close();
});

test('a mirror only shows: keys flash and say why, and Ctrl+C cancels', async () => {
  const id = await daemon.session('watched', 'agent');
  const running = daemon.run(id, 'echo begun; sleep 1000', 'person');
  await untilRow(page, 'it runs', (row) => row === 'begun');
  await focusTerminal();
  await page.evaluate(() => {
    // Both may be over before anybody looks.
    window.flashed = window.said = false;
    const look = () => {
      const screen = document.querySelector('.terminal-wrapper.active .xterm');
      if (screen?.outerHTML.match(/rgb\(102, ?34, ?34\)|#662222/)) window.flashed = true;
      if (document.querySelector('.part.statusbar')?.textContent.includes('only shows an agent’s session')) window.said = true;
    };
    new MutationObserver(look).observe(document.body, { subtree: true, attributes: true, childList: true, characterData: true });
  });
  // A busy window may draw the flash and its end at once: then it is pressed again.
  await until('it flashed and said why', async () => {
    await page.keyboard.type('x');
    await sleep(500);
    return page.evaluate(() => window.flashed && window.said);
  });
  await until('the flash is over', async () =>
    !/rgb\(102, ?34, ?34\)|#662222/.test(await page.locator('.terminal-wrapper.active .xterm').evaluate((it) => it.outerHTML)));
  assert.equal((await daemon.call('GetSession', { sessionId: id })).running, true, 'a key does nothing');
  assert.ok(!(await rows(page)).some((row) => row === 'x'), 'nothing is echoed');
  await page.keyboard.press('Control+C');
  assert.equal((await running).failure.aborted, true);
  await untilRow(page, 'the next prompt', (row) => row === '$');
  // The mirror is there again when the window is, with all of its history.
  await page.reload();
  await lives(page);
  await untilRow(page, 'the replay', (row) => row === 'begun');
  await page.locator('.part.panel :is(.terminal-tabs-entry, .single-terminal-tab)', { hasText: 'echo begun' }).waitFor();
  await daemon.call('DisposeSession', { sessionId: id });
});

test('a terminal runs vim, and neither a reload nor the death of the daemon takes it away', async () => {
  const file = `${daemon.home}/text`;
  await command(page, 'Shellglass: New Terminal');
  await until('there is a terminal', async () =>
    (await daemon.call('ListSessions')).sessions.some((session) => session.mode === 'SESSION_MODE_PTY'));
  await untilRow(page, 'a prompt', (row) => /[$#>%]$/.test(row));
  await focusTerminal();
  await page.keyboard.type(`vim -u NONE -N -n --cmd 'set noruler laststatus=0 shortmess=aIF' ${file}\n`);
  await untilRow(page, 'vim', (row) => row === '~');
  await page.keyboard.type('ifrom the editor');
  await page.keyboard.press('Escape');
  const lines = async () => (await rows(page)).filter((row) => row === 'from the editor').length;
  await until('the line is there', async () => (await lines()) === 1);
  await page.reload();
  await lives(page);
  await until('it is there again', async () => (await lines()) === 1);
  await focusTerminal();
  await page.keyboard.type('yyp');
  await until('it takes keys', async () => (await lines()) === 2);
  await daemon.kill();
  // Nobody but the extension starts another, and that is elsewhere.
  daemon.port = nextPort;
  await until('a daemon is there', () => daemon.answers());
  await lives(page);
  await until('the screen is there again', async () => (await lines()) === 2);
  await until('it takes keys again', async () => {
    await page.keyboard.press('Escape');
    await page.keyboard.type('yyp');
    return (await lines()) >= 3;
  });
  await page.keyboard.press('Escape');
  await page.keyboard.type(':wq\n');
  await until('it is written', () => existsSync(file) && statSync(file).size > 0);
  await untilRow(page, 'a prompt', (row) => /[$#>%]$/.test(row));
  await page.keyboard.type('exit\n');
  await until('the terminal is closed', async () =>
    !(await daemon.call('ListSessions')).sessions.some((session) => session.mode === 'SESSION_MODE_PTY'));
});

test('a question is answered in the editor, and one that cannot be seen whole only where it is', async () => {
  const id = await daemon.session('asking', 'agent');
  const allowed = daemon.run(id, 'touch allowed', 'agent');
  const question = toast('An agent wants to run: touch allowed');
  await question.getByRole('button', { name: 'Allow Once' }).click();
  assert.equal((await allowed).success.exitCode, 0);
  assert.ok(existsSync(`${daemon.home}/allowed`));

  const long = daemon.run(id, `touch ${'long'.repeat(100)} ; touch hidden-at-the-end`, 'agent');
  const cut = toast('An agent wants to run a long command');
  await cut.waitFor();
  assert.equal(await cut.getByRole('button', { name: /Allow/ }).count(), 0);
  await cut.getByRole('button', { name: 'Review…' }).click();
  const dialog = page.getByRole('dialog', { name: /wants to run/ });
  await dialog.getByText('hidden-at-the-end').waitFor();
  await dialog.getByRole('button', { name: 'Refuse' }).click();
  assert.ok((await long).rejected.reason.length > 0);
  assert.ok(!existsSync(`${daemon.home}/hidden-at-the-end`));

  const refused = daemon.run(id, 'touch refused', 'agent');
  await toast('touch refused').waitFor();
  await command(page, 'Shellglass: Focus on Waits for You View');
  const row = page.locator('.pane-body .monaco-list-row', { hasText: 'touch refused' }).first();
  const input = page.locator('.quick-input-widget input').first();
  await until('it is answered', async () => {
    await tried(async () => {
      await row.hover({ timeout: 5000 });
      await row.getByRole('button', { name: /Refuse/ }).click({ timeout: 5000 });
      await input.fill('not today', { timeout: 5000 });
      await input.press('Enter', { timeout: 5000 });
    });
    return (await daemon.call('ListApprovals')).approvals.length === 0;
  });
  assert.match((await refused).rejected.reason, /not today/);
  await daemon.call('DisposeSession', { sessionId: id });
});

/** Runs an agent's command in a new session of its own. */
async function inAnother(line) {
  return daemon.run(await daemon.session('another', 'agent'), line, 'agent');
}

test('what is allowed for a session or for always is not asked about again there', async () => {
  const id = await daemon.session('asking', 'agent');
  const first = daemon.run(id, 'touch often', 'agent');
  await toast('touch often').getByRole('button', { name: 'Allow for Session' }).click();
  assert.equal((await first).success.exitCode, 0);
  assert.equal((await daemon.run(id, 'touch often', 'agent')).success.exitCode, 0, 'nobody is asked');

  const elsewhere = inAnother('touch often');
  await toast('touch often').waitFor();
  await command(page, 'Shellglass: Focus on Waits for You View');
  const row = page.locator('.pane-body .monaco-list-row', { hasText: 'touch often' }).first();
  await page.locator('.pane-body .monaco-list-row', { hasText: 'always would remember: touch' }).waitFor();
  await until('it is answered', async () => {
    await tried(async () => {
      await row.hover({ timeout: 5000 });
      await row.getByRole('button', { name: /Always/ }).click({ timeout: 5000 });
    });
    return (await daemon.call('ListApprovals')).approvals.length === 0;
  });
  assert.equal((await elsewhere).success.exitCode, 0);
  assert.equal((await inAnother('touch often')).success.exitCode, 0, 'nor anywhere, from now on');
  for (const { sessionId } of (await daemon.call('ListSessions')).sessions) await daemon.call('DisposeSession', { sessionId });
});

test('models in the editor are offered tools and an MCP server, and both work', async () => {
  writeFileSync(`${editor.folder}/bar`, '0%\r50%\r100%\n');
  const { tools, ran } = await probed(editor, page);
  assert.deepEqual(tools, ['cancel', 'execute_command', 'read_output', 'wait'].map((name) => `shellglass_${name}`));
  assert.match(ran, /^0%\n50%\n100%\n/, 'with every state of a bar, as is set');
  assert.ok(ran.includes(`in ${editor.folder}`) && ran.includes('exit code 2'), ran);
  // The editor shows what it knows of MCP servers only where it has its own chat.
  editor.set({ 'chat.disableAIFeatures': false });
  await page.reload();
  await lives(page);
  const entry = (text) => page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  await until('the editor has the tools of the server', async () => {
    await command(page, 'MCP: List Servers');
    await tried(async () => {
      await entry('Shellglass').click({ timeout: 5000 });
      await entry('Start Server').click({ timeout: 5000 });
    });
    await page.keyboard.press('Escape');
    // It takes a moment to ask a server for its tools.
    for (let round = 0; round < 5; round += 1) {
      const known = (await probed(editor, page)).tools;
      if (known.some((name) => /^mcp_shellglass_.*execute_command/.test(name))) return true;
    }
    return false;
  });
});

test('the extension is small, diagnoses, and says what to do where there is no program', async () => {
  assert.ok(statSync(vsix).size < 300_000);
  await command(page, 'Shellglass: Diagnose');
  await toast('the report is on the clipboard').waitFor();
  assert.match(await clipboard(page), /bash \(warm\): works/);
  editor.set({ 'shellglass.binary': '/nowhere/shellglass' });
  const told = toast('/nowhere/shellglass is not there');
  await told.getByRole('button', { name: 'Choose the Program…' }).waitFor();
  await page.locator('.statusbar-item .codicon-debug-disconnect').waitFor();
});
