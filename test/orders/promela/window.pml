/*
 * Orders of the last minute are counted in one record, by instances that read the store's time: how many leave in a window?
 *
 * Time has no end here: the model keeps ages, not moments. A reading is behind the truth by at most ERROR, which has in it
 * the time from the reading until the transaction. An order leaves within DELAY of the transaction, or not at all.
 */
#define LIMIT 2
#define MINUTE 5
#define ERROR 1
#define DELAY 1

#ifdef WITHOUT_ERROR                    /* the window is a minute, and what an order takes to leave */
#define WINDOW (MINUTE + DELAY)
#elif defined(WITHOUT_DELAY)
#define WINDOW (MINUTE + ERROR)
#else
#define WINDOW (MINUTE + ERROR + DELAY)
#endif

#ifdef ROW9                             /* clocks of the instances, a minute apart */
#define MOST (WINDOW + MINUTE)
#else
#define MOST (WINDOW + ERROR)
#endif
#define KEPT 3                          /* one that is forgotten could only let more through */

byte stamp[KEPT] = MOST;                /* how long ago by the stamp, the last one first */
byte gone[LIMIT] = MINUTE;              /* how long ago it left in truth, the last one first */
byte waited[2];

inline grow(age, most) { age = (age < most -> age + 1 : age) }

inline transact() {
  if
#ifdef ROW9
  :: behind = MINUTE * i
#else
  :: behind = 0
  :: behind = ERROR
#endif
  fi;
  do
  :: at < KEPT -> count = count + (stamp[at] < WINDOW + behind); at++
  :: else -> break
  od;
  at = 0;
  if
  :: count < LIMIT -> stamp[2] = stamp[1]; stamp[1] = stamp[0]; stamp[0] = behind; isBegun = true; waited[i] = 0
  :: else
  fi;
  count = 0; behind = 0
}

proctype Instance(byte i) {
  byte at, count, behind;
  bool isBegun;
end:
  do
  :: atomic { !isBegun -> transact() }
  :: atomic {
      isBegun && waited[i] <= DELAY ->
      assert(gone[LIMIT - 1] >= MINUTE);                    /* bounded: at most the limit in any minute */
      gone[1] = gone[0]; gone[0] = 0; isBegun = false; waited[i] = 0
    }
  :: atomic { isBegun -> isBegun = false; waited[i] = 0 }   /* too late, or the instance dies */
  od
}

active proctype Time() {
  byte at;
end:
  do
  :: atomic {
      do :: at < KEPT -> grow(stamp[at], MOST); at++ :: else -> at = 0; break od;
      do :: at < LIMIT -> grow(gone[at], MINUTE); at++ :: else -> at = 0; break od;
      do :: at < 2 -> grow(waited[at], DELAY + 1); at++ :: else -> at = 0; break od
    }
  od
}

init { atomic { run Instance(0); run Instance(1) } }
