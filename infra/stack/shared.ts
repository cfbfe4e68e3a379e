/** What the functions of one deployment share: secret, limiter's table, cache and users, and what each has of them. */

import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnSecret, type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { memoryOf, type WorkerName, workerRows } from '../../functions/rows.ts';
import { writePart } from '../../functions/settings/parts.ts';
import type { Operation } from '../../lib/catalogue/index.ts';
import { upstreamPathsOf } from '../../lib/gateway/index.ts';
import { mayCount } from '../../lib/gateway/limits/operation-limits.ts';
import { type Cache, sharedCache } from './cache.ts';
import type { ResolvedConfig } from './config.ts';
import { GroupFunction, type GroupFunctionProps, type Network, runEachMinute } from './group-function.ts';
import { type LimiterTable, limiterTable } from './limiter.ts';
import { groupsThatAsk, Users } from './users.ts';

interface SharedOptions {
  readonly config: ResolvedConfig;
  /** Those of open groups, and those that API Gateway answers by itself. */
  readonly operations: readonly Operation[];
  /** The stack's name and the construct's path: one to each deployment in an account and Region. */
  readonly name: string;
  /** The file whose export `handler` is the function of the name. */
  readonly entryOf: (name: string) => string;
  /** Absent where functions run in Lambda's own. */
  readonly network: Network | undefined;
}

/** What a function that asks the upstream is made of. */
type Asking = Pick<
  GroupFunctionProps,
  'secretArn' | 'limiterTableArn' | 'logRetentionDays' | 'removalPolicy' | 'network'
> & { readonly environment: Record<string, string> };

export class Shared {
  readonly config: ResolvedConfig;
  readonly operations: readonly Operation[];
  readonly name: string;
  readonly removalPolicy: RemovalPolicy;
  readonly secret: ISecret;
  /** Made for the first function whose requests count. */
  limiter: LimiterTable | undefined;
  readonly cache: Cache;
  readonly users: Users | undefined;
  readonly entryOf: (name: string) => string;
  readonly network: Network | undefined;
  readonly #scope: Construct;
  /** Those that were made. */
  readonly workers = new Map<WorkerName, LambdaFunction>();

  constructor(scope: Construct, { config, operations, name, entryOf, network }: SharedOptions) {
    this.config = config;
    this.operations = operations;
    this.name = name;
    this.entryOf = entryOf;
    this.network = network;
    this.#scope = scope;
    this.removalPolicy = config.onRemoval === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    this.secret =
      config.existingSecret === undefined
        ? emptySecret(scope, this.removalPolicy)
        : Secret.fromSecretCompleteArn(scope, 'SecretByArn', config.existingSecret);
    this.cache = sharedCache(scope, config, operations);
    if (groupsThatAsk(config).length > 0 || config.tradeEvents)
      this.users = new Users(scope, 'Users', {
        config,
        removalPolicy: this.removalPolicy,
        makeAuthorizer: (users, own) => this.worker(users, 'Authorizer', 'authorizer', own),
      });
  }

  /** Where every function runs, and of its log. */
  get place() {
    const { network, removalPolicy } = this;
    return { logRetentionDays: this.config.logs.retentionDays, removalPolicy, network };
  }

  /** Makes a worker as its row says, with the rights and variables that are its code's own. */
  worker(scope: Construct, id: string, name: WorkerName, own: Partial<GroupFunctionProps>): LambdaFunction {
    const { title, purpose, asks, isUncounted, isKeyed, eachMinute, timeoutSeconds } = workerRows[name];
    const { function: made } = new GroupFunction(scope, id, {
      ...(asks.length > 0 ? this.asking(asks, isUncounted) : this.place),
      ...(isKeyed && { identityKeyArn: this.users?.identityKey.secretArn ?? '' }),
      title,
      ...(purpose && { purpose }),
      entry: this.entryOf(name),
      timeoutSeconds: timeoutSeconds ?? this.config.functions.timeoutSeconds,
      memoryMiB: memoryOf(name),
      ...own,
    });
    // A schedule starts the function, because AWS stops functions that invoke themselves.
    if (eachMinute !== undefined) runEachMinute(scope, made, eachMinute);
    this.workers.set(name, made);
    return made;
  }

  /**
   * For a function that asks the upstream for these operations. Of the upstream's paths it has its own only, as an
   * environment holds 4 kB.
   */
  asking(operations: readonly Operation[], isUncounted = false): Asking {
    const { upstream } = this.config;
    const { table: _, alarmTopic: __, ...limits } = this.config.limiter;
    const paths = upstreamPathsOf(upstream.paths, operations);
    const { secretArn: secretId } = this.secret;
    const limiter = isUncounted ? undefined : this.#limiterFor(operations);
    return {
      secretArn: secretId,
      ...(limiter && { limiterTableArn: limiter.arn }),
      environment: {
        ...writePart('UPSTREAM', { ...upstream, paths, secretId }),
        ...(limiter && writePart('LIMITER', { tableName: limiter.name, ...limits })),
      },
      ...this.place,
    };
  }

  #limiterFor(operations: readonly Operation[]): LimiterTable | undefined {
    const { limiter, upstream } = this.config;
    if (!mayCount(operations, { ...limiter, upstreamLimits: upstream.limits })) return undefined;
    this.limiter ??= limiterTable(this.#scope, limiter.table);
    return this.limiter;
  }
}

/** Empty until the operator sets it: a generated value would seem to work. */
function emptySecret(scope: Construct, removalPolicy: RemovalPolicy): ISecret {
  // The library's higher construct cannot make an empty one.
  const secret = new CfnSecret(scope, 'Secret', {
    description: 'App key and app secret at the upstream; set by the operator',
  });
  secret.applyRemovalPolicy(removalPolicy);
  Validations.of(secret).acknowledge({
    id: 'AwsSolutions-SMG4',
    reason:
      'The upstream issues the app secret by hand: nothing here can make a new one, so nothing rotates it.',
  });
  return Secret.fromSecretCompleteArn(scope, 'SecretByArn', secret.ref);
}
