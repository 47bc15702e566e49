// Debian's Chromium, and what tests read from the page.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import { PATIENCE_MS, until } from './daemon.mjs';

const executablePath = '/usr/bin/chromium';
const args = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];

export class Browser {
  /** Opens a browser with a profile of its own. */
  static async open(options = {}) {
    if (!existsSync(executablePath)) throw new Error(`there is no ${executablePath}; hint: scripts/deps test`);
    const browser = new Browser();
    browser.profile = mkdtempSync('/tmp/sg-chromium-');
    browser.context = await chromium.launchPersistentContext(browser.profile, {
      executablePath, args, headless: true, viewport: { width: 1280, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'], ...options,
    });
    browser.context.setDefaultTimeout(PATIENCE_MS);
    browser.errors = [];
    return browser;
  }

  /** A page at an address; what goes wrong in it is kept. */
  async page(address) {
    const page = await this.context.newPage();
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
    await page.goto(address);
    return page;
  }

  async close() {
    await this.context.close();
    rmSync(this.profile, { recursive: true, force: true });
  }
}

/** The rows that the terminal shows, without trailing blanks. */
export async function rows(page) {
  const texts = await page.locator('.xterm-rows > div').allInnerTexts();
  return texts.map((text) => text.replaceAll('\u00a0', ' ').trimEnd());
}

/** Waits until the terminal shows a row that `wanted` accepts. */
export function untilRow(page, what, wanted) {
  return until(`a row: ${what}`, async () => (await rows(page)).find(wanted));
}

/** Selects a session and waits until its mirror is live. */
export async function select(page, id) {
  await page.locator(`[data-session="${id}"]`).click();
  await page.locator('.state[data-state="live"]').waitFor();
}

/** What is on the clipboard. */
export function clipboard(page) {
  return page.evaluate(() => navigator.clipboard.readText());
}

let axe;

/** What stands in the way of those who read or type differently. */
export async function barriers(page) {
  axe ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const result = await window.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'],
    });
    return result.violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(' | ')}`);
  });
}
