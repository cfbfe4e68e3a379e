/** Copies a call: a button beside its origin, and a dialog with the call in each language. */

import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { codeOf, type Language, languages } from './code.ts';
import type { ApiCall } from './gateway.ts';

const shownCall = signal<ApiCall | undefined>(undefined);
const language = signal<Language>('curl');
const copyStatus = signal('');

export const CopyCall = ({ call, what }: { readonly call: ApiCall; readonly what: string }) => (
  <button
    type="button"
    class="quiet"
    aria-label={`Show ${what} as code`}
    onClick={() => {
      copyStatus.value = '';
      shownCall.value = call;
    }}
  >
    {'</> code'}
  </button>
);

export function CodeDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const call = shownCall.value;
  useLayoutEffect(() => {
    if (call) dialog.current?.showModal();
  }, [call]);
  const code = call ? codeOf(call, language.value) : '';
  return (
    <dialog
      ref={dialog}
      aria-labelledby="code-title"
      // The event comes after the press that closed the dialog, and perhaps after one that opened another call.
      onClose={() => {
        if (!dialog.current?.open) shownCall.value = undefined;
      }}
    >
      <h2 id="code-title">
        {call?.method} {call?.path}
      </h2>
      <fieldset class="choice">
        <legend>Language</legend>
        {languages.map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="language"
              checked={language.value === one}
              onChange={() => (language.value = one)}
            />
            {one}
          </label>
        ))}
      </fieldset>
      <p class="row">
        <button type="button" onClick={() => void copy(code)}>
          Copy
        </button>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
        <span role="status">{copyStatus.value}</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code id="code">{code}</code>
      </pre>
    </dialog>
  );
}

/** Copies by the clipboard, which only a secure context has; otherwise marks the text, to be copied by hand. */
async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    copyStatus.value = 'Copied.';
  } catch {
    const code = document.getElementById('code');
    if (code) getSelection()?.selectAllChildren(code);
    copyStatus.value = 'The text is marked: copy it with the keyboard.';
  }
}
