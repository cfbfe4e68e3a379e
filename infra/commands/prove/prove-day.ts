/** Steps of `countersign prove` between a stage's deployment and its end. */

import { APIGatewayClient, GetApiKeyCommand } from '@aws-sdk/client-api-gateway';
import { type Group, listAccounts } from '../../../lib/catalogue/index.ts';
import type { Operation } from '../../../lib/catalogue/operation.ts';
import { type Connection, viaGateway } from '../../../lib/client/index.ts';
import type { CountersignConfig, ResolvedConfig } from '../../stack/config.ts';
import { versionOutput } from '../../stack/outputs.ts';
import { awsAccess, signingFetch } from '../aws.ts';
import { askOf } from '../call.ts';
import type { StackTarget } from '../readers.ts';
import { setSecret } from '../secret-set.ts';
import { smoke } from '../smoke.ts';
import { deployedOf } from '../stack-resources.ts';
import { outputOf } from '../stack-secret.ts';
import { deployedStatus, isWell, statusInWords, statusOf } from '../status.ts';
import { callGroup, callsOfEach, type Pace, probes, tryLimit, tryStream } from './prove-calls.ts';
import { hasLogged, type MeasuredRun, runsOf, type Sums, sumsOf } from './prove-measure.ts';
import { tryOrder } from './prove-order.ts';
import { type OrderStream, openOrderStream } from './prove-order-stream.ts';
import type { ProofReport } from './prove-report.ts';
import type { Steps } from './prove-steps.ts';
import { grantAll } from './prove-users.ts';
import { limitInWords, orderInWords } from './prove-words.ts';

export interface ProveOptions {
  readonly stage: string;
  readonly config: CountersignConfig;
  /** Whether the person says that the upstream is a sandbox; only there an order is placed. */
  readonly isSandbox: boolean;
  /** Whether the stage stays deployed. */
  readonly keep: boolean;
  readonly appKey: string;
  readonly appSecret: string;
  readonly accessToken: string | undefined;
  /** Access token of a user of the stage's issuer, for groups that open with `jwt`. */
  readonly token: string | undefined;
}

export interface ProvePorts extends Pace {
  /** @throws when it did not succeed */
  deploy(): Promise<void>;
  destroy(): Promise<void>;
  outputs(): Promise<ReadonlyMap<string, string>>;
  /** Asks the person before anything is spent. */
  confirm(question: string): Promise<boolean>;
  /** Reports progress. */
  say(line: string): void;
  /** Ends the measurements; the stage is deleted all the same. */
  readonly interrupted?: AbortSignal;
}

type FoundOfDay = { -readonly [K in 'limit' | 'order' | 'stream' | 'version']?: ProofReport[K] | undefined };

/** State that the steps share. */
export interface Day extends FoundOfDay {
  readonly options: ProveOptions;
  readonly config: ResolvedConfig;
  readonly target: StackTarget;
  readonly ports: ProvePorts;
  readonly steps: Steps;
  readonly began: number;
  /** Texts that must not be in a report. */
  readonly confidential: string[];
  readonly groups: ProofReport['groups'][number][];
  outputs: ReadonlyMap<string, string>;
  apiKey: string;
  account?: string | undefined;
  runs: readonly MeasuredRun[];
  sums: Sums;
  /** Number of requests sent to the API. */
  requests: number;
}

/** Deploys, sets the secret and calls once. @returns whether the stage answers */
export async function bringUp(day: Day): Promise<boolean> {
  const { ports, steps, target, options } = day;
  const { appKey, appSecret, accessToken } = options;
  return (
    (await steps.step('deploy', async () => {
      await ports.deploy();
      day.outputs = await ports.outputs();
      day.version = day.outputs.get(versionOutput);
      return `${target.stackName} is deployed.`;
    })) &&
    (await steps.measure('secret', async () => {
      const token = accessToken === undefined ? {} : { access_token: accessToken };
      await setSecret(target.stackName, JSON.stringify({ app_key: appKey, app_secret: appSecret, ...token }));
      return 'Key and secret are in the stack’s secret.';
    })) &&
    (await steps.measure('smoke', async () => {
      const { value = '' } = await new APIGatewayClient().send(
        new GetApiKeyCommand({ apiKey: output(day, 'ApiKeyId'), includeValue: true }),
      );
      day.apiKey = value;
      day.confidential.push(value);
      day.requests += smokeRequests;
      const { healthy, words } = await smoke(output(day, 'ApiUrl'), value);
      return healthy ? words : { fault: words };
    }))
  );
}

/** Largest number of requests that the smoke test sends. */
const smokeRequests = 8;

const output = ({ target, outputs }: Day, name: string) => outputOf(target.stackName, outputs, name);

export async function measure(day: Day): Promise<void> {
  const through = await connectionsOf(day);
  await usersStep(day, through);
  for (const [group, operation] of Object.entries(probes) as [Group, Operation][])
    await callsStep(day, through, group, operation);
  await limitStep(day, through);
  const eventStream = await orderStreamStep(day, through);
  await orderStep(day, through, eventStream);
  await eventStream?.close();
  await streamStep(day, through);
  await day.steps.measure('status', async () => {
    const status = await statusOf(deployedStatus(day.target));
    const words = statusInWords(status, day.target.options);
    return isWell(status) === false ? { fault: words } : words;
  });
  await day.steps.measure('figures', () => collectFigures(day));
}

/** Connection for a group: with an API key, and with an AWS signature or a user's token if it needs one. Undefined: none. */
type Connect = (group: Group) => Connection | undefined;

async function connectionsOf(day: Day): Promise<Connect> {
  const counted =
    (send: typeof fetch): typeof fetch =>
    (...given) => {
      day.requests++;
      return send(...given);
    };
  const { apiKey } = day;
  const baseUrl = output(day, 'ApiUrl');
  const signing = signingFetch('execute-api', await awsAccess());
  const { token } = day.options;
  const byKey = { baseUrl, apiKey, fetch: counted(fetch) };
  const by: Readonly<Partial<Record<string, Connection>>> = {
    'api-key': viaGateway(byKey),
    'bound-key': viaGateway(byKey),
    iam: viaGateway({ ...byKey, fetch: counted(signing) }),
    ...(token !== undefined && { jwt: viaGateway({ ...byKey, token }) }),
  };
  return (group) => by[day.config.access[group] ?? ''];
}

const tokenlessNote =
  'It opens with jwt: set TOKEN to an access token of the stage’s issuer, with the scopes read and trade.';

async function usersStep(day: Day, through: Connect): Promise<void> {
  await day.steps.measure('users', async () => {
    const granted = await grantAll(day);
    if (granted.length === 0) return 'No group that can be called asks who calls: nothing was granted.';
    const words = `May read and trade: ${granted.join(', ')}.`;
    const accounts = through('accounts');
    if (!accounts) return `${words} Accounts are closed, or open with jwt and TOKEN is not set.`;
    const { data } = await askOf(listAccounts, accounts)({});
    const ids = (data as readonly { readonly account_id: string }[]).map((one) => one.account_id);
    day.confidential.push(...ids);
    day.account = ids[0];
    return `${words} The app key has ${ids.length} accounts.`;
  });
}

async function callsStep(day: Day, through: Connect, group: Group, operation: Operation): Promise<void> {
  const { steps, config, groups, ports, account } = day;
  const access = config.access[group];
  const connection = through(group);
  const name = `calls of ${group}`;
  if (!access) return steps.leaveOut(name, 'The group is closed.');
  if (!connection) return steps.leaveOut(name, tokenlessNote);
  if ('account_id' in operation.query && account === undefined)
    return steps.leaveOut(name, 'There is no account to ask for.');
  await steps.measure(name, async () => {
    const calls = await callGroup({ group, access }, operation, connection, ports, account);
    groups.push(calls);
    const { answered = 0 } = calls.outcomes;
    const words = `${answered} of ${callsOfEach} answered.`;
    return answered === callsOfEach ? words : { fault: `${words} ${JSON.stringify(calls.outcomes)}` };
  });
}

async function limitStep(day: Day, through: Connect): Promise<void> {
  const { steps, config } = day;
  const connection = through('market-data');
  const { share } = config.limiter;
  if (!connection)
    return steps.leaveOut('limit', config.access['market-data'] ? tokenlessNote : 'Market data is closed.');
  if (share === 1)
    return steps.leaveOut(
      'limit',
      'The stage takes all of it: more than that would exceed the upstream’s own.',
    );
  await steps.measure('limit', async () => {
    const limits = { upstreamLimits: config.upstream.limits, share, already: day.requests };
    day.limit = await tryLimit(connection, limits, day.ports);
    const words = limitInWords(day.limit);
    return day.limit.holds === true ? words : { fault: words };
  });
}

const listenerLooks = 24;
const betweenListenerLooksMs = 5000;

/** @returns the stream, if it began; the order's events will come on it */
async function orderStreamStep(day: Day, through: Connect): Promise<OrderStream | undefined> {
  const { steps, config, ports, target, began } = day;
  const orders = through('orders');
  const leaveOut = (why: string) => void steps.leaveOut('order stream', why);
  if (!config.live?.streams['order-streams'])
    return leaveOut('The stage has no streams of order events (live.maxOrderStreams).');
  if (!orders) return leaveOut(tokenlessNote);
  let stream: OrderStream | undefined;
  const isOpen = await steps.measure('order stream', async () => {
    stream = openOrderStream(orders, ports);
    const ms = await stream.began();
    if (ms === undefined) return { fault: 'The stream did not begin within a minute.' };
    const deployed = await deployedOf(target.stackName);
    const isHeard = () => hasLogged(deployed, 'TradeEvents', 'trade_stream_subscribed', began);
    for (let look = 1; !(await isHeard()); look++) {
      if (look === listenerLooks || ports.interrupted?.aborted)
        return {
          fault: `The stream began after ${ms} ms, but the listener has not subscribed to the upstream’s stream: its log says why.`,
        };
      await ports.pause(betweenListenerLooksMs);
    }
    return `The stream began after ${ms} ms, and the listener has subscribed to the upstream’s stream.`;
  });
  if (isOpen) return stream;
  await stream?.close();
  return undefined;
}

async function orderStep(day: Day, through: Connect, stream: OrderStream | undefined): Promise<void> {
  const { steps, account, options, ports } = day;
  const [orders, quotes] = [through('orders'), through('market-data')];
  if (!options.isSandbox)
    return steps.leaveOut('order', 'No upstream was named as a sandbox (--sandbox): no order was placed.');
  if (!orders || !quotes || account === undefined)
    return steps.leaveOut(
      'order',
      'Orders or quotes cannot be called, or there is no account: no order was placed.',
    );
  await steps.measure('order', async () => {
    day.order = await tryOrder(orders, quotes, account, ports, stream);
    if (!day.order) return { fault: 'There is no quote to stay away from: no order was placed.' };
    const words = orderInWords(day.order);
    const { placed, ended, told } = day.order;
    const isTold = !told || (told.replaced !== undefined && told.cancelled !== undefined);
    return placed === 'accepted' && ended === 'cancelled' && isTold ? words : { fault: words };
  });
}

const streamSeconds = 10;

async function streamStep(day: Day, through: Connect): Promise<void> {
  const connection = through('market-data');
  if (!connection || !day.config.live?.streams['quote-streams'])
    return day.steps.leaveOut('stream', 'The stage has no streams of quotes.');
  await day.steps.measure('stream', async () => {
    day.stream = await tryStream(connection, streamSeconds, day.ports);
    return day.stream.updates > 0 ? 'Quotes came.' : { fault: 'No quote came.' };
  });
}

const figureLooks = 20;
const betweenLooksMs = 15_000;

/** Waits for the figures: log lines of Lambda come after seconds, metrics of CloudWatch after minutes. */
async function collectFigures(day: Day): Promise<string> {
  const { ports, target, began } = day;
  const deployed = await deployedOf(target.stackName);
  for (let look = 1; ; look++) {
    day.runs = await runsOf(deployed, began);
    day.sums = await sumsOf(deployed, began, ports.clock());
    const hasStarts = day.runs.some(({ initMs }) => initMs !== undefined);
    const isThere = hasStarts && day.sums.invocations !== undefined && day.sums.readUnits !== undefined;
    if (isThere || look === figureLooks || ports.interrupted?.aborted) break;
    await ports.pause(betweenLooksMs);
  }
  return `${day.runs.length} runs of functions, and ${Object.keys(day.sums).length} sums of CloudWatch.`;
}
