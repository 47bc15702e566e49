// Reads an asciicast (version 2) while it comes.

/** Pauses are shortened to this, in seconds. */
const PAUSE_MAX = 2;

/** Characters of a recording that are kept; of more, the beginning is shown. */
const CHARS_MAX = 32 << 20;

export interface Frame {
  /** When, in seconds from the beginning, with pauses shortened. */
  at: number;
  data: string;
}

export interface Mark {
  at: number;
  /** What begins. */
  label: string;
  /** How many frames come before. */
  frame: number;
}

export interface Cast {
  cols: number;
  rows: number;
  frames: Frame[];
  marks: Mark[];
  length: number;
  isCut: boolean;
}

/** Reads lines and makes a recording of them. */
export class CastReader {
  readonly cast: Cast = { cols: 80, rows: 30, frames: [], marks: [], length: 0, isCut: false };
  private rest = '';
  private chars = 0;
  private hasHeader = false;
  private last = 0;

  /** Takes the next piece of text; says whether there is room for more. */
  push(text: string): boolean {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') this.line(JSON.parse(line));
      this.chars += line.length;
      if (this.chars > CHARS_MAX) {
        this.cast.isCut = true;
        return false;
      }
    }
    return true;
  }

  private line(value: unknown): void {
    const { cast } = this;
    if (!this.hasHeader) {
      this.hasHeader = true;
      const { width, height } = value as { width: number; height: number };
      cast.cols = width;
      cast.rows = height;
      return;
    }
    const [time, kind, data] = value as [number, string, string];
    // What happened before the first command is not worth waiting for.
    const passed = this.last === 0 ? 0 : Math.max(0, time - this.last);
    this.last = time;
    cast.length += Math.min(PAUSE_MAX, passed);
    if (kind === 'm') cast.marks.push({ at: cast.length, label: data, frame: cast.frames.length });
    if (kind === 'o') cast.frames.push({ at: cast.length, data });
  }
}

/** Reads a recording to its end, or as far as there is room. */
export async function readCast(response: Response, signal: AbortSignal): Promise<Cast> {
  const reader = new CastReader();
  const stream = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (stream !== undefined && !signal.aborted) {
    const { done, value } = await stream.read();
    if (done) break;
    if (!reader.push(value)) {
      await stream.cancel();
      break;
    }
  }
  return reader.cast;
}
