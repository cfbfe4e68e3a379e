/**
 * Names the caller of a request. The unit of fairness is an API key and a network prefix. All phones of an app share one
 * API key, so the key alone is too coarse. A single address is too fine: a client in an IPv6 network can use all of the
 * network's addresses. Carriers and CDNs put many phones into one prefix, so a unit is limited only when there is not
 * enough for all. The addresses in a unit are its members: a member that asks for too much is limited alone. A user whom
 * the gateway knows is a unit of its own, by a keyed name, wherever the requests come from.
 */

import { putLatest } from '../kernel/bounded-map.ts';
import { base64url } from '../kernel/key-text.ts';

export interface Caller {
  readonly unit: string;
  /** Absent where the address is unknown. */
  readonly member?: string;
  /** The IPv6 /48 around the unit, because one client may own all of it. Absent where the unit is as wide. */
  readonly site?: string | undefined;
}

/** Number of an address's leading bits that name its network. With 0, the key alone is the unit. */
export interface NetworkPrefix {
  readonly ipv4: number;
  readonly ipv6: number;
}

/** The prefixes that a provider usually assigns to one site. */
export const defaultNetworkPrefix: NetworkPrefix = { ipv4: 24, ipv6: 56 };
/** Length of the widest IPv6 prefix that a provider assigns to one site. */
const siteBits = 48;

/**
 * Makes names that reveal neither key nor address at first sight. An attacker can try all prefixes, so the names belong in
 * no log; stores keep them for minutes.
 *
 * @param key the id of an API key, or another identifier by which the platform has authenticated the client
 * @param address as the platform reports it; an invalid one counts as unknown
 *
 * @example
 * const caller = await callerOf({ key: 'id-of-the-api-key', address: '203.0.113.7' });
 */
export async function callerOf(
  client: CallerClient,
  prefix: NetworkPrefix = defaultNetworkPrefix,
): Promise<Caller> {
  const name = `${prefix.ipv4} ${prefix.ipv6} ${client.address} ${client.key}`;
  const known = recentCallers.get(name);
  if (known) return known;
  const caller = await namesOf(client, prefix);
  putLatest(recentCallers, name, caller, maxRecentCallers);
  return caller;
}

interface CallerClient {
  readonly key: string;
  readonly address?: string | undefined;
}

/** Callers named lately: two digests are half of the time of a cached answer, and a polling phone has the same names. */
const recentCallers = new Map<string, Caller>();
const maxRecentCallers = 1000;

async function namesOf({ key, address }: CallerClient, prefix: NetworkPrefix): Promise<Caller> {
  const bytes = address === undefined ? undefined : readAddress(address);
  if (!bytes) return { unit: await callerName('unit', key) };
  const bits = bytes.length === 4 ? prefix.ipv4 : prefix.ipv6;
  const isNarrow = bytes.length === 16 && bits > siteBits;
  const [unit, member, site] = await Promise.all([
    callerName('unit', key, textOf(masked(bytes, bits))),
    callerName('member', key, textOf(bytes)),
    isNarrow ? callerName('site', key, textOf(masked(bytes, siteBits))) : undefined,
  ]);
  return { unit, member, ...(site && { site }) };
}

/** Hashes the texts: 128 bits of their SHA-256, as base64url. */
export async function callerName(...texts: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(['countersign caller', ...texts]));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes), 0, 16);
  return base64url(digest);
}

const textOf = (bytes: readonly number[]): string => bytes.join('.');

const masked = (bytes: readonly number[], bits: number): readonly number[] =>
  bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * index))));

/** Parses an address to four or sixteen bytes; an IPv4 address written as an IPv6 one has four. */
function readAddress(text: string): readonly number[] | undefined {
  const [address = ''] = text.split('%');
  if (!address.includes(':')) return readIpv4(address);
  const bytes = readIpv6(address);
  const isMapped = bytes?.every((byte, index) => index >= 12 || byte === (index < 10 ? 0 : 0xff));
  return isMapped ? bytes?.slice(12) : bytes;
}

function readIpv4(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  const isValid = parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255);
  return isValid ? parts.map(Number) : undefined;
}

function readIpv6(text: string): readonly number[] | undefined {
  const [head = '', tail, ...more] = text.split('::');
  const before = readGroups(head, tail === undefined);
  const after = readGroups(tail ?? '', true);
  if (!before || !after || more.length > 0) return undefined;
  const missing = 16 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 2) return undefined;
  return [...before, ...new Array<number>(missing).fill(0), ...after];
}

/** Parses groups to two bytes each; the last group of an address may be an IPv4 address. */
function readGroups(text: string, isEnd: boolean): readonly number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    const ipv4 = isEnd && index === groups.length - 1 ? readIpv4(group) : undefined;
    if (!ipv4 && !/^[\da-f]{1,4}$/i.test(group)) return undefined;
    const value = Number.parseInt(group, 16);
    bytes.push(...(ipv4 ?? [value >> 8, value & 0xff]));
  }
  return bytes;
}
