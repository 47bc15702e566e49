// A client of `shellglass mcp`: what the editor's models are given is what every
// other agent is given, with an agent's rights.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

/** The longest line that the server may say, in characters. */
const LINE_CHARS_MAX = 8 << 20;

/** What a tool answers. */
export interface ToolAnswer {
  content: { type: string; text?: string }[];
  isError?: boolean;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class McpClient {
  private child: ChildProcessWithoutNullStreams | null = null;
  private ready: Promise<unknown> | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private next = 1;

  /** Begins in a directory when it is first used, and again when it has ended. */
  constructor(
    private readonly binary: () => string,
    private readonly directory: () => string | undefined,
    private readonly version: string,
    private readonly variables: () => Record<string, string> = () => ({}),
  ) {}

  /** Calls a tool. An abort cancels the call, and the command with it. */
  async call(name: string, args: object, signal?: AbortSignal): Promise<ToolAnswer> {
    await this.begin();
    return (await this.ask('tools/call', { name, arguments: args }, signal)) as ToolAnswer;
  }

  /** What there is. */
  async tools(): Promise<{ name: string; inputSchema: { properties?: object } }[]> {
    await this.begin();
    return ((await this.ask('tools/list', {})) as { tools: [] }).tools;
  }

  close(): void {
    this.child?.stdin.end();
  }

  private begin(): Promise<unknown> {
    this.ready ??= this.start();
    return this.ready;
  }

  private async start(): Promise<void> {
    const cwd = this.directory();
    const env = { ...process.env, ...this.variables() };
    const child = spawn(this.binary(), ['mcp'], { ...(cwd === undefined ? {} : { cwd }), env, stdio: 'pipe' });
    this.child = child;
    let held = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      held += text;
      const lines = held.split('\n');
      held = lines.pop() ?? '';
      if (held.length > LINE_CHARS_MAX) child.kill();
      for (const line of lines) this.told(line);
    });
    child.stderr.resume();
    child.stdin.on('error', () => child.kill());
    child.on('error', (error) => this.lost(child, error));
    child.on('exit', () => this.lost(child, new Error('shellglass mcp has ended')));
    await this.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'shellglass-vscode', version: this.version },
    });
    this.send({ method: 'notifications/initialized' });
  }

  private lost(child: ChildProcessWithoutNullStreams, error: Error): void {
    if (this.child !== child) return;
    this.child = null;
    this.ready = null;
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  private send(message: object): void {
    this.child?.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  private ask(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    const id = this.next;
    this.next += 1;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(new Error('cancelled'));
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
      signal?.addEventListener('abort', () => {
        if (!this.waiting.delete(id)) return;
        this.send({ method: 'notifications/cancelled', params: { requestId: id } });
        reject(new Error('cancelled'));
      }, { once: true });
    });
  }

  private told(line: string): void {
    let message: { id?: number; result?: unknown; error?: { message: string }; method?: string };
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    // We offer nothing that a server could ask for.
    if (message.method !== undefined || message.id === undefined) return;
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error !== undefined) waiting?.reject(new Error(message.error.message));
    else waiting?.resolve(message.result);
  }
}
