/** Usage plans and their API keys. The keys' values are made by API Gateway and stand in no template. */

import { ApiKey, Period, type Stage, UsagePlan } from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import type { ResolvedPlan } from './plans-config.ts';

const periods = { day: Period.DAY, week: Period.WEEK, month: Period.MONTH };

interface PlanProps extends ResolvedPlan {
  /** Whose plan it is, for people. */
  readonly title: string;
  readonly stage: Stage;
}

export class Plan extends Construct {
  readonly name: string;
  /** By name. */
  readonly keys: ReadonlyMap<string, ApiKey>;

  constructor(scope: Construct, id: string, { title, stage, quota, ...plan }: PlanProps) {
    super(scope, id);
    this.name = plan.name;
    const usagePlan = new UsagePlan(this, 'Plan', {
      name: `${title} ${plan.name}`,
      apiStages: [{ stage }],
      // For the plan and not for its methods: then one key has one bucket, as it has one limit upstream.
      throttle: { rateLimit: plan.ratePerSecond, burstLimit: plan.burst },
      ...(quota && { quota: { limit: quota.requests, period: periods[quota.per] } }),
    });
    this.keys = new Map(
      plan.keys.map((name) => {
        const key = new ApiKey(this, `Key-${name}`, {
          description: `${title}: plan ${plan.name}, key ${name}`,
        });
        usagePlan.addApiKey(key);
        return [name, key];
      }),
    );
  }
}
