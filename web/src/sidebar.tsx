// All sessions, and what each of them does.

import { baseName, duration } from './format';
import {
  drawer, ended, groups, hints, newTerminal, now, ordered, search, select, selected, toggleEnded, version,
} from './state';
import type { Session, Shown } from './wire';

/** Sessions that have a number. */
const NUMBERED_MAX = 9;

function title(session: Session): string {
  return session.name !== '' ? session.name : baseName(session.workingDirectory);
}

function Last({ session }: { session: Session }) {
  if (session.lastCommand === '') return <span class="quiet">no command yet</span>;
  const code = session.lastExitCode;
  const kind = code === undefined ? 'unknown' : code === 0 ? 'good' : 'bad';
  return (
    <>
      <span class={`chip ${kind}`}>{code ?? '?'}</span>
      <code>{session.lastCommand}</code>
    </>
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
          {session.gitBranch !== '' && <span class="branch">⎇ {session.gitBranch}</span>}
          {hints.value && number <= NUMBERED_MAX && <kbd>{number}</kbd>}
        </span>
        <span class="row path" title={session.workingDirectory}>{session.workingDirectory}</span>
        <span class="row">
          {session.running ? (
            <>
              <code>{session.activeCommand}</code>
              {since !== null && <span class="time">{duration(now.value - since)}</span>}
            </>
          ) : (
            <Last session={session} />
          )}
        </span>
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
            <h2>{group.title}</h2>
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
            {ended.value.map((session) => (
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
