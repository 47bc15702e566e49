// A way into `/mcp` for programs that cannot present a token. It changes nothing
// but that: a Host and an Origin that name the proxy name the daemon behind it,
// and all others go through as they are, so that the daemon can refuse them.
import { once } from 'node:events';
import { createServer, request } from 'node:http';

export class Proxy {
  static async open(daemon, role = 'agent') {
    const proxy = new Proxy();
    proxy.server = createServer((incoming, outgoing) => proxy.pass(daemon, role, incoming, outgoing));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    proxy.port = proxy.server.address().port;
    return proxy;
  }

  get address() {
    return `http://localhost:${this.port}/mcp`;
  }

  pass(daemon, role, incoming, outgoing) {
    const theirs = (value) => value.replace(/^((?:http:\/\/)?(?:localhost|127\.0\.0\.1)):(\d+)$/, (whole, name, port) => (
      Number(port) === this.port ? `${name}:${daemon.port}` : whole
    ));
    const headers = { ...incoming.headers, authorization: `Bearer ${daemon.token(role)}` };
    for (const name of ['host', 'origin']) {
      if (headers[name]) headers[name] = theirs(headers[name]);
    }
    const place = { host: '127.0.0.1', port: daemon.port, path: incoming.url, method: incoming.method };
    const onward = request({ ...place, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    const gone = () => outgoing.destroy();
    onward.on('error', gone);
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  }

  async close() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
