// The page over TLS, with a certificate that was given.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { test } from 'node:test';
import { Browser, select, untilRow } from './browser.mjs';
import { SecureDaemon } from './secure.mjs';

test('with a certificate the page, its sockets and HTTP/2 are served over TLS, and nothing else is', async () => {
  const daemon = await SecureDaemon.start();
  const browser = await Browser.open({ ignoreHTTPSErrors: true });
  try {
    const home = ['--cwd', daemon.home, '--shell', 'bash', '--startup', 'none'];
    const id = (await daemon.program('session', 'create', ...home)).trim();
    const page = await browser.page(daemon.address);
    await select(page, id);
    await daemon.program('run', '--session', id, 'echo over-tls');
    await untilRow(page, 'the output', (row) => row === 'over-tls');
    const cookie = (await browser.context.cookies()).find(({ name }) => name === `shellglass-${daemon.port}`);
    assert.equal(cookie.secure, true);
    assert.deepEqual(browser.errors, []);
    assert.equal(await daemon.status('/metrics'), 401);
    const foreign = { origin: `http://127.0.0.1:${daemon.port}` };
    assert.equal(await daemon.status('/healthz', foreign), 403, 'a page without TLS is not ours');
    const session = connect(daemon.origin, { ca: daemon.ca });
    const stream = session.request({ ':path': '/healthz' });
    const [headers] = await once(stream, 'response');
    assert.deepEqual([headers[':status'], session.alpnProtocol], [200, 'h2']);
    session.destroy();
    const plain = await fetch(`http://127.0.0.1:${daemon.port}/healthz`).catch(() => 'refused');
    assert.equal(plain, 'refused');
  } finally {
    await browser.close();
    await daemon.end();
  }
});
