/** A stack's template for one test, without bundling: what the bundles hold is looked at elsewhere. */

import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { CountersignStack, type CountersignStackProps } from '../../infra/stack/stack.ts';

export const baseUrl = 'https://upstream.example';

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
}

export function synthesise(props: Partial<CountersignStackProps> = {}): Synthesised {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  const stack = new CountersignStack(app, 'Countersign-test', { upstream: { baseUrl }, ...props });
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
  };
}
