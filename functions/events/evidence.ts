/** Reads what API Gateway established about a request's sender: API key, AWS identity, and the authorizer's claims. */

import type { APIGatewayProxyEvent } from 'aws-lambda';
import { principalArn, type SenderEvidence, type TokenClaims } from '../../lib/access/evidence.ts';

type EventContext = APIGatewayProxyEvent['requestContext'];

/** The part of an event's context that this module reads. */
export interface SenderContext {
  readonly identity?: Partial<Pick<EventContext['identity'], 'apiKeyId' | 'userArn' | 'sourceIp'>>;
  /** Text members that the authorizer put into its answer. */
  readonly authorizer?: { readonly claims?: unknown } | null | undefined;
}

/** API Gateway gives a key only for a method that requires one, and an AWS identity only for one that requires a signature. */
export function evidenceIn({ identity, authorizer }: SenderContext): SenderEvidence | undefined {
  const claims = claimsIn(authorizer?.claims);
  const evidence: SenderEvidence = {
    ...(identity?.apiKeyId && { apiKeyId: identity.apiKeyId }),
    ...(identity?.userArn && { iamArn: principalArn(identity.userArn) }),
    ...(claims && { claims }),
  };
  return Object.keys(evidence).length > 0 ? evidence : undefined;
}

/** Parses the authorizer's claims; undefined for any other text, so that the token counts as missing. */
function claimsIn(text: unknown): TokenClaims | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const claims: unknown = JSON.parse(text);
    return isClaims(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isMoment = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);

const claimChecks: Readonly<Record<keyof TokenClaims, (value: unknown) => boolean>> = {
  issuer: isText,
  subject: isText,
  clientId: (value) => value === undefined || isText(value),
  tokenId: (value) => value === undefined || isText(value),
  scopes: isTexts,
  accounts: (value) => value === undefined || isTexts(value),
  issuedAt: isMoment,
  expiresAt: isMoment,
};

function isClaims(value: unknown): value is TokenClaims {
  if (typeof value !== 'object' || value === null) return false;
  const members = value as Readonly<Record<string, unknown>>;
  return Object.entries(claimChecks).every(([name, isGood]) => isGood(members[name]));
}
