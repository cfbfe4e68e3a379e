/**
 * What tells users apart: the table of who may do what, the key that names and seals them, and the authorizer that
 * refuses wrong tokens before a function runs. None of it exists while every open group holds market facts for any key,
 * but for the key where trade events are open: it names and seals those, too.
 */

import { type RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { writePart } from '../../functions/settings/parts.ts';
import type { Group } from '../../lib/catalogue/index.ts';
import { asksWho, userGroupsIn } from '../access-modes.ts';
import type { ResolvedConfig } from './config.ts';
import { allowSecret, type FunctionAccess, type GroupFunctionProps } from './group-function.ts';
import { allowTable, createTable } from './tables.ts';

interface UsersProps {
  readonly config: ResolvedConfig;
  readonly removalPolicy: RemovalPolicy;
  readonly makeAuthorizer: (scope: Construct, own: Partial<GroupFunctionProps>) => LambdaFunction;
}

/** What a function's directory calls; a test compares it with its code. */
export const directoryActions = ['BatchGetItem'];

/** Groups whose callers must be known. */
export const groupsThatAsk = ({ access }: ResolvedConfig): readonly Group[] =>
  (Object.keys(access) as Group[]).filter((group) => asksWho(group, access[group] ?? 'api-key'));

export class Users extends Construct {
  /** None where no open group asks who calls: then the key names and seals trade events alone. */
  readonly table?: Table;
  /** Names users in logs and seals what the table says of them. */
  readonly identityKey: Secret;
  /** None where no group opens with `jwt`. */
  readonly authorizer?: LambdaFunction;
  readonly #config: ResolvedConfig;

  constructor(scope: Construct, id: string, props: UsersProps) {
    super(scope, id);
    const { config, removalPolicy } = props;
    this.#config = config;
    if (groupsThatAsk(config).length > 0)
      // With backups: what an operator granted or revoked is nowhere else.
      this.table = createTable(this, 'Table', { isSorted: true, expires: true, removalPolicy });
    this.identityKey = new Secret(this, 'IdentityKey', {
      description: 'Names users in logs, and seals what the users’ table says of them; nothing else knows it',
      // Letters and digits: 64 of them are 381 bits.
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy,
    });
    Validations.of(this.identityKey).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'Another key would give every user another name, and make the table’s records unreadable: it is replaced by hand, with the table, if it was seen.',
    });
    if (Object.values(config.access).includes('jwt'))
      // It reads no secret and no table: what it needs of the issuer is public.
      this.authorizer = props.makeAuthorizer(this, {
        variables: config.auth && writePart('AUTH', config.auth),
        reservedConcurrency: config.authorizerConcurrency,
      });
  }

  /** @returns undefined for a group whose callers need not be known: its function stays as it is */
  accessOf(...groups: readonly Group[]): FunctionAccess | undefined {
    const asking = groupsThatAsk(this.#config).filter((group) => groups.includes(group));
    if (asking.length === 0 || !this.table) return undefined;
    const { access, auth } = this.#config;
    const userGroups = userGroupsIn(access).filter((group) => asking.includes(group));
    const takesTokens = asking.some((group) => access[group] === 'jwt' || access[group] === 'bound-key');
    return {
      policies: {
        ReadUsers: [allowTable(directoryActions, this.table.tableArn)],
        ReadIdentityKey: [allowSecret(this.identityKey.secretArn)],
      },
      variables: {
        ...writePart('ACCESS', {
          tableName: this.table.tableName,
          identityKeySecretId: this.identityKey.secretArn,
          userGroups,
        }),
        ...(auth && takesTokens && writePart('AUTH', auth)),
      },
    };
  }

  /** Lets API Gateway ask the authorizer; of this API alone. */
  letApiInvoke(restApiId: string): void {
    this.authorizer?.addPermission('Authorize', {
      principal: new ServicePrincipal('apigateway.amazonaws.com'),
      sourceArn: Stack.of(this).formatArn({
        service: 'execute-api',
        resource: restApiId,
        resourceName: 'authorizers/*',
      }),
    });
  }
}
