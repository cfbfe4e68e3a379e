/** One of many texts. Not of one byte to a character, so that a text that is cut at the wrong place is seen. */
export const floodText = (index: number) => `${index} ${'é'.repeat(32_000)}\n`;
