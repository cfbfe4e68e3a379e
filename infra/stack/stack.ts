/** A stack that holds one Countersign and nothing else, with the outputs that operators and clients need. */

import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { defaultBucket } from '../../functions/settings/environment.ts';
import type { UpstreamLimits } from '../../lib/catalogue/limits.ts';
import { limitsInForceKey } from '../../lib/gateway/index.ts';
import type { DomainConfig } from './config.ts';
import { Countersign, type CountersignProps } from './countersign.ts';
import type { Lookups } from './lookups.ts';
import type { OrderAudit } from './order-audit.ts';
import { keyOutput, tradingControlsTableOutput, tradingLimitsOutput, tradingStopOutput } from './outputs.ts';
import type { TradeEvents } from './trade-events.ts';
import type { TradingControls } from './trading-controls.ts';

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
    const { url, secret, tables, plans, lookups, identityKey } = this.countersign;
    const { tradeEvents, orderSettlement, orderAudit, tradingControls, tradingStop, massCancels } =
      this.countersign;

    this.#output('ApiUrl', 'What clients put in place of the base URL of the upstream', url);
    if (config.domain) this.#domainOutputs(config.domain);
    if (tables.limiter)
      this.#output(
        'BudgetTable',
        'Where requests to the upstream are counted; other stacks on the same app key can share it',
        config.limiter?.table ?? tables.limiter.tableName,
      );
    if (tables.limiter)
      this.#output(
        'LimitsKey',
        'Where functions note in that table that they keep tighter limits than the configured ones',
        limitsInForceKey(config.limiter?.bucket ?? defaultBucket, config.upstream.limits as UpstreamLimits),
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
    if (tradeEvents) this.#tradeEventOutputs(tradeEvents);
    if (tables.users)
      this.#output('AccessTable', 'Who may do what; npm run users writes it', tables.users.tableName);
    if (tables.orderJournal)
      this.#output(
        'OrderJournalTable',
        'What became of each order that was sent, sealed',
        tables.orderJournal.tableName,
      );
    if (tradingControls) this.#tradingOutputs(tradingControls);
    if (tradingStop)
      this.#output(
        tradingStopOutput,
        'Stops trading: an alarm of any stack in the account and Region can name it as its action',
        tradingStop.function.functionArn,
      );
    if (orderSettlement)
      this.#output(
        'OrderSettlementFunction',
        'Finds out what became of orders whose answer was lost; may be invoked at any time',
        orderSettlement.function.functionName,
      );
    if (massCancels)
      this.#output(
        'MassCancelFunction',
        'Cancels what is open where an operator or a check asked for it; may be invoked at any time',
        massCancels.function.functionName,
      );
    if (orderAudit) this.#orderAuditOutputs(orderAudit);
    if (identityKey)
      this.#output(
        'IdentityKeySecretArn',
        'The key that names and seals users; npm run users reads it',
        identityKey.secretArn,
      );
    if (config.auth) this.#output('AuthIssuer', 'Whose access tokens are accepted', config.auth.issuer);
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

  #lookupOutputs({ bus, queue, busQueue, deadLetters, archive, function: lambda }: Lookups): void {
    if (archive) this.#output('LookupArchiveArn', 'Where requests are replayed from', archive.archiveArn);
    this.#output('LookupBus', 'The bus that takes requests and gives replies', bus.eventBusName);
    this.#output('LookupBusArn', 'The same, as a target', bus.eventBusArn);
    this.#output('LookupQueueUrl', 'The queue that takes requests as bare JSON', queue.queueUrl);
    this.#output('LookupQueueArn', 'The same, as a target', queue.queueArn);
    if (busQueue)
      this.#output('LookupBusQueueUrl', 'The queue between the bus and the function', busQueue.queueUrl);
    this.#output(
      'LookupDeadLettersArn',
      'Requests that could not be served, to be redriven',
      deadLetters.queueArn,
    );
    this.#output('LookupDeadLettersUrl', 'Requests that could not be served', deadLetters.queueUrl);
    this.#output('LookupFunction', 'To be invoked directly', lambda.functionName);
  }

  #tradeEventOutputs({ bus, function: lambda, table }: TradeEvents): void {
    this.#output('TradeEventsBus', 'The bus that gives changes of orders and positions', bus.eventBusName);
    this.#output('TradeEventsBusArn', 'The same, for rules', bus.eventBusArn);
    this.#output('TradeEventsFunction', 'The listener', lambda.functionName);
    this.#output('TradeEventsTable', 'What the listener knows, sealed', table.tableName);
  }

  #orderAuditOutputs({ bus, function: lambda, table, lost }: OrderAudit): void {
    this.#output(
      'OrderAuditTable',
      'Who ordered what, line by line, sealed; npm run orders reads it',
      table.tableName,
    );
    this.#output('OrderAuditFunction', 'The only one that adds lines', lambda.functionName);
    this.#output('OrderAuditLostUrl', 'Which parts of the journal’s stream have no lines', lost.queueUrl);
    this.#output(
      'OrdersBus',
      'The bus that tells what became of orders whose outcome was not known',
      bus.eventBusName,
    );
    this.#output('OrdersBusArn', 'The same, for rules', bus.eventBusArn);
  }

  #tradingOutputs({ table, limits }: TradingControls): void {
    this.#output(
      tradingControlsTableOutput,
      'Limits and stops of trading; npm run trading writes it',
      table.tableName,
    );
    this.#output(
      tradingLimitsOutput,
      'The limits of all trading, until an operator sets others',
      JSON.stringify(limits),
    );
  }

  #output(name: string, description: string, value: string): void {
    new CfnOutput(this, name, { description, value });
  }
}
