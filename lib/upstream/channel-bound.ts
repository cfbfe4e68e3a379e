/**
 * The most that one message of the upstream may have, on any channel that it pushes on. A longer one is refused by its
 * header, before any of it is kept: an event has a few hundred bytes, and a list in one some hundred kilobytes.
 */
export const maxChannelMessageBytes = 1024 * 1024;

/** The most that the upstream's answer to a request may have, decompressed, unless an option says otherwise. */
export const maxAnswerBytes = 4 * 1024 * 1024;
