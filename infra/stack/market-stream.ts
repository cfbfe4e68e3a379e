/** The upstream's real-time channel: a function that listens to it, started every minute; what it hears goes into the cache. */

import { Annotations } from 'aws-cdk-lib';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { subscriptionOperations } from '../../lib/market-stream/calls.ts';
import { snapshotActions } from './cache.ts';
import { GroupFunction, runEachMinute } from './group-function.ts';
import { marketStreamInWords, type ResolvedMarketStream } from './market-stream-config.ts';
import { ConfigError } from './schema-parts.ts';
import type { Shared } from './shared.ts';
import { allowTable } from './tables.ts';

/** Lambda's bound. The function listens for about 14 minutes of it. */
const timeoutSeconds = 900;

/** A thousand changes a second take a twentieth of a processor of this machine's kind; this is a third of one in Lambda. */
const memoryMiB = 512;

export class MarketStream extends Construct {
  /** The listener. */
  readonly function: Lambda;

  constructor(scope: Construct, id: string, shared: Shared, config: ResolvedMarketStream) {
    super(scope, id);
    const { table: cache } = shared.cache;
    if (!cache) throw new ConfigError('marketStream needs quotes that are shared.');
    this.function = new GroupFunction(this, 'Listener', {
      ...shared.asking(subscriptionOperations),
      title: 'Market stream',
      purpose: 'listens to the upstream’s channel of quotes',
      entry: shared.entryOf('market-stream'),
      policies: { ShareQuotes: [allowTable(snapshotActions, cache.tableArn)] },
      variables: {
        MARKET_STREAM_URL: config.url,
        MARKET_STREAM_SESSIONS: String(config.sessions),
        CACHE_TABLE: cache.tableName,
      },
      timeoutSeconds,
      memoryMiB,
    }).function;
    Annotations.of(this).addInfo(marketStreamInWords);
    // By a schedule and never by itself: AWS stops functions that invoke themselves.
    runEachMinute(this, this.function, 'Starts a listener, which ends at once where another one listens');
  }
}
