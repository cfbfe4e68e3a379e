/**
 * What a stage takes of an account that has its own: a key that encrypts what is kept, a stream that logs go on to, a web ACL
 * in front. Each looks over all that was made, so that no part can be forgotten.
 */

import { Stack } from 'aws-cdk-lib';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { Policy, PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnLogGroup, CfnSubscriptionFilter } from 'aws-cdk-lib/aws-logs';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import type { ResolvedConfig } from './config.ts';
import { allow, GroupFunction } from './group-function.ts';

export function useOwn(
  scope: Construct,
  { encryptionKey, webAclArn, logs: { firehoseArn } }: ResolvedConfig,
  api: SpecRestApi,
): void {
  if (webAclArn !== undefined) protectWith(scope, webAclArn, api);
  if (firehoseArn !== undefined) exportLogs(scope, firehoseArn);
  if (encryptionKey !== undefined) encryptWith(scope, encryptionKey);
}

/** Those that DynamoDB and Secrets Manager ask for in the name of who reads and writes. */
const keyActions = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:GenerateDataKeyWithoutPlaintext',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/** Tables, secrets and log groups; and the functions that use the first two, through AWS's services alone. */
function encryptWith(scope: Construct, keyArn: string): void {
  const { region, urlSuffix } = Stack.of(scope);
  for (const one of scope.node.findAll())
    if (one instanceof CfnTable)
      one.sseSpecification = { sseEnabled: true, sseType: 'KMS', kmsMasterKeyId: keyArn };
    else if (one instanceof CfnSecret || one instanceof CfnLogGroup) one.kmsKeyId = keyArn;
    else if (one instanceof GroupFunction && one.keepsOrReads) {
      const statement = allow(keyActions, keyArn);
      statement.addCondition('StringEquals', {
        'kms:ViaService': ['dynamodb', 'secretsmanager'].map(
          (service) => `${service}.${region}.${urlSuffix}`,
        ),
      });
      new Policy(one, 'UseKey', { statements: [statement], roles: [one.role] });
    }
}

/** Each line of every log group, as it is written. CloudWatch Logs sends it with a role that may do nothing else. */
function exportLogs(scope: Construct, firehoseArn: string): void {
  const { partition, region, account } = Stack.of(scope);
  const groups = scope.node.findAll().filter((one) => one instanceof CfnLogGroup);
  const role = new Role(scope, 'LogExportRole', {
    assumedBy: new ServicePrincipal('logs.amazonaws.com', {
      conditions: { StringLike: { 'aws:SourceArn': `arn:${partition}:logs:${region}:${account}:*` } },
    }),
    description: 'CloudWatch Logs: sends lines on to a Firehose stream',
    inlinePolicies: {
      SendLines: new PolicyDocument({
        statements: [allow(['firehose:PutRecord', 'firehose:PutRecordBatch'], firehoseArn)],
      }),
    },
  });
  for (const group of groups)
    new CfnSubscriptionFilter(group, 'Export', {
      logGroupName: group.ref,
      destinationArn: firehoseArn,
      roleArn: role.roleArn,
      filterPattern: '',
    });
}

/** A web ACL of AWS WAF, Regional, in front of the API’s stage, and so of its domain. */
function protectWith(scope: Construct, webAclArn: string, { deploymentStage }: SpecRestApi): void {
  new CfnWebACLAssociation(scope, 'WebAcl', { webAclArn, resourceArn: deploymentStage.stageArn });
}
