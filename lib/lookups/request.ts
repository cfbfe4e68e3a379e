/** Who made a request, and how the store finds it: ids belong to their requester. */

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
  /** The source on the bus, or one of `requesters`. */
  readonly requester: string;
}

/** A valid request with its requester. */
export type OwnedLookup = OwnedQuotes | OwnedRead;
export type OwnedQuotes = QuoteLookup & LookupRequester;
export type OwnedRead = Read & LookupRequester;

/** A message that is no valid request. */
export type InvalidRequest = Extract<ParsedRequest, { readonly ok: false }> & LookupRequester;

export type OwnedRequest = { readonly ok: true; readonly lookup: OwnedLookup } | InvalidRequest;

export interface Origin {
  /** The requester where the envelope names none, or may not name one. */
  readonly otherwise: string;
  /** A sender that is not a bus can write any source into an envelope. */
  readonly isDirect: boolean;
}

/** As `parseRequest`, and whose request it is. */
export function ownedRequest(
  input: unknown,
  operations: readonly Operation[],
  { otherwise, isDirect }: Origin,
): OwnedRequest {
  const parsed = parseRequest(input, operations);
  const source = parsed.ok ? parsed.lookup.source : parsed.source;
  const requester = (isDirect ? undefined : source) ?? otherwise;
  return parsed.ok ? { ok: true, lookup: { ...parsed.lookup, requester } } : { ...parsed, requester };
}

/**
 * The store's key of a request. An id contains no space, so no two requests have one key. Requests without a source
 * keep the key that they had when ids were one space for all.
 */
export const requestKey = ({ requester }: LookupRequester, requestId: string): string =>
  requester === requesters.queue ? requestId : `${requester} ${requestId}`;

/** Whether what a lookup asks for, and is answered with, belongs to an account. */
export const asksForAccount = (lookup: Lookup): boolean =>
  lookup.kind === 'read' && isAccountData(lookup.operation.group);

/**
 * When a requester stops waiting. Limited, whatever the request names: a request must not live longer than the store remembers it.
 * @param sentAt when the request entered the queue, in milliseconds since the epoch
 */
export function deadlineOf({ deadlineMs, deadlineSeconds }: Lookup, sentAt: number): number {
  const otherwise = deadlineMs === undefined ? defaultDeadlineSeconds : longestDeadlineSeconds;
  return Math.min(deadlineMs ?? Number.POSITIVE_INFINITY, sentAt + 1000 * (deadlineSeconds ?? otherwise));
}
