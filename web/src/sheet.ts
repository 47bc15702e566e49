// A terminal that shows something that is over. It answers nothing, obeys nothing
// but what changes the screen, and takes no input.

import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { FONT, RESET, themeNow } from './theme';

const SCROLLBACK_LINES = 50_000;

export class Sheet {
  readonly terminal: Terminal;
  private readonly fit = new FitAddon();
  private readonly observer: ResizeObserver;

  /** With a size it is a terminal of that size; without, it fills its place. */
  constructor(element: HTMLElement, size?: { cols: number; rows: number }) {
    this.terminal = new Terminal({
      convertEol: size === undefined,
      cursorInactiveStyle: 'none',
      disableStdin: true,
      fontFamily: FONT,
      fontSize: 13,
      linkHandler: { activate: () => {} },
      logLevel: 'off',
      minimumContrastRatio: 4.5,
      scrollback: SCROLLBACK_LINES,
      theme: themeNow(),
      ...size,
    });
    this.terminal.loadAddon(this.fit);
    this.terminal.open(element);
    // Leaving by keyboard, and the keys of what is around it.
    this.terminal.attachCustomKeyEventHandler(() => false);
    this.observer = new ResizeObserver(() => { if (size === undefined) this.fit.fit(); });
    this.observer.observe(element);
    if (size === undefined) this.fit.fit();
  }

  /** Shows this and nothing else. */
  show(text: string): void {
    this.terminal.write(RESET + text);
  }

  /** Shows this after what is there. */
  append(text: string): void {
    this.terminal.write(text);
  }

  close(): void {
    this.observer.disconnect();
    this.terminal.dispose();
  }
}
