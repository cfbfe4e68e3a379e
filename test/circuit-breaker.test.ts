import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { type CircuitBreaker, createCircuitBreaker } from '../lib/kernel/circuit-breaker.ts';

const pause = { firstMs: 2000, maxMs: 15_000 };
const works = { kind: 'works' } as const;
const fails = (failure = 'down') => ({ kind: 'fails', failure, isAboutAll: false }) as const;
const isAway = { kind: 'fails', failure: 'away', isAboutAll: true } as const;

/** A breaker that opens after three failures, on a clock of its own; its pauses are as long as they can be. */
function breakerAt(start = 0) {
  const time = { now: start };
  const breaker = createCircuitBreaker<string>({
    clock: () => time.now,
    random: () => 1,
    failures: 3,
    pause,
  });
  return { breaker, time };
}

const isOpen = (breaker: CircuitBreaker<string>, part: string): boolean => {
  const admission = breaker.admit(part);
  if (admission.kind === 'admitted') admission.end({ kind: 'nothing' });
  return admission.kind === 'refused';
};

function admit(breaker: CircuitBreaker<string>, part = 'a') {
  const admission = breaker.admit(part);
  assert.equal(admission.kind, 'admitted');
  return admission as Extract<typeof admission, { kind: 'admitted' }>;
}

const failing = (breaker: CircuitBreaker<string>, ...parts: string[]) => {
  for (const part of parts) admit(breaker, part).end(fails());
};

describe('a circuit breaker', () => {
  test('opens after failures in a row, and says why and until when', () => {
    const { breaker } = breakerAt();
    failing(breaker, 'a', 'a');
    admit(breaker).end(works);
    failing(breaker, 'a', 'a');
    admit(breaker).end({ kind: 'nothing' });
    assert.ok(!isOpen(breaker, 'a'));
    admit(breaker).end(fails('the last one'));
    assert.deepEqual(breaker.admit('a'), { kind: 'refused', failure: 'the last one', retryAfterMs: 2000 });
  });

  test('of one part is open for that part alone', () => {
    const { breaker } = breakerAt();
    failing(breaker, 'a', 'a', 'a');
    assert.ok(isOpen(breaker, 'a'));
    // A row of others that is broken opens nothing; one that is not is about all.
    failing(breaker, 'b', 'b');
    admit(breaker, 'c').end(works);
    failing(breaker, 'b', 'b');
    assert.ok(isOpen(breaker, 'a'));
    assert.ok(!isOpen(breaker, 'b'));
    failing(breaker, 'b');
    for (const part of ['a', 'b', 'c']) assert.ok(isOpen(breaker, part));
  });

  test('of several parts, or of what is about all, is open for all', () => {
    const several = breakerAt().breaker;
    failing(several, 'a', 'b', 'a');
    assert.ok(isOpen(several, 'c'));
    const away = breakerAt().breaker;
    for (let times = 0; times < 3; times++) admit(away).end(isAway);
    assert.ok(isOpen(away, 'c'));
  });

  test('lets one request find out, and is closed when it works', () => {
    const { breaker, time } = breakerAt();
    failing(breaker, 'a', 'b', 'a');
    time.now = 2000;
    const probe = admit(breaker, 'b');
    assert.deepEqual(breaker.admit('a'), { kind: 'refused', failure: 'down', retryAfterMs: 1000 });
    probe.end(works);
    probe.end(fails());
    for (let times = 0; times < 2; times++) failing(breaker, 'a');
    assert.ok(!isOpen(breaker, 'a'));
  });

  test('stays open twice as long after each probe that fails, up to a bound', () => {
    const { breaker, time } = breakerAt();
    failing(breaker, 'a', 'b', 'a');
    for (const ms of [2000, 4000, 8000, 15_000, 15_000]) {
      time.now += ms - 1;
      assert.ok(isOpen(breaker, 'a'));
      time.now += 1;
      admit(breaker).end(fails());
      assert.ok(isOpen(breaker, 'a'));
    }
  });

  test('is closed by what works without asking, and opened by nothing that is late', () => {
    const { breaker, time } = breakerAt();
    const late = [admit(breaker), admit(breaker)];
    failing(breaker, 'a', 'b', 'a');
    time.now = 1999;
    for (const one of late) one.end(fails());
    time.now = 2000;
    const probe = admit(breaker);
    breaker.watch('order').end(works);
    probe.end(fails());
    assert.ok(!isOpen(breaker, 'a'));
  });
});

const caller = (breaker: CircuitBreaker<string>, name: string, part = 'a') => {
  const admission = breaker.admit(part, name);
  assert.equal(admission.kind, 'admitted', `${name} is refused`);
  return admission as Extract<typeof admission, { kind: 'admitted' }>;
};
const refuses = (breaker: CircuitBreaker<string>, name: string) => {
  const admission = breaker.admit('a', name);
  if (admission.kind === 'admitted') admission.end({ kind: 'nothing' });
  return admission.kind === 'refused';
};

describe('a circuit breaker of several callers', () => {
  test('opens by one caller’s failures for that caller alone, and closes when a request of that caller works', () => {
    const { breaker, time } = breakerAt();
    for (let times = 0; times < 3; times++) caller(breaker, 'spoiler').end(fails());
    assert.ok(refuses(breaker, 'spoiler'));
    caller(breaker, 'neighbour').end(works);
    assert.ok(refuses(breaker, 'spoiler'));
    time.now = 2000;
    caller(breaker, 'spoiler').end(works);
    assert.ok(!refuses(breaker, 'spoiler'));
  });

  test('opens for all by failures of several, about all, or without a caller', () => {
    for (const [names, sight] of [
      [['x', 'y', 'x'], fails()],
      [['x', 'x', 'x'], isAway],
      [['x', undefined, 'x'], fails()],
    ] as const) {
      const { breaker } = breakerAt();
      for (const name of names) breaker.watch('a', name).end(sight);
      assert.ok(isOpen(breaker, 'a'));
    }
  });

  test('counts no failure of a request during which another one worked', () => {
    const { breaker } = breakerAt();
    const hanging = ['x', 'y', 'z', 'x', 'y', 'z'].map((name) => caller(breaker, name));
    caller(breaker, 'neighbour').end(works);
    for (const one of hanging) one.end(fails());
    assert.ok(!isOpen(breaker, 'a'));
  });

  test('is closed at once by a caller whose requests have worked, and by no other', () => {
    const { breaker } = breakerAt();
    caller(breaker, 'neighbour').end(works);
    for (const name of ['x', 'y', 'z']) caller(breaker, name).end(fails());
    for (const name of ['x', 'new']) assert.ok(refuses(breaker, name));
    caller(breaker, 'neighbour').end(works);
    for (const name of ['x', 'neighbour', 'another']) assert.ok(!refuses(breaker, name));
  });

  test('asks one such caller; then all wait for the pause, and others a second longer', () => {
    const { breaker, time } = breakerAt();
    for (const name of ['first', 'second']) caller(breaker, name).end(works);
    for (const name of ['x', 'y', 'z']) caller(breaker, name).end(fails());
    caller(breaker, 'first').end(fails());
    assert.ok(refuses(breaker, 'second'));
    time.now = 4000;
    for (const name of ['x', 'y', 'z', 'first', 'new']) assert.ok(refuses(breaker, name), name);
    assert.ok(!refuses(breaker, 'second'));
    time.now = 5000;
    assert.ok(!refuses(breaker, 'x'));
  });

  test('is not held open by a probe without an answer', () => {
    const { breaker, time } = breakerAt();
    for (const name of ['spoiler', 'neighbour']) caller(breaker, name).end(works);
    for (const name of ['x', 'y', 'z']) caller(breaker, name).end(fails());
    const hanging = caller(breaker, 'spoiler');
    assert.ok(refuses(breaker, 'neighbour'));
    time.now = 4000;
    caller(breaker, 'neighbour').end(works);
    hanging.end(fails());
    assert.ok(!refuses(breaker, 'neighbour'));
  });

  test('knows the latest thousand of them', () => {
    const { breaker } = breakerAt();
    const fail = (name: string) => {
      for (let times = 0; times < 3; times++) breaker.watch('a', name).end(fails());
      caller(breaker, 'neighbour').end(works);
    };
    fail('first');
    assert.ok(refuses(breaker, 'first'));
    for (let nth = 0; nth < 1000; nth++) fail(`${nth}`);
    assert.ok(!refuses(breaker, 'first'));
    assert.ok(refuses(breaker, '999'));
  });
});

type Step =
  | { readonly kind: 'ask'; readonly part: string; readonly ends: 'works' | 'fails' | 'nothing' | 'later' }
  | { readonly kind: 'observe'; readonly part: string; readonly ends: 'works' | 'fails' }
  | { readonly kind: 'wait'; readonly ms: number };

const parts = fc.constantFrom('a', 'b', 'c');
const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('ask' as const),
      part: parts,
      ends: fc.constantFrom(
        'works' as const,
        'fails' as const,
        'fails' as const,
        'nothing' as const,
        'later' as const,
      ),
    }),
    fc.record({
      kind: fc.constant('observe' as const),
      part: parts,
      ends: fc.constantFrom('works' as const, 'fails' as const),
    }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 20_000 }) }),
  ),
  { maxLength: 200 },
);
const sightOf = (ends: 'works' | 'fails' | 'nothing') =>
  ends === 'fails' ? fails() : ({ kind: ends } as const);

describe('of any history of a circuit breaker it is true that', () => {
  /** Plays a history, and tells of each request that asks. */
  function play(
    history: readonly Step[],
    each: (step: Step & { kind: 'ask' }, admitted: boolean, now: number) => void = () => {},
  ) {
    const { breaker, time } = breakerAt();
    for (const step of history) {
      if (step.kind === 'wait') time.now += step.ms;
      else if (step.kind === 'observe') breaker.watch(step.part).end(sightOf(step.ends));
      else {
        const admission = breaker.admit(step.part);
        each(step, admission.kind === 'admitted', time.now);
        if (admission.kind === 'refused')
          assert.ok(admission.retryAfterMs > 0 && admission.retryAfterMs <= pause.maxMs, 'retryAfterMs');
        else if (step.ends !== 'later') admission.end(sightOf(step.ends));
      }
    }
    return { breaker, time };
  }

  test('while everything fails, it admits no more than a few and one for each pause', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(parts, fc.integer({ min: 0, max: 500 })), { maxLength: 500 }),
        (asked) => {
          let admitted = 0;
          const history = asked.flatMap(([part, ms]): Step[] => [
            { kind: 'wait', ms },
            { kind: 'ask', part, ends: 'fails' },
          ]);
          const { time } = play(history, (_, isAdmitted) => {
            if (isAdmitted) admitted++;
          });
          // Three of one part, two of others before the row is about all, and one; then one probe for each 2 s at most.
          assert.ok(admitted <= 6 + time.now / pause.firstMs, `${admitted} in ${time.now} ms`);
        },
      ),
    );
  });

  test('it is closed by one request that works, at the latest a full pause after the last failure', () => {
    fc.assert(
      fc.property(
        steps.map((history) => history.filter((step) => step.kind !== 'ask' || step.ends !== 'later')),
        parts,
        (history, part) => {
          const { breaker, time } = play(history);
          time.now += pause.maxMs;
          admit(breaker, part).end(works);
          assert.ok(!isOpen(breaker, part));
        },
      ),
    );
  });

  test('one caller’s failures refuse no other caller, and several callers’ failures stop all after a few', () => {
    const names = fc.constantFrom('x', 'y', 'z');
    const asked = fc.array(fc.tuple(names, parts, fc.integer({ min: 0, max: 500 })), { maxLength: 500 });
    fc.assert(
      fc.property(asked, fc.boolean(), (requests, isOneAlone) => {
        const { breaker, time } = breakerAt();
        let admitted = 0;
        for (const [name, part, ms] of requests) {
          time.now += ms;
          const admission = breaker.admit(part, name);
          const doesWork = isOneAlone && name !== 'x';
          if (doesWork) assert.equal(admission.kind, 'admitted');
          else if (admission.kind === 'admitted') admitted++;
          if (admission.kind === 'admitted') admission.end(doesWork ? works : fails());
        }
        // As for one caller, and once more for each pause that another one's request ends.
        if (!isOneAlone)
          assert.ok(admitted <= 10 + time.now / pause.firstMs, `${admitted} in ${time.now} ms`);
      }),
    );
  });

  test('a part that works is refused only when the failures of others are about all', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 300 }), (asked) => {
        const { breaker } = breakerAt();
        // One endpoint fails always, the other works always, in any order: the other is never refused.
        for (const isOther of asked) {
          const admission = breaker.admit(isOther ? 'works' : 'fails');
          if (isOther) assert.equal(admission.kind, 'admitted');
          if (admission.kind === 'admitted') admission.end(isOther ? works : fails());
        }
      }),
    );
  });
});
