// The messages of the contract that the page and the editor use, as protobuf-JSON
// has them, by the names that they have there.

import type {
  Approval as Contracted, CheckCommandResponse, Execution, ReadTextResponse, SearchMatch, SearchResponse, SearchResult, Session,
  SessionHistory,
} from './contract';

export type { Execution, SandboxPolicy, Session, ShellResult } from './contract';
/** A question; one whose command is too long to be told has only its beginning. */
export type Approval = Contracted & { isCut?: boolean };
export type Checked = CheckCommandResponse;
/** What was found is always an execution. */
export type Found = SearchResult & { execution: Execution };
export type History = SessionHistory;
export type Match = SearchMatch;
/** What a model reads of an execution. */
export type ModelText = ReadTextResponse;
export type Searched = SearchResponse & { results: Found[] };

/** A session as `/ws/events` tells of it. */
export interface Shown {
  session: Session;
  runningSinceUnixMs: number | null;
  isEphemeral: boolean;
  queued: number;
}
