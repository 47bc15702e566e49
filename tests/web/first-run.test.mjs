// What `make run` ends with: an address that opens signed in.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Browser } from './browser.mjs';
import { Daemon } from './daemon.mjs';

/** A daemon that the script starts, and not we. */
class FirstRun extends Daemon {
  async begin() {
    this.child = null;
    const script = new URL('../../scripts/first-run', import.meta.url).pathname;
    const env = { ...this.environment, SHELLGLASS_DAEMON_LISTEN: `127.0.0.1:${this.port}` };
    this.said = (await promisify(execFile)(script, [process.env.SHELLGLASS_BIN], { env })).stdout;
  }

  log() {
    return this.said;
  }
}

test('a first run ends with an address that opens signed in', async () => {
  const daemon = await FirstRun.start();
  const browser = await Browser.open();
  try {
    assert.match(daemon.said, /Hello from process \d+\n/);
    const address = daemon.said.trim().split('\n').at(-1).trim();
    assert.equal(address, daemon.address);
    const page = await browser.page(address);
    await page.getByText('No session lives.').waitFor();
    assert.deepEqual(browser.errors, []);
  } finally {
    await browser.close();
    await daemon.end();
  }
});
