/** The error of a configuration; alone, so that a command which reads none loads no schema. */

import { CountersignError } from '../../lib/signer/errors.ts';

/** A sentence for each mistake, in a line of its own, which names the property. */
export class ConfigError extends CountersignError<'wrong_configuration'> {
  override readonly name = 'ConfigError';

  constructor(message: string) {
    super('wrong_configuration', message);
  }
}
