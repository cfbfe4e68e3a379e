/** Reads a request's Accept header (RFC 9110): which form of a refusal the client can read. */

export const problemType = 'application/problem+json';

/**
 * Whether the header names the type of nested refusals. A range with a star does not: it comes from clients
 * that say nothing about what they read, and those may read a flat object only.
 *
 * @param accept absent and empty name nothing
 */
export function acceptsProblem(accept = ''): boolean {
  return withoutQuotes(accept)
    .toLowerCase()
    .split(',')
    .some((range) => {
      const [type, ...parameters] = range.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
      // A weight of 0 means "not acceptable".
      return type === problemType && Number(weight) > 0;
    });
}

/** A quoted value of a parameter may contain commas and semicolons; one without an end goes to the header's end. */
const withoutQuotes = (header: string): string => header.replace(/"(?:[^"\\]|\\.)*(?:"|\\?$)/gs, '');
