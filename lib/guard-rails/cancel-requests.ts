/** Requests to cancel what is open, as failed checks make them: seldom, and never in the way of the refusal. */

import { putLatest } from '../kernel/bounded-map.ts';
import { within } from '../kernel/pauses.ts';
import type { MassCancelStore } from './mass-cancels.ts';

interface CancelRequestsParts {
  readonly store: Pick<MassCancelStore, 'request'>;
  readonly clock: () => number;
  /** The order is blocked all the same. */
  readonly reportFailure?: ((cause: unknown) => void) | undefined;
}

export interface CancelRequests {
  /**
   * Resolves within a second or so.
   *
   * @param scope its key, as in `controls.ts`
   * @returns whether what is open in the scope is being cancelled
   */
  request(scope: string): Promise<boolean>;
}

/** A request holds for those that come within this time. */
const holdsMs = 10_000;
/** Instances' clocks may differ by some of this: an order that was placed just before the check is among those that go. */
const slackMs = 1000;
/** The refusal waits no longer for the store. */
const maxWaitMs = 1000;
/** Of scopes that asked for none for a while, the oldest are forgotten. */
const maxKnown = 1000;

/** @example const cancels = createCancelRequests({ store, clock: Date.now }); */
export function createCancelRequests({ store, clock, reportFailure }: CancelRequestsParts): CancelRequests {
  /** By scope; a request that failed is not there. */
  const known = new Map<string, { readonly at: number; readonly written: Promise<void> }>();

  function write(scope: string): Promise<void> {
    const at = clock();
    const last = known.get(scope);
    if (last && at >= last.at && at < last.at + holdsMs) return last.written;
    // Orders that are placed before the last of those for which it holds are among those that go.
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
        // The next check that fails asks anew.
        if (known.get(scope)?.written === written) known.delete(scope);
        reportFailure?.(cause);
        return false;
      }
    },
  };
}
