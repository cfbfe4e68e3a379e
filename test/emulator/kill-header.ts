/** In milliseconds after the request came; or `answered`, when the upstream has placed the order, and nobody knows of it yet. */
export const killHeader = 'x-test-kill';
