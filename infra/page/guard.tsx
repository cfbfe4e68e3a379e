/** Limits and the kill switch of a local run, each with its undo. */

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { CopyCall } from './copy.tsx';
import { type ApiCall, isLocal, key, send } from './gateway.ts';
import { run } from './local.ts';

interface Scope {
  readonly about?: {
    readonly subject: { readonly kind: string };
    readonly stopped?: { readonly reason: string };
  };
  /** Null removes a limit of the configuration. */
  readonly limits?: { readonly max_order_notional?: string | null };
  readonly stopped?: unknown;
}

const controls = signal<readonly Scope[] | undefined>(undefined);
const status = signal('');

const show: ApiCall = { method: 'GET', path: '/_trading' };

const ofAll = () => controls.value?.find(({ about }) => about?.subject.kind === 'gateway');

/** Tells whether the whole gateway is stopped, and so every user. */
export const isStopped = () => Boolean(ofAll()?.stopped);

async function sendChange(call: ApiCall, done: string): Promise<void> {
  const { value, code, detail } = await send<{ controls: readonly Scope[] }>(call);
  if (value) controls.value = value.controls;
  status.value = value ? done : `${code}: ${detail}`;
}

const limit = (value: string | null): ApiCall => ({
  method: 'POST',
  path: '/_trading/limits',
  body: { set: { max_order_notional: value } },
});
const stop: ApiCall = { method: 'POST', path: '/_trading/stop', body: { reason: 'the button of the page' } };
const resume: ApiCall = {
  method: 'POST',
  path: '/_trading/resume',
  body: { reason: 'the button of the page' },
};

export function GuardRails() {
  const isKnown = Boolean(isLocal.value && key.value);
  useEffect(() => {
    if (isKnown) void sendChange(show, '');
  }, [isKnown]);
  if (!isKnown || !controls.value) return null;
  const { limits = {}, stopped, about } = ofAll() ?? {};
  const configured = run.value?.limits.max_order_notional ?? null;
  const { max_order_notional: notional = configured } = limits;
  return (
    <section id="guard" aria-labelledby="guard-title">
      <h2 id="guard-title">Limits of orders and the kill switch</h2>
      <p class={stopped ? 'state ill' : 'state well'} id="trading-state">
        {stopped
          ? `Trading is stopped for every user of this run; cancels go on. Reason: ${about?.stopped?.reason}.`
          : 'Trading goes on.'}
      </p>
      <p class="row">
        {stopped ? (
          <button
            type="button"
            class="main"
            onClick={() => void sendChange(resume, 'It takes effect within 5 s.')}
          >
            Resume trading
          </button>
        ) : (
          <button
            type="button"
            class="danger"
            onClick={() => void sendChange(stop, 'It takes effect within 5 s.')}
          >
            Stop trading
          </button>
        )}
        <CopyCall call={stopped ? resume : stop} what={stopped ? 'resuming' : 'stopping'} />
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const limitText = String(new FormData(event.currentTarget).get('notional')).trim();
          void sendChange(limit(limitText), 'It takes effect within 5 s.');
        }}
      >
        <label>
          Limit of one order (<code>max_order_notional</code>){' '}
          <input name="notional" required defaultValue="1" inputMode="decimal" size={8} />
        </label>
        <button type="submit">Set</button>
        <CopyCall call={limit('1')} what="setting a limit" />
      </form>
      <p class="row" id="limit-state">
        {notional === null ? 'No limit is set.' : `One order may come to ${notional}.`}
        {notional === configured ? (
          ' That is the run’s configuration.'
        ) : (
          <button
            type="button"
            onClick={() => void sendChange(limit(configured), 'The run’s configuration holds again.')}
          >
            Undo the limit
          </button>
        )}
      </p>
      <p role="status" class="quiet">
        {status.value}
      </p>
    </section>
  );
}
