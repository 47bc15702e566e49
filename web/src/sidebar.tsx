// All sessions, and what each of them does.

import { baseName, duration, named } from './format';
import {
  drawer, ended, groups, hints, newTerminal, now, ordered, search, select, selected, sessions,
  toggleEnded, version,
} from './state';
import type { Session, Shown } from './wire';

/** Sessions that have a number. */
const NUMBERED_MAX = 9;

/** Programs inside a session that are named. */
const INSIDE_MAX = 3;

/** Why a command that runs is silent. */
const QUIET: Record<string, string> = {
  terminal: 'waits for the terminal',
  password: 'waits for a password',
  cpu: 'calculates',
  disk: 'waits for the disk',
  network: 'waits for the network',
  child: 'waits for another program',
};

function told(process: Session['processes'][number]): string {
  const where = process.source === 'direct' || process.source === '' ? '' : `, in ${process.source}`;
  return `${named(process.command)} (${process.pid}${where})`;
}

function title(session: Session): string {
  return named(session.name !== '' ? session.name : baseName(session.workingDirectory));
}

function Last({ session }: { session: Session }) {
  if (session.lastCommand === '') return <span class="quiet">no command yet</span>;
  const code = session.lastExitCode;
  const kind = code === undefined ? 'unknown' : code === 0 ? 'good' : 'bad';
  return (
    <>
      <span class={`chip ${kind}`}>{code ?? '?'}</span>
      <code>{named(session.lastCommand)}</code>
    </>
  );
}

function Branch({ name }: { name: string }) {
  return (
    <span class="branch" title={`on branch ${named(name)}`}>
      <svg viewBox="0 0 12 12" width="10" height="10" aria-hidden="true">
        <path d="M3 1v10M3 8c0-3 6-1 6-5V1" fill="none" stroke="currentColor" stroke-width="1.5" />
      </svg>
      <span class="sr-only">branch</span> {named(name)}
    </span>
  );
}

function Item({ shown, number }: { shown: Shown; number: number }) {
  const { session } = shown;
  const id = session.sessionId;
  const since = shown.runningSinceUnixMs;
  const state = session.running ? 'running' : session.busy ? 'waiting' : 'idle';
  return (
    <li>
      <button
        type="button"
        class="session"
        data-session={id}
        aria-current={selected.value === id ? 'true' : undefined}
        onClick={() => select(id)}
      >
        <span class="row">
          <span class={`dot ${state}`} aria-hidden="true" />
          <span class="title">{title(session)}</span>
          <span class="sr-only">{state}</span>
          {session.gitBranch !== '' && <Branch name={session.gitBranch} />}
          {hints.value && number <= NUMBERED_MAX && <kbd>{number}</kbd>}
        </span>
        <span class="row path" title={named(session.workingDirectory)}>{named(session.workingDirectory)}</span>
        <span class="row">
          {session.running ? (
            <>
              <code>{named(session.activeCommand)}</code>
              {since !== null && <span class="time">{duration(now.value - since)}</span>}
            </>
          ) : (
            <Last session={session} />
          )}
        </span>
        {session.processes.length > 0 && (
          <span class="row inside" title={session.processes.map(told).join('\n')}>
            {session.processes.slice(0, INSIDE_MAX).map((process) => (
              <code key={process.pid}>{named(process.command)}</code>
            ))}
            {session.processes.length > INSIDE_MAX && <span class="time">+{session.processes.length - INSIDE_MAX}</span>}
          </span>
        )}
        {session.quietReason !== '' && <span class="row path">{QUIET[session.quietReason] ?? session.quietReason}</span>}
      </button>
    </li>
  );
}

export function Sidebar() {
  const numbers = new Map(ordered.value.map((shown, at) => [shown.session.sessionId, at + 1]));
  return (
    <nav class={drawer.value ? 'sidebar open' : 'sidebar'} aria-label="Sessions">
      <div class="search">
        <input
          id="search"
          type="search"
          placeholder="Search sessions  /"
          aria-label="Search sessions"
          value={search.value}
          onInput={(event) => { search.value = event.currentTarget.value; }}
        />
        <button type="button" onClick={() => void newTerminal()}>New terminal</button>
      </div>
      <div class="list">
        {groups.value.map((group) => (
          <section key={group.title}>
            <h2>{named(group.title)}</h2>
            <ul>
              {group.members.map((shown) => (
                <Item
                  key={shown.session.sessionId}
                  shown={shown}
                  number={numbers.get(shown.session.sessionId) ?? 0}
                />
              ))}
            </ul>
          </section>
        ))}
        {groups.value.length === 0 && (
          <p class="quiet pad">{search.value === '' ? 'No session lives.' : 'None of them matches.'}</p>
        )}
        <button type="button" class="link pad" aria-expanded={ended.value !== null} onClick={() => void toggleEnded()}>
          {ended.value === null ? 'Show ended sessions' : 'Hide ended sessions'}
        </button>
        {ended.value !== null && (
          <ul>
            {ended.value.filter((session) => !sessions.value.has(session.sessionId)).map((session) => (
              <Item
                key={session.sessionId}
                shown={{ session, runningSinceUnixMs: null, isEphemeral: false, queued: 0 }}
                number={NUMBERED_MAX + 1}
              />
            ))}
          </ul>
        )}
      </div>
      <p class="foot quiet">Shellglass {version.value}</p>
    </nav>
  );
}
