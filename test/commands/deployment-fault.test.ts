/** Before the CDK begins: what the account or its Region cannot give is refused, and nothing else is. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { bootstrapFault, deploymentFault } from '../../infra/commands/stage.ts';
import { closedPort } from '../support/closed-port.ts';
import { type AccountStub, startAccountStub } from './aws-account-stub.ts';

const upstream = { baseUrl: 'https://upstream.example', limits: 'interface' } as const;
const orders = { upstream, groups: { orders: 'iam' } } as const;
/** The stub's account is asked about in eu-central-1. */
const withCertificateIn = (region: string) => {
  const certificateArn = `arn:aws:acm:${region}:123456789012:certificate/0a1b2c3d`;
  return { upstream, domain: { name: 'api.example.com', certificateArn } };
};

const cases: readonly (readonly [
  string,
  Parameters<typeof deploymentFault>,
  AccountStub,
  RegExp | undefined,
])[] = [
  ['a new account', [orders, []], { instances: 10 }, /^The stage reserves 16 .* reservedConcurrency: 'none'/],
  [
    'a new account with an authorizer',
    [
      {
        upstream,
        groups: { accounts: 'jwt' },
        auth: { issuer: 'https://issuer.example', clientIds: ['app'] },
      },
      [],
    ],
    { instances: 10 },
    /^The stage reserves 10 instances \(the authorizer 10\)/,
  ],
  [
    'a new account with alarms that stop trading',
    [{ ...orders, trading: { limits: 'none', stopOnAlarms: {} } }, []],
    { instances: 10 },
    /^The stage reserves .*, stops by alarms 1\)/,
  ],
  ['nothing reserved', [{ upstream }, []], { instances: 10 }, undefined],
  [
    'none by word',
    [{ ...orders, functions: { reservedConcurrency: 'none' } }, []],
    { instances: 10 },
    undefined,
  ],
  ['the usual quota', [orders, []], { instances: 1000 }, undefined],
  ['room that only the stage itself has taken', [orders, []], { instances: 116, held: 16 }, undefined],
  ['a certificate’s Region', [withCertificateIn('eu-central-1'), []], {}, undefined],
  [
    'a Region without the certificate',
    [withCertificateIn('us-east-1'), []],
    {},
    /^domain\.certificateArn .* in us-east-1, .* to eu-central-1: /,
  ],
  ['a profile’s own Region', [withCertificateIn('us-east-1'), ['--profile', 'other']], {}, undefined],
  ['an account of the CDK’s own', [orders, ['--profile', 'other']], { instances: 10 }, undefined],
  ['no permission', [orders, []], { instances: 10, denied: ['/account-settings'] }, undefined],
  ['no figure', [orders, []], { empty: ['/account-settings'] }, undefined],
];

for (const [what, args, stub, fault] of cases)
  test(`a deployment to ${what} ${fault ? 'is refused' : 'goes on'}`, async (t) => {
    Object.assign(process.env, await startAccountStub(t, stub));
    const said = await deploymentFault(...args);
    if (fault) assert.match(said ?? '', fault);
    else assert.equal(said, undefined);
  });

test('an account without the CDK’s bootstrap is told how to get it, unless another toolkit is named', async (t) => {
  const bare = await startAccountStub(t, { isBootstrapped: false });
  Object.assign(process.env, bare);
  assert.equal(
    await bootstrapFault([]),
    'The CDK is not bootstrapped in eu-central-1: run npx cdk bootstrap aws://ACCOUNT/eu-central-1 once.',
  );
  for (const option of ['--profile=other', '--toolkit-stack-name=Own'])
    assert.equal(await bootstrapFault([option]), undefined);
  for (const stub of [{}, { denied: ['bootstrap'] }, { empty: ['bootstrap'] }]) {
    Object.assign(process.env, await startAccountStub(t, stub));
    assert.equal(await bootstrapFault([]), undefined);
  }
});

test('a deployment goes on where AWS cannot be reached', async () => {
  Object.assign(process.env, { AWS_ENDPOINT_URL: `http://127.0.0.1:${await closedPort()}` });
  assert.equal(await deploymentFault(orders, []), undefined);
  assert.equal(await bootstrapFault([]), undefined);
});
