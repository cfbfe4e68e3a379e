/** What the roles of a deployed stage have in them, and what becomes of a function that loses a part of it. */

import {
  DeleteRolePolicyCommand,
  GetRolePolicyCommand,
  IAMClient,
  ListRolePoliciesCommand,
  ListRolesCommand,
  PutRolePolicyCommand,
} from '@aws-sdk/client-iam';
import { clientConfig } from './deployment.ts';
import type { Stage } from './stage.ts';

export async function roleNames({ emulator }: Pick<Stage, 'emulator'>): Promise<readonly string[]> {
  const { Roles = [] } = await new IAMClient(clientConfig(emulator)).send(new ListRolesCommand({}));
  return Roles.map(({ RoleName = '' }) => RoleName);
}

export interface Role {
  /** The names of its policies, sorted. */
  policies(): Promise<readonly string[]>;
  policy(name: string): Promise<string>;
  /** Takes a policy away. @returns what gives it back */
  take(name: string): Promise<() => Promise<void>>;
  /** Does it without the policy. */
  without(name: string, act: () => Promise<void>): Promise<void>;
}

/** The first whose name has this in it. */
export async function roleOf(stage: Pick<Stage, 'emulator'>, word: string): Promise<Role> {
  const iam = new IAMClient(clientConfig(stage.emulator));
  const names = await roleNames(stage);
  const RoleName = names.find((name) => name.includes(word));
  if (!RoleName) throw new Error(`no role among ${names.join(', ')}`);
  const policy = async (PolicyName: string) => {
    const { PolicyDocument = '' } = await iam.send(new GetRolePolicyCommand({ RoleName, PolicyName }));
    return decodeURIComponent(PolicyDocument);
  };
  const take = async (PolicyName: string) => {
    const PolicyDocument = await policy(PolicyName);
    await iam.send(new DeleteRolePolicyCommand({ RoleName, PolicyName }));
    return async () => {
      await iam.send(new PutRolePolicyCommand({ RoleName, PolicyName, PolicyDocument }));
    };
  };
  return {
    policy,
    take,
    async policies() {
      const { PolicyNames = [] } = await iam.send(new ListRolePoliciesCommand({ RoleName }));
      return PolicyNames.toSorted();
    },
    async without(name, act) {
      const giveBack = await take(name);
      await act();
      await giveBack();
    },
  };
}
