/** In milliseconds after the request came; or `answered`, when the upstream has placed the order, and the function has not read its answer. */
export const killHeader = 'x-test-kill';
