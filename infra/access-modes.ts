/**
 * Table of the ways in which callers authenticate. One entry has all that differs between modes: a new mode is one entry
 * here; the configuration, API Gateway's definition, its refusals and the OpenAPI documents follow.
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
  /** Description in the document for people. */
  readonly description: string;
}

export type SchemeName = keyof typeof schemes;

interface AccessModeFacts {
  /** Schemes that a caller must use: alternatives, each with all the schemes that belong together. */
  readonly security: readonly (readonly SchemeName[])[];
  /** Schemes that API Gateway checks by itself; the gateway checks the rest. */
  readonly front: readonly SchemeName[];
  /** Whether it can open groups of market facts. */
  readonly opensMarketFacts: boolean;
  /** Whether it can open groups that belong to accounts, because it identifies the caller. */
  readonly opensAccounts: boolean;
  /** Whether a usage plan throttles its calls, so that no other throttle is needed. */
  readonly throttledByPlan: boolean;
  /** API Gateway's own refusals for groups with this mode, by the type of the gateway response. */
  readonly refusals: Readonly<Record<string, Refusal>>;
}

// AWS has one refusal for an unknown path, a wrong method and an unsigned call. On an unknown path it even reads any
// Authorization header as a signature.
const unsignedRefusal: Refusal = {
  code: 'forbidden',
  detail:
    'No operation has this path and method, or it takes only requests with a valid AWS signature (Signature Version 4).',
};

/** Placeholder for the sentence that the authorizer gave with its Deny; empty if AWS refused the owner of a signature. */
export const authorizersDetail = 'authorizer’s detail';

const keylessRefusals = { INVALID_API_KEY: { code: 'missing_api_key' } } as const;

export const accessModes = {
  'api-key': {
    security: [['api_key']],
    front: ['api_key'],
    opensMarketFacts: true,
    opensAccounts: false,
    throttledByPlan: true,
    refusals: keylessRefusals,
  },
  jwt: {
    security: [['api_key', 'bearerAuth']],
    front: ['api_key', 'bearerAuth'],
    opensMarketFacts: true,
    opensAccounts: true,
    // The authorizer runs before the usage plan counts.
    throttledByPlan: false,
    refusals: {
      ...keylessRefusals,
      UNAUTHORIZED: { code: 'missing_token' },
      // IAM's refusal of an AWS identity has this type, too, so the first sentence must be true of both.
      ACCESS_DENIED: {
        code: 'invalid_token',
        detail: `The access token is not accepted, or the AWS identity may not make this request. ${authorizersDetail}`,
      },
      // The authorizer failed, timed out, or had no free instance. AWS does not document which of the two types it answers
      // with; deployers report the second for a function that throws.
      AUTHORIZER_FAILURE: { code: 'access_unavailable' },
      AUTHORIZER_CONFIGURATION_ERROR: { code: 'access_unavailable' },
    },
  },
  'bound-key': {
    // The function checks the token: API Gateway cannot make an authorizer optional.
    security: [['api_key'], ['api_key', 'bearerAuth']],
    front: ['api_key'],
    opensMarketFacts: false,
    opensAccounts: true,
    throttledByPlan: false,
    refusals: keylessRefusals,
  },
  iam: {
    security: [['sigv4']],
    front: ['sigv4'],
    opensMarketFacts: true,
    opensAccounts: true,
    throttledByPlan: false,
    refusals: {
      EXPIRED_TOKEN: unsignedRefusal,
      INVALID_SIGNATURE: unsignedRefusal,
      MISSING_AUTHENTICATION_TOKEN: unsignedRefusal,
    },
  },
} as const satisfies Record<string, AccessModeFacts>;

export type AccessMode = keyof typeof accessModes;

/** Modes in the table's order. */
const modeNames = Object.keys(accessModes) as AccessMode[];

/** Default mode of a group; a group of accounts has it only once the deployer opens it. */
export const usualMode = (group: Group): AccessMode => (isAccountData(group) ? 'iam' : 'api-key');

/** Mode of a group in the local run: a key. It stands for the first user; with account data, a token may stand for another. */
export const localMode = (group: Group): AccessMode => (isAccountData(group) ? 'bound-key' : 'api-key');

/** Modes that can open a group: an API key alone identifies the app, not the caller. */
export const modesFor = (group: Group): readonly AccessMode[] =>
  modeNames.filter((mode) => accessModes[mode][isAccountData(group) ? 'opensAccounts' : 'opensMarketFacts']);

/** Tells whether calls count against a usage plan. */
export const takesKey = (mode: AccessMode): boolean => schemesOf([mode], 'front').includes('api_key');

/** Tells whether the gateway identifies the caller: for account data, and whenever a token is required. */
export const asksWho = (group: Group, mode: AccessMode): boolean => isAccountData(group) || mode === 'jwt';

/** Groups of market facts that require a user's token. */
export const userGroupsIn = (access: Readonly<Partial<Record<Group, AccessMode>>>): readonly Group[] =>
  openable.filter((group) => access[group] === 'jwt' && !isAccountData(group));

/** Modes without repetition, in the table's order. */
export const distinctModes = (modes: Iterable<AccessMode>): readonly AccessMode[] => {
  const used = new Set(modes);
  return modeNames.filter((mode) => used.has(mode));
};

const schemeNames = Object.keys(schemes) as SchemeName[];

/** Schemes of modes without repetition, in their table's order. */
export function schemesOf(modes: readonly AccessMode[], where: 'security' | 'front'): readonly SchemeName[] {
  const used = new Set<SchemeName>(modes.flatMap((mode) => accessModes[mode][where].flat()));
  return schemeNames.filter((name) => used.has(name));
}

const requirementOf = (together: readonly SchemeName[]) =>
  Object.fromEntries(together.map((scheme) => [scheme, []]));

/** `security` of an operation in OpenAPI documents. */
export const securityOf = (mode: AccessMode) => accessModes[mode].security.map(requirementOf);

/** `security` for API Gateway, which knows no alternatives. */
export const frontSecurityOf = (mode: AccessMode) => [requirementOf(accessModes[mode].front)];
