/** Requester of a request, and its key in the store: ids belong to their requester. */

import { isAccountData } from '../catalogue/groups.ts';
import type { Operation } from '../catalogue/operation.ts';
import { defaultDeadlineSeconds, longestDeadlineSeconds, requesters } from '../events/names.ts';
import {
  type Lookup,
  type ParsedRequest,
  parseRequest,
  type QuoteLookup,
  type Read,
} from '../events/parse-request.ts';

export interface LookupRequester {
  /** Source on the bus, or one of `requesters`. */
  readonly requester: string;
}

/** A valid request with its requester. */
export type OwnedLookup = OwnedQuotes | OwnedRead;
export type OwnedQuotes = QuoteLookup & LookupRequester;
export type OwnedRead = Read & LookupRequester;

/** A message that is no valid request. */
export type InvalidRequest = Extract<ParsedRequest, { readonly ok: false }> & LookupRequester;

type OwnedRequest = { readonly ok: true; readonly lookup: OwnedLookup } | InvalidRequest;

/**
 * Parses a request as `parseRequest` does, and names its requester.
 *
 * @param otherwise requester if the envelope names none, or may not name one
 * @param isDirect whether the sender is not a bus, and so could write any source into the envelope
 */
export function ownedRequest(
  input: unknown,
  operations: readonly Operation[],
  otherwise: string,
  isDirect: boolean,
): OwnedRequest {
  const parsed = parseRequest(input, operations);
  const source = parsed.ok ? parsed.lookup.source : parsed.source;
  const requester = (isDirect ? undefined : source) ?? otherwise;
  return parsed.ok ? { ok: true, lookup: { ...parsed.lookup, requester } } : { ...parsed, requester };
}

/**
 * Makes a request's key in the store. An id contains no space, so two requests never have the same key. Requests without a
 * source keep the key from the time when all requesters shared one space of ids.
 */
export const requestKey = ({ requester }: LookupRequester, requestId: string): string =>
  requester === requesters.queue ? requestId : `${requester} ${requestId}`;

/** Whether a lookup and its answer contain account data. */
export const asksForAccount = (lookup: Lookup): boolean =>
  lookup.kind === 'read' && isAccountData(lookup.operation.group);

/**
 * Computes when a requester stops waiting. The result is limited, whatever the request names: a request must not live
 * longer than the store remembers it.
 * @param sentAt when the request entered the queue, in milliseconds since the epoch
 */
export function deadlineOf({ deadlineMs, deadlineSeconds }: Lookup, sentAt: number): number {
  const otherwise = deadlineMs === undefined ? defaultDeadlineSeconds : longestDeadlineSeconds;
  return Math.min(deadlineMs ?? Number.POSITIVE_INFINITY, sentAt + 1000 * (deadlineSeconds ?? otherwise));
}
