// The page: logs in, follows the daemon, and shows what there is.

import { signal } from '@preact/signals';
import { render } from 'preact';
import { hasKey, logIn } from './api';
import { Approvals, focusApprovals } from './approvals';
import { Banner, Toast } from './banner';
import { Find } from './find';
import { Inspector } from './inspect';
import { SessionView } from './session';
import { Sidebar } from './sidebar';
import {
  approvals, drawer, finding, follow, hints, inspected, ordered, select, selected, standing, step,
} from './state';
import './style.css';

const isMac = navigator.platform.startsWith('Mac');

const isIn = signal(false);
const refusal = signal<string | null>(null);

const THEMES = ['auto', 'light', 'dark'] as const;
const theme = signal(localStorage.getItem('shellglass-theme') ?? 'auto');

function paint(): void {
  document.documentElement.dataset.theme = theme.value;
  document.documentElement.dispatchEvent(new Event('themechange'));
}

function nextTheme(): void {
  const at = THEMES.findIndex((name) => name === theme.value);
  theme.value = THEMES[(at + 1) % THEMES.length] ?? 'auto';
  localStorage.setItem('shellglass-theme', theme.value);
  paint();
}

async function enter(token: string): Promise<void> {
  try {
    await logIn(token);
    refusal.value = null;
    isIn.value = true;
    follow();
  } catch (error) {
    refusal.value = error instanceof Error ? error.message : String(error);
  }
}

/** The token in a pasted address, or the text itself. */
function tokenIn(text: string): string {
  return text.split('#token=').pop()?.trim() ?? '';
}

function LogIn() {
  const submit = (event: Event) => {
    event.preventDefault();
    const field = document.querySelector<HTMLInputElement>('#token');
    void enter(tokenIn(field?.value ?? ''));
  };
  return (
    <main class="login">
      <h1>Shellglass</h1>
      <p>Open the address that <code>shellglass serve</code> prints, or paste it here.</p>
      <form onSubmit={submit}>
        <label for="token">Address or token</label>
        <input id="token" type="password" autocomplete="off" />
        <button type="submit" class="primary">Open</button>
      </form>
      {refusal.value !== null && <p class="banner bad" role="alert">{refusal.value}</p>}
    </main>
  );
}

function Top() {
  const count = approvals.value.size;
  return (
    <header class="top">
      <button
        type="button"
        class="menu"
        aria-label="Sessions"
        aria-expanded={drawer.value}
        onClick={() => { drawer.value = !drawer.value; }}
      >
        ☰
      </button>
      <span class="brand">Shellglass</span>
      <span class="spacer" />
      <button type="button" onClick={() => { finding.value = true; }}>
        Search history <kbd>{isMac ? '⌘⇧F' : 'Ctrl+Shift+F'}</kbd>
      </button>
      {count > 0 && (
        <button type="button" class="alarm" onClick={focusApprovals}>{count} waiting</button>
      )}
      <button type="button" onClick={nextTheme}>Theme: {theme.value}</button>
    </header>
  );
}

function App() {
  if (!isIn.value || standing.value.kind === 'turned away') return <LogIn />;
  const id = selected.value;
  return (
    <>
      <Top />
      <Banner />
      <div class="body">
        <Sidebar />
        <main>
          <Approvals />
          {id === null ? (
            <p class="quiet pad">Choose a session, or press <kbd>Alt+1</kbd>.</p>
          ) : (
            <SessionView key={id} id={id} />
          )}
        </main>
      </div>
      {finding.value && <Find />}
      <Inspector />
      {!finding.value && inspected.value === null && <Toast />}
    </>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches('input, textarea') && !target.closest('.screen'));
}

/** Gives the keyboard to what is above the terminal; Tab goes on from there. */
function leaveTerminal(): void {
  document.querySelector<HTMLElement>('.view-head h1')?.focus();
}

function onKeyDown(event: KeyboardEvent): void {
  const chosen = isMac ? event.metaKey : event.altKey;
  if (event.key === (isMac ? 'Meta' : 'Alt')) hints.value = true;
  const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
  const act = () => {
    if (chosen && digit !== undefined) {
      if (finding.value || inspected.value !== null) return null;
      const shown = ordered.value[Number(digit) - 1];
      return shown === undefined ? null : () => select(shown.session.sessionId);
    }
    const isFind = (isMac ? event.metaKey : event.ctrlKey) && event.shiftKey && event.code === 'KeyF';
    if (isFind && isIn.value) return () => { finding.value = true; };
    // What stands above the page has the other keys.
    if (finding.value || inspected.value !== null) return null;
    if (event.altKey && event.key === 'ArrowDown') return () => step(1);
    if (event.altKey && event.key === 'ArrowUp') return () => step(-1);
    if (event.altKey && event.code === 'KeyA') return focusApprovals;
    // A terminal that takes every key, Tab too, must be left somehow.
    if (event.altKey && event.code === 'Digit0') return leaveTerminal;
    if (event.key === '/' && !isTyping(event.target) && !(event.target as HTMLElement).closest?.('.screen')) {
      return () => document.querySelector<HTMLElement>('#search')?.focus();
    }
    if (event.key === 'Escape' && drawer.value) return () => { drawer.value = false; };
    return null;
  };
  const wanted = act();
  if (wanted === null) return;
  event.preventDefault();
  event.stopPropagation();
  wanted();
}

addEventListener('keydown', onKeyDown, true);
addEventListener('keyup', (event) => {
  if (event.key === 'Alt' || event.key === 'Meta') hints.value = false;
});
addEventListener('blur', () => { hints.value = false; });

function start(): void {
  paint();
  const hash = location.hash;
  const token = /^#token=(.+)$/.exec(hash)?.[1];
  // A token must not stay where it can be seen or kept.
  if (token !== undefined) history.replaceState(null, '', location.pathname);
  else if (hash.startsWith('#s-')) selected.value = hash.slice(1);
  if (token !== undefined) {
    void enter(decodeURIComponent(token));
  } else if (hasKey()) {
    isIn.value = true;
    follow();
  }
  const root = document.getElementById('app');
  if (root !== null) render(<App />, root);
}

start();
