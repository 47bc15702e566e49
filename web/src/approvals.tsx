// What waits for a person. It stands above everything else until it is answered.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { call } from './api';
import { Asked } from './asked';
import { duration, named, rightsInFull, visible } from './format';
import { approvals, complain, now, select, sessions } from './state';
import type { Approval, Checked } from './wire';

/** Questions that have a card; the others come up as these are answered. */
const CARDS_MAX = 20;

/** A card that has just appeared takes no answer: it may have moved under a click. */
const ARMED_AFTER_MS = 400;

type Scope = 'ONCE' | 'SESSION' | 'ALWAYS';

function useParts(approval: Approval) {
  const parts = useSignal<Checked | null>(null);
  useEffect(() => {
    if (approval.isCut === true) return;
    const request = { command: approval.command, workingDirectory: approval.workingDirectory };
    // Without its parts the command still stands there whole.
    call<Checked>('CheckCommand', request).then((checked) => { parts.value = checked; }, () => {});
  }, []);
  return parts;
}

function Parts({ checked }: { checked: Checked }) {
  const notes = [
    checked.parsingResult?.parsingFailed === true && 'could not be read as a whole',
    checked.hasInputRedirect && 'reads from a file',
    checked.hasOutputRedirect && 'writes to a file',
    checked.parsingResult?.hasCommandSubstitution === true && 'substitutes a command',
  ].filter((note) => note !== false);
  if (checked.simpleCommands.length < 2 && notes.length === 0) return null;
  return (
    <div>
      <dt>Runs</dt>
      <dd>
        <ul class="parts">
          {checked.simpleCommands.map((part, at) => <li key={at}><code>{visible(part)}</code></li>)}
        </ul>
        {notes.length > 0 && <span class="quiet">{notes.join(', ')}</span>}
      </dd>
    </div>
  );
}

function Card({ approval }: { approval: Approval }) {
  const message = useSignal('');
  const armed = useSignal(false);
  const sent = useSignal(false);
  const card = useRef<HTMLElement>(null);
  const parts = useParts(approval);
  useEffect(() => {
    const timer = setTimeout(() => { armed.value = true; }, ARMED_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  const isRead = useSignal(false);
  const isOff = !armed.value || sent.value;
  // Who has not seen all of it cannot mean it.
  const cannotAllow = isOff || !isRead.value;
  const answer = async (approve: boolean, scope: Scope) => {
    if (approve ? cannotAllow : isOff) return;
    sent.value = true;
    try {
      const { approvalId } = approval;
      const request = { approvalId, approve, reason: message.value, scope: `APPROVAL_SCOPE_${scope}` };
      await call('ResolveApproval', request);
    } catch (error) {
      complain(error);
      sent.value = false;
    }
  };
  const canRemember = approval.prefixes.length > 0;
  const keys: Record<string, () => void> = {
    o: () => void answer(true, 'ONCE'),
    s: () => void answer(true, 'SESSION'),
    w: () => { if (canRemember) void answer(true, 'ALWAYS'); },
    d: () => void answer(false, 'ONCE'),
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Letters are answers only where the card itself has the focus.
    if (event.target !== card.current || event.ctrlKey || event.altKey || event.metaKey) return;
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  const session = sessions.value.get(approval.sessionId)?.session;
  const left = Number(approval.deadlineUnixMs) - now.value;
  return (
    <article
      class="approval"
      ref={card}
      tabIndex={0}
      data-approval={approval.approvalId}
      aria-label={`Waits for you: ${named(approval.command)}`}
      onKeyDown={onKeyDown}
    >
      <Asked command={approval.command} parts={parts.value} isCut={approval.isCut === true} isRead={isRead} />
      <dl>
        <div><dt>Why</dt><dd>{named(approval.reason)}</dd></div>
        {parts.value !== null && <Parts checked={parts.value} />}
        <div><dt>Where</dt><dd><code>{visible(approval.workingDirectory)}</code></dd></div>
        <div><dt>Rights</dt><dd>{rightsInFull(approval.sandboxPolicy).join(' · ')}</dd></div>
        <div>
          <dt>Who</dt>
          <dd>
            {approval.askedBy === 'agent' ? 'an agent' : 'a person'}
            {approval.taskId !== '' && `, task ${visible(approval.taskId)}`},{' '}
            <button type="button" class="link" onClick={() => select(approval.sessionId)}>
              {named(session?.name || approval.sessionId)}
            </button>
          </dd>
        </div>
      </dl>
      <div class="answers">
        <button type="button" class="primary" disabled={cannotAllow} onClick={keys.o}>Allow once <kbd>o</kbd></button>
        <button type="button" disabled={cannotAllow} onClick={keys.s}>For this session <kbd>s</kbd></button>
        <button
          type="button"
          disabled={cannotAllow || !canRemember}
          title={canRemember ? 'Remembered as a rule' : 'No rule could stand for this command'}
          onClick={keys.w}
        >
          Always{canRemember && <> <code>{approval.prefixes.map(visible).join(', ')}</code></>} <kbd>w</kbd>
        </button>
        <input
          type="text"
          placeholder="A message for who asked"
          aria-label="A message for who asked"
          maxLength={1000}
          value={message.value}
          onInput={(event) => { message.value = event.currentTarget.value; }}
        />
        <button type="button" class="danger" disabled={isOff} onClick={keys.d}>Deny <kbd>d</kbd></button>
        {left > 0 && approval.deadlineUnixMs !== '0' && (
          <span class="quiet">denied by itself in {duration(left)}</span>
        )}
      </div>
    </article>
  );
}

/** Moves the focus to the first card. */
export function focusApprovals(): void {
  document.querySelector<HTMLElement>('.approval')?.focus();
}

export function Approvals() {
  const waiting = [...approvals.value.values()];
  waiting.sort((a, b) => Number(a.askedUnixMs) - Number(b.askedUnixMs));
  const count = waiting.length;
  useEffect(() => {
    document.title = count === 0 ? 'Shellglass' : `(${count}) Shellglass`;
  }, [count]);
  return (
    <section class="approvals" aria-label="Approvals" hidden={count === 0}>
      <h2>
        <span role="status">
          {count === 1 ? 'One command waits for you' : `${count} commands wait for you`}
        </span>
        <span class="quiet"> <kbd>Alt+A</kbd></span>
      </h2>
      <div class="cards">
        {waiting.slice(0, CARDS_MAX).map((approval) => <Card key={approval.approvalId} approval={approval} />)}
      </div>
      {count > CARDS_MAX && <p class="quiet pad">{count - CARDS_MAX} more come up as these are answered.</p>}
    </section>
  );
}
