// `shellglass doctor` in a terminal of the editor, and on the clipboard.

import { spawn } from 'node:child_process';
import * as vscode from 'vscode';
import { Emitter } from './emitter';

/** A report that is kept for the clipboard, in characters. */
const REPORT_CHARS_MAX = 1 << 20;

class Report implements vscode.Pseudoterminal {
  private readonly written = new Emitter<string>();
  readonly onDidWrite = this.written.event;
  private child: ReturnType<typeof spawn> | null = null;
  private text = '';

  constructor(
    private readonly binary: string,
    private readonly done: (text: string) => void,
  ) {}

  open(): void {
    const child = spawn(this.binary, ['doctor'], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => this.show(text));
    }
    child.on('error', (error) => this.show(`${error.message}\n`));
    child.on('close', (code) => {
      if (code !== null) this.show(`[exit ${code}]\n`);
      this.done(this.text);
    });
  }

  close(): void {
    this.child?.kill();
  }

  private show(text: string): void {
    if (this.text.length < REPORT_CHARS_MAX) this.text += text;
    this.written.fire(text.replace(/\r?\n/g, '\r\n'));
  }
}

export function diagnose(binary: string): void {
  const pty = new Report(binary, (text) => {
    void vscode.env.clipboard.writeText(text).then(() => {
      void vscode.window.showInformationMessage('Shellglass: the report is on the clipboard.');
    });
  });
  const iconPath = new vscode.ThemeIcon('pulse');
  vscode.window.createTerminal({ name: 'Shellglass: Diagnose', pty, iconPath, isTransient: true }).show();
}
