// Records what a view and a real daemon say to each other, for tests that have
// no daemon:
//   SHELLGLASS_BIN=… node tests/editor/record.mjs >tests/editor/recorded.json
import { Daemon, until } from '../web/daemon.mjs';
import { Daemon as Client, View, find } from '../../editors/vscode/dist/testable.mjs';

const daemon = await Daemon.start();
process.env.SHELLGLASS_HOME = daemon.home;
const wanted = { binary: process.env.SHELLGLASS_BIN, address: '', tokenFile: '', token: undefined };
const client = new Client(() => find(wanted));
const recorded = [];
let shown = '';

/** A line whose both ends are written down; when something is acknowledged is chance. */
function line(path, listener) {
  const tapped = client.line(path, {
    ...listener,
    text: (message, line) => {
      recorded.push({ heard: message });
      listener.text(message, line);
    },
    bytes: (bytes) => {
      recorded.push({ heardBytes: Buffer.from(bytes).toString('utf8') });
      listener.bytes(bytes);
    },
  });
  const send = tapped.send.bind(tapped);
  tapped.send = (message) => {
    if (message instanceof Uint8Array) recorded.push({ saidBytes: Buffer.from(message).toString('utf8') });
    else if (message.type !== 'ack') recorded.push({ said: message });
    send(message);
  };
  return tapped;
}

try {
  const id = await daemon.session('recorded');
  await daemon.run(id, "printf 'one\\ntwo\\n'; exit 3");
  let isOver = false;
  const view = new View('mirror', {
    line, session: async () => id, look: () => ({}), refused: () => {}, over: () => { isOver = true; }, failed: (why) => { throw new Error(why); },
  });
  view.onDidWrite((text) => { shown += text; });
  const heard = (type) => recorded.filter((entry) => entry.heard?.type === type).length;
  view.open({ columns: 100, rows: 40 });
  await until('the replay is over', () => heard('ready') === 1);
  view.handleInput('x and more');
  await until('it is refused', () => heard('readonly') === 1);
  const running = daemon.run(id, "printf 'K\\303\\244se\\n'; sleep 1000");
  await until('it runs', () => shown.includes('Käse\r\n'));
  view.handleInput('\x03');
  await running;
  await until('it has ended', () => shown.split('Käse')[1].includes('\x1b]633;B\x07'));
  await daemon.call('DisposeSession', { sessionId: id });
  await until('the view is over', () => isOver);
  const text = JSON.stringify(recorded, null, 1).replaceAll(daemon.home, '/home/person').replaceAll(id, 'recorded');
  process.stdout.write(`${text}\n`);
} finally {
  await daemon.end();
}
