/** A sentence for each mistake, in a line of its own, which names the property. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
