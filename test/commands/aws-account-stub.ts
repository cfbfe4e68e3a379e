/** Stands in for AWS: as much of an account as preflight reads, over HTTP, so that the real clients talk to it. */

import { createServer, type IncomingMessage } from 'node:http';
import type { TestContext } from 'vitest';
import { urlFor } from '../support/listening.ts';

export interface AccountStub {
  /** Lambda's instances in all, and reserved by functions that are not the stage's. */
  readonly instances?: number;
  readonly reservedByOthers?: number;
  readonly rate?: number;
  readonly burst?: number;
  readonly keys?: number;
  /** Reserved by the one function of the stage's stack; without it there is no stack. */
  readonly held?: number;
  /** As Certificate Manager describes it; without it there is none. */
  readonly certificate?: object;
  /** Whether the CDK was bootstrapped in the Region; true when absent. */
  readonly isBootstrapped?: boolean;
  /** What the account may not read: a part of a path, `cloudformation` or `certificate`. */
  readonly denied?: readonly string[];
  /** What is answered without the figures, as by an emulator. */
  readonly empty?: readonly string[];
  /** Every call is refused so. */
  readonly refusal?: string;
}

/** @returns the environment under which a command talks to it */
export async function startAccountStub(t: TestContext, stub: AccountStub) {
  const server = createServer(async (request, response) => {
    const what =
      new URL(request.url ?? '/', 'http://a.example').pathname !== '/'
        ? request.url
        : (ofTarget[String(request.headers['x-amz-target'])] ?? 'cloudformation');
    for await (const _ of request);
    const [status, body] = answer(what ?? '', request, stub);
    const isXml = body.startsWith('<');
    const type = /__type":"(\w+)/.exec(body)?.[1];
    response.writeHead(status, {
      'content-type': isXml ? 'text/xml' : 'application/json',
      ...(type && { 'x-amzn-errortype': type }),
    });
    response.end(body);
  });
  return {
    AWS_ENDPOINT_URL: await urlFor(t, server),
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'canary-secret',
  };
}

const ofTarget: Readonly<Record<string, string>> = {
  'CertificateManager.DescribeCertificate': 'certificate',
  'AmazonSSM.GetParameter': 'bootstrap',
};

function answer(
  what: string,
  { url = '', headers: { authorization } }: IncomingMessage,
  stub: AccountStub,
): readonly [number, string] {
  const { instances = 1000, reservedByOthers = 0, rate = 10_000, burst = 5000, keys = 0, held } = stub;
  if (stub.refusal) return refused(what, stub.refusal, 403);
  if (stub.denied?.some((part) => what.includes(part))) return refused(what, 'AccessDeniedException', 403);
  if (stub.empty?.some((part) => what.includes(part))) return [200, '{}'];
  if (what === 'cloudformation') return stackOf(held);
  if (what === 'bootstrap')
    return stub.isBootstrapped === false
      ? refused(what, 'ParameterNotFound', 400)
      : said({ Parameter: { Value: '21' } });
  // The project signs this call itself.
  if (what === 'certificate' && !authorization?.includes('/eu-central-1/acm/aws4_request, '))
    return refused(what, 'MissingAuthenticationToken', 400);
  if (what === 'certificate')
    return stub.certificate
      ? said({ Certificate: stub.certificate })
      : refused(what, 'ResourceNotFoundException', 400);
  if (what.includes('/account-settings'))
    return said({
      AccountLimit: {
        ConcurrentExecutions: instances,
        UnreservedConcurrentExecutions: instances - reservedByOthers - (held ?? 0),
      },
    });
  if (what.endsWith('/concurrency')) return said({ ReservedConcurrentExecutions: held });
  if (what.startsWith('/account')) return said({ throttleSettings: { rateLimit: rate, burstLimit: burst } });
  if (what.startsWith('/usageplans')) return said({ item: [{ id: 'p' }] });
  if (what.startsWith('/apikeys')) return said(pageOf(keys, Number(/position=(\d+)/.exec(url)?.[1] ?? 0)));
  return refused(what, 'UnknownOperationException', 404);
}

const said = (body: object): readonly [number, string] => [200, JSON.stringify(body)];

/** 500 at a time, as API Gateway gives at most. */
function pageOf(keys: number, from: number) {
  const item = Array.from({ length: Math.min(500, keys - from) }, (_, index) => ({ id: `k${from + index}` }));
  return { item, ...(from + 500 < keys && { position: String(from + 500) }) };
}

function stackOf(held: number | undefined): readonly [number, string] {
  if (held === undefined)
    return refused('cloudformation', 'ValidationError', 400, 'Stack with id s does not exist');
  const member = (type: string, id: string) =>
    `<member><LogicalResourceId>${id}</LogicalResourceId><ResourceType>AWS::${type}</ResourceType>
      <PhysicalResourceId>${id}</PhysicalResourceId><ResourceStatus>CREATE_COMPLETE</ResourceStatus></member>`;
  return [
    200,
    `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>
      ${member('Lambda::Function', 'orders')}${member('ApiGateway::ApiKey', 'k')}${member('ApiGateway::UsagePlan', 'p')}
      </StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`,
  ];
}

function refused(what: string, type: string, status: number, message = 'stub'): readonly [number, string] {
  return what === 'cloudformation'
    ? [
        status,
        `<ErrorResponse><Error><Type>Sender</Type><Code>${type}</Code><Message>${message}</Message></Error></ErrorResponse>`,
      ]
    : [status, JSON.stringify({ __type: type, message })];
}
