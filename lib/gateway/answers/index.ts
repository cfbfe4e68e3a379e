/** Answers that all instances share, and their store. */

export {
  type AnswerCall,
  type AnswerOutcome,
  type Answers,
  type AnswersOptions,
  createAnswers,
  type FetchedAnswer,
} from './answers.ts';
export { type FreshnessMs, freshnessFor } from './freshness.ts';
export { answerKey } from './key.ts';
export {
  type AnswerContent,
  type AnswerStore,
  createMemoryAnswerStore,
  minuteOf,
  type StoredAnswer,
} from './store.ts';
