/** A deployer's settings for access tokens, and the check of these settings. */

import { type Scope, scopes } from '../catalogue/scopes.ts';
import { isPrivate } from '../signer/request.ts';

/**
 * Accepted algorithms. All are asymmetric, so that the issuer's published key can make no token. `Ed25519` is the later
 * name of `EdDSA`. Every issuer of OpenID Connect can sign with RS256.
 */
export const signatureAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;

export type SignatureAlgorithm = (typeof signatureAlgorithms)[number];

/** Rules for accepted access tokens. No member is a secret. At least one of `audience` and `clientIds` is required. */
export interface AuthSettings {
  /** Value of the claim `iss`, to the character: an https URL, or http on loopback. */
  readonly issuer: string;
  /** Accepted values of the claim `aud`. Without this setting, a token that names any audience is refused. */
  readonly audience?: string | readonly string[];
  /** Apps whose tokens are accepted, by the claim `client_id` or `azp`. Default any app of the audience. */
  readonly clientIds?: readonly string[];
  /** For each scope of the gateway: token scopes of which one grants it. Default the scope's own name. */
  readonly scopes?: Readonly<Partial<Record<Scope, readonly string[]>>>;
  /** The claim that lists the ids of the accounts that a user may reach. */
  readonly accountsClaim?: string;
  /** URL of the issuer's keys. Default: taken from its `/.well-known/openid-configuration`. */
  readonly jwksUri?: string;
  /** Default all of `signatureAlgorithms`. */
  readonly algorithms?: readonly SignatureAlgorithm[];
}

/**
 * Checks settings: one sentence for each wrong one. No sentence repeats a value.
 *
 * @example
 * authSettingsFaults({ issuer: 'https://issuer.example.com', audience: 'https://api.example.com' }); // []
 * authSettingsFaults({ issuer: 'https://issuer.example.com' }); // ['audience, clientIds: at least one of them is needed']
 */
export function authSettingsFaults(settings: unknown): readonly string[] {
  if (!isRecord(settings)) return ['not an object'];
  const isKnown = Object.keys(settings).every((name) => Object.hasOwn(settingChecks, name));
  const faults = Object.entries(settingChecks).flatMap(([name, check]) => {
    const fault = settings[name] === undefined && name !== 'issuer' ? undefined : check(settings[name]);
    return fault ? [`${name}: ${fault}`] : [];
  });
  return [...faults, ...faultsTogether(settings), ...(isKnown ? [] : ['a setting is not known'])];
}

/** Reads a setting that is a list or, for a list of one, a single text. */
export const listOf = (value: string | readonly string[] = []): readonly string[] =>
  typeof value === 'string' ? [value] : value;

const settingChecks: Readonly<Record<keyof AuthSettings, (value: unknown) => string | undefined>> = {
  issuer: urlFault,
  audience: (value) => (isText(value) ? undefined : textsFault(value)),
  clientIds: textsFault,
  scopes: scopesFault,
  accountsClaim: (value) => (isText(value) ? undefined : notText),
  jwksUri: urlFault,
  algorithms: algorithmsFault,
};

function faultsTogether({
  issuer,
  audience,
  clientIds,
  jwksUri,
}: Readonly<Record<string, unknown>>): string[] {
  if (audience === undefined && clientIds === undefined)
    return ['audience, clientIds: at least one of them is needed'];
  const faults: string[] = [];
  // An ID token's audience is the app: if the app were an accepted audience, ID tokens would pass as access tokens.
  const apps: readonly unknown[] = Array.isArray(clientIds) ? clientIds : [];
  if ((Array.isArray(audience) ? audience : [audience]).some((one) => apps.includes(one)))
    faults.push('audience, clientIds: a value stands in both; the audience names the API and not the app');
  if (isHttps(issuer) && jwksUri !== undefined && !urlFault(jwksUri) && !isHttps(jwksUri))
    faults.push('jwksUri: must be https, as the issuer is');
  return faults;
}

const maxLength = 512;
const maxValues = 50;
const notText = `not a text of 1 to ${maxLength} characters without spaces`;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= maxLength && /^[!-~]+$/.test(value);

const isHttps = (value: unknown) => typeof value === 'string' && value.startsWith('https:');

function textsFault(value: unknown): string | undefined {
  return Array.isArray(value) && value.length > 0 && value.length <= maxValues && value.every(isText)
    ? undefined
    : `not a list of 1 to ${maxValues} texts of 1 to ${maxLength} characters without spaces`;
}

function urlFault(value: unknown): string | undefined {
  if (!isText(value)) return notText;
  if (/[?#\\]/.test(value)) return 'a query, fragment or backslash does not belong in it';
  if (!URL.canParse(value)) return 'not an absolute URL';
  const url = new URL(value);
  if (url.username || url.password) return 'credentials do not belong in it';
  return isPrivate(url) ? undefined : 'not https; http is for loopback addresses only';
}

function scopesFault(value: unknown): string | undefined {
  if (!isRecord(value)) return 'not an object';
  if (Object.keys(value).some((name) => !scopes.some((scope) => scope === name)))
    return `its members are ${scopes.join(', ')}`;
  return Object.values(value)
    .map(textsFault)
    .find((fault) => fault !== undefined);
}

function algorithmsFault(value: unknown): string | undefined {
  const known: readonly unknown[] = signatureAlgorithms;
  return Array.isArray(value) && value.length > 0 && value.every((one) => known.includes(one))
    ? undefined
    : `not a list of some of ${signatureAlgorithms.join(', ')}`;
}
