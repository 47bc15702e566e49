// One session: its mirror and its timeline.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { copyAttach } from './acts';
import { call } from './api';
import { baseName, named } from './format';
import type { Standing } from './line';
import { complain, held, hold, sessions } from './state';
import { Named } from './named';
import { Replay } from './replay';
import { Ask, Feed, OfferButton, useOffer } from './ask';
import { Mirror, type Name, type Question } from './terminal';
import { Timeline } from './timeline';
import type { Execution, History } from './wire';

/** Changes within this time are read as one. */
const GATHER_MS = 150;

/** The newest commands are read, and how each begins: one may have megabytes. */
const LISTED = { maxExecutions: 1000, maxCommandBytes: 2000 };

/** Reads a session's commands whenever they may have changed. */
function useExecutions(id: string) {
  const executions = useSignal<Execution[]>([]);
  const reader = useRef({ timer: 0, closed: false });
  const read = async () => {
    try {
      const history = await call<History>('GetSessionHistory', { sessionId: id, omitEvents: true, ...LISTED });
      const first = BigInt(history.firstIndex);
      const kept = history.executions.filter((execution) => BigInt(execution.startIndex) >= first);
      kept.sort((a, b) => Number(BigInt(a.startIndex) - BigInt(b.startIndex)));
      if (!reader.current.closed) executions.value = kept;
    } catch {
      // The banner says that the daemon is away; the next change reads again.
    }
  };
  const changed = () => {
    if (reader.current.timer !== 0) return;
    reader.current.timer = setTimeout(() => {
      reader.current.timer = 0;
      void read();
    }, GATHER_MS);
  };
  useEffect(() => {
    void read();
    return () => {
      reader.current.closed = true;
      clearTimeout(reader.current.timer);
    };
  }, []);
  return { executions, changed };
}

export function SessionView({ id }: { id: string }) {
  const screen = useRef<HTMLDivElement>(null);
  const mirror = useRef<Mirror | null>(null);
  const standing = useSignal<Standing>({ kind: 'connecting', again: false });
  const isOver = useSignal(false);
  const failure = useSignal<string | null>(null);
  const replays = useSignal(false);
  const question = useSignal<Question | null>(null);
  const keyboards = useSignal(0);
  const called = useSignal<Name>({ text: '', icon: '' });
  const lists = useSignal(false);
  const offer = useOffer();
  const { executions, changed } = useExecutions(id);
  const shown = sessions.value.get(id);
  // What was made here is a terminal, also before the daemon tells of it.
  const isHeld = held.value.has(id);
  const kind = useRef(isHeld);
  if (shown !== undefined) kind.current = shown.session.mode === 'SESSION_MODE_PTY';
  const isTerminal = kind.current;
  // A terminal's keyboard, or the console of another session.
  const writes = isHeld && !isOver.value;
  useEffect(() => {
    if (screen.current === null || replays.value) return;
    const opened = new Mirror(screen.current, id, { isTerminal, writes }, {
      stands: (now) => {
        standing.value = now;
        // Nobody would get an answer; who asks is told again with the next view.
        if (now.kind !== 'live') question.value = null;
        else changed();
      },
      named: (name) => { called.value = name; },
      commands: changed,
      offers: (made) => offer.make(made, writes),
      escapes: offer.dismiss,
      keyboards: (count) => { keyboards.value = count; },
      asks: (asked) => { question.value = asked; },
      left: () => hold(id, false),
      over: () => { isOver.value = true; changed(); },
      error: (message) => { failure.value = message; },
    });
    mirror.current = opened;
    opened.focus();
    return () => opened.close();
  }, [isTerminal, writes, replays.value]);
  useEffect(changed, [shown?.session.lastShellId, shown?.session.running]);
  // The first execution of a terminal is the shell itself.
  const typed = executions.value.slice(1);
  const others = keyboards.value - (writes ? 1 : 0);
  const cwd = shown?.session.workingDirectory ?? '';
  const name = shown?.session.name || baseName(cwd) || id;
  const dispose = async () => {
    if (!confirm('End this session with everything that runs in it?')) return;
    await call('DisposeSession', { sessionId: id }).catch(complain);
  };
  return (
    <div class="view">
      <header class="view-head">
        <h1 title={id} tabIndex={-1}>{named(name)}</h1>
        {called.value.icon !== '' && <Named name={called.value} beside={name} />}
        <span class="path">{named(cwd)}</span>
        <span class="spacer" />
        <span class="state" data-state={standing.value.kind}>
          {isOver.value ? 'over' : standing.value.kind !== 'live' ? 'not connected' : writes ? (isTerminal ? 'your keyboard' : 'your console') : 'read-only'}
        </span>
        <button type="button" aria-pressed={replays.value} onClick={() => { replays.value = !replays.value; }}>
          {replays.value ? 'Back to now' : 'Replay'}
        </button>
        {standing.value.kind === 'lost' && (
          <button type="button" onClick={() => mirror.current?.retry()}>Connect again</button>
        )}
        {isTerminal && typed.length > 0 && !replays.value && (
          <button type="button" aria-pressed={lists.value} onClick={() => { lists.value = !lists.value; }}>
            Commands
          </button>
        )}
        {isTerminal && others > 0 && (
          <span class="chip running" role="status">{others === 1 ? 'another has the keyboard' : `${others} others have the keyboard`}</span>
        )}
        {isTerminal && (
          <button type="button" aria-pressed={writes} onClick={() => hold(id, !writes)}>
            {writes ? 'Give the keyboard back' : 'Take the keyboard'}
          </button>
        )}
        {!isTerminal && shown !== undefined && !replays.value && (
          <button type="button" aria-pressed={writes} onClick={() => hold(id, !writes)}>
            {writes ? 'Leave the console' : 'Take the console'}
          </button>
        )}
        {!isTerminal && shown?.session.running === true && (
          <button type="button" class="danger" onClick={() => mirror.current?.interrupt()}>
            Cancel <kbd>Ctrl+C</kbd>
          </button>
        )}
        <button type="button" title="Copy the command that shows this session in a terminal" onClick={() => void copyAttach(id)}>
          Attach
        </button>
        {shown !== undefined && (
          <button type="button" onClick={() => void dispose()}>End session</button>
        )}
      </header>
      {failure.value !== null && <p class="banner bad" role="alert">{failure.value}</p>}
      {replays.value ? <Replay id={id} isTerminal={isTerminal} /> : <div class="panes">
        <div class="stage">
          <div class="screen" ref={screen} role="region" aria-label={writes ? 'Terminal; Alt+0 leaves it' : 'Terminal, read-only'} />
          <OfferButton offer={offer} />
          {question.value !== null && (
            <Ask
              question={question.value}
              writes={writes}
              onAnswer={(text) => mirror.current?.answer(text)}
              onTake={() => {
                question.value = null;
                hold(id, true);
              }}
              onLeave={() => mirror.current?.focus()}
            />
          )}
          {shown?.session.running === true && shown.session.acceptsStdin && <Feed shellId={shown.session.lastShellId} />}
        </div>
        {!isTerminal && <Timeline sessionId={id} executions={executions.value} onReveal={(fromLast) => mirror.current?.reveal(fromLast)} />}
        {isTerminal && lists.value && <Timeline sessionId={id} executions={typed} />}
      </div>}
    </div>
  );
}
