/**
 * Largest message that the upstream may push, on any channel. A larger one is refused by its header, before any of it is
 * kept: an event has a few hundred bytes, and an event with a list some hundred kilobytes.
 */
export const maxChannelMessageBytes = 1024 * 1024;

/**
 * Default size limit of the upstream's answer to a request, decompressed. A cached answer of that size is transferred with
 * each hit. In the simulator a page of a thousand records has up to 911 kB, and 200 bars for each of twenty symbols 577 kB.
 */
export const maxAnswerBytes = 1024 * 1024;

/** Default size limit of account data, which grows with the account. Lambda carries twice that: escaping can double it. */
export const maxAccountAnswerBytes = 2 * 1024 * 1024;
