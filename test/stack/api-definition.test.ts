import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { corsExposedHeaders, corsRequestHeaders } from '../../functions/events/cors.ts';
import { functionsOf } from '../../functions/rows.ts';
import { type ApiDefinitionOptions, apiDefinition } from '../../infra/stack/api-definition.ts';
import {
  exposedOperations,
  getConfig,
  getStockSnapshots,
  listAccounts,
  type Operation,
  openable,
  operations,
  placeOrder,
  routesOf,
} from '../../lib/catalogue/index.ts';
import { objectsIn } from '../open-api/support.ts';

const uris = { 'market-data': 'uri:market-data', accounts: 'uri:accounts', orders: 'uri:orders' };

interface Method {
  readonly operationId?: string;
  readonly security?: readonly Readonly<Record<string, readonly []>>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: { readonly $ref?: string } } };
  };
  readonly responses: Readonly<Record<string, { readonly headers?: object }>>;
  readonly 'x-amazon-apigateway-request-validator'?: string;
  readonly 'x-amazon-apigateway-integration': {
    readonly type: string;
    readonly uri?: string;
    readonly httpMethod?: string;
    readonly timeoutInMillis?: number;
    readonly passthroughBehavior?: string;
    readonly requestTemplates?: Readonly<Record<string, string>>;
    readonly responses?: {
      readonly default: {
        readonly statusCode: string;
        readonly responseParameters: Readonly<Record<string, string>>;
        readonly responseTemplates: Readonly<Record<string, string>>;
      };
    };
  };
}

interface Definition {
  readonly openapi: string;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Method>>>>;
  readonly 'x-amazon-apigateway-api-key-source': string;
  readonly 'x-amazon-apigateway-minimum-compression-size': number;
  readonly 'x-amazon-apigateway-request-validators': Readonly<Record<string, object>>;
}

const define = (options: Partial<ApiDefinitionOptions> = {}) =>
  apiDefinition({
    title: 'Test',
    operations: [getStockSnapshots],
    access: { 'market-data': 'api-key', accounts: 'api-key', orders: 'iam' },
    integrationUris: uris,
    origins: [],
    throttleRetryAfterSeconds: 1,
    ...options,
  }) as unknown as Definition;

/** The integration's answer, for a mock. */
const answerOf = (method: Method | undefined) =>
  method?.['x-amazon-apigateway-integration'].responses?.default;

test('answers for phones are compressed from a kilobyte on', () => {
  assert.equal(define()['x-amazon-apigateway-minimum-compression-size'], 1024);
});

test('every path and alias goes with its one method to its group’s function', () => {
  const operations = [getStockSnapshots, listAccounts, placeOrder];
  const { paths } = define({ operations });
  const routes = routesOf(operations);
  assert.deepEqual(Object.keys(paths).sort(), ['/health', ...routes.map(({ path }) => path)].sort());
  for (const { path, method, operation } of routes) {
    assert.deepEqual(Object.keys(paths[path] ?? {}), [method.toLowerCase()], path);
    assert.deepEqual(paths[path]?.[method.toLowerCase()]?.['x-amazon-apigateway-integration'], {
      type: 'aws_proxy',
      httpMethod: 'POST',
      uri: uris[operation.group as keyof typeof uris],
      passthroughBehavior: 'when_no_match',
      timeoutInMillis: 29_000,
    });
  }
  const ids = Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  assert.equal(new Set(ids).size, ids.length, 'operation ids are unique');
});

test('a key is wanted of each operation, from the header x-api-key', () => {
  const definition = define({ operations: [getStockSnapshots, listAccounts] });
  assert.equal(definition['x-amazon-apigateway-api-key-source'], 'HEADER');
  assert.deepEqual(definition.components.securitySchemes, {
    api_key: { type: 'apiKey', name: 'x-api-key', in: 'header' },
  });
  for (const [path, methods] of Object.entries(definition.paths))
    for (const method of Object.values(methods))
      assert.deepEqual(method.security, path === '/health' ? undefined : [{ api_key: [] }], path);
});

test('an IAM group takes an AWS signature and no key', () => {
  const definition = define({ operations: [getStockSnapshots, placeOrder] });
  assert.deepEqual(definition.components.securitySchemes.sigv4, {
    type: 'apiKey',
    name: 'Authorization',
    in: 'header',
    'x-amazon-apigateway-authtype': 'awsSigv4',
  });
  for (const { path } of routesOf([placeOrder]))
    assert.deepEqual(definition.paths[path]?.post?.security, [{ sigv4: [] }]);
  assert.deepEqual(definition.paths[getStockSnapshots.path]?.get?.security, [{ api_key: [] }]);
});

test('a group with tokens takes key and token, and one authorizer decides by the header alone', () => {
  const uri = 'arn:aws:apigateway:r:lambda:path/2015-03-31/functions/authorizer/invocations';
  const access = { 'market-data': 'api-key', orders: 'jwt', accounts: 'bound-key' } as const;
  const operations = [getStockSnapshots, placeOrder, listAccounts];
  const definition = define({ operations, access, authorizerUri: uri });
  const { bearerAuth, ...others } = definition.components.securitySchemes;
  assert.deepEqual(Object.keys(others), ['api_key']);
  assert.deepEqual(bearerAuth, {
    type: 'apiKey',
    name: 'Authorization',
    in: 'header',
    'x-amazon-apigateway-authtype': 'custom',
    'x-amazon-apigateway-authorizer': {
      type: 'request',
      // No key among them: a result is kept by these, and belongs to a token under whichever key it comes.
      identitySource: 'method.request.header.Authorization',
      authorizerUri: uri,
      authorizerResultTtlInSeconds: 60,
    },
  });
  for (const { path } of routesOf([placeOrder]))
    assert.deepEqual(definition.paths[path]?.post?.security, [{ api_key: [], bearerAuth: [] }]);
  // A token that comes along is the function's to verify: here none is wanted.
  for (const { path } of routesOf([listAccounts]))
    assert.deepEqual(definition.paths[path]?.get?.security, [{ api_key: [] }]);
  assert.throws(() => define({ operations, access }), /there is no authorizer/);
});

test('validators ask for the presence of required parameters, and for nothing else', () => {
  const definition = define({ operations: [getStockSnapshots, listAccounts] });
  assert.deepEqual(definition['x-amazon-apigateway-request-validators'], {
    'presence-of-parameters': { validateRequestParameters: true, validateRequestBody: false },
  });
  for (const { path } of routesOf([getStockSnapshots])) {
    const method = definition.paths[path]?.get;
    assert.equal(method?.['x-amazon-apigateway-request-validator'], 'presence-of-parameters');
    assert.deepEqual(
      method.parameters?.map(({ name, in: where, required }) => [name, where, required]),
      [
        ['symbols', 'query', true],
        ['category', 'query', true],
      ],
    );
  }
  const without = definition.paths[listAccounts.path]?.get;
  assert.equal(without?.parameters, undefined);
  assert.equal(without?.['x-amazon-apigateway-request-validator'], undefined);
});

test('health is answered without a key and without a function', () => {
  const health = define().paths['/health']?.get;
  const integration = health?.['x-amazon-apigateway-integration'];
  assert.equal(integration?.type, 'mock');
  assert.equal(integration.requestTemplates?.['application/json'], '{"statusCode":200}');
  assert.equal(answerOf(health)?.statusCode, '200');
  assert.deepEqual(answerOf(health)?.responseTemplates, { 'application/json': '{"status":"ok"}' });
  assert.deepEqual(answerOf(health)?.responseParameters, {
    'method.response.header.Cache-Control': "'no-store'",
  });
});

test('the configuration is answered without a key and without a function, whatever a client calls its GET', () => {
  const operations = [getConfig, getStockSnapshots];
  const { get, options } = define({ operations, access: { 'market-data': 'iam' } }).paths[getConfig.path]!;
  assert.deepEqual([get?.operationId, get?.security, options], ['getConfig', undefined, undefined]);
  const integration = get?.['x-amazon-apigateway-integration'];
  assert.deepEqual([integration?.type, integration?.uri], ['mock', undefined]);
  // Of another content type than these API Gateway makes a 415.
  assert.deepEqual(integration?.requestTemplates, {
    'application/json': '{"statusCode":200}',
    'application/x-www-form-urlencoded': '{"statusCode":200}',
    'text/plain': '{"statusCode":200}',
  });
  assert.equal(answerOf(get)?.statusCode, '200');
  assert.deepEqual(answerOf(get)?.responseTemplates, {
    'application/json': '{"token_check_enabled":false}',
  });
  assert.equal(answerOf(get)?.responseParameters['method.response.header.Cache-Control'], "'no-store'");
});

test('without origins there is no trace of CORS', () => {
  assert.doesNotMatch(JSON.stringify(define()), /access-control|origin|options"/i);
});

const other = { ...listAccounts, id: 'other', path: '/other', aliases: [], headers: ['category'] };

test('each path answers its preflight without a key', () => {
  const operations: readonly Operation[] = [getConfig, getStockSnapshots, other, placeOrder];
  const { paths } = define({ operations, origins: ['https://a.example'] });
  for (const [path, methods] of Object.entries(paths)) {
    const { options } = methods;
    assert.equal(options?.security, undefined);
    assert.equal(options?.['x-amazon-apigateway-integration'].type, 'mock', path);
    assert.deepEqual(options?.['x-amazon-apigateway-integration'].requestTemplates, {
      'application/json': '{"statusCode":204}',
    });
    const { statusCode, responseParameters } = answerOf(options)!;
    assert.equal(statusCode, '204');
    assert.equal(
      responseParameters['method.response.header.Access-Control-Allow-Origin'],
      "'https://a.example'",
    );
    assert.equal(responseParameters['method.response.header.Access-Control-Max-Age'], "'7200'");
    assert.match(
      responseParameters['method.response.header.Access-Control-Allow-Methods'] ?? '',
      /GET, POST/,
    );
    assert.ok(
      !('method.response.header.Access-Control-Allow-Credentials' in responseParameters),
      'no cookies are used',
    );
    // API Gateway drops a header that the method's response does not declare.
    assert.deepEqual(
      Object.keys(options?.responses['204']?.headers ?? {}).map((name) => `method.response.header.${name}`),
      Object.keys(responseParameters),
    );
  }
  assert.equal(
    answerOf(paths['/other']?.options)?.responseParameters[
      'method.response.header.Access-Control-Allow-Headers'
    ],
    `'${corsRequestHeaders([other]).join(', ')}'`,
  );
  assert.match(corsRequestHeaders([other]).join(), /x-api-key.*category/);
});

test('one origin, and *, are constants', () => {
  for (const origin of ['capacitor://localhost', '*']) {
    const { paths } = define({ origins: [origin] });
    for (const method of [paths['/health']?.get, paths['/health']?.options]) {
      const { responseParameters, responseTemplates } = answerOf(method)!;
      assert.equal(responseParameters['method.response.header.Access-Control-Allow-Origin'], `'${origin}'`);
      assert.ok(!('method.response.header.Vary' in responseParameters));
      assert.doesNotMatch(responseTemplates['application/json'] ?? '', /#|\$/);
    }
  }
});

test('of several origins the caller’s own is chosen', () => {
  const { paths } = define({ origins: ['https://a.example', 'capacitor://localhost', 'https://b.example'] });
  const { responseParameters, responseTemplates } = answerOf(paths[getStockSnapshots.path]?.options)!;
  assert.equal(
    responseParameters['method.response.header.Access-Control-Allow-Origin'],
    "'https://a.example'",
  );
  assert.equal(responseParameters['method.response.header.Vary'], "'Origin'");
  assert.deepEqual(responseTemplates['application/json']?.split('\n'), [
    '#set($origin = $input.params().header.get("origin"))',
    '#if(!$origin || $origin == "")#set($origin = $input.params().header.get("Origin"))#end',
    '#if($origin == "capacitor://localhost" || $origin == "https://b.example")',
    '#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)',
    '#end',
    '',
  ]);
  const health = answerOf(paths['/health']?.get)?.responseTemplates['application/json'];
  assert.match(health ?? '', /#end\n\{"status":"ok"\}$/, 'health’s body stands after the choice');
});

test('what scripts may read of our answers includes the id and when to come back', () => {
  for (const name of ['x-request-id', 'retry-after', 'x-amzn-requestid'])
    assert.ok(corsExposedHeaders.includes(name), name);
});

test('a path of two operations, or an operation of a closed group, is refused', () => {
  assert.throws(
    () => define({ operations: [getStockSnapshots, { ...other, path: getStockSnapshots.path }] }),
    /belongs to two operations/,
  );
  assert.throws(() => define({ access: {} }), /getStockSnapshots belongs to market-data, which is not open/);
});

describe('bodies have models', () => {
  const all = exposedOperations(operations, openable);
  const { paths, components } = define({
    operations: all,
    access: Object.fromEntries(openable.map((group) => [group, 'api-key'])),
    integrationUris: Object.fromEntries(openable.flatMap(functionsOf).map((name) => [name, `uri:${name}`])),
  });

  test('one for each body, at every path and alias, and none without a reference', () => {
    for (const { path, operation } of routesOf(all)) {
      const method = paths[path]?.[operation.method.toLowerCase()];
      const { $ref } = method?.requestBody?.content['application/json'].schema ?? {};
      assert.equal($ref !== undefined, operation.body !== undefined, path);
      if ($ref) assert.ok($ref.split('/').at(-1)! in components.schemas, $ref);
    }
    const text = JSON.stringify([paths, components]);
    for (const name of Object.keys(components.schemas))
      assert.ok(text.includes(`"#/components/schemas/${name}"`), name);
  });

  test('in words that API Gateway’s models know, and in ASCII', () => {
    const known = new Set([
      ...['type', 'properties', 'required', 'items', 'enum', 'pattern', '$ref'],
      ...['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
    ]);
    for (const [schema, path] of objectsIn(components.schemas))
      if (path.length > 0 && path.at(-1) !== 'properties')
        for (const keyword of Object.keys(schema))
          assert.ok(known.has(keyword), [...path, keyword].join('/'));
    assert.match(JSON.stringify(components), /^[ -~]*$/);
  });

  test('and refuse nothing: no validator reads a body', () => {
    const { 'x-amazon-apigateway-request-validators': validators } = define();
    for (const validator of Object.values(validators))
      assert.equal((validator as { validateRequestBody: boolean }).validateRequestBody, false);
  });
});
