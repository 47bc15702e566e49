// Events in the shape that VS Code wants, without VS Code: views are tested
// where there is no editor.

import type { Disposable, Event } from 'vscode';

export class Emitter<T> {
  private readonly listeners = new Set<(value: T) => unknown>();

  readonly event: Event<T> = (listener, self?: unknown, disposables?: Disposable[]) => {
    const heard = self === undefined ? listener : listener.bind(self);
    this.listeners.add(heard);
    const disposable = { dispose: () => void this.listeners.delete(heard) };
    disposables?.push(disposable);
    return disposable;
  };

  fire(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }
}
