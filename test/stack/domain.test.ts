/** A name of the API's own: what is made of it, with a certificate that exists and with one that is made. */

import assert from 'node:assert/strict';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, test } from 'vitest';
import { ConfigError } from '../../infra/stack/config.ts';
import { type DomainConfig, securityPolicies } from '../../infra/stack/domain-config.ts';
import { resolveConfig } from '../../infra/stack/resolve-config.ts';
import { CountersignStack } from '../../infra/stack/stack.ts';
import { getStockSnapshots } from '../../lib/catalogue/index.ts';
import { type Refusals, testRefusals } from './refusals.ts';
import { base, baseUrl, createApp, type Synthesised, synthesise } from './synthesise.ts';

const upstream = { baseUrl, limits: 'interface' } as const;
const operations = [getStockSnapshots];
const name = 'api.example.com';
const certificateArn =
  'arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9';
const hostedZone = { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' };

const withDomain = (domain: DomainConfig, more: object = {}) => synthesise({ operations, domain, ...more });
const plain = synthesise({ operations });
const existing = withDomain({ name, certificateArn });
const made = withDomain({ name, hostedZone });

const propertiesOf = ({ one }: Synthesised, type: string) => one(type)[1].Properties;
const domainOf = (stack: Synthesised) => propertiesOf(stack, 'AWS::ApiGateway::DomainName');
const bodyOf = (stack: Synthesised) =>
  propertiesOf(stack, 'AWS::ApiGateway::RestApi').Body as {
    readonly servers?: readonly Record<string, unknown>[];
    readonly 'x-amazon-apigateway-security-policy'?: string;
    readonly 'x-amazon-apigateway-endpoint-access-mode'?: string;
  };
/** The members of the body that a domain brings. */
const ofDomain = [
  'servers',
  'x-amazon-apigateway-security-policy',
  'x-amazon-apigateway-endpoint-access-mode',
];
const outputOf = ({ template }: Synthesised, output: string) => template.Outputs[output]?.Value;

describe('without a domain', () => {
  test('there is nothing of one, neither resource nor output nor server', () => {
    for (const type of ['ApiGateway::DomainName', 'CertificateManager::Certificate', 'Route53::RecordSet'])
      assert.deepEqual(plain.all(`AWS::${type}`), []);
    assert.ok(!('StageUrl' in plain.template.Outputs));
    assert.equal(bodyOf(plain).servers, undefined);
  });
});

describe('with a certificate that exists', () => {
  test('the domain has it, and the same name in handshake and Host header', () => {
    assert.deepEqual(domainOf(existing), {
      DomainName: name,
      RegionalCertificateArn: certificateArn,
      EndpointConfiguration: { Types: ['REGIONAL'], IpAddressType: 'dualstack' },
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    });
    assert.deepEqual(existing.all('AWS::CertificateManager::Certificate'), []);
    assert.deepEqual(existing.all('AWS::Route53::RecordSet'), []);
  });

  test('its root is the stage: no base path', () => {
    assert.deepEqual(propertiesOf(existing, 'AWS::ApiGateway::BasePathMapping'), {
      DomainName: { Ref: existing.one('AWS::ApiGateway::DomainName')[0] },
      RestApiId: { Ref: existing.one('AWS::ApiGateway::RestApi')[0] },
      Stage: { Ref: existing.one('AWS::ApiGateway::Stage')[0] },
    });
  });

  test('outputs: clients call the domain; its name leads where DomainTarget says', () => {
    const [id] = existing.one('AWS::ApiGateway::DomainName');
    assert.deepEqual(Object.keys(existing.template.Outputs), [
      'ApiUrl',
      'StageUrl',
      'DomainTarget',
      'DomainTargetZone',
      'BudgetTable',
      'LimitsKey',
      'SecretArn',
      'UpstreamUrl',
      'Version',
      'ApiKeyId',
    ]);
    assert.equal(outputOf(existing, 'ApiUrl'), 'https://api.example.com');
    assert.deepEqual(outputOf(existing, 'StageUrl'), outputOf(plain, 'ApiUrl'));
    assert.deepEqual(outputOf(existing, 'DomainTarget'), { 'Fn::GetAtt': [id, 'RegionalDomainName'] });
    assert.deepEqual(outputOf(existing, 'DomainTargetZone'), { 'Fn::GetAtt': [id, 'RegionalHostedZoneId'] });
  });

  test('with a zone beside it, the records are made there', () => {
    const both = withDomain({ name, certificateArn, hostedZone });
    assert.equal(domainOf(both).RegionalCertificateArn, certificateArn);
    assert.equal(both.all('AWS::Route53::RecordSet').length, 2);
  });
});

describe('with a hosted zone', () => {
  test('a certificate for the name is made and validated there', () => {
    const [id, { Properties }] = made.one('AWS::CertificateManager::Certificate');
    assert.equal(Properties.DomainName, name);
    assert.equal(Properties.ValidationMethod, 'DNS');
    assert.deepEqual(Properties.DomainValidationOptions, [{ DomainName: name, HostedZoneId: hostedZone.id }]);
    assert.deepEqual(domainOf(made).RegionalCertificateArn, { Ref: id });
  });

  test('the name has records for IPv4 and IPv6', () => {
    const [id] = made.one('AWS::ApiGateway::DomainName');
    const records = made.all('AWS::Route53::RecordSet').map(([, { Properties }]) => Properties);
    assert.deepEqual(
      records,
      ['A', 'AAAA'].map((Type) => ({
        Name: `${name}.`,
        Type,
        HostedZoneId: hostedZone.id,
        AliasTarget: {
          DNSName: { 'Fn::GetAtt': [id, 'RegionalDomainName'] },
          HostedZoneId: { 'Fn::GetAtt': [id, 'RegionalHostedZoneId'] },
        },
      })),
    );
  });

  test('outputs: nothing is left to be pointed anywhere', () => {
    const { ApiUrl, StageUrl, DomainTarget, DomainTargetZone } = made.template.Outputs;
    assert.ok(ApiUrl && StageUrl);
    assert.deepEqual([DomainTarget, DomainTargetZone], [undefined, undefined]);
  });

  test('the zone itself may be the name, and may be written with the dot of Route 53', () => {
    const zone = { ...hostedZone, name: 'api.example.com.' };
    const apex = withDomain({ name, hostedZone: zone });
    const [[, { Properties }] = assert.fail()] = apex.all('AWS::Route53::RecordSet');
    assert.equal(Properties.Name, `${name}.`);
  });
});

describe('TLS', () => {
  test('each policy asks for 1.2 or more; the newer ones come with an access mode', () => {
    for (const securityPolicy of securityPolicies) {
      const { SecurityPolicy, EndpointAccessMode } = domainOf(
        withDomain({ name, certificateArn, securityPolicy }),
      );
      assert.equal(SecurityPolicy, securityPolicy);
      assert.match(securityPolicy, /^(TLS_1_2|SecurityPolicy_TLS13_1_[23]_.*)$/);
      assert.equal(EndpointAccessMode, securityPolicy === 'TLS_1_2' ? undefined : 'STRICT');
    }
  });

  test('the API has the newer policy of its domain, because AWS negotiates by the API’s', () => {
    for (const securityPolicy of securityPolicies) {
      const body = bodyOf(withDomain({ name, certificateArn, securityPolicy }));
      const isOlder = securityPolicy === 'TLS_1_2';
      assert.equal(body['x-amazon-apigateway-security-policy'], isOlder ? undefined : securityPolicy);
      assert.equal(body['x-amazon-apigateway-endpoint-access-mode'], isOlder ? undefined : 'STRICT');
    }
    assert.ok(!('x-amazon-apigateway-security-policy' in bodyOf(plain)));
  });
});

describe('the URL of the stage', () => {
  const extension = 'x-amazon-apigateway-endpoint-configuration';
  const closed = withDomain({ name, certificateArn, disableStageUrl: true });

  test('stays beside the domain, and can be refused: in the body, where OpenAPI 3.0 has it', () => {
    const server = (disableExecuteApiEndpoint: boolean) => [
      { url: 'https://api.example.com', [extension]: { disableExecuteApiEndpoint } },
    ];
    assert.deepEqual(bodyOf(existing).servers, server(false));
    assert.deepEqual(bodyOf(closed).servers, server(true));
    assert.ok(!('DisableExecuteApiEndpoint' in propertiesOf(closed, 'AWS::ApiGateway::RestApi')));
  });

  test('which takes a deployment of its own, and leaves no output that nobody can call', () => {
    const deployment = ({ one }: Synthesised) => one('AWS::ApiGateway::Deployment')[0];
    assert.notEqual(deployment(closed), deployment(existing));
    assert.ok(!('StageUrl' in closed.template.Outputs));
  });
});

test('a domain comes to a stack that runs: every other resource keeps its id and its properties', () => {
  for (const [id, { Type, Properties, ...rest }] of Object.entries(plain.template.Resources)) {
    // Each body has a deployment of its own.
    if (Type === 'AWS::ApiGateway::Deployment') continue;
    const after = existing.template.Resources[id] ?? assert.fail(id);
    const {
      Body,
      DeploymentId: _,
      ...properties
    } = after.Properties as {
      readonly Body?: object;
      readonly DeploymentId?: unknown;
    };
    const { DeploymentId: __, ...expected } = Properties;
    const body =
      Body && Object.fromEntries(Object.entries(Body).filter(([member]) => !ofDomain.includes(member)));
    assert.deepEqual(
      { ...after, Properties: { ...properties, ...(body && { Body: body }) } },
      {
        ...rest,
        Type,
        Properties: expected,
      },
    );
  }
});

test('cdk-nag, AwsSolutions', () => {
  for (const { app } of [existing, made]) {
    const { success, violations } = new AwsSolutionsChecks(app).validateScope(app);
    assert.deepEqual(violations, []);
    assert.ok(success);
  }
});

test('a certificate of another Region is refused as soon as the Region is known', () => {
  const deployTo = (region?: string) =>
    new CountersignStack(createApp(), 'Elsewhere', {
      ...base,
      operations,
      domain: { name, certificateArn },
      ...(region && { stack: { env: { region } } }),
    });
  deployTo();
  deployTo('eu-central-1');
  assert.throws(
    () => deployTo('us-east-1'),
    (error) =>
      error instanceof ConfigError &&
      /^domain\.certificateArn is a certificate in eu-central-1, but .* us-east-1: .*\.$/.test(error.message),
  );
});

test('no domain is the default, and a domain has the stricter of what suits phones', () => {
  assert.equal(resolveConfig({ upstream }).domain, undefined);
  assert.deepEqual(resolveConfig({ upstream, domain: { name, hostedZone } }).domain, {
    name,
    hostedZone,
    securityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
    disableStageUrl: false,
  });
});

const names = ['https://api.example.com', 'api.example.com/v1', 'api.example.com:443', 'API.example.com'];
const noNames = ['*.example.com', 'localhost', '192.0.2.1', 'api..example.com', '-a.example.com', ''];
const long = `${'a'.repeat(60)}.example.com`;

const refused: Refusals = [
  [
    'a text',
    { upstream, domain: name },
    /^domain takes an object, such as \{ name: 'api\.example\.com', hostedZone: .*\}\.$/,
  ],
  ['no name', { upstream, domain: { certificateArn } }, /^domain\.name is required\.$/],
  ...[...names, ...noNames].map(
    (wrong) =>
      [
        `the name ${JSON.stringify(wrong)}`,
        { upstream, domain: { name: wrong, certificateArn } },
        /^domain\.name takes a host name in lower case, such as api\.example\.com, without .*\.$/,
      ] as const,
  ),
  [
    'neither certificate nor zone: the deployment would wait for a record that nobody writes',
    { upstream, domain: { name } },
    /^domain needs certificateArn, .*, or hostedZone, .* by hand\.$/,
  ],
  ...[
    'arn:aws:iam::123456789012:server-certificate/api',
    'arn:aws:acm:eu-central-1:123456789012:certificate/',
    '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9',
  ].map(
    (wrong) =>
      [
        `the certificate ${wrong}`,
        { upstream, domain: { name, certificateArn: wrong } },
        /^domain\.certificateArn takes the ARN of a certificate in AWS Certificate Manager, .*\.$/,
      ] as const,
  ),
  [
    'a path of a zone as its id',
    { upstream, domain: { name, hostedZone: { ...hostedZone, id: '/hostedzone/Z1' } } },
    /^domain\.hostedZone\.id takes the id of a hosted zone .*\.$/,
  ],
  [
    'a zone without its name',
    { upstream, domain: { name, hostedZone: { id: 'Z1' } } },
    /^domain\.hostedZone\.name is required\.$/,
  ],
  [
    'a zone that does not hold the name',
    { upstream, domain: { name, hostedZone: { ...hostedZone, name: 'example.org' } } },
    /^domain\.name api\.example\.com is not in domain\.hostedZone example\.org: .* DomainTarget\.$/,
  ],
  [
    'a zone whose name only ends alike',
    { upstream, domain: { name: 'api.myexample.com', hostedZone } },
    /^domain\.name api\.myexample\.com is not in domain\.hostedZone example\.com: /,
  ],
  [
    'a name that no certificate is made for',
    { upstream, domain: { name: long, hostedZone } },
    /^domain\.name has 72 characters, and a certificate is made for 64 at most: give certificateArn\.$/,
  ],
  [
    'TLS 1.0',
    { upstream, domain: { name, certificateArn, securityPolicy: 'TLS_1_0' } },
    /^domain\.securityPolicy takes one of SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09, TLS_1_2, .*\.$/,
  ],
  [
    'a base path',
    { upstream, domain: { name, certificateArn, basePath: 'v1' } },
    /^domain\.basePath is not a property that can be configured here\.$/,
  ],
  [
    'a text for disableStageUrl',
    { upstream, domain: { name, certificateArn, disableStageUrl: 'yes' } },
    /^domain\.disableStageUrl takes true or false\.$/,
  ],
];

testRefusals(refused);
