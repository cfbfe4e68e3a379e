/**
 * How callers show who they are: one entry for each mode has all that differs between them. A new mode is one
 * entry here; the configuration, API Gateway's definition, its refusals and the OpenAPI document follow.
 */

import { type Group, groups } from '../lib/catalogue/index.ts';
import type { Refusal } from '../lib/gateway/index.ts';
import type { Json } from './json.ts';

interface AccessModeFacts {
  /** The name of the security scheme in OpenAPI documents. */
  readonly scheme: string;
  /** The scheme as API Gateway imports it. */
  readonly definition: Readonly<Record<string, Json>>;
  /** The description in the document for people. */
  readonly description: string;
  /** It tells one caller from another, so that a group may open with it that belongs to one upstream account. */
  readonly authenticates: boolean;
  /** Its calls count against a usage plan. */
  readonly hasUsagePlan: boolean;
  /** API Gateway's own refusals where a group opens with it, by the type of the gateway response. */
  readonly refusals: Readonly<Record<string, Refusal>>;
}

// AWS has one refusal for an unknown path, a wrong method and an unsigned call; on a path that it does not know
// it even reads any Authorization header as a signature.
const unsigned: Refusal = {
  code: 'forbidden',
  detail:
    'No operation has this path and method, or it takes only requests with a valid AWS signature (Signature Version 4).',
};

export const accessModes = {
  'api-key': {
    scheme: 'api_key',
    definition: { type: 'apiKey', name: 'x-api-key', in: 'header' },
    description: 'A key of a usage plan. It counts requests; it is no authentication of a person.',
    authenticates: false,
    hasUsagePlan: true,
    refusals: { INVALID_API_KEY: { code: 'missing_api_key' } },
  },
  iam: {
    scheme: 'sigv4',
    definition: {
      type: 'apiKey',
      name: 'Authorization',
      in: 'header',
      // OpenAPI has no word for AWS signatures.
      'x-amazon-apigateway-authtype': 'awsSigv4',
    },
    description: 'An AWS signature (Signature Version 4, service `execute-api`).',
    authenticates: true,
    hasUsagePlan: false,
    refusals: {
      EXPIRED_TOKEN: unsigned,
      INVALID_SIGNATURE: unsigned,
      MISSING_AUTHENTICATION_TOKEN: unsigned,
    },
  },
} as const satisfies Record<string, AccessModeFacts>;

export type AccessMode = keyof typeof accessModes;

/** In the order of the table. */
const names = Object.keys(accessModes) as AccessMode[];

/** The mode of a group unless the deployer chooses another; a group of one account has it only once it is opened. */
export const usualMode = (group: Group): AccessMode =>
  groups[group].exposure === 'open' ? 'api-key' : 'iam';

/** The modes that a group can be opened with: an API key tells which app calls, not who. */
export const modesFor = (group: Group): readonly AccessMode[] =>
  names.filter((mode) => groups[group].exposure === 'open' || accessModes[mode].authenticates);

/** Each once, in the order of the table. */
export const distinctModes = (modes: Iterable<AccessMode>): readonly AccessMode[] => {
  const used = new Set(modes);
  return names.filter((mode) => used.has(mode));
};

/** The `security` of an operation in OpenAPI documents. */
export const securityOf = (mode: AccessMode) => [{ [accessModes[mode].scheme]: [] }];
