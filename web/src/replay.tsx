// A session once more, from its first command on, with a scrubber that stops at
// commands.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { recording } from './api';
import { type Cast, readCast } from './cast';
import { duration, named } from './format';
import { Sheet } from './sheet';
import { complain, mention } from './state';

/** A scrubber that is let go so near to a command stops there, as a part of the whole. */
const SNAP = 0.015;

const SPEEDS = [1, 2, 4, 16];

/** Characters of a command that a screen reader is told. */
const LABEL_CHARS_MAX = 80;

/** Shows a recording at a moment. */
class Player {
  private shown = 0;

  constructor(private readonly sheet: Sheet, private readonly cast: Cast) {}

  /** Everything up to a moment, commands that begin then included. */
  seek(at: number): void {
    const { frames } = this.cast;
    let end = this.shown;
    if (end > 0 && (frames[end - 1]?.at ?? 0) > at) {
      end = 0;
      this.sheet.show('');
      this.shown = 0;
    }
    while (end < frames.length && (frames[end]?.at ?? 0) <= at) end += 1;
    if (end > this.shown) this.sheet.append(frames.slice(this.shown, end).map((frame) => frame.data).join(''));
    this.shown = end;
  }
}

/** Loads a recording once. */
function useCast(id: string) {
  const cast = useSignal<Cast | null>(null);
  useEffect(() => {
    const gone = new AbortController();
    recording(id, gone.signal)
      .then((response) => readCast(response, gone.signal))
      .then((read) => { cast.value = read; })
      .catch((error: unknown) => { if (!gone.signal.aborted) complain(error); });
    return () => gone.abort();
  }, []);
  return cast;
}

/** Offers a session as a file. */
export async function exportCast(id: string): Promise<void> {
  try {
    const response = await recording(id, new AbortController().signal);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await response.blob());
    link.download = `${id}.cast`;
    link.click();
    URL.revokeObjectURL(link.href);
    mention('Exported as an asciicast.');
  } catch (error) {
    complain(error);
  }
}

function Scrubber({ cast, at, onSeek }: { cast: Cast; at: number; onSeek(at: number): void }) {
  const { marks, length } = cast;
  const index = marks.findLastIndex((mark) => mark.at <= at);
  const to = (mark: number) => onSeek(marks[Math.max(0, Math.min(marks.length - 1, mark))]?.at ?? 0);
  const snapped = (value: number) => {
    const near = marks.filter((mark) => Math.abs(mark.at - value) <= SNAP * length);
    near.sort((a, b) => Math.abs(a.at - value) - Math.abs(b.at - value));
    return near[0]?.at ?? value;
  };
  // Several commands may begin at one moment, and a step must leave it.
  const before = () => marks.findLastIndex((mark) => mark.at < at);
  const after = () => {
    const next = marks.findIndex((mark) => mark.at > at);
    return next < 0 ? null : next;
  };
  const onward = () => {
    const next = after();
    if (next === null) onSeek(length);
    else to(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowLeft') to(before());
    else if (event.key === 'ArrowRight') onward();
    else return;
    event.preventDefault();
  };
  const label = marks[index]?.label.slice(0, LABEL_CHARS_MAX) ?? 'the beginning';
  return (
    <>
      <button type="button" aria-label="Previous command" onClick={() => to(before())}>‹</button>
      <button type="button" aria-label="Next command" onClick={onward}>›</button>
      <span class="scrubber">
        <span class="ticks" aria-hidden="true">
          {marks.map((mark, n) => <i key={n} style={{ left: `${(100 * mark.at) / (length || 1)}%` }} />)}
        </span>
        <input
          type="range"
          min="0"
          max={length}
          step="any"
          value={at}
          aria-label="Moment"
          aria-valuetext={`command ${index + 1} of ${marks.length}: ${label}`}
          onInput={(event) => onSeek(snapped(Number(event.currentTarget.value)))}
          onKeyDown={onKeyDown}
        />
      </span>
      <span class="time">{duration(at * 1000)} of {duration(length * 1000)}</span>
    </>
  );
}

/** Moves on while it plays; says where, and stops at commands if that is wanted. */
function usePlaying(cast: Cast, seek: (at: number) => void) {
  const at = useSignal(0);
  const isPlaying = useSignal(false);
  const speed = useSignal(1);
  const stops = useSignal(false);
  const go = (to: number) => {
    at.value = to;
    seek(to);
  };
  useEffect(() => {
    if (!isPlaying.value) return;
    let last = performance.now();
    let frame = 0;
    const tick = (now: number) => {
      const wanted = at.value + ((now - last) / 1000) * speed.value;
      last = now;
      const mark = cast.marks.find((it) => it.at > at.value && it.at <= wanted);
      const to = Math.min(cast.length, stops.value && mark !== undefined ? mark.at : wanted);
      go(to);
      if (to >= cast.length || (stops.value && mark !== undefined)) isPlaying.value = false;
      else frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying.value, speed.value, stops.value]);
  return { at, isPlaying, speed, stops, go };
}

function Stage({ id, cast, isTerminal }: { id: string; cast: Cast; isTerminal: boolean }) {
  const element = useRef<HTMLDivElement>(null);
  const player = useRef<Player | null>(null);
  const { at, isPlaying, speed, stops, go } = usePlaying(cast, (to) => player.current?.seek(to));
  useEffect(() => {
    if (element.current === null) return;
    const { cols, rows } = cast;
    const sheet = isTerminal ? new Sheet(element.current, { cols, rows }) : new Sheet(element.current);
    player.current = new Player(sheet, cast);
    go(cast.marks[0]?.at ?? 0);
    return () => sheet.close();
  }, []);
  const play = () => {
    if (!isPlaying.value && at.value >= cast.length) go(0);
    isPlaying.value = !isPlaying.value;
  };
  return (
    <div class="replay">
      <div class="bar" role="group" aria-label="Replay">
        <button type="button" class="primary" onClick={play}>{isPlaying.value ? 'Pause' : 'Play'}</button>
        <Scrubber cast={cast} at={at.value} onSeek={(to) => { isPlaying.value = false; go(to); }} />
        <label>
          speed
          <select value={String(speed.value)} onChange={(event) => { speed.value = Number(event.currentTarget.value); }}>
            {SPEEDS.map((times) => <option key={times} value={String(times)}>{times}×</option>)}
          </select>
        </label>
        <label>
          <input type="checkbox" checked={stops.value} onChange={(event) => { stops.value = event.currentTarget.checked; }} />
          stop at commands
        </label>
        <button type="button" onClick={() => void exportCast(id)}>Export asciicast</button>
      </div>
      <p class="now"><code>{named(cast.marks.findLast((mark) => mark.at <= at.value)?.label ?? '')}</code></p>
      {cast.isCut && <p class="quiet pad">It is long: this is its beginning. The export has all of it.</p>}
      <div class="screen" ref={element} role="region" aria-label="Replayed terminal" />
    </div>
  );
}

export function Replay({ id, isTerminal }: { id: string; isTerminal: boolean }) {
  const cast = useCast(id);
  if (cast.value === null) return <p class="quiet pad" role="status">Reading the recording…</p>;
  if (cast.value.marks.length === 0) return <p class="quiet pad">Nothing has run yet.</p>;
  return <Stage id={id} cast={cast.value} isTerminal={isTerminal} />;
}
