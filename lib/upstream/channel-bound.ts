/**
 * The most that one message of the upstream may have, on any channel that it pushes on. A longer one is refused by its
 * header, before any of it is kept: an event has a few hundred bytes, and a list in one some hundred kilobytes.
 */
export const maxChannelMessageBytes = 1024 * 1024;

/**
 * The most that the upstream's answer to a request may have, decompressed, unless an option says otherwise. Each hit pays its
 * transfer. In the simulator a page of a thousand records has up to 911 kB, and 200 bars for each of twenty symbols 577 kB.
 */
export const maxAnswerBytes = 1024 * 1024;

/** The same of account data, whose size its account decides. Lambda carries twice that: escaping doubles no more. */
export const maxAccountAnswerBytes = 2 * 1024 * 1024;
