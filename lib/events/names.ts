/** The names of the events on a bus. */

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

/** Who counts as the requester where no bus names one: all that was sent to the queue, or invoked the function. */
export const requesters = { queue: 'countersign.queue', function: 'countersign.function' } as const;

/** No request on the bus has one of these sources. */
export const reservedSources: readonly string[] = [replySource, ...Object.values(requesters)];

/** The deadline of a request that names none, in seconds after it arrived in the queue. */
export const defaultDeadlineSeconds = 300;

/** The latest deadline: the records of requests must outlive every message that is still on its way. */
export const longestDeadlineSeconds = 12 * 60 * 60;
