// How terminals look.

/** What empties a terminal, its scrollback included. */
export const RESET = '\x1bc';

export const FONT = 'ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

const DARK = { background: '#0b1416', foreground: '#d7e0e0', cursor: '#0b1416', selectionBackground: '#2f5a5a' };
/** A terminal has a cursor, and programs that expect a dark ground. */
export const DARK_TERMINAL = { ...DARK, cursor: '#5ecfc2' };
const LIGHT = {
  background: '#fbfcfc', foreground: '#16211f', cursor: '#fbfcfc', selectionBackground: '#b7dcd7',
  black: '#16211f', red: '#b3261e', green: '#1d6b2f', yellow: '#7a5200', blue: '#1f4fa3',
  magenta: '#7d2f8a', cyan: '#0a6470', white: '#55605e', brightBlack: '#55605e', brightRed: '#b3261e',
  brightGreen: '#1d6b2f', brightYellow: '#7a5200', brightBlue: '#1f4fa3', brightMagenta: '#7d2f8a',
  brightCyan: '#0a6470', brightWhite: '#16211f',
};

/** The colours that the person has chosen, or their system has. */
export function themeNow() {
  const chosen = document.documentElement.dataset.theme;
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  return chosen === 'dark' || (chosen !== 'light' && isDark) ? DARK : LIGHT;
}
