/*
 * An operator stops trading, or a price changes: for how long does an instance go by what it read before?
 *
 * Time has no end here: the model keeps ages, not moments. Assumed is that not both happen to one instance: that it is
 * frozen, so that its monotonic clock stands still, and that its wall clock is put back. The seed BOTH shows why.
 */
#define BOUND 2                         /* what was read counts for so long, in ticks */
#define STEP 4                          /* by so much the wall clock is put forward and back, once each */
#define OLD (BOUND + 1)
#define OLDEST (OLD + STEP)             /* still too old when the wall clock is put back */

#define KNOWN 0                         /* what the instance knows; 1 and 2 are reads under way */
#define grown(age, most) (age < most -> age + 1 : age)

/* Since the reading began: in truth, by the monotonic clock, by the wall clock. */
byte age[3] = OLD, monotonic[3] = OLD;
short wall[3] = OLDEST;
bool saysStopped, knew;                 /* `knew`: by a read that began after the stop */
bool isLater[3];                        /* begun after what is known now */
byte last;                              /* the read that began last */
bool frozen, freezes, wentAhead, wentBack, stopped;
byte sinceStop;

#ifdef ROW5                             /* by the wall clock alone */
#define isFresh (wall[KNOWN] <= BOUND)
#define wins(i) (wall[i] <= wall[KNOWN])
#elif defined(MONOTONIC_ALONE)
#define isFresh (monotonic[KNOWN] <= BOUND)
#else
#define isFresh (monotonic[KNOWN] <= BOUND && wall[KNOWN] >= 0 && wall[KNOWN] <= BOUND)
#endif
#ifdef LAST_ANSWER                      /* the answer that comes last wins, of whichever read */
#define wins(i) true
#elif !defined(ROW5)
#define wins(i) isLater[i]
#endif
#ifdef BOTH
#define mayStepBack true
#else
#define mayStepBack (!freezes)
#endif

/* Requests of one instance, of which each reads where what is known is too old. */
proctype Request(byte i) {
  bool sight, isAfter;
end:
  do
  :: atomic {
      !frozen && isFresh && !saysStopped ->
      assert(age[KNOWN] <= BOUND);                  /* fresh: nothing older counts */
      assert(!stopped || sinceStop <= BOUND);       /* stops: nothing leaves later than the bound */
      assert(!knew)                                 /* remembered: no read that began before a stop undoes it */
    }
  :: atomic {
      !frozen && !isFresh ->
      age[i] = 0; monotonic[i] = 0; wall[i] = 0; isLater[i] = true; last = i; isAfter = stopped
    };
    sight = stopped;
    atomic {
      !frozen ->
      if
      :: wins(i) ->
        age[KNOWN] = age[i]; monotonic[KNOWN] = monotonic[i]; wall[KNOWN] = wall[i];
        saysStopped = sight; knew = knew || isAfter;
        isLater[3 - i] = isLater[3 - i] && last != i
      :: else
      fi;
      age[i] = OLD; monotonic[i] = OLD; wall[i] = OLDEST; isLater[i] = false; sight = false; isAfter = false
    }
  od
}

inline step(by) {
  at = 0;
  do
  :: at < 3 -> wall[at] = (wall[at] + by < OLDEST -> wall[at] + by : OLDEST); at++
  :: else -> at = 0; break
  od
}

proctype World() {
  byte at;
end:
  do
  :: atomic {
      step(1);
      do
      :: at < 3 ->
        age[at] = grown(age[at], OLD);
        if :: !frozen -> monotonic[at] = grown(monotonic[at], OLD) :: else fi;
        at++
      :: else -> at = 0; break
      od;
      if :: stopped -> sinceStop = grown(sinceStop, OLD) :: else fi
    }
  :: !stopped -> stopped = true
  :: freezes && !frozen -> frozen = true
  :: frozen -> frozen = false
  :: atomic { !wentAhead -> wentAhead = true; step(STEP) }
  :: atomic { mayStepBack && !wentBack -> wentBack = true; step(-STEP) }
  od
}

init {
  if :: freezes = false :: freezes = true fi;
  atomic { run World(); run Request(1); run Request(2) }
}
