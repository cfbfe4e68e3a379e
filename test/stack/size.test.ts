/** How large a stack of the whole interface is, beside what CloudFormation and API Gateway take. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { exposedOperations, openable, operations, routesOf } from '../../lib/catalogue/index.ts';
import { synthesise } from './synthesise.ts';

const routes = routesOf(exposedOperations(operations, openable));

const { template, one, all } = synthesise({
  groups: { accounts: 'iam', orders: 'iam', watchlists: 'iam' },
  cors: {
    origins: [
      'https://app.example.com',
      'https://www.example.com',
      'capacitor://localhost',
      'http://localhost:5173',
    ],
  },
  plans: { partner: { keys: ['one', 'two', 'three'] } },
});

test('all operations and aliases: fewer than 400 resources', () => {
  const count = Object.keys(template.Resources).length;
  assert.ok(count < 400, `${count} resources`);
});

test('the body holds every path and stays far below what can be imported', () => {
  const [, { Properties }] = one('AWS::ApiGateway::RestApi');
  const { paths } = Properties.Body as { readonly paths: object };
  assert.deepEqual(Object.keys(paths).sort(), ['/health', ...routes.map(({ path }) => path)].sort());
  const bytes = JSON.stringify(Properties.Body).length;
  assert.ok(bytes < 600_000, `${bytes} bytes`);
  // As it is uploaded, indented; CloudFormation takes 1 MB.
  const uploaded = JSON.stringify(template, undefined, 1).length;
  assert.ok(uploaded < 900_000, `${uploaded} bytes`);
});

test('API Gateway has room for the path segments: 300 resources for one API, without an increase', () => {
  const segments = new Set(
    [...routes.map(({ path }) => path), '/health'].flatMap((path) => {
      const parts = path.split('/');
      return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    }),
  );
  assert.ok(segments.size < 300, `${segments.size} resources`);
});

test('functions’ own policies stay below 20 kB', () => {
  // The audit of orders is invoked by its stream alone.
  const functions = all('AWS::Lambda::Function').filter(([id]) => !id.startsWith('OrderAudit'));
  const permissions = all('AWS::Lambda::Permission');
  assert.equal(permissions.length, functions.length, 'one statement each, however many operations it serves');
  for (const [, { Properties }] of permissions) assert.ok(JSON.stringify(Properties).length < 2_000);
});
