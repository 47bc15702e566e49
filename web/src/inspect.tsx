// One execution, closely: what it wrote, and what a model reads of it.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import {
  type Purpose, copyCommand, copyMarkdown, copyOutput, modelText, rawOutput, rerun, wholeCommand,
} from './acts';
import { Dialog } from './dialog';
import { duration, ending, moment, named, rightsInFull, visible } from './format';
import { Sheet } from './sheet';
import { complain, inspected, now, sessions } from './state';
import type { Execution, ModelText } from './wire';

/** A command that runs is looked at again after so long. */
const AGAIN_MS = 1000;

/** Characters of the command that are shown. */
const COMMAND_CHARS_MAX = 100_000;

const PURPOSES: { purpose: Purpose; title: string; key: string }[] = [
  { purpose: 'context', title: 'Add to context', key: 'a' },
  { purpose: 'fix', title: 'Fix', key: 'f' },
  { purpose: 'explain', title: 'Explain', key: 'e' },
];

/** Both texts, read again while the command runs. */
function useTexts(shellId: number) {
  const model = useSignal<ModelText | null>(null);
  const raw = useSignal<{ text: string; isCut: boolean } | null>(null);
  useEffect(() => {
    let timer = 0;
    let isClosed = false;
    const read = async () => {
      try {
        const [text, output] = await Promise.all([modelText(shellId), rawOutput(shellId)]);
        if (isClosed) return;
        model.value = text;
        raw.value = output;
        if (text.running) timer = setTimeout(() => void read(), AGAIN_MS);
      } catch (error) {
        complain(error);
      }
    };
    void read();
    return () => {
      isClosed = true;
      clearTimeout(timer);
    };
  }, [shellId]);
  return { model, raw };
}

function Raw({ text }: { text: string }) {
  const element = useRef<HTMLDivElement>(null);
  const sheet = useRef<Sheet | null>(null);
  useEffect(() => {
    if (element.current === null) return;
    const opened = new Sheet(element.current);
    sheet.current = opened;
    return () => opened.close();
  }, []);
  useEffect(() => sheet.current?.show(text), [text]);
  return <div class="sheet" ref={element} role="region" aria-label="What it wrote" />;
}

/** The command, to as many characters as anybody reads; copying it has them all. */
function useCommand(sessionId: string, execution: Execution) {
  const command = useSignal(execution.command);
  useEffect(() => {
    wholeCommand(sessionId, execution).then((whole) => { command.value = whole; }, complain);
  }, [execution.shellId]);
  const left = command.value.length - COMMAND_CHARS_MAX;
  const shown = visible(command.value.slice(0, COMMAND_CHARS_MAX));
  return left <= 0 ? shown : `${shown}… (${left} more characters)`;
}

function Closely({ sessionId, execution }: { sessionId: string; execution: Execution }) {
  const { model, raw } = useTexts(execution.shellId);
  const command = useCommand(sessionId, execution);
  const close = () => { inspected.value = null; };
  const started = Number(execution.startedUnixMs);
  const until = execution.endedUnixMs === undefined ? now.value : Number(execution.endedUnixMs);
  const canRun = sessions.value.has(sessionId) && execution.rejected === '';
  const again = () => {
    close();
    void rerun(sessionId, execution);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const chosen = PURPOSES.find(({ key }) => key === event.key);
    if (chosen !== undefined) void copyMarkdown(execution, chosen.purpose);
    else if (event.key === 'r' && !event.repeat && canRun) again();
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="A command closely" class="closely" onClose={close}>
      <div class="closely-body" onKeyDown={onKeyDown}>
        <header>
          <h1>What the model saw</h1>
          <button type="button" onClick={close}>Close <kbd>Esc</kbd></button>
        </header>
        <pre class="asked" tabIndex={0}>{command}</pre>
        <p class="facts">
          <span class={`chip ${ending(execution)}`}>{model.value?.end ?? '…'}</span>
          <span>{moment(started, now.value)}</span>
          <span>{duration(until - started)}</span>
          <span class="path">{named(execution.cwd)}</span>
          <span>{rightsInFull(execution.sandboxPolicy).join(', ')}</span>
        </p>
        <p class="acts">
          {PURPOSES.map(({ purpose, title, key }) => (
            <button key={purpose} type="button" onClick={() => void copyMarkdown(execution, purpose)}>
              {title} <kbd>{key}</kbd>
            </button>
          ))}
          <button type="button" onClick={() => void copyCommand(sessionId, execution)}>Copy command</button>
          <button type="button" onClick={() => void copyOutput(execution)}>Copy output</button>
          {canRun && (
            <button type="button" onClick={again}>Run again <kbd>r</kbd></button>
          )}
        </p>
        <div class="beside">
          <section>
            <h2>What it wrote{raw.value?.isCut === true && ' (the first MiB)'}</h2>
            <Raw text={raw.value?.text ?? ''} />
          </section>
          <section>
            <h2>What a model reads{model.value?.truncated === true && ' (shortened)'}</h2>
            <pre class="model" tabIndex={0}>
              {model.value === null ? '…' : `${model.value.output || '(no output)\n'}[${model.value.end}]`}
            </pre>
          </section>
        </div>
      </div>
    </Dialog>
  );
}

export function Inspector() {
  const at = inspected.value;
  if (at === null) return null;
  return <Closely key={at.execution.shellId} sessionId={at.sessionId} execution={at.execution} />;
}
