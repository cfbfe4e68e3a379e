/** A stage with everything on, synthesised: what each function may do and which variables it has, as the page says it. */

import { apiNames, titleOf, workerNames, workerRows } from '../../functions/rows.ts';
import { everythingOn, managed } from '../stack/everything-on.ts';
import { idOf, type Policy, partOf, policiesOf, synthesise, variablesOf } from '../stack/synthesise.ts';

/** A right of a function: one statement of one policy. */
export interface Right {
  readonly function: string;
  readonly policy: string;
  readonly actions: readonly string[];
  /** Tables, buses, queues and secrets by the beginning of their logical ids; an index or a stream as what it belongs to. */
  readonly on: readonly string[];
  /** The partitions to which it is bound. */
  readonly partitions: readonly string[];
}

export interface WholeStage {
  /** The names of each function's variables. */
  readonly functions: ReadonlyMap<string, readonly string[]>;
  /** Functions with a variable that CloudFormation fills with a secret. */
  readonly secretsInVariables: readonly string[];
  readonly rights: readonly Right[];
  readonly tables: readonly string[];
}

export const sorted = (texts: Iterable<string>) => [...texts].sort();

const writing = /^dynamodb:(Put|Update|Delete)Item$/;
export const writes = ({ on, actions }: Right, table: string) =>
  on.includes(table) && actions.some((action) => writing.test(action));

const withoutHash = (id: string) => id.replace(/[0-9A-F]{8}$/, '');

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: {
    readonly [Operator in `ForAllValues:String${'Equals' | 'Like'}`]?: {
      readonly 'dynamodb:LeadingKeys'?: string[];
    };
  };
}

/** The logical ids that a part of a template names. */
const idsIn = (part: unknown): readonly string[] =>
  [...JSON.stringify(part).matchAll(/"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/g)].map(([, id = '']) =>
    withoutHash(id),
  );

/** The handler's folder, by the title at the beginning of the function's description. */
const folders = new Map<string, string>([
  ['Direct lookups', 'direct-lookup'],
  ...apiNames.map((name) => [titleOf(name), name] as const),
  ...workerNames.map((name) => [workerRows[name].title, name] as const),
]);

export function wholeStage(): WholeStage {
  const { all, template } = synthesise(everythingOn);
  const functions = new Map<string, readonly string[]>();
  const rights: Right[] = [];
  const secretsInVariables: string[] = [];
  for (const [id, { Properties }] of all('AWS::Lambda::Function')) {
    const name = folders.get(String(Properties.Description).split(':')[0] ?? '') ?? id;
    functions.set(name, Object.keys(variablesOf(Properties)));
    if (/resolve:(secretsmanager|ssm-secure)/.test(JSON.stringify(Properties))) secretsInVariables.push(name);
    const role = idOf(Properties.Role);
    const apart = all('AWS::IAM::Policy').filter(([, one]) =>
      JSON.stringify(one.Properties.Roles).includes(role),
    );
    const policies = [
      ...policiesOf(template.Resources[role]),
      ...apart.map(([, one]) => one.Properties as unknown as Policy),
    ];
    for (const { PolicyName: policy, PolicyDocument } of policies)
      for (const { Action, Resource, Condition } of PolicyDocument.Statement as readonly Statement[])
        rights.push({
          function: name,
          policy,
          actions: [Action].flat(),
          on: idsIn(Resource),
          partitions: Object.values(Condition ?? {}).flatMap((one) => one?.['dynamodb:LeadingKeys'] ?? []),
        });
  }
  const [, streams] = partOf('quotestreamsmanaged').only(synthesise(managed), 'AWS::Lambda::Function');
  const ofStreams = [
    ...(functions.get('quote-streams') ?? []),
    ...Object.keys(variablesOf(streams.Properties)),
  ];
  functions.set('quote-streams', [...new Set(ofStreams)]);
  const tables = all('AWS::DynamoDB::Table').map(([id]) => withoutHash(id));
  return { functions, secretsInVariables, rights, tables };
}
