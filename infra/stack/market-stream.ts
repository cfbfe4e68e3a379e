/** The upstream's real-time channel: a function that listens to it, started every minute; what it hears goes into the cache. */

import { Annotations } from 'aws-cdk-lib';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { writePart } from '../../functions/settings/parts.ts';
import { snapshotActions } from './cache.ts';
import { marketStreamInWords, type ResolvedMarketStream } from './market-stream-config.ts';
import { ConfigError } from './schema-parts.ts';
import type { Shared } from './shared.ts';
import { allowTable } from './tables.ts';

export class MarketStream extends Construct {
  /** The listener. */
  readonly function: Lambda;

  constructor(scope: Construct, id: string, shared: Shared, config: ResolvedMarketStream) {
    super(scope, id);
    const { table: cache } = shared.cache;
    if (!cache) throw new ConfigError('marketStream needs quotes that are shared.');
    this.function = shared.worker(this, 'Listener', 'market-stream', {
      policies: { ShareQuotes: [allowTable(snapshotActions, cache.tableArn)] },
      variables: writePart('MARKET_STREAM', { ...config, tableName: cache.tableName }),
    });
    Annotations.of(this).addInfo(marketStreamInWords);
  }
}
