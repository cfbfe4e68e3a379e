/**
 * What operators set of trading: a table of limits and stops. It is there where an open operation places or replaces
 * orders, and no setting does without it: the kill switch is for every stage.
 */

import { Annotations } from 'aws-cdk-lib';
import { StreamViewType, type Table } from 'aws-cdk-lib/aws-dynamodb';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { massCancelPartition } from '../../functions/aws/dynamo-mass-cancel-requests.ts';
import { writePart } from '../../functions/settings/parts.ts';
import { isGuarded, type Operation } from '../../lib/catalogue/operation.ts';
import { sharesInWords, type TradingLimits } from '../../lib/guard-rails/limits.ts';
import type { FunctionAccess } from './group-function.ts';
import type { Shared } from './shared.ts';
import { allowTable, createTable } from './tables.ts';

/** What a function does to the table; a test compares it with its code. */
export const controlsActions = ['BatchGetItem'];
/** The same where it asks that what is open be cancelled, in the partition of such requests alone. */
export const massCancelRequestActions = ['PutItem'];

export class TradingControls extends Construct {
  readonly table: Table;
  /** The gateway's limits, until an operator sets others. */
  readonly limits: TradingLimits;
  /** Members that an order may have besides those of the catalogue. */
  readonly #orderMembers: readonly string[];

  constructor(scope: Construct, id: string, { config, removalPolicy }: Shared) {
    super(scope, id);
    this.limits = config.tradingLimits;
    this.#orderMembers = config.orderMembers;
    for (const said of sharesInWords(this.limits)) Annotations.of(this).addInfo(said);
    this.table = createTable(this, 'Table', {
      isSorted: true,
      // What an operator set, and why, is nowhere else.
      isProtected: true,
      // It says that something is to be cancelled, and where; what that is, the table says.
      stream: StreamViewType.KEYS_ONLY,
      removalPolicy,
    });
  }

  /** @returns undefined for a function that neither places nor replaces orders */
  accessOf(operations: readonly Operation[]): FunctionAccess | undefined {
    if (!operations.some(isGuarded)) return undefined;
    return {
      policies: {
        ReadTradingControls: [allowTable(controlsActions, this.table.tableArn)],
        AskToCancel: [inMassCancels(massCancelRequestActions, this.table)],
      },
      variables: writePart('TRADING', {
        tableName: this.table.tableName,
        limits: this.limits,
        orderMembers: this.#orderMembers,
      }),
    };
  }
}

/** Limits and stops lie in other partitions: no function can change them. */
export const inMassCancels = (actions: readonly string[], table: Table): PolicyStatement =>
  inPartitions(actions, table, [massCancelPartition]);

export function inPartitions(
  actions: readonly string[],
  { tableArn }: Table,
  partitions: readonly string[],
): PolicyStatement {
  const statement = allowTable(actions, tableArn);
  statement.addCondition('ForAllValues:StringEquals', { 'dynamodb:LeadingKeys': [...partitions] });
  return statement;
}
