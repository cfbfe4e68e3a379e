/** Names of the events on a bus. */

/** A lookup of quotes, or a read of one operation by its id. */
export type LookupKind = 'quotes' | 'read';

/** `detail-type` of the events. */
export const eventNames = {
  quotes: {
    requested: 'QuoteLookupRequested',
    completed: 'QuoteLookupCompleted',
    failed: 'QuoteLookupFailed',
  },
  read: { requested: 'ReadRequested', completed: 'ReadCompleted', failed: 'ReadFailed' },
} as const satisfies Record<LookupKind, Record<'requested' | 'completed' | 'failed', string>>;

/** `source` of the replies. */
export const replySource = 'countersign';

/** Requesters of requests that bypassed the bus: sent to the queue, or by invoking the function. */
export const requesters = { queue: 'countersign.queue', function: 'countersign.function' } as const;

/** Sources that no request on the bus may have. */
export const reservedSources: readonly string[] = [replySource, ...Object.values(requesters)];

/** Default deadline, in seconds after the request arrived in the queue. */
export const defaultDeadlineSeconds = 300;

/** Latest deadline, in seconds: the records of requests must outlive every message that is still on its way. */
export const longestDeadlineSeconds = 12 * 60 * 60;
