/** A stack that holds one Countersign and nothing else, with the outputs that operators and clients need. */

import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { DomainConfig } from './config.ts';
import { Countersign, type CountersignProps } from './countersign.ts';
import type { Lookups } from './lookups.ts';

export interface CountersignStackProps extends Omit<CountersignProps, 'title'> {
  /** CDK's own properties: account and Region, tags, description … */
  readonly stack?: StackProps;
}

export class CountersignStack extends Stack {
  readonly countersign: Countersign;

  /** @throws ConfigError in one sentence that names the property */
  constructor(scope: Construct, id: string, props: CountersignStackProps) {
    // Callers without a type checker may leave the properties out; the construct then names what is missing.
    const { stack, ...config } = props ?? ({} as CountersignStackProps);
    super(scope, id, stack);
    // CDK leaves this id out of logical ids. With another one CloudFormation would replace every resource, the
    // limiter's table among them, and forget what was sent.
    this.countersign = new Countersign(this, 'Default', { ...config, title: id });
    const { url, secret, tables, plans, lookups } = this.countersign;

    this.#output('ApiUrl', 'What clients put in place of the base URL of the upstream', url);
    if (config.domain) this.#domainOutputs(config.domain);
    if (tables.limiter)
      this.#output(
        'BudgetTable',
        'Where requests to the upstream are counted; other stacks on the same app key can share it',
        config.limiter?.table ?? tables.limiter.tableName,
      );
    this.#output('SecretArn', 'Where the app secret belongs', secret.secretArn);
    this.#output('UpstreamUrl', 'Where requests are sent to', config.upstream.baseUrl);
    for (const [planName, { keys }] of plans)
      for (const [keyName, key] of keys)
        this.#output(
          keyOutput(planName, keyName),
          `Id, not value, of the API key ${keyName} of the plan ${planName}`,
          key.keyId,
        );
    if (lookups) this.#lookupOutputs(lookups);
  }

  /** Not before the construct has accepted the configuration. */
  #domainOutputs({ hostedZone, disableStageUrl }: DomainConfig): void {
    const { stageUrl, domain } = this.countersign;
    if (!disableStageUrl)
      this.#output(
        'StageUrl',
        'The same API without its domain, to call it before DNS knows the name',
        stageUrl,
      );
    if (hostedZone || !domain) return;
    this.#output(
      'DomainTarget',
      'Where the domain’s name must lead: the value of its CNAME record, or an alias’s target',
      domain.domainNameAliasDomainName,
    );
    this.#output(
      'DomainTargetZone',
      'The zone of that target, which an alias record in Route 53 asks for',
      domain.domainNameAliasHostedZoneId,
    );
  }

  #lookupOutputs({ bus, queue, deadLetters, archive, function: lambda }: Lookups): void {
    if (archive) this.#output('LookupArchiveArn', 'Where requests are replayed from', archive.archiveArn);
    this.#output('LookupBus', 'The bus that takes requests and gives replies', bus.eventBusName);
    this.#output('LookupBusArn', 'The same, as a target', bus.eventBusArn);
    this.#output('LookupQueueUrl', 'The queue that takes requests as bare JSON', queue.queueUrl);
    this.#output('LookupQueueArn', 'The same, as a target', queue.queueArn);
    this.#output(
      'LookupDeadLettersArn',
      'Requests that could not be served, to be redriven',
      deadLetters.queueArn,
    );
    this.#output('LookupDeadLettersUrl', 'Requests that could not be served', deadLetters.queueUrl);
    this.#output('LookupFunction', 'To be invoked directly', lambda.functionName);
  }

  #output(name: string, description: string, value: string): void {
    new CfnOutput(this, name, { description, value });
  }
}

/** `ApiKeyId` for the default one that every stack has, for others with the names of plan and key. */
function keyOutput(plan: string, key: string): string {
  const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
  return plan === 'default' && key === 'default' ? 'ApiKeyId' : `ApiKeyId${capital(plan)}${capital(key)}`;
}
