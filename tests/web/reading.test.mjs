// What ran, read again in the page: what the model saw, searching, replaying.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, test } from 'node:test';
import { barriers, clipboard, rows, select, untilRow } from './browser.mjs';
import { until } from './daemon.mjs';
import { browser, daemon } from './scene.mjs';

afterEach(() => assert.deepEqual(browser.errors.splice(0), []));

/** The rows of a terminal inside something. */
async function shownIn(place) {
  const texts = await place.locator('.xterm-rows > div').allInnerTexts();
  return texts.map((text) => text.replaceAll('\u00a0', ' ').trimEnd());
}

test('what the model saw stands beside what was written, and both can be taken away', async () => {
  const more = { env: { MY_TOKEN: 'plum-Pflaume-4711' } };
  const id = await daemon.session('closely', 'person', more);
  await daemon.run(id, 'printf "10%%\\r\\033[1;32m100%%\\033[0m\\n"; for n in 1 2 3 4 5 6 7 8 9; do echo again and again; done; echo $MY_TOKEN; (exit 127)');
  const page = await browser.page(daemon.address);
  await select(page, id);
  const entry = page.locator('.entry').first();
  await entry.getByRole('button', { name: 'What the model saw' }).click();
  const closely = page.getByRole('dialog');
  await closely.getByText('exit code 127: usually, a command was not found', { exact: true }).waitFor();
  const model = closely.locator('.model');
  await until('the text', async () => (await model.innerText()).includes('more times'));
  const text = await model.innerText();
  assert.ok(text.startsWith('100%\nagain and again\n[... the same line 8 more times'), text);
  assert.ok(text.includes('[REDACTED:MY_TOKEN]') && !text.includes('Pflaume'), text);
  assert.ok(text.endsWith('[exit code 127: usually, a command was not found]'), text);
  const raw = await until('the output', async () => {
    const shown = await shownIn(closely.locator('.sheet'));
    return shown[9] === 'again and again' && shown;
  });
  assert.equal(raw[0], '100%');
  for (const [name, begins] of [['Add to context', 'Command, in'], ['Fix', 'This command did not'], ['Explain', 'Explain what']]) {
    await closely.getByRole('button', { name }).click();
    const copied = await until(name, async () => {
      const text = await clipboard(page);
      return text.startsWith(begins) && text;
    });
    assert.ok(copied.includes('```text\n100%\nagain and again\n'), copied);
    assert.ok(!copied.includes('\u001b') && !copied.includes('Pflaume'), copied);
  }
  assert.deepEqual(await barriers(page), []);
  await page.keyboard.press('Escape');
  await closely.waitFor({ state: 'detached' });
});

test('of a tool that was made to speak in events, the sections are shown that its agent read', async () => {
  const id = await daemon.session('tool', 'agent');
  // A function stands in for the tool, and is defined by a person.
  const events = [
    { type: 'thread.started', thread_id: 't' },
    { type: 'item.completed', item: { id: 'i', type: 'agent_message', text: 'All is well.' } },
  ];
  writeFileSync(`${daemon.home}/events`, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  await daemon.run(id, `codex() { cat ${daemon.home}/events; }`);
  const asked = daemon.run(id, "codex 'fix it'", 'agent');
  const waiting = await until('the question', async () => (await daemon.call('ListApprovals')).approvals?.[0]);
  await daemon.call('ResolveApproval', { approvalId: waiting.approvalId, approve: true });
  assert.ok((await asked).success.stdout.includes('agent_message'));
  const page = await browser.page(daemon.address);
  await select(page, id);
  await untilRow(page, 'the sections in the mirror', (row) => row === '  All is well.');
  const entry = page.locator('.entry').filter({ hasText: 'fix it' });
  await entry.getByRole('button', { name: 'What the model saw' }).click();
  const model = page.getByRole('dialog').locator('.model');
  const text = await until('the text', async () => {
    const text = await model.innerText();
    return text.includes('All is well.') && text;
  });
  assert.ok(text.includes('[assistant]\n  All is well.\n') && !text.includes('agent_message'), text);
});

test('a command is run again where it ran, with the rights it had', async () => {
  const id = await daemon.session('again');
  const place = `${daemon.home}/elsewhere`;
  mkdirSync(place);
  const policy = { type: 'TYPE_WORKSPACE_READONLY' };
  const args = { command: 'pwd; touch here; true', workingDirectory: place, requestedSandboxPolicy: policy };
  const ran = await daemon.call('Run', { sessionId: id, args });
  assert.ok(ran.success, JSON.stringify(ran));
  const page = await browser.page(daemon.address);
  await select(page, id);
  const entries = page.locator('.entry');
  await entries.first().getByRole('button', { name: 'Run again' }).click();
  await until('it ran again', async () => (await entries.count()) === 2);
  await entries.first().locator('.chip.good').waitFor();
  const { executions } = await daemon.call('GetSessionHistory', { sessionId: id, omitEvents: true });
  const [first, again] = executions;
  assert.deepEqual([again.command, again.cwd], [first.command, place]);
  assert.deepEqual(again.sandboxPolicy, first.sandboxPolicy);
  assert.equal(again.sandboxPolicy.type, 'TYPE_WORKSPACE_READONLY');
});

test('history is searched by keyboard, and what is found is opened', async () => {
  const one = await daemon.session('first place');
  const two = await daemon.session('second place');
  await daemon.run(one, "echo 'a rare <b>zebra</b>'; false");
  await daemon.run(two, 'echo Zebra crossing');
  await daemon.run(two, 'echo horses');
  const page = await browser.page(daemon.address);
  await select(page, two);
  await page.keyboard.press('Control+Shift+F');
  await page.locator('.find input[type=search]:focus').waitFor();
  const find = page.getByRole('dialog');
  await page.keyboard.type('zebra');
  await until('both', async () => (await find.locator('.found').count()) === 2);
  await find.getByText(/^2 found in \d+ commands\.$/).waitFor();
  const marks = await find.locator('.found').nth(1).locator('mark').allInnerTexts();
  assert.deepEqual(marks, ['zebra', 'zebra'], 'in the command and in its output');
  assert.equal(await find.locator('.found b').count(), 0, 'output is text');
  assert.deepEqual(await barriers(page), []);
  await page.keyboard.press('ArrowDown');
  await find.locator('.found.chosen', { hasText: 'rare' }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.closely').waitFor();
  await page.locator('.closely .chip').getByText('exit code 1').waitFor();
  assert.equal(await page.locator('[aria-current="true"]').getAttribute('data-session'), one);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Shift+F');
  await page.locator('.find input[type=search]:focus').waitFor();
  await page.keyboard.type('h[ow]rses$');
  await find.getByText(/^Nothing found/).waitFor();
  await find.getByLabel('regular expression').check();
  await until('by an expression', async () => (await find.locator('.found').count()) === 1);
  await find.getByRole('searchbox').press('Escape');
  await find.waitFor({ state: 'detached' });
});

test('a session is replayed, the scrubber stops at commands, and it is exported', async () => {
  const id = await daemon.session('replayed');
  for (const word of ['one', 'two', 'three']) await daemon.run(id, `echo said-${word}; sleep 0.1`);
  const page = await browser.page(daemon.address);
  await select(page, id);
  await untilRow(page, 'the last', (row) => row === 'said-three');
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  const scrubber = page.getByRole('slider');
  const said = async () => (await rows(page)).filter((row) => row.startsWith('said-'));
  const command = (word) => page.locator('.now', { hasText: `echo said-${word}` }).waitFor();
  await command('one');
  await scrubber.focus();
  await page.keyboard.press('ArrowRight');
  await command('two');
  await until('one is there', async () => (await said()).join() === 'said-one' || (await said()).join() === 'said-one,said-two');
  await page.keyboard.press('ArrowRight');
  await command('three');
  assert.match(await scrubber.getAttribute('aria-valuetext'), /^command 3 of 3: echo said-three/);
  await page.keyboard.press('ArrowRight');
  await until('all are there', async () => (await said()).join() === 'said-one,said-two,said-three');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await command('two');
  await until('the last is gone', async () => !(await said()).includes('said-three'));
  await page.getByLabel('speed').selectOption('16');
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await until('it played to its end', async () => (await said()).join() === 'said-one,said-two,said-three');
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
  assert.deepEqual(await barriers(page), []);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export asciicast' }).click(),
  ]);
  assert.equal(file.suggestedFilename(), `${id}.cast`);
  const lines = readFileSync(await file.path(), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(lines[0].version, 2);
  assert.equal(lines.filter((line) => line[1] === 'm').length, 3);
  await page.getByRole('button', { name: 'Back to now' }).click();
  await untilRow(page, 'what is', (row) => row === 'said-three');
});
