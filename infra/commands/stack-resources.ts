/** Resources of a deployed stack, as CloudFormation lists them. */

import { CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';

export interface DeployedResource {
  /** Logical id without CloudFormation's hash. */
  readonly id: string;
  readonly type: string;
  readonly physicalId: string;
}

/** Lists the resources that are not deleted yet. */
export async function deployedOf(StackName: string): Promise<readonly DeployedResource[]> {
  const found: DeployedResource[] = [];
  const client = new CloudFormationClient();
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName }))
    for (const {
      LogicalResourceId = '',
      PhysicalResourceId,
      ResourceType = '',
      ResourceStatus,
    } of StackResourceSummaries)
      if (PhysicalResourceId && ResourceStatus !== 'DELETE_COMPLETE')
        found.push({
          id: LogicalResourceId.replace(/[0-9A-F]{8}$/, ''),
          type: ResourceType,
          physicalId: PhysicalResourceId,
        });
  return found;
}
