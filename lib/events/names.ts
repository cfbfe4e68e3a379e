/** What the events are called on a bus. */

/** A lookup of quotes, or a read of any other operation by its id. */
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

/** `source` of the replies. Requests may come from any. */
export const replySource = 'countersign';

/** When a request names no deadline, in seconds from when it came into the queue. */
export const defaultDeadlineSeconds = 300;

/** However late a deadline is given: records of requests must outlive whatever is still on its way. */
export const longestDeadlineSeconds = 12 * 60 * 60;
