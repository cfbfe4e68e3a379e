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

/** What functions called with their roles, once each, as the emulator has printed it. */
export const callsOf = ({ emulator }: Pick<Stage, 'emulator'>) =>
  [...emulator.output().matchAll(/^RIGHT (\[.*\])$/gm)].map(([, line = '[]']) => {
    const [role, action, resource, decision] = JSON.parse(line) as readonly [string, string, string, string];
    return { role, action, resource, decision };
  });

/** One action on one resource that a policy of a role allows. */
export interface Right {
  readonly role: string;
  readonly policy: string;
  readonly action: string;
  readonly resource: string;
  covers(resource: string): boolean;
}

interface PolicyDocument {
  readonly Statement: readonly {
    readonly Action: string | readonly string[];
    readonly Resource: string | readonly string[];
  }[];
}

/** Of every role of the stage. */
export async function rightsOf(stage: Pick<Stage, 'emulator'>): Promise<readonly Right[]> {
  const rights: Right[] = [];
  for (const name of await roleNames(stage)) {
    const role = await roleOf(stage, name);
    for (const policy of await role.policies()) {
      const { Statement } = JSON.parse(await role.policy(policy)) as PolicyDocument;
      for (const { Action, Resource } of Statement)
        for (const action of [Action].flat())
          for (const resource of [Resource].flat())
            rights.push({ role: name, policy, action, resource, covers: coveredBy(resource) });
    }
  }
  return rights;
}

/** A star stands at the end, if there is one. */
const coveredBy = (allowed: string) => (resource: string) =>
  allowed.endsWith('*') ? resource.startsWith(allowed.slice(0, -1)) : resource === allowed;
