/** A stack that holds one Countersign and nothing else, with the outputs that operators and clients need. */

import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { ApiKey } from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import type { UpstreamLimits } from '../../lib/catalogue/limits.ts';
import { limitsInForceKey } from '../../lib/gateway/index.ts';
import { versionOf } from '../version.ts';
import { Countersign, type CountersignProps } from './countersign.ts';
import type { DomainConfig } from './domain-config.ts';
import { defaultBucket } from './limiter-config.ts';
import {
  keyOutput,
  marketStreamOutput,
  orderJournalTableOutput,
  tradingControlsTableOutput,
  tradingLimitsOutput,
  tradingStopOutput,
  versionOutput,
} from './outputs.ts';

export interface CountersignStackProps extends Omit<CountersignProps, 'title'> {
  /** CDK's own properties: account and Region, tags, description … */
  readonly stack?: StackProps;
}

export class CountersignStack extends Stack {
  readonly countersign: Countersign;

  /** @throws ConfigError with a line for each mistake, which names the property */
  constructor(scope: Construct, id: string, props: CountersignStackProps) {
    // Callers without a type checker may leave the properties out; the construct then names what is missing.
    const { stack, ...config } = props ?? ({} as CountersignStackProps);
    super(scope, id, stack);
    // CDK leaves this id out of logical ids. With another one CloudFormation would replace every resource, the
    // limiter's table among them, and forget what was sent.
    this.countersign = new Countersign(this, 'Default', { ...config, title: id });
    const { tables, plans, identityKey } = this.countersign;
    const outputs: readonly Output[] = [
      ['ApiUrl', this.countersign.url, 'What clients put in place of the base URL of the upstream'],
      ...domainOutputs(this.countersign, config.domain),
      [
        'BudgetTable',
        tables.limiter && (config.limiter?.table ?? tables.limiter.tableName),
        'Where requests to the upstream are counted; other stacks on the same app key can share it',
      ],
      [
        'LimitsKey',
        tables.limiter &&
          limitsInForceKey(config.limiter?.bucket ?? defaultBucket, config.upstream.limits as UpstreamLimits),
        'Where functions note in that table that they keep tighter limits than the configured ones',
      ],
      ['SecretArn', this.countersign.secret.secretArn, 'Where the app secret belongs'],
      ['UpstreamUrl', config.upstream.baseUrl, 'Where requests are sent to'],
      [marketStreamOutput, config.marketStream?.url, 'The broker of the upstream’s channel of quotes'],
      [versionOutput, versionOf(), 'Of Countersign'],
      ...[...plans].flatMap(([plan, { keys }]) => [...keys].map(([name, key]) => keyRow(plan, name, key))),
      ...lookupOutputs(this.countersign),
      ...tradeEventOutputs(this.countersign),
      ['AccessTable', tables.users?.tableName, 'Who may do what; countersign users writes it'],
      ...orderOutputs(this.countersign),
      [
        'IdentityKeySecretArn',
        identityKey?.secretArn,
        'The key that names and seals users; countersign users reads it',
      ],
      ['AuthIssuer', config.auth?.issuer, 'Whose access tokens are accepted'],
    ];
    for (const [name, value, description] of outputs)
      if (value !== undefined) new CfnOutput(this, name, { description, value });
  }
}

/** There where it has a value. */
type Output = readonly [name: string, value: string | undefined, description: string];

const keyRow = (plan: string, name: string, { keyId }: ApiKey): Output => [
  keyOutput(plan, name),
  keyId,
  `Id, not value, of the API key ${name} of the plan ${plan}`,
];

function domainOutputs({ stageUrl, domain }: Countersign, config?: DomainConfig): readonly Output[] {
  const target = config?.hostedZone ? undefined : domain;
  return [
    [
      'StageUrl',
      config && !config.disableStageUrl ? stageUrl : undefined,
      'The same API without its domain, to call it before DNS knows the name',
    ],
    [
      'DomainTarget',
      target?.domainNameAliasDomainName,
      'Where the domain’s name must lead: the value of its CNAME record, or an alias’s target',
    ],
    [
      'DomainTargetZone',
      target?.domainNameAliasHostedZoneId,
      'The zone of that target, which an alias record in Route 53 asks for',
    ],
  ];
}

function lookupOutputs({ lookups }: Countersign): readonly Output[] {
  if (!lookups) return [];
  const { bus, queue, busQueue, deadLetters, archive, directFunction } = lookups;
  return [
    ['LookupArchiveArn', archive?.archiveArn, 'Where requests are replayed from'],
    ['LookupBus', bus.eventBusName, 'The bus that takes requests and gives replies'],
    ['LookupBusArn', bus.eventBusArn, 'The same, as a target'],
    ['LookupQueueUrl', queue.queueUrl, 'The queue that takes requests as bare JSON'],
    ['LookupQueueArn', queue.queueArn, 'The same, as a target'],
    ['LookupBusQueueUrl', busQueue?.queueUrl, 'The queue between the bus and the function'],
    ['LookupDeadLettersArn', deadLetters.queueArn, 'Requests that could not be served, to be redriven'],
    ['LookupDeadLettersUrl', deadLetters.queueUrl, 'Requests that could not be served'],
    ['LookupFunction', directFunction.functionName, 'To be invoked directly'],
  ];
}

function tradeEventOutputs({ tradeEvents }: Countersign): readonly Output[] {
  if (!tradeEvents) return [];
  const { bus, function: lambda, table } = tradeEvents;
  return [
    ['TradeEventsBus', bus.eventBusName, 'The bus that gives changes of orders and positions'],
    ['TradeEventsBusArn', bus.eventBusArn, 'The same, for rules'],
    ['TradeEventsFunction', lambda.functionName, 'The listener'],
    ['TradeEventsTable', table.tableName, 'What the listener knows, sealed'],
  ];
}

function orderOutputs(countersign: Countersign): readonly Output[] {
  const { tables, tradingControls, tradingStop, orderSettlement, massCancels, orderAudit } = countersign;
  return [
    [
      orderJournalTableOutput,
      tables.orderJournal?.tableName,
      'What became of each order that was sent, sealed',
    ],
    [
      tradingControlsTableOutput,
      tradingControls?.table.tableName,
      'Limits and stops of trading; countersign trading writes it',
    ],
    [
      tradingLimitsOutput,
      tradingControls && JSON.stringify(tradingControls.limits),
      'The limits of all trading, until an operator sets others',
    ],
    [
      tradingStopOutput,
      tradingStop?.function.functionArn,
      'Stops trading: an alarm of any stack in the account and Region can name it as its action',
    ],
    [
      'OrderSettlementFunction',
      orderSettlement?.function.functionName,
      'Finds out what became of orders whose answer was lost; may be invoked at any time',
    ],
    [
      'MassCancelFunction',
      massCancels?.function.functionName,
      'Cancels what is open where an operator or a check asked for it; may be invoked at any time',
    ],
    [
      'OrderAuditTable',
      orderAudit?.table.tableName,
      'Who ordered what, line by line, sealed; countersign orders reads it',
    ],
    ['OrderAuditFunction', orderAudit?.function.functionName, 'The only one that adds lines'],
    ['OrderAuditLostUrl', orderAudit?.lost.queueUrl, 'Which parts of the journal’s stream have no lines'],
    [
      'OrdersBus',
      orderAudit?.bus.eventBusName,
      'The bus that tells what became of orders whose outcome was not known',
    ],
    ['OrdersBusArn', orderAudit?.bus.eventBusArn, 'The same, for rules'],
  ];
}
