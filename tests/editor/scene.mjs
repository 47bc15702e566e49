// One daemon and one window of an editor for all tests, which have only to import
// them.
import { chmodSync, writeFileSync } from 'node:fs';
import { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon, freePort, until } from '../web/daemon.mjs';
import { Editor, missing, tried } from './editor.mjs';
import { writeProbe } from './probe.mjs';

const why = missing();
if (why !== null) throw new Error(why);

export let daemon;
export let editor;
export let page;
/** Where a daemon is that nobody tells where to be, as the one is that the extension starts. */
export let nextPort;

before(async () => {
  nextPort = await freePort();
  const config = `[sandbox]\ndefault = "none"\nagent = "none"\n[daemon]\nlisten = "127.0.0.1:${nextPort}"\n`;
  daemon = await Daemon.start(config);
  const outside = `${daemon.home}/outside`;
  writeFileSync(outside, `#!/bin/sh\nprintf '%s\\n' "$@" >${daemon.home}/opened.new\nmv ${daemon.home}/opened.new ${daemon.home}/opened\n`);
  chmodSync(outside, 0o755);
  const probe = `${daemon.home}/probe.vsix`;
  writeProbe(probe);
  editor = await Editor.start(daemon.environment, {
    'shellglass.binary': process.env.SHELLGLASS_BIN,
    'shellglass.autoOpen': 'all',
    'shellglass.externalTerminal': [outside, '--'],
    'shellglass.session.mode': 'line',
    'shellglass.session.env': { FROM_EDITOR: 'yes' },
    'shellglass.session.shell': 'bash',
    'shellglass.session.startup': 'none',
    'shellglass.console.promptTemplate': '{name}> ',
    'shellglass.shell.zshPowerlevel10k': true,
    'shellglass.shell.integration': false,
    'shellglass.tools.compressProgress': false,
  }, [probe]);
  page = await editor.window();
});
after(async () => {
  await editor?.end();
  await daemon?.end();
});

/** What has not come of a menu by then is chosen again: a tree that is drawn anew meanwhile loses it. */
const AGAIN_MS = 20_000;

export async function focusTerminal() {
  await page.locator('.terminal-wrapper.active .xterm-screen').click();
}

/** What a person is shown at the corner of the window. */
export function toast(text) {
  return page.locator('.notification-toast', { hasText: text });
}

/** A session's line in the tree. */
export function sessionRow(name) {
  return page.locator('.monaco-list-row[aria-level="2"]', { hasText: name });
}

/** The line of something that ran. */
export function executionRow(command) {
  return page.locator('.monaco-list-row[aria-level="3"]', { hasText: command });
}

/** Chooses from the menu of a line of the tree, until that has done what it should. */
export async function choose(row, title, isDone) {
  const item = page.locator('.monaco-menu .action-item', { hasText: title }).first();
  await until(`${title} is done`, async () => {
    const isChosen = await tried(async () => {
      await row.first().click({ button: 'right', timeout: 5000 });
      await item.click({ timeout: 5000 });
      // A menu that has just come takes no click yet, and stays.
      for (let round = 0; round < 20 && (await item.count()) > 0; round += 1) {
        await tried(() => item.click({ timeout: 500 }));
      }
    });
    if (!isChosen) {
      await page.keyboard.press('Escape');
      return false;
    }
    return patiently(isDone);
  });
}

/** Whether something comes to be before it is worth trying again. */
async function patiently(isDone) {
  for (const deadline = Date.now() + AGAIN_MS; Date.now() < deadline;) {
    if (await isDone()) return true;
    await sleep(100);
  }
  // Whatever it has led to instead is put away.
  await page.keyboard.press('Escape');
  return false;
}
