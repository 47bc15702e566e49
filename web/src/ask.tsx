// What a program wants of the person: an answer, input, or the clipboard.

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { call } from './api';
import { visible } from './format';
import { complain, mention } from './state';
import type { Offer, Question } from './terminal';

interface AskProps {
  question: Question;
  writes: boolean;
  onAnswer(text: string): void;
  onTake(): void;
  onLeave(): void;
}

/**
 * A field for the answer to a question. What is typed into it is kept nowhere: it
 * goes to the terminal when Enter is pressed, and the field is emptied.
 */
export function Ask({ question, writes, onAnswer, onTake, onLeave }: AskProps) {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    if (field.current === null) return;
    onAnswer(field.current.value);
    field.current.value = '';
    onLeave();
  };
  const words = visible(question.text) || (question.isHidden ? 'Something secret is asked for' : 'It asks');
  return (
    <form class="ask above" aria-label="A question" onSubmit={submit}>
      {writes ? <label for="answer">{words}</label> : <span>{words}</span>}
      {writes ? (
        <>
          {question.isHidden
            ? <input key="hidden" id="answer" ref={field} type="password" autocomplete="off" />
            : <input key="shown" id="answer" ref={field} type="text" autocomplete="off" autocapitalize="off" spellcheck={false} />}
          <button type="submit" class="primary">Answer</button>
          {question.isHidden && <span class="quiet">goes to the terminal and nowhere else</span>}
        </>
      ) : (
        <button type="button" onClick={onTake}>Take the keyboard to answer</button>
      )}
    </form>
  );
}

/** A field for what a background command reads. */
export function Feed({ shellId }: { shellId: number }) {
  const field = useRef<HTMLInputElement>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    const chars = `${field.current?.value ?? ''}\n`;
    if (field.current !== null) field.current.value = '';
    try {
      const answer = await call<{ error?: { error: string } }>('WriteStdin', { shellId, chars });
      if (answer.error !== undefined) complain(new Error(answer.error.error));
    } catch (error) {
      complain(error);
    }
  };
  return (
    <form class="ask" aria-label="Input" onSubmit={(event) => void submit(event)}>
      <label for="feed">Its input</label>
      <input id="feed" ref={field} type="text" autocomplete="off" autocapitalize="off" spellcheck={false} />
      <button type="submit">Send a line</button>
    </form>
  );
}

/** What a program wants on the clipboard, until that is used or dismissed. */
export function useOffer() {
  const offer = useSignal<Offer | null>(null);
  const copy = async (text: string) => {
    await navigator.clipboard.writeText(text);
    mention(`The terminal copied ${text.length} characters.`);
  };
  return {
    offer,
    /** A terminal of one's own copies at once, and says so; others have to be allowed to. */
    make(made: Offer, isOwn: boolean) {
      if (!isOwn) {
        offer.value = made;
        return;
      }
      copy(made.text).catch(() => { offer.value = made; });
    },
    dismiss(): boolean {
      const was = offer.value !== null;
      offer.value = null;
      return was;
    },
    use() {
      const made = offer.value;
      offer.value = null;
      if (made !== null) copy(made.text).catch(complain);
    },
  };
}

export function OfferButton({ offer }: { offer: ReturnType<typeof useOffer> }) {
  const made = offer.offer.value;
  if (made === null) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') offer.dismiss();
  };
  return (
    <div class="offer" style={{ left: `min(${made.left}px, 100% - 18rem)`, top: `min(${made.top}px, 100% - 3rem)` }} onKeyDown={onKeyDown}>
      <button type="button" class="primary" onClick={() => offer.use()}>Copy to clipboard</button>
      <button type="button" onClick={() => offer.dismiss()}>Dismiss <kbd>Esc</kbd></button>
    </div>
  );
}
