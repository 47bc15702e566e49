// The protocol's own suite against `/mcp`: what applies must pass.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Daemon, PATIENCE_MS } from '../web/daemon.mjs';
import { Proxy } from './proxy.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The others want tools, prompts and resources of the suite's own. */
const OURS = [
  'server-initialize',
  'logging-set-level',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'completion-complete',
  'server-sse-polling',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

let daemon;
let proxy;

before(async () => {
  daemon = await Daemon.start();
  proxy = await Proxy.open(daemon);
});
after(async () => {
  await proxy.close();
  await daemon.end();
});

/** Runs one scenario with the Node that the suite needs, and says how it went. */
function conform(scenario) {
  const words = [here('node_modules/@modelcontextprotocol/conformance/dist/index.js'),
    'server', '--url', proxy.address, '--scenario', scenario];
  return new Promise((resolve) => {
    const limits = { timeout: 2 * PATIENCE_MS, maxBuffer: 4 << 20 };
    execFile(here('node_modules/.bin/node'), words, limits, (error, stdout, stderr) => {
      resolve({ passed: error === null, said: `${stdout}${stderr}` });
    });
  });
}

for (const scenario of OURS) {
  test(`${scenario} holds`, async () => {
    const { passed, said } = await conform(scenario);
    assert.ok(passed, said);
    assert.match(said, /Passed: [1-9]/);
    assert.match(said, /0 failed/);
  });
}

test('what the server cannot do is seen to fail', async () => {
  const { passed, said } = await conform('prompts-get-simple');
  assert.equal(passed, false, said);
});
