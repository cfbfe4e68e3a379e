/** Steps of `countersign prove`: each is announced, timed, and recorded with its result; one that fails hides no other. */

import { isClientError } from '../../../lib/client/index.ts';
import { StartError } from '../../environment.ts';
import { ConfigError } from '../../stack/config-error.ts';
import { codeOf } from './prove-calls.ts';

export interface Step {
  readonly name: string;
  readonly result: 'done' | 'failed' | 'left out';
  /** Result in one sentence or more. */
  readonly says: string;
  readonly seconds: number;
}

/** Result of a step: a sentence on what is done, or `fault` with a sentence on what is not. */
type StepOutcome = string | { readonly fault: string };

export interface Steps {
  readonly all: readonly Step[];
  /** @returns whether the step succeeded */
  step(name: string, work: () => Promise<StepOutcome>): Promise<boolean>;
  /** Runs a step that is left out once the person has interrupted. */
  measure(name: string, work: () => Promise<StepOutcome>): Promise<boolean>;
  leaveOut(name: string, says: string): void;
}

export function createSteps(
  clock: () => number,
  say: (line: string) => void,
  interrupted: AbortSignal | undefined,
): Steps {
  const all: Step[] = [];
  const leaveOut: Steps['leaveOut'] = (name, says) =>
    void all.push({ name, result: 'left out', says, seconds: 0 });
  const step: Steps['step'] = async (name, work) => {
    const from = clock();
    say(`${name} …`);
    const outcome = await work().catch((error: unknown) => ({ fault: wordsOf(error) }));
    const isDone = typeof outcome === 'string';
    const says = isDone ? outcome : outcome.fault;
    all.push({
      name,
      result: isDone ? 'done' : 'failed',
      says,
      seconds: Math.round((clock() - from) / 100) / 10,
    });
    if (!isDone) say(says);
    return isDone;
  };
  return {
    all,
    step,
    leaveOut,
    async measure(name, work) {
      if (!interrupted?.aborted) return step(name, work);
      leaveOut(name, 'It was interrupted.');
      return false;
    },
  };
}

/** Describes an error without its message, which may repeat what was sent. */
const wordsOf = (error: unknown): string =>
  error instanceof StartError || error instanceof ConfigError
    ? error.message
    : isClientError(error)
      ? `It ended with ${codeOf(error)}.`
      : `It failed with ${error instanceof Error ? error.name : 'an error'}.`;
