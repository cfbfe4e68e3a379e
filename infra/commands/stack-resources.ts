/** Resources of a deployed stack, as CloudFormation lists them. */

import {
  CloudFormationClient,
  type CloudFormationClientConfig,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';

export interface DeployedResource {
  /** Logical id without CloudFormation's hash. */
  readonly id: string;
  readonly type: string;
  readonly physicalId: string;
}

/** Lists the resources that are not deleted yet. */
export async function deployedOf(
  StackName: string,
  options: CloudFormationClientConfig = {},
): Promise<readonly DeployedResource[]> {
  const found: DeployedResource[] = [];
  const client = new CloudFormationClient(options);
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName }))
    for (const one of StackResourceSummaries)
      if (one.PhysicalResourceId && one.ResourceStatus !== 'DELETE_COMPLETE')
        found.push({
          id: one.LogicalResourceId?.replace(/[0-9A-F]{8}$/, '') ?? '',
          type: one.ResourceType ?? '',
          physicalId: one.PhysicalResourceId,
        });
  return found;
}
