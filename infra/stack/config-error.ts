/** The error of a configuration; alone, so that a command which reads none loads no schema. */

/** A sentence for each mistake, in a line of its own, which names the property. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
