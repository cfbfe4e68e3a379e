/** Names of the stack's outputs that commands read, apart from the CDK, which takes a second to load. */

/** `ApiKeyId` for the default one that every stack has, for others with the names of plan and key. */
export function keyOutput(plan: string, key: string): string {
  const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
  return plan === 'default' && key === 'default' ? 'ApiKeyId' : `ApiKeyId${capital(plan)}${capital(key)}`;
}

/** What operators have set of trading, and the limits that were deployed, as JSON. */
export const tradingControlsTableOutput = 'TradingControlsTable';
export const tradingLimitsOutput = 'TradingLimits';
/** The broker of the upstream's channel of quotes, where a stage listens to it. */
export const marketStreamOutput = 'MarketStreamUrl';
/** Which version of Countersign is deployed. */
export const versionOutput = 'Version';
/** Entries and counters. */
export const orderJournalTableOutput = 'OrderJournalTable';
/** What an alarm names as its action. */
export const tradingStopOutput = 'TradingStopFunctionArn';
