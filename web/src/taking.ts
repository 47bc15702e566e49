// What is taken of an execution: for the clipboard, or for a model. The page and
// the editor share it, so it is told how a method is called.

import type { Methods, ReadTextResponse } from './contract';

/** Output that is copied at most, in bytes. */
const COPIED_BYTES_MAX = 1 << 20;

/** What a command is handed to a model for. */
export type Purpose = 'context' | 'fix' | 'explain';

/** A message of which only what is wanted has to be said. */
export type Sparse<T> = T extends (infer Item)[]
  ? Sparse<Item>[]
  : T extends object
    ? { [Key in keyof T]?: Sparse<T[Key]> }
    : T;

/** Calls a method of the service. */
export type Call = <Name extends keyof Methods & string>(
  method: Name,
  request: Sparse<Methods[Name]['request']>,
) => Promise<Methods[Name]['answer']>;

/** The output as it was written, without secrets, and whether there is more. */
export async function rawOutput(call: Call, shellId: number): Promise<{ text: string; isCut: boolean }> {
  const answer = await call('ReadOutput', { shellId, offset: '0', maxBytes: String(COPIED_BYTES_MAX) });
  const rest = { shellId, offset: answer.nextOffset, maxBytes: '1' };
  const isCut = answer.output !== '' && (await call('ReadOutput', rest)).nextOffset !== answer.nextOffset;
  return { text: answer.output, isCut };
}

/** What to call that. */
export function outputName(isCut: boolean): string {
  return isCut ? 'The first MiB of the output' : 'Output';
}

/** What a model reads of it; with a purpose, also as Markdown for that. */
export function modelText(call: Call, shellId: number, markdownFor: Purpose | '' = ''): Promise<ReadTextResponse> {
  return call('ReadText', { shellId, markdownFor });
}
