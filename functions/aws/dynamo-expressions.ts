/**
 * Builds DynamoDB requests with expressions. Values are written directly into an expression; their placeholders, and those
 * of names that DynamoDB may have reserved, are made here.
 */

import type { QueryInput } from '@aws-sdk/client-dynamodb';
import { toAttribute, toItem, type Value, type Values } from './dynamo-items.ts';

/** An expression or a part of one. Its parameter keeps a value for the request, and returns the placeholder. */
export type Expression = (placeholder: (value: Value) => string) => string;

/**
 * Attributes are written `#name`, or `name` where DynamoDB has no such word.
 *
 * @example expression`attempt = ${attempt} AND #state = ${state}`
 */
export const expression =
  (texts: TemplateStringsArray, ...parts: readonly (Value | Expression)[]): Expression =>
  (placeholder) =>
    String.raw(
      { raw: texts },
      ...parts.map((part) => (typeof part === 'function' ? part(placeholder) : placeholder(part))),
    );

/** Condition that no item has the key. */
export const isAbsent: Expression = () => 'attribute_not_exists(pk)';

/** Condition that the item has this revision, or does not exist. */
export const isRevision = (revision: number): Expression =>
  expression`attribute_not_exists(pk) OR revision = ${revision}`;

/** Sets attributes; undefined ones stay as they are. */
export const set =
  (values: Values): Expression =>
  (placeholder) =>
    `SET ${Object.entries(toItem(values)).map(([name, value]) => `#${name} = ${placeholder(value)}`)}`;

/** Makes the error for an unmet condition contain the stored item. */
export const tellsItem = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

export const put = (TableName: string, values: Values, condition?: Expression) =>
  withExpressions({ TableName, Item: toItem(values) }, { ConditionExpression: condition });

export const update = (TableName: string, key: Values, change: Expression, condition?: Expression) =>
  withExpressions(
    { TableName, Key: toItem(key) },
    { UpdateExpression: change, ConditionExpression: condition },
  );

export const remove = (TableName: string, key: Values, condition?: Expression) =>
  withExpressions({ TableName, Key: toItem(key) }, { ConditionExpression: condition });

export const query = (TableName: string, keys: Expression, more: Partial<QueryInput> = {}) =>
  withExpressions({ TableName, ...more }, { KeyConditionExpression: keys });

function withExpressions<
  Request extends object,
  Expressions extends Readonly<Record<string, Expression | undefined>>,
>(request: Request, expressions: Expressions) {
  const values: Value[] = [];
  const placeholder = (value: Value) => `:v${values.push(value)}`;
  const texts = Object.entries(expressions).map(([kind, one]) => [kind, one?.(placeholder)] as const);
  const names = texts.flatMap(([, text]) => text?.match(/#\w+/g) ?? []);
  return {
    ...request,
    ...(Object.fromEntries(texts) as {
      readonly [Kind in keyof Expressions]: Expressions[Kind] extends Expression
        ? string
        : string | undefined;
    }),
    ExpressionAttributeNames: someOf(names.map((name) => [name, name.slice(1)])),
    ExpressionAttributeValues: someOf(values.map((value, index) => [`:v${index + 1}`, toAttribute(value)])),
  };
}

/** Names or values as an object; undefined for none, because DynamoDB refuses an empty one. */
const someOf = <T>(pairs: readonly (readonly [string, T])[]) =>
  pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
