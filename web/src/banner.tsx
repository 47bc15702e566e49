// What is wrong with the connection, calmly.

import { now, notice, retry, standing, toast } from './state';

export function Banner() {
  const at = standing.value;
  const words = () => {
    switch (at.kind) {
      case 'waiting':
        return `The daemon does not answer. Trying again in ${Math.max(0, Math.ceil((at.until - now.value) / 1000))} s…`;
      case 'connecting':
        return at.again ? 'The daemon does not answer. Trying again…' : null;
      case 'lost':
        return 'The daemon does not answer.';
      default:
        return null;
    }
  };
  const text = words();
  return (
    <div role="status" aria-live="polite">
      {text !== null && (
        <div class="banner">
          <span>{text}</span>
          <button type="button" onClick={retry}>Try now</button>
        </div>
      )}
      {notice.value !== null && (
        <div class="banner bad">
          <span>{notice.value}</span>
          <button type="button" onClick={() => { notice.value = null; }}>Dismiss</button>
        </div>
      )}
    </div>
  );
}

/** What went well, for a moment. It stands in whatever has the keyboard. */
export function Toast() {
  return <div class="toast" role="status" aria-live="polite">{toast.value}</div>;
}
