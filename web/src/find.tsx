// Looking for a text in everything that ran.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { call } from './api';
import { Dialog } from './dialog';
import { baseName, ending, explained, moment, named, visible } from './format';
import { finding, inspected, now, select } from './state';
import type { Found, Match, Searched } from './wire';

/** What is typed within this time is looked for as one. */
const REST_MS = 200;

/** Results that are looked for at once. */
const WANTED = 20;

/** Calls that are made at once before a person is asked whether to go on. */
const CALLS_MAX = 5;

interface Progress {
  results: Found[];
  next: number | undefined;
  looked: number;
  isBusy: boolean;
  failure: string | null;
}

const NOTHING: Progress = { results: [], next: undefined, looked: 0, isBusy: false, failure: null };

/** A search that is replaced by the next one. */
function useSearch() {
  const progress = useSignal(NOTHING);
  const current = useRef(0);
  const go = async (text: string, isRegex: boolean, from: Progress) => {
    const own = (current.current += 1);
    let at: Progress = { ...from, isBusy: true, failure: null };
    progress.value = at;
    const enough = at.results.length + WANTED;
    try {
      for (let calls = 0; calls < CALLS_MAX && at.results.length < enough; calls += 1) {
        const request = { text, isRegex, maxResults: WANTED, beforeShellId: at.next ?? 0 };
        const answer = await call<Searched>('Search', request);
        if (current.current !== own) return;
        at = {
          ...at,
          results: [...at.results, ...answer.results],
          next: answer.nextBeforeShellId,
          looked: at.looked + Number(answer.searchedExecutions),
        };
        progress.value = at;
        if (at.next === undefined) break;
      }
      progress.value = { ...at, isBusy: false };
    } catch (error) {
      if (current.current !== own) return;
      progress.value = { ...at, isBusy: false, failure: error instanceof Error ? error.message : String(error) };
    }
  };
  const stop = () => {
    current.current += 1;
    progress.value = NOTHING;
  };
  return { progress, go, stop };
}

function Marked({ match }: { match: Match }) {
  return (
    <code>{visible(match.before)}<mark>{visible(match.text)}</mark>{visible(match.after)}</code>
  );
}

function Result({ found, isChosen, onOpen }: { found: Found; isChosen: boolean; onOpen(): void }) {
  const { execution } = found;
  const item = useRef<HTMLButtonElement>(null);
  useEffect(() => { if (isChosen) item.current?.scrollIntoView({ block: 'nearest' }); }, [isChosen]);
  const started = Number(execution.startedUnixMs);
  return (
    <li>
      <button ref={item} type="button" class={isChosen ? 'found chosen' : 'found'} data-shell={execution.shellId} onClick={onOpen}>
        {found.inCommand === undefined
          ? <code>{visible(execution.command.slice(0, 200))}</code>
          : <Marked match={found.inCommand} />}
        {found.inOutput.map((match, at) => <span class="line" key={at}><Marked match={match} /></span>)}
        <span class="facts">
          <span class={`chip ${ending(execution)}`}>{named(explained(execution))}</span>
          <span>{named(found.sessionName || baseName(execution.cwd))}</span>
          <span>{moment(started, now.value)}</span>
          {found.outputCut && <span>only its first and last 8 MiB were searched</span>}
        </span>
      </button>
    </li>
  );
}

function summary(at: Progress): string {
  if (at.failure !== null) return at.failure;
  const found = at.results.length === 0 ? 'Nothing found' : `${at.results.length} found`;
  const looked = `in ${at.looked} ${at.looked === 1 ? 'command' : 'commands'}`;
  return at.isBusy ? `${found} ${looked} so far…` : `${found} ${looked}${at.next === undefined ? '.' : '; there are older ones.'}`;
}

export function Find() {
  const text = useSignal('');
  const isRegex = useSignal(false);
  const chosen = useSignal(0);
  const { progress, go, stop } = useSearch();
  const close = () => { finding.value = false; };
  useEffect(() => {
    chosen.value = 0;
    stop();
    if (text.value === '') return;
    const timer = setTimeout(() => void go(text.value, isRegex.value, NOTHING), REST_MS);
    return () => clearTimeout(timer);
  }, [text.value, isRegex.value]);
  const results = progress.value.results;
  const open = (found: Found | undefined) => {
    if (found === undefined) return;
    close();
    select(found.sessionId);
    inspected.value = { sessionId: found.sessionId, execution: found.execution };
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) chosen.value = Math.max(0, Math.min(results.length - 1, chosen.value + by));
    else if (event.key === 'Enter') open(results[chosen.value]);
    // A field for searching would only be emptied.
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Search history" class="find" onClose={close}>
      <div class="find-head">
        <input
          type="search"
          autofocus
          aria-label="Search commands and output"
          placeholder="Search all commands and their output"
          value={text.value}
          onInput={(event) => { text.value = event.currentTarget.value; }}
          onKeyDown={onKeyDown}
        />
        <label>
          <input
            type="checkbox"
            checked={isRegex.value}
            onChange={(event) => { isRegex.value = event.currentTarget.checked; }}
          />
          regular expression
        </label>
        <button type="button" onClick={close}>Close <kbd>Esc</kbd></button>
      </div>
      <p class="quiet" role="status">
        {text.value === '' ? '↑ and ↓ choose, Enter opens.' : summary(progress.value)}
      </p>
      <ol>
        {results.map((found, at) => (
          <Result
            key={found.execution.shellId}
            found={found}
            isChosen={at === chosen.value}
            onOpen={() => open(found)}
          />
        ))}
      </ol>
      {!progress.value.isBusy && progress.value.next !== undefined && (
        <button type="button" onClick={() => void go(text.value, isRegex.value, progress.value)}>Search older ones</button>
      )}
    </Dialog>
  );
}
