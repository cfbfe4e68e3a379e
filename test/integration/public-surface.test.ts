/**
 * What the package offers: the values of each entry, named one by one, so that nothing becomes public or vanishes
 * by accident; and an example in the documentation of each function.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, test } from 'vitest';
import { operations } from '../../lib/catalogue/index.ts';
import { StoreThrottled } from '../../lib/limiter/index.ts';
import { CountersignError, SignError } from '../../lib/signer/index.ts';
import { root } from '../support/bundle.ts';
import { sourcesIn } from '../support/sources.ts';

const currentIds = operations.filter(({ legacyOf }) => !legacyOf).map(({ id }) => id);

const entries = {
  './signer': [
    'CountersignError',
    'SignError',
    'createSignedFetch',
    'createSigner',
    'createSubscriptionSigner',
    'explain',
  ],
  './verifier': ['createMemoryNonceStore', 'createVerifier'],
  // And every operation under its id, but for older forms: the typed client has no method for these.
  './catalogue': [
    ...currentIds,
    'appPlan',
    'exposedOperations',
    'findRoute',
    'groups',
    'limits',
    'openByDefault',
    'openable',
    'operations',
    'planOfTier',
    'planTiers',
    'planWithin',
    'routesOf',
  ],
  './client': [
    'BrokenAnswerError',
    'CountersignError',
    'InvalidRequestError',
    'OutcomeUnknownError',
    'RefusedError',
    'TimedOutError',
    'UnreachableError',
    'addDecimals',
    'compareDecimals',
    'createClient',
    'dayToDate',
    'decimalParts',
    'decimalToNumber',
    'direct',
    'epochNanoseconds',
    'fixedDecimal',
    'follow',
    'isClientError',
    'multiplyDecimals',
    'plainDecimal',
    'recordsIn',
    'reported',
    'streamStockSnapshots',
    'subtractDecimals',
    'toCompactDay',
    'toDate',
    'toDay',
    'viaGateway',
  ],
  './limiter': [
    'StoreThrottled',
    'afterTimeout',
    'createLimiter',
    'createMemoryLimiterStore',
    'limiterKey',
    'priorities',
    'windowOf',
  ],
  './orders': [
    'ControlChangeError',
    'JournalUnavailable',
    'createControlAdmin',
    'createMassCancels',
    'createMemoryControls',
    'createMemoryOrderJournal',
    'createSettlement',
    'maxControlAgeMs',
  ],
  './gateway': [
    'OrderReadError',
    'StoreThrottled',
    'accessStep',
    'baseUrlFault',
    'cacheStep',
    'callerOf',
    'compactJson',
    'createCore',
    'createFetchSend',
    'createGateway',
    'createGatewayCancels',
    'createGatewayLastPrices',
    'createGatewayOrderReads',
    'createLimiter',
    'createLimitsInForce',
    'createMemoryCacheStores',
    'createMemoryLimiterStore',
    'createMemoryResponseStore',
    'createMemorySnapshotStore',
    'defaultNetworkPrefix',
    'endpointKinds',
    'endpointLimitsOf',
    'limitPresets',
    'limiterLimits',
    'limitsInForceKey',
    'operationLimitsFault',
    'orderReadOperations',
    'ordersStep',
    'outcomesStep',
    'refusalKinds',
    'refusalResponse',
    'responsesStep',
    'symbolListing',
    'tighterLimiterLimits',
    'unguardedStep',
    'upstreamLimitsFault',
    'upstreamPathsFault',
    'upstreamPathsOf',
  ],
  './access': [
    'AccessChangeError',
    'authSettingsFaults',
    'bearerToken',
    'createAccessAdmin',
    'createDirectory',
    'createFetchText',
    'createIdentity',
    'createMemoryAccessStore',
    'createTokenVerifier',
    'principalArn',
    'signatureAlgorithms',
    'tokenFaults',
  ],
  './live': [
    'createMemoryStreamStore',
    'createStreamShares',
    'liveOperations',
    'liveStep',
    'streamStockSnapshots',
  ],
  './fetch': ['createFetchHandler'],
  './node': ['createNodeListener', 'createNodeSend'],
  './aws': [
    'compositions',
    'createDynamoAccessStore',
    'createDynamoClient',
    'createDynamoControlAdmin',
    'createDynamoControls',
    'createDynamoDirectoryStore',
    'createDynamoLimiterStore',
    'createDynamoMassCancels',
    'createDynamoOrderJournal',
    'createDynamoResponseStore',
    'createDynamoSnapshotStore',
    'createDynamoStreamStore',
    'createDynamoTradeEventStore',
    'createGrpcTransport',
    'createProxyHandler',
    'createSecretsManagerSource',
    'offers',
    'orderOffers',
    'orderPorts',
    'ports',
    'streaming',
  ],
  './simulator': ['faultsByChance', 'loseFirstAnswers', 'startSimulator'],
  './cdk': ['ConfigError', 'Countersign', 'CountersignStack'],
  './events': [
    'busEntry',
    'defaultDeadlineSeconds',
    'eventNames',
    'joinParts',
    'longestDeadlineSeconds',
    'parseReply',
    'parseRequest',
    'quoteLookupRequested',
    'readRequested',
    'replySource',
    'requesters',
  ],
  './trade-events': [
    'OrderReadError',
    'StreamError',
    'createGatewayOrderReads',
    'createMemorySeenEvents',
    'createMemoryTradeEventStore',
    'createRepetitionFilter',
    'createTradeEventListener',
    'decodeSubscribeResponse',
    'encodeSubscribeRequest',
    'eventServicePath',
    'followOrderEvents',
    'nextStreamState',
    'openStream',
    'orderReadOperations',
    'parseStreamMessage',
    'parseTradeEvent',
    'reconnectPause',
    'subscribeTypes',
    'tradeEventNames',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Who names no entry gets the signer. */
const surface: Readonly<Record<string, readonly string[]>> = { '.': entries['./signer'], ...entries };

/** Functions whose documentation has no example yet. */
const withoutExample: readonly string[] = ['./gateway'];

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
};

/** The source file of each entry that is a module; the build writes those whose name has a `*`. */
const sources = Object.entries(exports).flatMap(([entry, target]) =>
  typeof target === 'string' || entry.includes('*')
    ? []
    : [[entry, target.default.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts'), target.types] as const],
);

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const resolved = (file: string, name: string) =>
  name.startsWith('.') ? relative(root, join(root, dirname(file), name)) : name;

/** The file that declares what `file` exports as `name`. */
function declaringFile(file: string, name: string): string {
  for (const [, names = '', from = ''] of textOf(file).matchAll(/^export \{([^}]*)\} from '([^']+)';/gm))
    if (names.split(',').some((one) => one.trim() === name)) return declaringFile(resolved(file, from), name);
  return file;
}

/** The example in the documentation of an exported function; empty where there is none. */
function exampleOf(file: string, name: string): string {
  const declaration = new RegExp(
    String.raw`/\*\*((?:(?!\*/)[\s\S])*)\*/\s*(?:/\* @__NO_SIDE_EFFECTS__ \*/\s*)?export (?:async )?(?:function\*?|const) ${name}\b`,
  );
  const [, comment = ''] = declaration.exec(textOf(file)) ?? [];
  return comment.replaceAll(/^ *\* ?/gm, '').split(/@example\s/)[1] ?? '';
}

test('the package has these entries', () => {
  assert.deepEqual(sources.map(([entry]) => entry).sort(), Object.keys(surface).sort());
});

for (const [entry, file, types] of sources)
  describe(entry, async () => {
    const module = (await import(join(root, file))) as Readonly<Record<string, unknown>>;
    const functions = Object.keys(module).filter(
      (name) => typeof module[name] === 'function' && !/^class\b/.test(String(module[name])),
    );

    test('offers these values and no others', () => {
      assert.equal(types, `./dist/${file.replace(/\.ts$/, '.d.ts')}`);
      assert.deepEqual(Object.keys(module).sort(), [...(surface[entry] ?? [])].sort());
    });

    if (entry === '.' || withoutExample.includes(entry)) return;
    for (const name of functions)
      test(`${name} has an example, and its results are true`, () => {
        const example = exampleOf(declaringFile(file, name), name);
        assert.ok(example.includes(name), `${name}: ${example}`);
        for (const [, call, result] of example.matchAll(/^(\w+\(.*); \/\/ (.*)$/gm)) {
          const evaluate = new Function(...Object.keys(module), `return [${call}, ${result}]`);
          const [actual, expected] = evaluate(...Object.values(module)) as [unknown, unknown];
          assert.deepEqual(actual, expected, call);
        }
      });
  });

test('every exported error has the one base, and so a code', async () => {
  const modules = await Promise.all(
    sources.map(async ([, file]) => (await import(join(root, file))) as Readonly<Record<string, unknown>>),
  );
  const exported = new Set(modules.flatMap((module) => Object.values<unknown>(module)));
  const errors = [...exported].filter(
    (value): value is typeof Error => typeof value === 'function' && value.prototype instanceof Error,
  );
  const base: unknown = CountersignError;
  assert.equal(errors.length, 15);
  for (const error of errors) assert.ok(error.prototype instanceof CountersignError || error === base);
  const cause = new Error('why');
  const throttled = new StoreThrottled(cause);
  assert.deepEqual([throttled.code, throttled.cause], ['store_throttled', cause]);
  assert.equal(Object.hasOwn(new StoreThrottled(), 'cause'), false);
  assert.equal(new SignError('invalid_url', 'not absolute').code, 'invalid_url');
});

test('every operation is exported under its id, unless it is an older form', () => {
  for (const { id, legacyOf } of operations)
    assert.equal(surface['./catalogue']?.includes(id), legacyOf === undefined, id);
});

test('every export in lib is named', () => {
  for (const file of sourcesIn('lib')) assert.doesNotMatch(textOf(file), /\bexport (type )?\*/, file);
});

test('countersign/events brings the catalogue and the client’s types, and nothing of the gateway', () => {
  const reached = new Map<string, string>();
  const visit = (file: string) => {
    for (const [, name = ''] of textOf(file).matchAll(/\b(?:from|import) *\(? *'([^'\n]+)'/g)) {
      const path = resolved(file, name);
      if (reached.has(path)) continue;
      reached.set(path, file);
      if (path.startsWith('lib/')) visit(path);
    }
  };
  visit('lib/events/index.ts');
  assert.ok(reached.has('lib/catalogue/validation.ts'));
  for (const [path, file] of reached)
    assert.match(
      path,
      /^(lib\/(events|catalogue)\/|lib\/client\/types\.ts$|lib\/kernel\/(json-fault|parse-json)\.ts$|valibot$)/,
      `${file} imports ${path}`,
    );
});
