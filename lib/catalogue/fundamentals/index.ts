/** Fundamentals of companies and funds. These files export the operations of the group and nothing else. */

import type { Operation } from '../operation.ts';
import * as calendars from './calendars.ts';
import * as company from './company.ts';
import * as funds from './funds.ts';
import * as statements from './statements.ts';

export const fundamentals: readonly Operation[] = [calendars, company, funds, statements].flatMap((file) =>
  Object.values<Operation>(file),
);
