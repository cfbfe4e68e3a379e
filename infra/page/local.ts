/** State of a local run: its window, faults, and last requests. Asked for each second while the page is visible. */

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ExplainedRequest } from '../local/request-log.ts';
import { type GatewayAnswer, isHosted, isLocal, key, send } from './gateway.ts';

interface RunState {
  readonly simulated: boolean;
  readonly users: readonly { readonly name: string; readonly accounts: number }[];
  readonly orders?: readonly { readonly clientOrderId: string }[];
  readonly fault: string;
  /** Limits in the run's configuration. */
  readonly limits: { readonly max_order_notional?: string };
  readonly window?: {
    readonly requests: number;
    readonly perSeconds: number;
    readonly counted: readonly number[];
  };
  readonly asked: readonly number[];
}

export const run = signal<RunState | undefined>(undefined);
export const requests = signal<readonly ExplainedRequest[]>([]);

const everyMs = 1000;

async function ask(): Promise<void> {
  const state = await send<RunState>({ method: 'GET', path: '/_run' });
  // A run that has ended may begin again.
  if (state.status === 0) return;
  isLocal.value = state.status === 200;
  if (state.value) run.value = state.value;
  if (!state.value) return;
  const list = await send<{ requests: readonly ExplainedRequest[] }>({
    method: 'GET',
    path: '/_run/requests',
  });
  if (list.value) requests.value = list.value.requests;
}

/** Polls a local run. A hosted page does not, because no deployment answers at `/_run`. */
export function useRun(): void {
  const apiKey = key.value;
  useEffect(() => {
    if (!apiKey) return;
    if (isHosted) {
      isLocal.value = false;
      return;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const again = async () => {
      if (!document.hidden) await ask();
      if (!isOver && isLocal.value !== false) timer = setTimeout(() => void again(), everyMs);
    };
    isLocal.value = undefined;
    void again();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [apiKey]);
}

export async function bring(kind: string): Promise<GatewayAnswer<RunState>> {
  const answer = await send<RunState>({ method: 'POST', path: '/_run/faults', body: { kind } });
  if (answer.value) run.value = answer.value;
  return answer;
}
