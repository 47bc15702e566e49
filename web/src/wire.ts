// The messages of the contract that the page uses, as protobuf-JSON has them:
// 64-bit numbers are texts, and what is unset and optional is absent.

export interface Session {
  sessionId: string;
  name: string;
  mode: string;
  workingDirectory: string;
  shell: string;
  host: string;
  taskId: string;
  busy: boolean;
  running: boolean;
  activeCommand: string;
  gitBranch: string;
  createdUnixMs: string;
  lastActivityUnixMs: string;
  lastShellId: number;
  lastCommand: string;
  lastExitCode?: number;
  processes: { pid: number; command: string; source: string }[];
  quietReason: string;
  background: boolean;
  acceptsStdin: boolean;
}

export interface SandboxPolicy {
  type: string;
  networkAccess?: boolean;
  additionalReadwritePaths: string[];
  additionalReadonlyPaths: string[];
  blockGitWrites?: boolean;
  disableTmpWrite?: boolean;
}

export interface Execution {
  shellId: number;
  command: string;
  cwd: string;
  startIndex: string;
  endIndex?: string;
  exitCode?: number;
  signal: string;
  startedUnixMs: string;
  endedUnixMs?: string;
  sandboxPolicy?: SandboxPolicy;
  aborted: boolean;
  abortReason: string;
  rejected: string;
}

export interface History {
  executions: Execution[];
  cwd: string;
  firstIndex: string;
}

/** What a model reads of an execution. */
export interface ModelText {
  output: string;
  end: string;
  truncated: boolean;
  droppedBytes: string;
  running: boolean;
  markdown: string;
}

export interface Match {
  before: string;
  text: string;
  after: string;
}

export interface Found {
  execution: Execution;
  sessionId: string;
  sessionName: string;
  inCommand?: Match;
  inOutput: Match[];
  outputCut: boolean;
}

export interface Searched {
  results: Found[];
  nextBeforeShellId?: number;
  searchedExecutions: string;
  searchedBytes: string;
}

export interface Approval {
  approvalId: string;
  sessionId: string;
  command: string;
  reason: string;
  askedUnixMs: string;
  workingDirectory: string;
  sandboxPolicy?: SandboxPolicy;
  askedBy: string;
  taskId: string;
  deadlineUnixMs: string;
  prefixes: string[];
}

export interface Checked {
  decision: string;
  reasons: string[];
  simpleCommands: string[];
  hasInputRedirect: boolean;
  hasOutputRedirect: boolean;
  parsingResult?: { parsingFailed: boolean; hasCommandSubstitution: boolean };
}

/** A session as `/ws/events` tells of it. */
export interface Shown {
  session: Session;
  runningSinceUnixMs: number | null;
  isEphemeral: boolean;
  queued: number;
}
