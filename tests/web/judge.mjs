// xterm.js without a page, as a judge: reads lines of JSON, each with pieces of a stream, shows
// them to a fresh terminal and answers with a line of everything that it has then.
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';

const { Terminal } = createRequire(import.meta.url)('@xterm/headless');

/** What a terminal has that was shown these bytes. */
async function shown(pieces, columns, rows) {
  const terminal = new Terminal({
    cols: columns, rows, allowProposedApi: true, logLevel: 'off', scrollback: 0,
  });
  const kept = { title: '', colours: {} };
  terminal.onTitleChange((title) => { kept.title = title; });
  terminal._core._inputHandler.onColor((changes) => {
    for (const { type, index, color } of changes) {
      if (type === 1) kept.colours[index] = String(color);
    }
  });
  for (const piece of pieces) {
    await new Promise((done) => terminal.write(Buffer.from(piece, 'base64'), done));
  }
  const state = look(terminal, kept);
  terminal.dispose();
  return state;
}

const FLAGS = [
  'Bold', 'Italic', 'Dim', 'Underline', 'Blink', 'Inverse', 'Invisible', 'Strikethrough', 'Overline',
];

/** One cell with everything that can be seen of it. */
function cellOf(cell) {
  const flags = FLAGS.filter((flag) => cell[`is${flag}`]()).map((flag) => flag.toLowerCase());
  const text = cell.getChars() || (cell.getWidth() ? ' ' : '');
  const ink = [cell.getFgColorMode() >> 24, cell.getFgColor()];
  const ground = [cell.getBgColorMode() >> 24, cell.getBgColor()];
  const line = flags.includes('underline') ? [cell.extended.underlineStyle || 1, cell.extended.underlineColor] : [];
  return [text, ink, ground, flags, line];
}

/** Everything that a terminal shows and how it would go on, as one table. */
function look(terminal, kept) {
  const { _core: core } = terminal;
  const buffer = terminal.buffer.active;
  const inner = core._bufferService.buffer;
  const decPrivate = { ...core.coreService.decPrivateModes };
  const state = {
    ...terminal.modes, ...decPrivate, ...kept.colours,
    title: kept.title,
    buffer: buffer.type,
    cursor: [buffer.cursorX, buffer.cursorY],
    hidden: core.coreService.isCursorHidden,
    mouse: core.coreMouseService?.activeEncoding ?? core.mouseStateService?.activeEncoding,
    margins: [inner.scrollTop, inner.scrollBottom],
    tabs: Object.keys(inner.tabs).map(Number).filter((tab) => inner.tabs[tab] && tab > 0 && tab < terminal.cols),
  };
  for (let row = 0; row < terminal.rows; row += 1) {
    const line = buffer.getLine(buffer.baseY + row);
    for (let column = 0; column < terminal.cols; column += 1) {
      state[`cell ${row},${column}`] = cellOf(line.getCell(column));
    }
  }
  return state;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { pieces, columns, rows } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(await shown(pieces, columns, rows))}\n`);
}
