/** The function that checks the access token on a schedule. */

import { deployedTokenCheck } from '../aws/deployed-token-check.ts';

export const handler = deployedTokenCheck();
