/** Lists a stage's resources from its synthesised template, for docs and bills. Nothing is bundled, and AWS is not asked. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import type { CountersignConfig } from '../stack/config.ts';
import { CountersignStack } from '../stack/stack.ts';
import { prices } from './cost-figures.ts';

export interface Resource {
  readonly id: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Tells whether it remains when the stack is deleted. */
  readonly stays: boolean;
}

interface Template {
  readonly Resources: Readonly<
    Record<
      string,
      {
        readonly Type: string;
        readonly Properties?: Resource['properties'];
        readonly DeletionPolicy?: string;
      }
    >
  >;
}

/** Lists the resources; an id is the logical id without CloudFormation's hash. */
export const resourcesOf = (config: CountersignConfig): readonly Resource[] =>
  Object.entries(templateOf(config).Resources).map(
    ([id, { Type: type, Properties: properties = {}, DeletionPolicy }]) => ({
      id: id.replace(/[0-9A-F]{8}$/, ''),
      type,
      properties,
      stays: DeletionPolicy === 'Retain',
    }),
  );

function templateOf(config: CountersignConfig): Template {
  // Skips the CDK's validation, which takes as long as all else; deployments keep it.
  process.env.CDK_VALIDATION ??= 'false';
  const outdir = mkdtempSync(join(tmpdir(), 'countersign-count-'));
  try {
    const context = { 'aws:cdk:bundling-stacks': [] };
    const app = new App({ outdir, autoSynth: false, treeMetadata: false, context });
    const stack = new CountersignStack(app, 'Countersign-counted', config);
    return app.synth().getStackByName(stack.stackName).template;
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

interface AtRest {
  readonly resources: number;
  readonly tables: number;
  readonly secrets: number;
  readonly alarms: number;
  /** Metrics that the alarms watch. Each metric of an alarm costs as much as an alarm. */
  readonly alarmMetrics: number;
  /** Dollars a month while nobody calls, without free tiers: secrets and alarms. The first three dashboards are free. */
  readonly dollars: number;
}

export function atRest(resources: readonly Resource[]): AtRest {
  const of = (type: string) => resources.filter((one) => one.type === type);
  const alarms = of('AWS::CloudWatch::Alarm');
  const alarmMetrics = alarms.reduce((sum, { properties }) => sum + metricsOf(properties), 0);
  const secrets = of('AWS::SecretsManager::Secret').length;
  return {
    resources: resources.length,
    tables: of('AWS::DynamoDB::Table').length,
    secrets,
    alarms: alarms.length,
    alarmMetrics,
    dollars: secrets * prices.secretPerMonth + alarmMetrics * prices.alarmPerMonth,
  };
}

const metricsOf = ({ Metrics }: Resource['properties']): number =>
  ((Metrics ?? []) as readonly { readonly MetricStat?: object }[]).filter(({ MetricStat }) => MetricStat)
    .length || 1;

/** Says what becomes of a resource when its stack is deleted. */
export function fate({ type, stays, properties }: Resource): string {
  if (stays)
    return properties.DeletionProtectionEnabled
      ? 'kept; cannot be deleted until its protection is off'
      : 'kept';
  const hasBackups =
    type === 'AWS::DynamoDB::Table' && properties.PointInTimeRecoverySpecification !== undefined;
  return hasBackups ? 'deleted; AWS keeps a backup for 35 days' : 'deleted';
}
