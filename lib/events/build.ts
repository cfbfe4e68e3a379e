/** Builds requests by event. A request that the receiver would refuse throws here, before it is sent. */

import { safeParse } from 'valibot';
import type { Operation } from '../catalogue/operation.ts';
import { eventNames, reservedSources } from './names.ts';
import { parseRequest } from './parse-request.ts';
import * as schemas from './schemas.ts';
import type { QuoteLookupRequested, ReadRequested, RequestEvent } from './types.ts';

/** An entry of an EventBridge client's PutEvents. */
export interface BusEntry {
  readonly EventBusName: string;
  readonly Source: string;
  readonly DetailType: string;
  readonly Detail: string;
}

/**
 * Builds a request for the snapshots of up to 500 symbols.
 *
 * @throws TypeError naming the faults
 * @example
 * const request = quoteLookupRequested({ request_id: 'portfolio-7', symbols: ['AAPL'], category: 'US_STOCK' });
 */
export function quoteLookupRequested(detail: QuoteLookupRequested): RequestEvent<QuoteLookupRequested> {
  const parsed = safeParse(schemas.quoteLookupRequested, detail);
  if (!parsed.success)
    throw new TypeError(
      `Not a lookup: ${parsed.issues.map((issue) => `${issue.path?.[0]?.key ?? ''}: ${issue.message}`).join('; ')}`,
    );
  return { detailType: eventNames.quotes.requested, detail };
}

/**
 * Builds a request for one read operation.
 *
 * @param operation the catalogue's entry, which has no side effect
 * @throws TypeError naming the faults
 * @example
 * const query = { symbol: 'AAPL', category: 'US_STOCK' } as const;
 * const request = readRequested(getCompanyProfile, { request_id: 'profile-7', query });
 */
export function readRequested<O extends Operation>(
  operation: O,
  detail: Omit<ReadRequested<O>, 'operation'>,
): RequestEvent<ReadRequested<O>> {
  const whole = { operation: operation.id, ...detail } as ReadRequested<O>;
  const parsed = parseRequest(whole, [operation]);
  if (!parsed.ok) throw new TypeError(`Not a read: ${parsed.reason}`);
  return { detailType: eventNames.read.requested, detail: whole };
}

/**
 * Builds the entry that puts a request on a bus.
 *
 * @param source name of the requester on the bus; it does not begin with `aws.` and is not reserved
 * @throws TypeError for a source that is reserved for replies
 * @example
 * const entry = busEntry(request, { bus: 'lookups', source: 'portfolio' });
 * await eventBridge.send(new PutEventsCommand({ Entries: [entry] }));
 */
export function busEntry<D>(
  { detailType, detail }: RequestEvent<D>,
  { bus, source }: { readonly bus: string; readonly source: string },
): BusEntry {
  if (reservedSources.includes(source)) throw new TypeError(`${source} is no source of a request`);
  return { EventBusName: bus, Source: source, DetailType: detailType, Detail: JSON.stringify(detail) };
}
