/** Answers that all instances share, and their store. */

export {
  type AnswerCall,
  type AnswerOutcome,
  type Answers,
  type AnswersOptions,
  createAnswers,
} from './answers.ts';
export { type FreshnessMs, freshnessFor } from './freshness.ts';
export { answerKey } from './key.ts';
export { type AnswerContent, type AnswerStore, createMemoryAnswerStore, type StoredAnswer } from './store.ts';
