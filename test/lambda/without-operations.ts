/** Our function before it knows an operation: what the catalogue adds is measured against it. */

import { deployedHandler } from '../../functions/aws/deployed.ts';

export const handler = deployedHandler([]);
