/**
 * How callers show who they are: one entry for each mode has all that differs between them. A new mode is one
 * entry here; the configuration, API Gateway's definition, its refusals and the OpenAPI documents follow.
 */

import { openable } from '../lib/catalogue/exposure.ts';
import { type Group, isAccountData } from '../lib/catalogue/groups.ts';
import type { Refusal } from '../lib/gateway/index.ts';
import type { Json } from './json.ts';

/** Security schemes, by their names in OpenAPI documents. */
export const schemes = {
  api_key: {
    definition: { type: 'apiKey', name: 'x-api-key', in: 'header' },
    description: 'A key of a usage plan. It counts requests; it is no authentication of a person.',
  },
  bearerAuth: {
    definition: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    description: 'An access token of the gateway’s issuer: it says who the user is. An ID token is refused.',
  },
  sigv4: {
    definition: {
      type: 'apiKey',
      name: 'Authorization',
      in: 'header',
      // OpenAPI has no word for AWS signatures.
      'x-amazon-apigateway-authtype': 'awsSigv4',
    },
    description: 'An AWS signature (Signature Version 4, service `execute-api`).',
  },
} as const satisfies Record<string, Scheme>;

interface Scheme {
  readonly definition: Readonly<Record<string, Json>>;
  /** The description in the document for people. */
  readonly description: string;
}

export type SchemeName = keyof typeof schemes;

interface AccessModeFacts {
  /** What a caller sends: alternatives, each with all the schemes that belong together. */
  readonly security: readonly (readonly SchemeName[])[];
  /** What API Gateway checks by itself; the rest is the gateway's. */
  readonly front: readonly SchemeName[];
  /** It can open groups of market facts. */
  readonly opensMarketFacts: boolean;
  /** It can open groups that belong to accounts, because it tells who calls. */
  readonly opensAccounts: boolean;
  /** A usage plan throttles its calls, so that no other throttle is needed. */
  readonly throttledByPlan: boolean;
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

/** Stands for the sentence that the authorizer gave with its Deny; nothing where AWS refused a signature's owner. */
export const authorizersDetail = 'authorizer’s detail';

const keyless = { INVALID_API_KEY: { code: 'missing_api_key' } } as const;

export const accessModes = {
  'api-key': {
    security: [['api_key']],
    front: ['api_key'],
    opensMarketFacts: true,
    opensAccounts: false,
    throttledByPlan: true,
    refusals: keyless,
  },
  jwt: {
    security: [['api_key', 'bearerAuth']],
    front: ['api_key', 'bearerAuth'],
    opensMarketFacts: true,
    opensAccounts: true,
    // The authorizer runs before the plan counts.
    throttledByPlan: false,
    refusals: {
      ...keyless,
      UNAUTHORIZED: { code: 'missing_token' },
      // The type is also that of an AWS identity that IAM does not let through: the first sentence is true of both.
      ACCESS_DENIED: {
        code: 'invalid_token',
        detail: `The access token is not accepted, or the AWS identity may not make this request. ${authorizersDetail}`,
      },
      // The authorizer failed, ran out of its time, or had no instance free. Which of the two AWS answers with, it does
      // not document; for a function that throws, deployers report the second.
      AUTHORIZER_FAILURE: { code: 'access_unavailable' },
      AUTHORIZER_CONFIGURATION_ERROR: { code: 'access_unavailable' },
    },
  },
  'bound-key': {
    // A token is the function's to check: API Gateway cannot make an authorizer optional.
    security: [['api_key'], ['api_key', 'bearerAuth']],
    front: ['api_key'],
    opensMarketFacts: false,
    opensAccounts: true,
    throttledByPlan: false,
    refusals: keyless,
  },
  iam: {
    security: [['sigv4']],
    front: ['sigv4'],
    opensMarketFacts: true,
    opensAccounts: true,
    throttledByPlan: false,
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

/** The mode of a group unless the deployer chooses another; a group of accounts has it only once it is opened. */
export const usualMode = (group: Group): AccessMode => (isAccountData(group) ? 'iam' : 'api-key');

/** The mode of a group in the local run: a key, which stands for the first user, or for what belongs to an account a token beside it. */
export const localMode = (group: Group): AccessMode => (isAccountData(group) ? 'bound-key' : 'api-key');

/** The modes that a group can be opened with: an API key alone tells which app calls, not who. */
export const modesFor = (group: Group): readonly AccessMode[] =>
  names.filter((mode) => accessModes[mode][isAccountData(group) ? 'opensAccounts' : 'opensMarketFacts']);

/** Whether its calls count against a usage plan. */
export const takesKey = (mode: AccessMode): boolean => schemesOf([mode], 'front').includes('api_key');

/** Whether the gateway asks who calls: of everything that belongs to an account, and where a token is required. */
export const asksWho = (group: Group, mode: AccessMode): boolean => isAccountData(group) || mode === 'jwt';

/** Groups of market facts that need a user all the same. */
export const userGroupsIn = (access: Readonly<Partial<Record<Group, AccessMode>>>): readonly Group[] =>
  openable.filter((group) => access[group] === 'jwt' && !isAccountData(group));

/** Each once, in the order of the table. */
export const distinctModes = (modes: Iterable<AccessMode>): readonly AccessMode[] => {
  const used = new Set(modes);
  return names.filter((mode) => used.has(mode));
};

const schemeNames = Object.keys(schemes) as SchemeName[];

/** The schemes that modes name, each once, in the order of their table. */
export function schemesOf(modes: readonly AccessMode[], where: 'security' | 'front'): readonly SchemeName[] {
  const used = new Set<SchemeName>(modes.flatMap((mode) => accessModes[mode][where].flat()));
  return schemeNames.filter((name) => used.has(name));
}

const requirement = (together: readonly SchemeName[]) =>
  Object.fromEntries(together.map((scheme) => [scheme, []]));

/** The `security` of an operation in OpenAPI documents. */
export const securityOf = (mode: AccessMode) => accessModes[mode].security.map(requirement);

/** The same for API Gateway, which knows no alternatives. */
export const frontSecurityOf = (mode: AccessMode) => [requirement(accessModes[mode].front)];
