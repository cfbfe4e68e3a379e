/** The function that API Gateway asks whether a token is accepted. */

import { deployedAuthorizer } from '../aws/token-authorizer.ts';

export const handler = deployedAuthorizer();
