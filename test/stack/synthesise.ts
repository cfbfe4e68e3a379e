/** A stack's template for one test, without bundling: other tests read the bundles. */

import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { FunctionName } from '../../functions/rows.ts';
import { type Parts, readParts } from '../../functions/settings/parts.ts';
import type { CountersignConfig } from '../../infra/stack/config.ts';
import { CountersignStack, type CountersignStackProps } from '../../infra/stack/stack.ts';

export const baseUrl = 'https://upstream.example';

/** The least that a stack with all its parts is configured with. */
export const base = {
  upstream: { baseUrl, limits: 'interface' },
  marketDataUse: 'own-use',
} as const satisfies CountersignConfig;

/** What a table with a partition key and a sort key is made with. */
export const twoKeys = {
  AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  BillingMode: 'PAY_PER_REQUEST',
};

/** What a stack's data live on with, by `onRemoval`. */
export const removals = [
  ['destroy', 'Delete'],
  ['retain', 'Retain'],
] as const;

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

export interface CfnTemplate {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>;
}

export interface Synthesised {
  readonly app: App;
  readonly template: CfnTemplate;
  /** The resources of one type by their logical ids. */
  all(type: string): readonly (readonly [id: string, resource: Resource])[];
  /** The only resource of a type. */
  one(type: string): readonly [id: string, resource: Resource];
  /** The table that is called so in the stack. */
  table(
    name: 'Budget' | 'Cache' | 'Users' | 'OrderJournal' | 'OrderAudit' | 'TradingControls',
  ): readonly [id: string, resource: Resource] | undefined;
  /** A function behind the API. */
  functionOf(name: FunctionName): readonly [id: string, resource: Resource];
}

/** Without the tree of constructs, which takes as long to write as the template, and which no test reads. */
export const createApp = () => new App({ treeMetadata: false, context: { 'aws:cdk:bundling-stacks': [] } });

export function synthesise(props: Partial<CountersignStackProps> = {}): Synthesised {
  const app = createApp();
  const stack = new CountersignStack(app, 'Countersign-test', { ...base, ...props });
  const template = Template.fromStack(stack).toJSON() as CfnTemplate;
  const all = (type: string) => Object.entries(template.Resources).filter(([, { Type }]) => Type === type);
  return {
    app,
    template,
    all,
    one(type) {
      const [first, ...others] = all(type);
      if (!first || others.length > 0)
        throw new Error(`${type} is there ${others.length + (first ? 1 : 0)} times`);
      return first;
    },
    table: (name) => all('AWS::DynamoDB::Table').find(([id]) => id.startsWith(name)),
    functionOf(name) {
      const found = all('AWS::Lambda::Function').find(([id]) => id.startsWith(name.replace('-', '')));
      if (!found) throw new Error(`There is no function ${name}`);
      return found;
    },
  };
}

/** The resources of one part of the stack, whose ids begin with its name: all of a type, or the only one. */
export function partOf(name: string) {
  const ours = ({ all }: Synthesised, type: string) => all(type).filter(([id]) => id.startsWith(name));
  const only = (from: Synthesised, type: string) => {
    const [first, ...others] = ours(from, type);
    if (!first || others.length > 0) throw new Error(`${name} has not one ${type}`);
    return first;
  };
  return { ours, only };
}

export const variablesOf = (properties: Resource['Properties']) =>
  (properties.Environment as { readonly Variables: Readonly<Record<string, unknown>> }).Variables;

/** As the function has it, with the logical id of what is known at deployment in place of each name and ARN. */
export const environmentOf = (properties: Resource['Properties']): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(variablesOf(properties)).map(([name, value]) => [name, textIn(value)]));

/** Settings of a part, as the stack writes them; undefined for a function that has none of it. */
export function settingsOf<Name extends keyof Parts>(properties: Resource['Properties'], name: Name) {
  const read = readParts(environmentOf(properties), (parts) => parts.read(name));
  if (!read.ok) throw new Error(read.faults.join('; '));
  return read.settings;
}

/** @param named what stands for the name or ARN of a resource */
export function textIn(value: unknown, named = (id: string) => id): string {
  if (typeof value === 'string') return value;
  const [[kind, of] = []] = Object.entries(value as Readonly<Record<string, unknown>>);
  if (kind === 'Fn::Join') return (of as [string, unknown[]])[1].map((one) => textIn(one, named)).join('');
  return named(String([of].flat()[0]));
}

/** The logical id that a Fn::GetAtt means. */
export const idOf = (value: unknown) =>
  (value as { 'Fn::GetAtt': readonly [string, string] })['Fn::GetAtt'][0];

export interface Policy {
  readonly PolicyName: string;
  readonly PolicyDocument: { readonly Statement: readonly object[] };
}

export const policiesOf = (role: Resource | undefined) =>
  (role?.Properties.Policies ?? []) as readonly Policy[];

export const statementsOf = (role: Resource | undefined) =>
  policiesOf(role).flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
