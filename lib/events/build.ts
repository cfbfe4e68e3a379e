/** Builds requests. What would be refused is refused here, before anything is sent. */

import { safeParse } from 'valibot';
import type { Operation } from '../catalogue/operation.ts';
import { eventNames } from './names.ts';
import { parseRequest } from './parse-request.ts';
import * as schemas from './schemas.ts';
import type { QuoteLookupRequested, ReadRequested, RequestEvent } from './types.ts';

/** What an EventBridge client's PutEvents takes as an entry. */
export interface BusEntry {
  readonly EventBusName: string;
  readonly Source: string;
  readonly DetailType: string;
  readonly Detail: string;
}

/** @throws TypeError naming what is wrong */
export function quoteLookupRequested(detail: QuoteLookupRequested): RequestEvent<QuoteLookupRequested> {
  const parsed = safeParse(schemas.quoteLookupRequested, detail);
  if (!parsed.success)
    throw new TypeError(
      `Not a lookup: ${parsed.issues.map((issue) => `${issue.path?.[0]?.key ?? ''}: ${issue.message}`).join('; ')}`,
    );
  return { detailType: eventNames.quotes.requested, detail };
}

/**
 * @param operation the catalogue's entry, which has no side effect
 * @throws TypeError naming what is wrong
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

/** @param source names the requester on the bus; anything that does not begin with `aws.` */
export function busEntry<D>(
  { detailType, detail }: RequestEvent<D>,
  { bus, source }: { readonly bus: string; readonly source: string },
): BusEntry {
  return { EventBusName: bus, Source: source, DetailType: detailType, Detail: JSON.stringify(detail) };
}
