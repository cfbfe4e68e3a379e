/**
 * DynamoDB and Secrets Manager over their own HTTP interface, with nothing but Node: the SDK's client takes three times the
 * processor time for each operation, and is loaded and made at each cold start.
 *
 * These features of the SDK are missing: FIPS, dual-stack and account-based endpoints, partitions other than those below,
 * AWS_IGNORE_CONFIGURED_ENDPOINT_URLS, credentials from elsewhere than the environment or the caller, attempts
 * (`withLimit` and the source of secrets have them), adaptive retries, compressed answers, and proxies.
 */

import zlib from 'node:zlib';
import type * as Sdk from '@aws-sdk/client-dynamodb';
import type { StoreTime } from '../../lib/guard-rails/store-time.ts';
import { untilResolved } from '../../lib/kernel/once.ts';
import { type AwsCredentials, createAwsSigner } from './aws-signature.ts';
import { openSockets, type Sockets } from './sockets.ts';

/** Input and output of each operation that a store uses. */
interface DynamoOperations {
  readonly BatchGetItem: readonly [Sdk.BatchGetItemInput, Sdk.BatchGetItemOutput];
  readonly DeleteItem: readonly [Sdk.DeleteItemInput, Sdk.DeleteItemOutput];
  readonly GetItem: readonly [Sdk.GetItemInput, Sdk.GetItemOutput];
  readonly PutItem: readonly [Sdk.PutItemInput, Sdk.PutItemOutput];
  readonly Query: readonly [Sdk.QueryInput, Sdk.QueryOutput];
  readonly Scan: readonly [Sdk.ScanInput, Sdk.ScanOutput];
  /** The caller must give a token, because only the caller knows which requests are the same. (The SDK would make one.) */
  readonly TransactWriteItems: readonly [
    Sdk.TransactWriteItemsInput & { readonly ClientRequestToken: string },
    Sdk.TransactWriteItemsOutput,
  ];
  readonly UpdateItem: readonly [Sdk.UpdateItemInput, Sdk.UpdateItemOutput];
}

/** The client's method that stores need. */
export interface DynamoSender {
  /** @throws DynamoError for a refusal or failure of DynamoDB; another error when no whole answer came */
  send<Name extends keyof DynamoOperations>(
    operation: Name,
    input: DynamoOperations[Name][0],
    options?: { readonly abortSignal?: AbortSignal },
  ): Promise<DynamoOperations[Name][1]>;
}

export interface DynamoClientOptions {
  /** Store time that is adjusted by the dates of DynamoDB's answers. */
  readonly time?: StoreTime;
  /** Called for each request, because credentials change. Default the environment's, which Lambda sets. */
  readonly credentials?: () => AwsCredentials | Promise<AwsCredentials>;
  /** Region of the table. Default AWS_REGION. */
  readonly region?: () => string | Promise<string>;
  /** Now, in milliseconds since the epoch; a clock that goes on while the function is frozen. */
  readonly clock?: () => number;
}

/** DynamoDB's error answer, with its own name and words. */
export class DynamoError extends Error {
  override readonly name: string;
  /** Party at fault: a request with a client's fault would fail again. */
  readonly $fault: 'client' | 'server';
  readonly $metadata: { readonly httpStatusCode: number };
  /** The stored item of an unmet condition, where the request asks for it. */
  readonly Item?: Record<string, Sdk.AttributeValue>;
  /** Reasons for a cancelled transaction, one for each of its items. */
  readonly CancellationReasons?: Sdk.CancellationReason[];

  constructor(status: number, { __type: type, message, Message, Item, CancellationReasons }: DynamoRefusal) {
    super(message ?? Message ?? '');
    this.name = type?.slice(type.indexOf('#') + 1) || 'UnknownError';
    this.$fault = status < 500 ? 'client' : 'server';
    this.$metadata = { httpStatusCode: status };
    if (Item) this.Item = Item;
    if (CancellationReasons) this.CancellationReasons = CancellationReasons;
  }
}

interface DynamoRefusal extends Pick<DynamoError, 'Item' | 'CancellationReasons'> {
  readonly __type?: string;
  readonly message?: string;
  readonly Message?: string;
}

/** Error names with which AWS refuses a signature, for its time among other reasons. */
export const refusesSignature = /^(InvalidSignatureException|Request(TimeTooSkewed|Expired|InTheFuture))$/;

const services = {
  dynamodb: {
    target: 'DynamoDB_20120810',
    contentType: 'application/x-amz-json-1.0',
    endpoint: 'AWS_ENDPOINT_URL_DYNAMODB',
    connection: 'kept',
  },
  secretsmanager: {
    target: 'secretsmanager',
    contentType: 'application/x-amz-json-1.1',
    endpoint: 'AWS_ENDPOINT_URL_SECRETS_MANAGER',
    // Minutes pass between two reads, with the function frozen in between, so a kept connection would be dead.
    connection: 'fresh',
  },
} as const;

/** A service by its name in endpoints and signatures. */
type Service = keyof typeof services;

/**
 * Creates a client that sends each request once and has no time limit: `withLimit` adds attempts and a limit.
 *
 * @param endpoint in place of AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL and the Region's own
 *
 * @example
 * const { Item } = await createDynamoClient().send('GetItem', { TableName: 'table', Key: { pk: { S: 'a' } } });
 */
export const createDynamoClient = (endpoint?: string, options?: DynamoClientOptions): DynamoSender =>
  createAwsClient('dynamodb', endpoint, options) as DynamoSender;

/** Client of one service, as `createDynamoClient` has it; the caller names the types of an operation. */
export function createAwsClient(service: Service, endpoint?: string, options: DynamoClientOptions = {}) {
  const { target, contentType, connection } = services[service];
  const {
    time,
    credentials = environmentCredentials,
    region = environmentRegion,
    clock = Date.now,
  } = options;
  const connect = untilResolved(async () => {
    const name = await region();
    const url = new URL(endpoint || endpointIn(name, service));
    return { url, region: name, sockets: await openSockets(url.protocol, clock) };
  });
  const sign = createAwsSigner(service);
  /** How far the service's clock is ahead, in milliseconds; 0 until the service has refused a signature. */
  let ahead = 0;

  return {
    async send(
      operation: string,
      input: object,
      { abortSignal }: { readonly abortSignal?: AbortSignal } = {},
    ): Promise<object> {
      const [{ sockets, ...place }, keys] = await Promise.all([connect(), credentials()]);
      const askedAt = clock();
      const body = JSON.stringify(toWire(input));
      const own = { 'content-type': contentType, 'x-amz-target': `${target}.${operation}` };
      const headers = sign({ ...place, credentials: keys, at: askedAt + ahead, headers: own, body });
      const begin: BeginRequest = (options) => sockets.request(place.url, options, connection);
      const answer = await exchange(begin, { headers, body }, abortSignal, (date) =>
        time?.dated(date, askedAt, clock()),
      );
      const said = contentOf(answer);
      if (answer.status === 200) return said;
      const error = new DynamoError(answer.status, said);
      if (refusesSignature.test(error.name) && !Number.isNaN(answer.date)) ahead = answer.date - clock();
      throw error;
    },
  };
}

/** The endpoint in a Region of the partitions `aws` and `aws-us-gov`, which have the same suffix, or `aws-cn`. */
export function endpointIn(region: string, service: Service): string {
  const { [services[service].endpoint]: own, AWS_ENDPOINT_URL: common } = process.env;
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return own || common || `https://${service}.${region}.${suffix}`;
}

function environmentCredentials(): AwsCredentials {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  const [accessKeyId, secretAccessKey] = [AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY];
  if (!accessKeyId || !secretAccessKey)
    throw new Error('no AWS credentials in the environment, and no option `credentials`');
  return { accessKeyId, secretAccessKey, sessionToken: AWS_SESSION_TOKEN };
}

function environmentRegion(): string {
  if (!process.env.AWS_REGION) throw new Error('Region is missing');
  return process.env.AWS_REGION;
}

interface DynamoAnswer {
  readonly status: number;
  /** Date by the service's clock, in milliseconds since the epoch; NaN without a date. */
  readonly date: number;
  readonly crc: string | undefined;
  readonly body: Buffer;
}

type BeginRequest = (options: Parameters<Sockets['request']>[1]) => ReturnType<Sockets['request']>;

/** @param dated called when the head has come @throws when no whole answer comes in time */
async function exchange(
  begin: BeginRequest,
  { headers, body }: { readonly headers: object; readonly body: string },
  signal: AbortSignal | undefined,
  dated: (date: number) => void,
): Promise<DynamoAnswer> {
  signal?.throwIfAborted();
  let abort = () => {};
  try {
    return await new Promise((resolve, reject) => {
      const request = begin({ method: 'POST', headers: { ...headers } });
      abort = () => {
        reject(signal?.reason);
        request.destroy();
      };
      signal?.addEventListener('abort', abort);
      request.on('error', reject);
      request.once('response', (incoming) => {
        const { statusCode: status = 0, headers: answered } = incoming;
        const date = Date.parse(answered.date ?? '');
        dated(date);
        const crc = answered['x-amz-crc32']?.toString();
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.once('end', () => resolve({ status, date, crc, body: Buffer.concat(chunks) }));
        incoming.on('error', reject);
      });
      request.end(body);
    });
  } finally {
    // The listener is removed, because many requests may share the signal.
    signal?.removeEventListener('abort', abort);
  }
}

/** @throws Error for a damaged answer, without the parser's own words, which repeat a part of it */
function contentOf({ body, crc }: DynamoAnswer): object {
  // Node has `crc32` from 20.15 on, and Lambda has a later version.
  if (crc !== undefined && zlib.crc32 && zlib.crc32(body) !== Number(crc))
    throw new Error('AWS’s answer did not arrive as it was sent');
  const text = body.toString();
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {}
  if (typeof said !== 'object' || said === null) throw new Error('AWS’s answer is no JSON');
  // Only the few answers that contain bytes are searched for them.
  if (text.includes('"B')) fromWire(said);
  return said;
}

/** Converts each `Uint8Array` to Base64; values without one are not copied. */
function toWire(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  const changed = Object.entries(value).flatMap(([key, before]) => {
    const after = toWire(before);
    return after === before ? [] : [[key, after] as const];
  });
  if (changed.length === 0) return value;
  const copy: object = Array.isArray(value) ? [...value] : { ...value };
  return Object.assign(copy, Object.fromEntries(changed));
}

/** Converts Base64 to bytes. Only in an attribute's value is `B` a text or `BS` a list; a member of that name is an object. */
function fromWire(value: object): void {
  const { B, BS } = value as { readonly B?: unknown; readonly BS?: unknown };
  if (typeof B === 'string') Object.assign(value, { B: bytesOf(B) });
  else if (Array.isArray(BS)) Object.assign(value, { BS: BS.map(bytesOf) });
  else for (const one of Object.values(value)) if (typeof one === 'object' && one !== null) fromWire(one);
}

function bytesOf(base64: string): Uint8Array {
  const bytes = Buffer.from(base64, 'base64');
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
