/** A stage with everything on, synthesised: what each function may do and which variables it has, as the page says it. */

import { exposedOperations, openable, operations } from '../../lib/catalogue/index.ts';
import { subscriptionOperations } from '../../lib/market-stream/calls.ts';
import { idOf, type Policy, policiesOf, synthesise, variablesOf } from '../stack/synthesise.ts';

/** Each path by its operation, so that each function has those of its own. */
const paths = Object.fromEntries(
  [...exposedOperations(operations, openable), ...subscriptionOperations].map(({ id }) => [
    id,
    `/moved/${id}`,
  ]),
);

/** Every property that becomes a variable or a right. */
const everythingOn: Parameters<typeof synthesise>[0] = {
  groups: { accounts: 'jwt', orders: 'jwt', watchlists: 'jwt', screeners: 'jwt' },
  auth: { issuer: 'https://issuer.example', clientIds: ['app'] },
  upstream: { baseUrl: 'https://upstream.example', limits: 'interface', paths },
  limiter: {
    share: 1,
    reserve: 0.5,
    bucket: 'team',
    operationLimits: { placing: { requests: 1000, perSeconds: 60, for: ['placeOrder'] } },
  },
  functions: {
    reservedConcurrency: {
      accounts: 1,
      orders: 1,
      'order-cancels': 1,
      'order-reads': 1,
      watchlists: 1,
      'market-data': 1,
      fundamentals: 1,
      instruments: 1,
      screeners: 1,
    },
  },
  trading: {
    limits: { max_order_notional: '10000', max_orders_per_minute: 30 },
    stopOnAlarms: { names: ['drawdown'], cancelOpen: true },
  },
  events: {
    groups: openable.filter((group) => group !== 'watchlists'),
    concurrency: 2,
    reservedConcurrency: 5,
  },
  cors: { origins: ['https://app.example'] },
  cache: {
    snapshots: { staleAfterSeconds: 20, expireAfterSeconds: 200 },
    clients: { minMaxAgeSeconds: 2, refreshesPerMinute: 10 },
    instances: 100,
    networkPrefix: { ipv4: 24, ipv6: 56 },
  },
  live: { maxStreams: 1, maxOrderStreams: 1 },
  accessToken: {},
  canary: {},
  tradeEvents: {},
  marketStream: { url: 'mqtts://quotes.example:1883' },
};

/** A right of a function: one statement of one policy. */
export interface Right {
  readonly function: string;
  readonly policy: string;
  readonly actions: readonly string[];
  /** Tables, buses, queues and secrets by the beginning of their logical ids; an index or a stream as what it belongs to. */
  readonly on: readonly string[];
  /** The partitions to which it is bound. */
  readonly partitions: readonly string[];
}

export interface WholeStage {
  /** The names of each function's variables. */
  readonly functions: ReadonlyMap<string, readonly string[]>;
  /** Functions with a variable that CloudFormation fills with a secret. */
  readonly secretsInVariables: readonly string[];
  readonly rights: readonly Right[];
  readonly tables: readonly string[];
}

export const sorted = (texts: Iterable<string>) => [...texts].sort();

const writing = /^dynamodb:(Put|Update|Delete)Item$/;
export const writes = ({ on, actions }: Right, table: string) =>
  on.includes(table) && actions.some((action) => writing.test(action));

const withoutHash = (id: string) => id.replace(/[0-9A-F]{8}$/, '');

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: {
    readonly [Operator in `ForAllValues:String${'Equals' | 'Like'}`]?: {
      readonly 'dynamodb:LeadingKeys'?: string[];
    };
  };
}

/** The logical ids that a part of a template names. */
const idsIn = (part: unknown): readonly string[] =>
  [...JSON.stringify(part).matchAll(/"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/g)].map(([, id = '']) =>
    withoutHash(id),
  );

/** The handler's folder, by the function's logical id. */
const folderOf: Readonly<Record<string, string>> = {
  UsersAuthorizer: 'authorizer',
  OrderAuditAuditor: 'order-audit',
  TradingStop: 'trading-stop',
  ordercancels: 'order-cancels',
  orderreads: 'order-reads',
  orderstreams: 'order-streams',
  marketdata: 'market-data',
  quotestreams: 'quote-streams',
  Lookupsquotelookup: 'quote-lookup',
  Lookupsdirectlookup: 'direct-lookup',
  AccessTokenaccesstoken: 'access-token',
  Canarycanary: 'canary',
  TradeEventsListener: 'trade-events',
  MarketStreamListener: 'market-stream',
  OrderSettlement: 'order-settlement',
  MassCancelsCanceller: 'mass-cancels',
};

export function wholeStage(): WholeStage {
  const { all, template } = synthesise(everythingOn);
  const functions = new Map<string, readonly string[]>();
  const rights: Right[] = [];
  const secretsInVariables: string[] = [];
  for (const [id, { Properties }] of all('AWS::Lambda::Function')) {
    const base = withoutHash(id).replace(/Function$/, '');
    const name = folderOf[base] ?? base;
    functions.set(name, Object.keys(variablesOf(Properties)));
    if (/resolve:(secretsmanager|ssm-secure)/.test(JSON.stringify(Properties))) secretsInVariables.push(name);
    const role = idOf(Properties.Role);
    const apart = all('AWS::IAM::Policy').filter(([, one]) =>
      JSON.stringify(one.Properties.Roles).includes(role),
    );
    const policies = [
      ...policiesOf(template.Resources[role]),
      ...apart.map(([, one]) => one.Properties as unknown as Policy),
    ];
    for (const { PolicyName: policy, PolicyDocument } of policies)
      for (const { Action, Resource, Condition } of PolicyDocument.Statement as readonly Statement[])
        rights.push({
          function: name,
          policy,
          actions: [Action].flat(),
          on: idsIn(Resource),
          partitions: Object.values(Condition ?? {}).flatMap((one) => one?.['dynamodb:LeadingKeys'] ?? []),
        });
  }
  const tables = all('AWS::DynamoDB::Table').map(([id]) => withoutHash(id));
  return { functions, secretsInVariables, rights, tables };
}
