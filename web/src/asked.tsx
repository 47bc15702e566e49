// The command that somebody asks about, such that it is read before it is allowed.

import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { visible } from './format';
import type { Checked } from './wire';

/** How near to its end a command counts as read, in pixels. */
const END_PX = 4;

/** A part of a command: a program that it would run, or what is between two of them. */
interface Piece {
  text: string;
  isProgram: boolean;
}

/** What is shown of the command in pieces, in order and with nothing left out. */
function pieces(shown: string, checked: Checked | null): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  for (const part of checked?.parsingResult?.executableCommands ?? []) {
    const [name, whole] = [visible(part.name), visible(part.fullText)];
    // What was read may be spelled otherwise; then it is not marked.
    const begins = shown.indexOf(whole, at);
    const from = begins < 0 ? -1 : shown.indexOf(name, begins);
    if (name === '' || from < 0 || from >= begins + whole.length) continue;
    found.push({ text: shown.slice(at, from), isProgram: false }, { text: name, isProgram: true });
    at = from + name.length;
  }
  return [...found, { text: shown.slice(at), isProgram: false }];
}

interface Props {
  command: string;
  parts: Checked | null;
  isCut: boolean;
  /** Whether all of it has been on the screen. */
  isRead: Signal<boolean>;
}

export function Asked({ command, parts, isCut, isRead }: Props) {
  const element = useRef<HTMLPreElement>(null);
  const look = () => {
    const shown = element.current;
    if (shown === null || isCut || shown.clientHeight === 0) return;
    if (shown.scrollTop + shown.clientHeight >= shown.scrollHeight - END_PX) isRead.value = true;
  };
  useEffect(() => {
    look();
    if (element.current === null) return;
    const observer = new ResizeObserver(look);
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const shown = visible(command);
  return (
    <>
      <pre class="asked" ref={element} tabIndex={0} aria-label="The command" onScroll={look}>
        <code>
          {pieces(shown, parts).map(({ text, isProgram }, at) => (
            isProgram ? <b class="program" key={at}>{text}</b> : <span key={at}>{text}</span>
          ))}
        </code>
      </pre>
      {isCut && (
        <p class="unread" role="note">
          It is too long to be shown, so it cannot be allowed here. <code>shellglass approvals</code> has all of it.
        </p>
      )}
      {!isCut && !isRead.value && (
        <p class="unread" role="note">
          There is more of it: scroll to its end before you allow it.
        </p>
      )}
    </>
  );
}
