/** How a caller shows who it is. */

export type Caller = 'api-key' | 'iam';

export const securitySchemes = {
  api_key: { type: 'apiKey', name: 'x-api-key', in: 'header' },
  /** As API Gateway writes it: OpenAPI has no word for AWS signatures. */
  sigv4: {
    type: 'apiKey',
    name: 'Authorization',
    in: 'header',
    'x-amazon-apigateway-authtype': 'awsSigv4',
  },
} as const;

/** The same for people. */
export const describedSchemes = {
  api_key: {
    ...securitySchemes.api_key,
    description: 'A key of a usage plan. It counts requests; it is no authentication of a person.',
  },
  sigv4: {
    ...securitySchemes.sigv4,
    description: 'An AWS signature (Signature Version 4, service `execute-api`).',
  },
} as const;

export const securityOf = (caller: Caller) => [caller === 'iam' ? { sigv4: [] } : { api_key: [] }];
