/** The API's own domain: what may be configured of it, and which values cannot be deployed. */

import * as v from 'valibot';
import { defined } from '../defined.ts';
import type { Mistakes } from '../mistakes.ts';
import { matching, oneOf, yesOrNo } from './schema-parts.ts';

/**
 * What API Gateway accepts of a TLS handshake, by its own names, the default first. That one takes TLS 1.2 with forward
 * secrecy and TLS 1.3, which Android has from 5 and iOS from 9 on. `TLS_1_2` is for older clients; those with 1.3 alone
 * shut out Android before 10 and iOS before 12.2.
 */
export const securityPolicies = [
  'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
  'TLS_1_2',
  'SecurityPolicy_TLS13_1_3_2025_09',
  'SecurityPolicy_TLS13_1_3_FIPS_2025_09',
] as const;

/** The newer policies come with an access mode: the name in the TLS handshake must be that of the Host header. */
export const hasAccessMode = (policy: (typeof securityPolicies)[number]): boolean =>
  policy.startsWith('SecurityPolicy_');

export interface DomainConfig {
  /** A host name in lower case, without scheme, port, path or wildcard. */
  readonly name: string;
  /**
   * A certificate for the name in AWS Certificate Manager, in the stack's own Region, because the endpoint is
   * regional. Default a new one, which `hostedZone` validates.
   */
  readonly certificateArn?: string;
  /**
   * The public zone of Route 53 that holds the name. The alias records A and AAAA are written there, and the record
   * that validates a new certificate. By id and name, so that synth asks AWS nothing. Default none, where
   * `certificateArn` is given: the deployer points the name at the API.
   */
  readonly hostedZone?: { readonly id: string; readonly name: string };
  /** Default `SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09`. */
  readonly securityPolicy?: (typeof securityPolicies)[number];
  /**
   * Whether the URL with the stage is refused. Default false: it asks for the same keys and signatures, clients that
   * have it go on, and it can be called before DNS knows the name.
   */
  readonly disableStageUrl?: boolean;
}

export type ResolvedDomain = DomainConfig &
  Required<Pick<DomainConfig, 'securityPolicy' | 'disableStageUrl'>>;

/** At least two labels, and no address: the last label begins with a letter. */
const hostName = String.raw`(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])`;

const nameFault =
  'takes a host name in lower case, such as api.example.com, without scheme, port, path or wildcard';
const certificateFault =
  'takes the ARN of a certificate in AWS Certificate Manager, arn:aws:acm:REGION:ACCOUNT:certificate/ID';
const zoneIdFault = 'takes the id of a hosted zone in Route 53, such as Z0123456789ABCDEFGHIJ';
const zoneNameFault = 'takes the name of the hosted zone, such as example.com';

export const domainSchema = v.strictObject({
  name: matching(new RegExp(`^${hostName}$`), nameFault),
  certificateArn: v.optional(
    matching(/^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]{1,64}$/, certificateFault),
  ),
  hostedZone: v.optional(
    v.strictObject({
      id: matching(/^Z[A-Z0-9]{1,31}$/, zoneIdFault),
      // Route 53 itself shows names with a dot at the end.
      name: v.pipe(
        v.string(zoneNameFault),
        v.transform((name) => name.replace(/\.$/, '')),
        v.regex(new RegExp(`^${hostName}$`), zoneNameFault),
      ),
    }),
  ),
  securityPolicy: v.optional(oneOf(...securityPolicies), securityPolicies[0]),
  disableStageUrl: v.optional(yesOrNo, false),
});

/** A certificate's common name holds no more (RFC 5280). */
const maxMadeName = 64;

/** @param mistakes takes a sentence for each, which names the property */
export function resolveDomain(given: v.InferOutput<typeof domainSchema>, mistakes: Mistakes): ResolvedDomain {
  const { name, certificateArn, hostedZone } = given;
  if (!certificateArn && !hostedZone)
    mistakes.add(
      `domain needs certificateArn, a certificate for ${name} in AWS Certificate Manager, or hostedZone, in which a new one is validated: without either the deployment would wait until the deployer has written the validation record by hand.`,
    );
  else if (!certificateArn && name.length > maxMadeName)
    mistakes.add(
      `domain.name has ${name.length} characters, and a certificate is made for ${maxMadeName} at most: give certificateArn.`,
    );
  if (hostedZone && !`.${name}`.endsWith(`.${hostedZone.name}`))
    mistakes.add(
      `domain.name ${name} is not in domain.hostedZone ${hostedZone.name}: give the zone that holds it, or leave hostedZone out and point the name at the output DomainTarget.`,
    );
  return defined(given);
}

/**
 * The endpoint is regional, so API Gateway takes a certificate of its own Region only. Configuration alone does not
 * say where it is deployed: the construct asks when the stack's Region is known, and the commands when theirs is.
 *
 * @returns one sentence, when the deployment would certainly fail
 */
export function certificateRegionFault(
  domain: DomainConfig | undefined,
  region: string | undefined,
): string | undefined {
  const there = domain?.certificateArn?.split(':')[3];
  if (there === undefined || region === undefined || there === region) return undefined;
  return `domain.certificateArn is a certificate in ${there}, but the stack is deployed to ${region}: give one of ${region}, because API Gateway takes no other for a regional endpoint.`;
}
