/** The function that API Gateway asks whether a token is accepted. */

import { authorizerPorts, lambdaHost } from '../aws/ports.ts';
import { authorizer } from '../compose/authorizer.ts';
import { start } from '../compose/start.ts';

export const handler = start(authorizer, process.env, authorizerPorts(lambdaHost()));
