// What a view is called, with the icon by which one knows that it only shows.

import { named } from './format';
import type { Name } from './terminal';

/** What stands for a terminal that takes keys. */
const PROMPT = 'M2 3l3 3-3 3M6 9.5h4';
/** An eye: somebody looks, and does nothing. */
const EYE = 'M1 6c2-4 8-4 10 0-2 4-8 4-10 0zM6 4.6a1.4 1.4 0 1 0 .01 0z';

export function Named({ name, beside }: { name: Name; beside: string }) {
  const only = name.icon === 'eye';
  // What stands beside it is not said twice.
  const text = name.text === beside ? '' : named(name.text);
  return (
    <span class="named" data-icon={name.icon} title={named(name.text)}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        <path d={only ? EYE : PROMPT} fill="none" stroke="currentColor" stroke-width="1.2" />
      </svg>
      <span class="sr-only">{only ? 'only shows' : 'terminal'}</span>
      {text !== '' && <code>{text}</code>}
    </span>
  );
}
