/** Whose turn it is when there is not enough for all. */

export type Priority = 'interactive' | 'events' | 'background';

export interface PriorityRule {
  /** How far ahead of its time a permission may be reserved: the length of the queue, in milliseconds. */
  readonly aheadMs: number;
  /** The part of the limit that is left to those more urgent while they ask. */
  readonly leaves: number;
  /**
   * The part of the limit that may be used up faster than its even pace, by all together: a burst of the patient would
   * leave nothing to who comes later in the same window.
   */
  readonly burst: number;
  /** The part of the limit that is due whatever the others ask. */
  readonly floor: number;
}

/** Most urgent first. */
export const priorities: Readonly<Record<Priority, PriorityRule>> = {
  interactive: { aheadMs: 2000, burst: 1, leaves: 0, floor: 0 },
  // Short: whoever comes meanwhile and is more urgent stands behind what is reserved.
  events: { aheadMs: 500, burst: 1, leaves: 0.08, floor: 0.08 },
  background: { aheadMs: 250, burst: 0.5, leaves: 0.09, floor: 0.02 },
};

export const allPriorities = Object.keys(priorities) as readonly Priority[];

export const longestAheadMs = Math.max(...allPriorities.map((one) => priorities[one].aheadMs));

/** A floor goes past the queue of the most urgent, which would otherwise be full for ever. */
export const floorAheadMs = longestAheadMs + 1000;

export const moreUrgentThan = (priority: Priority): readonly Priority[] =>
  allPriorities.slice(0, allPriorities.indexOf(priority));
