// The page over TLS, with a certificate that was given.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { request } from 'node:https';
import { test } from 'node:test';
import { Browser, select, untilRow } from './browser.mjs';
import { Daemon } from './daemon.mjs';

class SecureDaemon extends Daemon {
  prepare() {
    const [certificate, key] = [`${this.home}/certificate.pem`, `${this.home}/key.pem`];
    execFileSync('openssl', [
      'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
      '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1',
      '-keyout', key, '-out', certificate,
    ], { stdio: 'ignore' });
    this.ca = readFileSync(certificate);
    this.flags = ['--tls-certificate', certificate, '--tls-key', key];
  }

  get origin() {
    return `https://127.0.0.1:${this.port}`;
  }

  /** The status of a request whose server has to prove who it is. */
  async status(path, headers = {}) {
    const asked = request(`${this.origin}${path}`, { ca: this.ca, headers }).end();
    const [response] = await once(asked, 'response');
    response.resume();
    return response.statusCode;
  }

  async answers() {
    return (await this.status('/healthz').catch(() => null)) === 200;
  }
}

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
