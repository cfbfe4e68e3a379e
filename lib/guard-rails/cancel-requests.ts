/** Requests mass cancels after failed checks: at most one per scope in a while, and without delaying the refusal for long. */

import { putLatest } from '../kernel/bounded-map.ts';
import { within } from '../kernel/pauses.ts';
import type { MassCancelStore } from './mass-cancels.ts';

interface CancelRequestsParts {
  readonly store: Pick<MassCancelStore, 'request'>;
  readonly clock: () => number;
  /** Called when the request fails; the order is blocked nevertheless. */
  readonly reportFailure?: ((cause: unknown) => void) | undefined;
}

export interface CancelRequests {
  /**
   * Requests a cancel of a scope's open orders. Resolves within about a second.
   *
   * @param scope the scope's key, as in `controls.ts`
   * @returns whether the scope's open orders are being cancelled
   */
  request(scope: string): Promise<boolean>;
}

/** Time for which a request also serves later ones of the same scope. */
const holdsMs = 10_000;
/** Allowance for clocks that differ, so that an order placed just before the check is cancelled, too. */
const slackMs = 1000;
/** Longest wait of the refusal for the store. */
const maxWaitMs = 1000;
/** Most scopes that an instance remembers; it forgets those whose request is oldest. */
const maxKnown = 1000;

/** @example const cancels = createCancelRequests({ store, clock: Date.now }); */
export function createCancelRequests({ store, clock, reportFailure }: CancelRequestsParts): CancelRequests {
  /** The last request by scope, without failed ones. */
  const known = new Map<string, { readonly at: number; readonly written: Promise<void> }>();

  function write(scope: string): Promise<void> {
    const at = clock();
    const last = known.get(scope);
    if (last && at >= last.at && at < last.at + holdsMs) return last.written;
    // The request must also cover the later checks that it serves, and the orders placed before them.
    const placedBefore = at + holdsMs + slackMs;
    const written = store.request({ id: crypto.randomUUID(), scope, at, placedBefore });
    putLatest(known, scope, { at, written }, maxKnown);
    return written;
  }

  return {
    async request(scope) {
      const written = write(scope);
      try {
        await within(written, maxWaitMs);
        return true;
      } catch (cause) {
        // The next failed check makes a new request.
        if (known.get(scope)?.written === written) known.delete(scope);
        reportFailure?.(cause);
        return false;
      }
    },
  };
}
