// A daemon that serves over TLS, with a certificate of its own.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { Daemon } from './daemon.mjs';

export class SecureDaemon extends Daemon {
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
