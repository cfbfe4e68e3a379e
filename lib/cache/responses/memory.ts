/**
 * Answers in an instance's memory. What was asked for once stands apart from what was asked for again, so
 * that a stream of odd requests cannot push out what many use.
 */

import type { StoredResponse } from './store.ts';

export interface ResponseMemory {
  get(key: string): StoredResponse | undefined;
  put(key: string, answer: StoredResponse): void;
}

/** The part for what was asked for once. */
const newShare = 0.2;
/** Beside its body, what an answer takes. */
const overhead = 300;

export function createResponseMemory(mostBytes: number): ResponseMemory {
  const once = createShelf(mostBytes * newShare);
  const again = createShelf(mostBytes * (1 - newShare));
  return {
    get(key) {
      const answer = again.take(key) ?? once.take(key);
      if (answer) again.put(key, answer);
      return answer;
    },
    put(key, answer) {
      if (again.take(key)) again.put(key, answer);
      else {
        once.take(key);
        once.put(key, answer);
      }
    },
  };
}

/** Full, it drops what was put there first. */
function createShelf(mostBytes: number) {
  const answers = new Map<string, StoredResponse>();
  let bytes = 0;
  const take = (key: string): StoredResponse | undefined => {
    const answer = answers.get(key);
    if (!answer) return undefined;
    answers.delete(key);
    bytes -= sizeOf(answer);
    return answer;
  };
  return {
    take,
    put(key: string, answer: StoredResponse): void {
      if (sizeOf(answer) > mostBytes) return;
      answers.set(key, answer);
      bytes += sizeOf(answer);
      for (const oldest of answers.keys()) {
        if (bytes <= mostBytes) break;
        take(oldest);
      }
    },
  };
}

const sizeOf = (answer: StoredResponse): number =>
  overhead + (answer.kind === 'answer' ? answer.body.byteLength : JSON.stringify(answer.refusal ?? 0).length);
