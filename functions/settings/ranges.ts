/**
 * Ranges and defaults of settings. The stack takes them for its properties, and the functions for the variables that it
 * makes of these, so that neither refuses what the other takes.
 */

import type { Numbers, Range } from '../../lib/catalogue/numbers.ts';

/** A read may be sent twice within a function's time, which is at most 28 seconds. */
export const maxUpstreamSeconds = 13;
export const upstreamMs: Range = [1, 1000 * maxUpstreamSeconds];

/** The refresh log goes back no further. */
const maxSnapshotSeconds = 300;
export const snapshotSeconds: Range = [1, maxSnapshotSeconds];
export const minMaxAgeSeconds: Range = [0, maxSnapshotSeconds];
export const refreshesPerMinute: Range = [0, 300];
export const ipv4Bits: Range = [0, 32];
export const ipv6Bits: Range = [0, 128];

/** Instances that Lambda's concurrency lets run at once, of one stack or of several. */
export const instances: Range = [1, 100_000];
export const share: Numbers = { words: 'a number above 0, at most 1', has: (part) => part > 0 && part <= 1 };
export const reserve: Numbers = { words: 'a number from 0 to below 1', has: (part) => part >= 0 && part < 1 };
export const bucketName = /^[\w.:-]{1,64}$/;

/** Instances that work on one queue: Lambda takes no less than 2. */
export const minQueueConcurrency = 2;
export const maxQueueConcurrency = 1000;
/** Instances on two queues at most; a local run has one. */
export const lookupInstances: Range = [1, 2 * maxQueueConcurrency];

/** Processes that may follow the cache: one key of its table carries no more of them beside those who refresh. */
export const maxFollowers = 300;
export const maxStreamsPerProcess = 1600;
export const followers: Range = [1, maxFollowers];
export const quoteStreams: Range = [1, maxFollowers * maxStreamsPerProcess];
export const orderStreams: Range = [1, 300];

/** The upstream allows five to an app key, and counts one for a minute after its end. */
export const marketStreamSessions: Range = [1, 4];

/** A stream that is mute for an hour is no longer of use to a trading app. */
export const compareMinutes: Range = [1, 60];
export const usualCompareMinutes = 5;
