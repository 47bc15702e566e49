// One daemon and one browser for all tests of a file, which has only to import them.
import { after, afterEach, before } from 'node:test';
import { Browser } from './browser.mjs';
import { Daemon } from './daemon.mjs';

export let daemon;
export let browser;

before(async () => {
  daemon = await Daemon.start();
  browser = await Browser.open();
});
after(async () => {
  await browser.close();
  await daemon.end();
});
afterEach(async () => {
  for (const page of browser.context.pages()) await page.close();
});
