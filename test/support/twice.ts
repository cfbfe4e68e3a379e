/** A signal that comes twice, as under npm, which passes on what the terminal has already sent. */

/**
 * Options of a Node process that sends itself each first signal again, while it handles that one. From outside
 * the second might come when the process is already gone.
 */
export const twice = (signal: NodeJS.Signals): string => {
  const code = `process.once('${signal}',()=>process.kill(process.pid,'${signal}'))`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
};
