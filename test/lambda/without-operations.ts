/** Our function before it knows an operation: what the catalogue adds is measured against it. */

import { orderPorts } from '../../functions/aws/order-ports.ts';
import { lambdaHost } from '../../functions/aws/ports.ts';
import { group, start } from '../../functions/compose/functions.ts';
import { offerOf } from '../support/deployed.ts';

export const handler = start(group(offerOf([])), process.env, orderPorts(lambdaHost()));
