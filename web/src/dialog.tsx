// A page above the page: it has the keyboard until it is closed.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Toast } from './banner';

interface Props {
  label: string;
  class: string;
  onClose(): void;
  children: ComponentChildren;
}

export function Dialog({ label, class: kind, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before anything else is typed, the keyboard is here.
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      // Whoever had the keyboard has it again.
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const onClick = (event: MouseEvent) => {
    if (event.target === dialog.current) onClose();
  };
  return (
    <dialog ref={dialog} class={kind} aria-label={label} onClose={onClose} onClick={onClick}>
      {children}
      <Toast />
    </dialog>
  );
}
