/**
 * `countersign preflight`: reads the account's quotas and reports how many phones the stage carries there, what bounds
 * them, and what to change or to ask AWS for. It changes nothing.
 */

import { noneIsTold } from '../stack/alarm-table.ts';
import type { ResolvedConfig } from '../stack/config.ts';
import { certificateRegionFault } from '../stack/domain-config.ts';
import { resolveConfig } from '../stack/resolve-config.ts';
import { configOf, stackNameOf } from '../stack/stages.ts';
import { type AwsAccount, readAccount } from './account.ts';
import { type Load, phonesOf, platform, readMs } from './capacity.ts';
import { isFor } from './certificate.ts';
import {
  type Bound,
  boundsOf,
  keysInWords,
  largestPlan,
  number,
  reservationFault,
  reservedBy,
} from './preflight-bounds.ts';

/** Load to check; without `phones`, as many as the stage's largest plan is made for. */
export type Wish = Omit<Load, 'phones'> & { readonly phones?: number };

export interface Preflight {
  /** Whether the load fits; undefined when a figure that would decide it is missing. */
  readonly carries: boolean | undefined;
  /** Report for the operator, several lines. */
  readonly words: string;
}

interface Obstacle {
  readonly words: string;
  readonly remedies: readonly string[];
}

/** @throws StartError when AWS cannot be reached at all */
export async function preflight(stage: string, wish: Wish): Promise<Preflight> {
  const config = resolveConfig(configOf(stage));
  const account = await readAccount(stackNameOf(stage), config.domain?.certificateArn);
  return verdictOf(stage, config, account, wish);
}

/**
 * Judges how many phones a stage carries in an account.
 *
 * @param stage name of the stage, for the report
 * @returns a verdict on `wish.phones`, or else on the load of the largest plan
 * @example verdictOf('dev', resolveConfig(configOf('dev')), await readAccount('Countersign-dev'), wish).carries
 */
export function verdictOf(stage: string, config: ResolvedConfig, account: AwsAccount, wish: Wish): Preflight {
  const reads = config.access['market-data'] !== undefined;
  const bounds = reads ? boundsOf(config, account, wish) : [];
  const load = reads ? loadOf(config, wish) : undefined;
  const undeployable = deploymentFaults(config, account);
  const faults = [...undeployable, ...(load ? loadFaults(bounds, load) : [])];
  const isKnown =
    account.lambda !== undefined && account.apiGateway !== undefined && !reservationOpen(config, account);
  const carries = faults.length > 0 ? false : isKnown ? true : undefined;
  const remedies = [...new Set(faults.flatMap((fault) => fault.remedies))];
  const lines = [
    `The stage ${stage} in ${account.region}`,
    '',
    ...(reads ? headlines(bounds, wish, isKnown) : [closedNote]),
    ...(load ? [wishInWords(config, load, wish, carries)] : []),
    ...(undeployable.length > 0 ? ['As it is, it cannot be deployed at all.'] : []),
    ...faults.map(({ words }) => words),
    ...section('What to do', remedies),
    ...(config.alarmTopic === undefined && config.alarmEmail === undefined ? ['', noneIsTold] : []),
    ...section('What bounds it', [
      ...bounds.map((bound) => boundInWords(bound, wish)),
      ...otherFacts(config, account),
    ]),
    ...section('Unknown', account.unknown),
  ];
  return { carries, words: lines.join('\n') };
}

const closedNote =
  'Market data is closed in this stage. Phones that read it are what is counted here, so this says only whether the stage can be deployed.';

const section = (title: string, lines: readonly string[]) =>
  lines.length > 0 ? ['', title, ...lines.map((line) => `- ${line}`)] : [];

function loadOf(config: ResolvedConfig, { phones, ...times }: Wish): Load | undefined {
  const plan = largestPlan(config);
  const wantedPhones = phones ?? (plan && phonesOf(plan, times.everySeconds));
  return wantedPhones === undefined ? undefined : { phones: wantedPhones, ...times };
}

function headlines(bounds: readonly Bound[], { everySeconds, withinSeconds }: Wish, isKnown: boolean) {
  const known = isKnown ? '' : ', as far as is known';
  const lowest = (kind: 'steady' | 'storm') =>
    bounds.reduce<Bound | undefined>(
      (best, bound) => (best && best[kind] <= bound[kind] ? best : bound),
      undefined,
    );
  const steady = lowest('steady');
  const storm = lowest('storm');
  if (!steady || !storm) return ['Nothing is known of what this deployment carries.'];
  return [
    `This deployment carries about ${roundedDown(steady.steady)} phones that ask every ${everySeconds} s${known}; bound by ${steady.name}.`,
    `From cold, about ${roundedDown(storm.storm)} phones may all come within ${withinSeconds} s${known}; bound by ${storm.name}.`,
  ];
}

/** Rounds down to three digits: more digits would claim a measurement. */
function roundedDown(phones: number): string {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, phones))) - 2);
  return number(Math.floor(phones / unit) * unit);
}

function wishInWords(
  config: ResolvedConfig,
  load: Load,
  { phones }: Wish,
  carries: boolean | undefined,
): string {
  const count = `${number(load.phones)} phones`;
  const claim =
    phones === undefined
      ? `Its largest plan, ${largestPlan(config)?.name}, is made for ${count}`
      : `${count} were asked for`;
  if (carries === undefined) return `${claim}: whether it carries them is unknown.`;
  return `${claim}: it ${carries ? 'carries' : 'does not carry'} them.`;
}

function loadFaults(bounds: readonly Bound[], load: Load): readonly Obstacle[] {
  const short = bounds.filter(({ steady, storm }) => Math.min(steady, storm) < load.phones);
  return short.map(({ name, steady, raise }) => ({
    words:
      steady < load.phones
        ? `Too little for ${number(load.phones)} phones every ${load.everySeconds} s: ${name}.`
        : `Enough while they read, too little when all come from cold within ${load.withinSeconds} s: ${name}. Those beyond it are refused at first and have to come again.`,
    remedies: raise(load),
  }));
}

/** Lists what would make CloudFormation fail. */
function deploymentFaults(config: ResolvedConfig, account: AwsAccount): readonly Obstacle[] {
  const keys = config.plans.reduce((sum, plan) => sum + plan.keys.length, 0);
  return [
    ...certificateFaults(config, account),
    ...reservationFaults(config, account),
    ...tooMany('API keys', keys, account.keys, account.deployed?.keys, platform.keys),
    ...tooMany(
      'usage plans',
      config.plans.length,
      account.usagePlans,
      account.deployed?.usagePlans,
      platform.usagePlans,
    ),
  ];
}

/** Returns one fault at most, the first to be mended. */
function certificateFaults(
  { domain }: ResolvedConfig,
  { region, certificate }: AwsAccount,
): readonly Obstacle[] {
  if (!domain) return [];
  const fault = (words: string, remedy: string) => [{ words, remedies: [remedy] }];
  const request = `Request a certificate for ${domain.name} in AWS Certificate Manager in ${region}, or give domain.hostedZone alone, so that one is made.`;
  const elsewhere = certificateRegionFault(domain, region);
  if (elsewhere) return fault(elsewhere, request);
  if (!certificate) return [];
  const { status, names } = certificate;
  if (status === 'missing')
    return fault('The account has no certificate with the ARN of domain.certificateArn.', request);
  if (!isFor(certificate, domain.name))
    return fault(
      `The certificate of domain.certificateArn is for ${names.join(', ')}, not for ${domain.name}.`,
      request,
    );
  return status === 'ISSUED'
    ? []
    : fault(
        `The certificate of domain.certificateArn has the status ${status}: API Gateway takes it once it is ISSUED.`,
        'Write the certificate’s validation record into the DNS of the name, and wait until its status is ISSUED.',
      );
}

function reservationFaults(config: ResolvedConfig, { lambda, deployed }: AwsAccount): readonly Obstacle[] {
  const reservedCount = reservedBy(config);
  if (!lambda || reservedCount === 0) return [];
  const never = reservationFault(config, lambda.all);
  const none =
    "Put functions: { reservedConcurrency: 'none' } into the stage, until AWS has raised Lambda’s quota.";
  if (never) return [{ words: never, remedies: [none] }];
  const free = Math.max(0, lambda.unreserved + (deployed?.reserved ?? 0) - platform.leftUnreserved);
  if (!deployed || reservedCount <= free) return [];
  return [
    {
      words: `The stage reserves ${number(reservedCount)} instances, but other functions have reserved so many that Lambda can give ${number(free)}: the deployment would fail.`,
      remedies: [
        `Lower functions.reservedConcurrency, or ask AWS for Lambda’s quota “Concurrent executions” (L-B99A9384): ${number(lambda.all + reservedCount - free)}, now ${number(lambda.all)}.`,
      ],
    },
  ];
}

/** Tells whether it is open that the reservations fit, because what the stage reserves already is unknown. */
const reservationOpen = (config: ResolvedConfig, { deployed }: AwsAccount) =>
  deployed === undefined && reservedBy(config) > 0;

function tooMany(
  what: string,
  wanted: number,
  used: number | undefined,
  deployed = 0,
  max: number,
): readonly Obstacle[] {
  if (used === undefined || used - deployed + wanted <= max) return [];
  return [
    {
      words: `The stage has ${number(wanted)} ${what}, but the account has ${number(used - deployed)} others, of ${number(max)}.`,
      remedies: [`Delete ${what} that are no longer used.`],
    },
  ];
}

const boundInWords = ({ facts, steady, storm }: Bound, { everySeconds, withinSeconds }: Wish) =>
  `${facts} ${roundedDown(steady)} phones every ${everySeconds} s; ${roundedDown(storm)} from cold within ${withinSeconds} s.`;

/** Sentences on bounds that are not counted in phones. */
function otherFacts(config: ResolvedConfig, { apiGateway, keys, usagePlans }: AwsAccount): readonly string[] {
  const plan = largestPlan(config);
  const { partitionKey, newTable } = platform;
  return [
    ...(plan && apiGateway && plan.ratePerSecond >= apiGateway.ratePerSecond
      ? [
          `One key of the plan ${plan.name} may take all that API Gateway gives the account: nothing is left for another then.`,
        ]
      : []),
    ...(keys === undefined
      ? []
      : [
          `API keys: ${number(keys)} of ${number(platform.keys)} are used${usagePlans === undefined ? '' : `; usage plans: ${number(usagePlans)} of ${number(platform.usagePlans)}`}.`,
        ]),
    `DynamoDB takes ${number(partitionKey.readUnits)} read and ${number(partitionKey.writeUnits)} write units a second for one partition key, and ${number(newTable.readUnits)} and ${number(newTable.writeUnits)} for a new table. Not counted here.`,
    ...keysInWords(config),
    `Assumed: ${readMs.warm} ms for a read, ${readMs.start} ms for one that starts an instance; phones all under one key, and nothing else in the account.`,
  ];
}
