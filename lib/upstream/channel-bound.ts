/**
 * The most that one message of the upstream may have, on any channel that it pushes on. A longer one is refused by its
 * header, before any of it is kept: an event has a few hundred bytes, and a list in one some hundred kilobytes.
 */
export const maxChannelMessageBytes = 1024 * 1024;
