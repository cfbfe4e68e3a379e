/**
 * Which texts of a token may name a user, an app or a token. Operators write the same ones, so that each that is accepted
 * can be blocked.
 */

const maxLength = 512;

/**
 * Without what looks like another name, or like nothing: a control character could end a line of a log, one of no width
 * makes two names look alike, and so does a space at an end or beside another.
 *
 * @example
 * isNameText('CN=Ada Lovelace'); // true
 * isNameText('ada '); // false
 */
export const isNameText = (text: string): boolean =>
  text.length <= maxLength && /^[^\p{Cc}\p{Cf}\p{Cs}\p{Z}]+(?: [^\p{Cc}\p{Cf}\p{Cs}\p{Z}]+)*$/u.test(text);
