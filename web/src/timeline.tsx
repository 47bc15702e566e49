// The commands of a session, from the newest on.

import { useSignal } from '@preact/signals';
import { cancel, copyCommand, copyMarkdown, copyOutput, rerun } from './acts';
import { clipped, duration, ending, explained, moment, named, rights, rightsInFull, visible } from './format';
import { inspected, now, sessions } from './state';
import type { Execution } from './wire';

/** Commands that are shown; the terminal has the others. */
const SHOWN_MAX = 300;

interface EntryProps {
  sessionId: string;
  execution: Execution;
  onReveal?: (() => void) | undefined;
}

function Entry({ sessionId, execution, onReveal }: EntryProps) {
  const inspect = () => { inspected.value = { sessionId, execution }; };
  const kind = ending(execution);
  const started = Number(execution.startedUnixMs);
  const until = execution.endedUnixMs === undefined ? now.value : Number(execution.endedUnixMs);
  return (
    <li class={`entry ${kind}`} data-shell={execution.shellId}>
      <button
        type="button"
        class="command"
        title={onReveal === undefined ? 'Look at it closely' : 'Show it in the terminal'}
        onClick={onReveal ?? inspect}
      >
        <code>{visible(clipped(execution.command))}{execution.commandCut && '…'}</code>
      </button>
      <span class="facts">
        <span class={`chip ${kind}`}>{named(explained(execution))}</span>
        <time dateTime={new Date(started).toISOString()}>{moment(started, now.value)}</time>
        <span>{duration(until - started)}</span>
        <span class="badge" title={rightsInFull(execution.sandboxPolicy).join('\n')}>
          {rights(execution.sandboxPolicy)}
        </span>
      </span>
      <span class="acts">
        <button type="button" onClick={inspect}>What the model saw</button>
        {kind === 'bad' && (
          <button type="button" onClick={() => void copyMarkdown(execution, 'fix')}>Fix</button>
        )}
        {kind !== 'running' && execution.rejected === '' && execution.spawnError === '' && sessions.value.has(sessionId) && (
          <button type="button" onClick={() => void rerun(sessionId, execution)}>Run again</button>
        )}
        <button type="button" onClick={() => void copyCommand(sessionId, execution)}>Copy command</button>
        <button type="button" onClick={() => void copyOutput(execution)}>Copy output</button>
        {kind === 'running' && (
          <button type="button" class="danger" onClick={() => void cancel(execution)}>Cancel</button>
        )}
      </span>
    </li>
  );
}

interface Props {
  sessionId: string;
  executions: Execution[];
  /** Shows a command, counted from the last; without, it is looked at closely. */
  onReveal?(fromLast: number): void;
}

export function Timeline({ sessionId, executions, onReveal }: Props) {
  const failed = useSignal(false);
  // What did not run is nowhere in the terminal.
  let shown = 0;
  const newest = [...executions].reverse().map((execution) => {
    const ran = execution.rejected === '' && execution.spawnError === '';
    return { execution, fromLast: ran ? shown++ : undefined };
  });
  const wanted = newest.filter(({ execution }) => !failed.value || ending(execution) === 'bad');
  return (
    <aside class="timeline" aria-label="Commands">
      <div class="head">
        <h2>Commands</h2>
        <label>
          <input
            type="checkbox"
            checked={failed.value}
            onChange={(event) => { failed.value = event.currentTarget.checked; }}
          />
          failed only
        </label>
      </div>
      <ol reversed>
        {wanted.slice(0, SHOWN_MAX).map(({ execution, fromLast }) => (
          <Entry key={execution.shellId} sessionId={sessionId} execution={execution} onReveal={onReveal === undefined || fromLast === undefined ? undefined : () => onReveal(fromLast)} />
        ))}
      </ol>
      {wanted.length === 0 && <p class="quiet pad">{failed.value ? 'None has failed.' : 'None has run yet.'}</p>}
      {wanted.length > SHOWN_MAX && <p class="quiet pad">Older ones are not listed; a search finds them.</p>}
    </aside>
  );
}
