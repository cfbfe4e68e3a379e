/** The function that API Gateway asks whether a token is accepted. */

import { authorizerPorts, lambdaHost } from '../aws/ports.ts';
import { authorizer, start } from '../compose/functions.ts';

export const handler = start(authorizer, process.env, authorizerPorts(lambdaHost()));
