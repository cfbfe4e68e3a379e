/** The reason of a stop or of another change: it stands in the history, and is printed for operators. */

const maxLength = 500;

/** What could end a line, hide in one, or stand for no character. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const anyInvisible = new RegExp(`${invisible.source}+`, 'gu');

/** Whether a text has 1 to 500 visible characters: it is printed, and must not disguise what is beside it. */
export const isReason = (text: string): boolean =>
  text.length <= maxLength && text.trim() !== '' && !invisible.test(text);

/**
 * Makes a reason of a text that another system wrote: invisible characters become a space, and what is too long ends
 * with `…`.
 *
 * @param otherwise a reason, for a text in which nothing is visible
 *
 * @example
 * toReason('Threshold\nCrossed', 'no reason given'); // 'Threshold Crossed'
 */
export function toReason(text: string, otherwise: string): string {
  const visible = text.replaceAll(anyInvisible, ' ').trim();
  if (visible === '') return otherwise;
  if (visible.length <= maxLength) return visible;
  // The cut may leave half of a character outside the basic plane.
  return `${visible.slice(0, maxLength - 1).replace(invisible, '')}…`;
}
