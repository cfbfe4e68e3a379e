/** Why a change of who may do what was not made. */

import { CountersignError } from '../signer/errors.ts';

/** A change that was not made. */
export class AccessChangeError extends CountersignError<'change_refused' | 'changed_by_others'> {
  override readonly name = 'AccessChangeError';
}
