// One mirror: a terminal that shows a session, and the line that feeds it.

import { FitAddon } from '@xterm/addon-fit';
import { WebLinksAddon } from '@xterm/addon-web-links';
import { type IMarker, Terminal } from '@xterm/xterm';
import { way } from './api';
import { Line, type Standing } from './line';
import { FLASH_MS, INPUT_BYTES_MAX, RESIZE_REST_MS } from './manners';
import { DARK_TERMINAL, FONT, RESET, themeNow } from './theme';

const SCROLLBACK_LINES = 10_000;

/** Bytes that may be on their way to us; what was drawn is acknowledged. */
const WINDOW_BYTES = 1 << 18;

const INTERRUPT = new Uint8Array([3]);

function openLink(uri: string): void {
  if (!/^https?:\/\//i.test(uri)) return;
  window.open(uri, '_blank', 'noopener,noreferrer');
}

/** Characters that a program may put on the clipboard. */
const CLIPBOARD_CHARS_MAX = 1_000_000;

/** What Option sends with keys whose meaning is Meta's everywhere. */
const OPTION_KEYS: Record<string, string> = {
  ArrowLeft: '\x1bb', ArrowRight: '\x1bf', Backspace: '\x1b\x7f',
};

/** Something that a program wants on the clipboard, and where its cursor is. */
export interface Offer {
  text: string;
  left: number;
  top: number;
}

/** Somebody has to type an answer; when it is hidden, nobody else may see it. */
export interface Question {
  isHidden: boolean;
  text: string;
}

/** The text that an OSC 52 carries; none where it asks, or cannot be read. */
function clipboardText(payload: string): string | null {
  const encoded = payload.slice(payload.indexOf(';') + 1);
  if (encoded === '?' || encoded === '') return null;
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0)));
  } catch {
    return null;
  }
}

/** What a view is called, and the icon that says whether it only shows. */
export interface Name {
  text: string;
  icon: string;
}

export interface Hooks {
  stands(standing: Standing): void;
  /** What the view is called now. */
  named(name: Name): void;
  /** A program wants something on the clipboard. */
  offers(offer: Offer): void;
  /** Escape was pressed: whether it meant an offer, and is not to be sent. */
  escapes(): boolean;
  /** How many have this terminal's keyboard. */
  keyboards(count: number): void;
  /** Somebody is asked, or no longer. */
  asks(question: Question | null): void;
  /** The console was left from within: `exit` was entered. */
  left(): void;
  /** Whether commands have begun or ended. */
  commands(): void;
  over(): void;
  error(message: string): void;
}

/** How a session is looked at. Who writes has the keyboard of its terminal, or its console. */
export interface Manner {
  isTerminal: boolean;
  writes: boolean;
}

export class Mirror {
  private readonly terminal: Terminal;
  private readonly fit = new FitAddon();
  private readonly line: Line;
  private readonly observer: ResizeObserver;
  private readonly scheme = matchMedia('(prefers-color-scheme: dark)');
  /** Where each command that was shown begins. */
  private marks: (IMarker | undefined)[] = [];
  private resizeTimer = 0;
  private icon = '';
  private flashTimer = 0;
  /** The next bytes begin a replay: what is shown is taken away with them. */
  private stale = false;
  /** What is drawn happens now, and did not happen before. */
  private isLive = false;

  constructor(
    private readonly element: HTMLElement,
    sessionId: string,
    private readonly manner: Manner,
    private readonly hooks: Hooks,
  ) {
    this.terminal = new Terminal({
      convertEol: false,
      cursorBlink: false,
      cursorInactiveStyle: manner.isTerminal || manner.writes ? 'outline' : 'none',
      fontFamily: FONT,
      fontSize: 13,
      linkHandler: { activate: (_event, uri) => openLink(uri) },
      // What a command prints is nobody's error.
      logLevel: 'off',
      macOptionIsMeta: true,
      screenReaderMode: false,
      scrollback: SCROLLBACK_LINES,
      theme: this.theme(),
      minimumContrastRatio: 4.5,
    });
    this.terminal.loadAddon(this.fit);
    this.terminal.loadAddon(new WebLinksAddon((_event, uri) => openLink(uri)));
    this.terminal.open(element);
    this.fit.fit();
    this.terminal.parser.registerOscHandler(633, (payload) => this.marker(payload));
    this.terminal.parser.registerOscHandler(52, (payload) => this.clip(payload));
    this.terminal.attachCustomKeyEventHandler((event) => this.key(event));
    this.terminal.onData((data) => this.input(data));
    this.scheme.addEventListener('change', this.repaint);
    document.documentElement.addEventListener('themechange', this.repaint);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(element);
    this.line = new Line(way, '/ws/terminal', {
      opened: (line) => {
        const { cols, rows } = this.terminal;
        const view = manner.isTerminal ? 'terminal' : manner.writes ? 'console' : 'mirror';
        const readOnly = !manner.writes;
        line.send({ type: 'init', sessionId, cols, rows, view, readOnly, clipboard: true, windowBytes: WINDOW_BYTES });
      },
      text: (message, line) => this.told(message, line),
      bytes: (bytes) => this.show(bytes),
      stands: (standing) => hooks.stands(standing),
    });
  }

  /** Scrolls to a command, counted from the last. */
  reveal(fromLast: number): void {
    const mark = this.marks[this.marks.length - 1 - fromLast];
    if (mark !== undefined && !mark.isDisposed) this.terminal.scrollToLine(mark.line);
  }

  retry(): void {
    this.line.retry();
  }

  interrupt(): void {
    this.line.send(INTERRUPT);
  }

  focus(): void {
    this.terminal.focus();
  }

  close(): void {
    clearTimeout(this.resizeTimer);
    clearTimeout(this.flashTimer);
    this.scheme.removeEventListener('change', this.repaint);
    document.documentElement.removeEventListener('themechange', this.repaint);
    this.observer.disconnect();
    this.line.close();
    this.terminal.dispose();
  }

  private readonly repaint = () => {
    this.terminal.options.theme = this.theme();
  };

  private theme() {
    return this.manner.isTerminal ? DARK_TERMINAL : themeNow();
  }

  private told(message: { type: string; [key: string]: unknown }, line: Line): void {
    switch (message.type) {
      case 'opened':
        this.stale = true;
        // In order with what is still to be drawn.
        this.terminal.write('', () => { this.isLive = false; });
        this.hooks.asks(null);
        this.icon = String(message.icon);
        this.hooks.named({ text: String(message.name), icon: this.icon });
        break;
      case 'ready':
        // It is live once everything before has been drawn.
        this.terminal.write('', () => {
          this.isLive = true;
          line.live();
        });
        break;
      case 'property':
        if (message.name === 'question') this.asked(String(message.value));
        if (message.name === 'keyboards') this.hooks.keyboards(Number(message.value));
        if (message.name === 'name') this.hooks.named({ text: String(message.value), icon: this.icon });
        if (message.name === 'left') {
          line.close();
          this.hooks.left();
        }
        break;
      case 'readonly':
        this.flash();
        break;
      case 'exit':
        line.close();
        this.hooks.over();
        break;
      case 'error':
        line.close();
        this.hooks.error(String(message.message));
        break;
    }
  }

  private show(bytes: Uint8Array): void {
    if (this.stale) {
      this.stale = false;
      // In order with what is still to be drawn: none of it may come after.
      this.terminal.write(RESET, () => { this.marks = []; });
    }
    const line = this.line;
    this.terminal.write(bytes, () => line.send({ type: 'ack', bytes: bytes.length }));
  }

  private marker(payload: string): boolean {
    const kind = payload.slice(0, 2);
    if (kind === 'E;') this.marks.push(this.terminal.registerMarker(0));
    if (kind === 'C' || kind[0] === 'D') this.hooks.commands();
    return true;
  }

  /** OSC 52. What was replayed was copied then, or was not. */
  private clip(payload: string): boolean {
    if (!this.isLive) return true;
    if (payload.length > 2 * CLIPBOARD_CHARS_MAX) return true;
    const text = clipboardText(payload);
    if (text === null || text.length > CLIPBOARD_CHARS_MAX) return true;
    const { cols, rows, buffer } = this.terminal;
    const screen = this.element.querySelector('.xterm-screen')?.getBoundingClientRect();
    const left = ((screen?.width ?? 0) / cols) * buffer.active.cursorX;
    const top = ((screen?.height ?? 0) / rows) * (buffer.active.cursorY + 1);
    this.hooks.offers({ text, left, top });
    return true;
  }

  private asked(value: string): void {
    const at = value.indexOf(' ');
    this.hooks.asks(value === '' ? null : { isHidden: value.slice(0, at) === 'hidden', text: value.slice(at + 1) });
  }

  /** Answers a question: the text goes to the terminal and nowhere else. */
  answer(text: string): void {
    this.input(`${text}\r`);
  }

  private key(event: KeyboardEvent): boolean {
    if (event.key === 'Escape' && event.type === 'keydown' && this.hooks.escapes()) return false;
    const isCopy = (event.ctrlKey || event.metaKey) && event.key === 'c';
    // With something selected, Ctrl+C copies as it does everywhere.
    if (isCopy && this.terminal.hasSelection()) return false;
    const meta = event.altKey && !event.ctrlKey && !event.metaKey ? OPTION_KEYS[event.key] : undefined;
    if (this.manner.writes && meta !== undefined) {
      if (event.type === 'keydown') this.input(meta);
      event.preventDefault();
      return false;
    }
    // A terminal that is written to has every key but those of the page.
    if (this.manner.writes) return !(event.altKey && /^(Digit[0-9]|ArrowUp|ArrowDown)$/.test(event.code));
    // Keys of the page, and leaving the terminal by keyboard.
    return !event.altKey && event.key !== 'Tab';
  }

  private input(data: string): void {
    const bytes = new TextEncoder().encode(data);
    // A mirror takes Ctrl+C and nothing else, so the rest of a paste says nothing new.
    const isMirror = !this.manner.isTerminal && !this.manner.writes;
    const length = isMirror ? Math.min(bytes.length, 1) : bytes.length;
    for (let at = 0; at < length; at += INPUT_BYTES_MAX) {
      this.line.send(bytes.slice(at, Math.min(at + INPUT_BYTES_MAX, length)));
    }
  }

  private flash(): void {
    this.element.classList.add('flash');
    clearTimeout(this.flashTimer);
    this.flashTimer = setTimeout(() => this.element.classList.remove('flash'), FLASH_MS);
  }

  /** The first change is applied at once, and those that follow when they rest. */
  private resized(): void {
    if (this.resizeTimer === 0) this.resize();
    clearTimeout(this.resizeTimer);
    this.resizeTimer = setTimeout(() => {
      this.resizeTimer = 0;
      this.resize();
    }, RESIZE_REST_MS);
  }

  private resize(): void {
    const before = [this.terminal.cols, this.terminal.rows].join();
    this.fit.fit();
    const { cols, rows } = this.terminal;
    if ([cols, rows].join() !== before) this.line.send({ type: 'resize', cols, rows });
  }
}
