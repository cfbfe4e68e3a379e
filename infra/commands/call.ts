/** `countersign call`: one call of an operation, through a gateway or signed here. */

import { operations } from '../../lib/catalogue/index.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import {
  type Answer,
  type Connection,
  createClient,
  direct,
  isClientError,
  viaGateway,
} from '../../lib/client/index.ts';
import { createSigner } from '../../lib/signer/index.ts';
import { StartError } from '../environment.ts';
import { didYouMean } from '../nearest-name.ts';
import { refuse } from './command.ts';
import { readText, secrets } from './credentials.ts';
import { inLine, type Report } from './print.ts';

const callableOperations = operations.filter(({ legacyOf }) => !legacyOf);

/** @throws UsageError */
export function findOperation(id: string): Operation {
  const names = callableOperations.map((one) => one.id);
  return (
    callableOperations.find((one) => one.id === id) ??
    refuse(`There is no operation of that id: docs/operations.md has them.${didYouMean(id, names)}`)
  );
}

interface CallArguments {
  readonly operation: Operation;
  readonly query: Readonly<Record<string, string>>;
  readonly gateway: string | undefined;
  readonly upstream: string | undefined;
  readonly body: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly credentials: string | undefined;
}

type AskOperation = (input: unknown, options?: object) => Promise<Answer<unknown>>;

export function askOf(operation: Operation, connection: Connection): AskOperation {
  const client = createClient({ [operation.id]: operation }, connection) as Readonly<
    Record<string, { readonly answer: AskOperation }>
  >;
  return (client[operation.id] as { readonly answer: AskOperation }).answer;
}

/** @throws StartError for a refusal, and when the request's outcome is unknown */
export async function callOperation({
  operation,
  query,
  body,
  idempotencyKey,
  ...given
}: CallArguments): Promise<Report> {
  const ask = askOf(operation, await connectionTo(given));
  const options = idempotencyKey === undefined ? {} : { idempotencyKey };
  try {
    const answer = operation.body
      ? await ask(jsonIn(body === undefined ? '{}' : await readText(body)), { ...options, query })
      : await ask(query, options);
    const { status, requestId, isReplayed, text } = answer;
    // Prints the body's own text: parsing and writing it again would lose digits of its numbers.
    const facts = JSON.stringify({ status, requestId, isReplayed });
    return { lines: [text], data: `${facts.slice(0, -1)},"data":${text || 'null'}}` };
  } catch (error) {
    throw isClientError(error) ? new StartError(inLine(error.message)) : error;
  }
}

async function connectionTo({
  gateway,
  upstream,
  credentials,
}: Pick<CallArguments, 'gateway' | 'upstream' | 'credentials'>) {
  if (gateway !== undefined) {
    const { API_KEY: apiKey, TOKEN: token } = await secrets(credentials, ['API_KEY']);
    return viaGateway({ baseUrl: gateway, apiKey, token });
  }
  const {
    APP_KEY: appKey,
    APP_SECRET: appSecret,
    ACCESS_TOKEN: accessToken,
  } = await secrets(credentials, ['APP_KEY', 'APP_SECRET']);
  const signer = createSigner({ appKey, appSecret });
  return direct({ baseUrl: upstream ?? '', signer, accessToken });
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new StartError('--body must be JSON.');
  }
}
