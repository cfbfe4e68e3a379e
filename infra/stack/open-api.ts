/** JSON as OpenAPI documents are made of it; values may hold CloudFormation's tokens. */

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json;
}

/** How API Gateway's parameter mappings write a constant. */
export const constant = (value: string) => `'${value}'`;
