/**
 * The time until which a session is known to have told every change. A message of values is a sign of life; an answer to a ping is
 * one, too, because a quiet market sends nothing. But sessions were seen that answer pings and send no values any more. So
 * answers count only while the silence is not much longer than others of the last minute were, and after a silence that is
 * much longer the session counts as mute.
 */

/** How long a message is on its way at most, until a ping has told. */
const firstTripMs = 500;
/** Weight of an earlier trip when the next was shorter. */
const tripWeight = 0.9;
/** Answers to pings count for 500 ms and twice the longest recent silence after the last values. */
const quiet = { ms: 500, times: 2 } as const;
/** After such a silence the session is mute. */
const mute = { ms: 4000, times: 4 } as const;
/** A silence that ended so long ago counts a third. */
const forgetMs = 60_000;

export class SessionLife {
  /** Every change before it has been told; in milliseconds since the epoch. */
  signAt = Number.NEGATIVE_INFINITY;
  /** When values came last. */
  valuesAt = Number.NEGATIVE_INFINITY;
  #tripMs = firstTripMs;
  #hasValues = false;
  #notMuteBefore = Number.NEGATIVE_INFINITY;
  /** The longest silence lately, in milliseconds. */
  #longestMs = 0;

  /** A new connection: until its first values, silence says nothing of the market. */
  begin(now: number): void {
    this.valuesAt = now;
    this.#hasValues = false;
    this.#longestMs = 0;
  }

  /** Everything was subscribed again: values that come now end a silence that was the market's. */
  beginAgain(now: number): void {
    this.#notMuteBefore = now + mute.ms;
  }

  values(now: number): void {
    const silenceMs = this.#hasValues ? Math.max(0, now - this.valuesAt) : 0;
    this.#hasValues = true;
    this.#longestMs = Math.max(silenceMs, this.#longestMs * Math.exp(-silenceMs / forgetMs));
    this.valuesAt = now;
    // The message was on its way, as later ones are now.
    this.signAt = Math.max(this.signAt, Math.floor(now - this.#tripMs));
  }

  /** @param askedAt when the ping was sent: all that the upstream sent before has come, because it answers in order */
  sign(now: number, askedAt: number): void {
    // Clocks show whole milliseconds: a trip of 2 may have taken almost 3.
    this.#tripMs = Math.max(now - askedAt + 1, tripWeight * this.#tripMs);
    if (!this.#isLonger(quiet, now)) this.signAt = Math.max(this.signAt, askedAt);
  }

  isMute(now: number): boolean {
    return now > this.#notMuteBefore && this.#isLonger(mute, now);
  }

  #isLonger({ ms, times }: { readonly ms: number; readonly times: number }, now: number): boolean {
    return now - this.valuesAt > ms + times * this.#longestMs;
  }
}
