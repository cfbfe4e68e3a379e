/*
 * More orders are unknown than a run looks up: is each of them looked up within a bound of runs?
 *
 * The list is in the order of keys, which are spread evenly over their places. Each run begins at another place, by steps of
 * the golden section, and looks up so many from there on, and round. Between two runs new ones come wherever a place is
 * free, and events settle some. A look-up settles an order, or leaves it where it is. The seed ROW3 has replacements in the
 * same list, and begins with the first, as it was once.
 */
#define PLACES 8                        /* of keys */
#define STEP 5                          /* of the golden section of them */
#define EACH 3                          /* so many are looked up in a run */
#define BOUND (2 * ((PLACES + EACH - 1) / EACH))

#ifdef ROW3
#define STUCK EACH                      /* replacements that no evidence decides, at the first places */
#else
#define STUCK 0
#endif

bool unknown[PLACES];
byte since[PLACES];                     /* runs that went by without a look-up */
bool looked[PLACES];
byte start, place, picks, seen;

inline pick() {
  picks = 0; seen = 0;
  do
  :: picks < EACH && seen < PLACES ->
    place = (start + seen) % PLACES;
    if
    :: place < STUCK || unknown[place] -> looked[place] = true; picks++
    :: else
    fi;
    seen++
  :: else -> break
  od;
#if !defined(ROW3) && !defined(FROM_FIRST)
  start = (start + STEP) % PLACES;
#endif
#ifdef BY_INDEX                         /* a start that counts entries: it jumps when others leave the list */
  start = (start + picks) % PLACES;
#endif
  picks = 0; seen = 0; place = 0
}

inline anyPlace() {
  place = STUCK;
  do :: place + 1 < PLACES -> place++ :: break od
}

active proctype Runs() {
end:
  do
  :: atomic { anyPlace(); unknown[place] = true; place = 0 }
  :: atomic {                           /* an event settles one */
      anyPlace(); unknown[place] = false; since[place] = 0; place = 0
    }
  :: atomic {
      pick();
      do
      :: place == PLACES -> break
      :: place < PLACES && (place < STUCK || !unknown[place]) -> looked[place] = false; place++
      :: place < PLACES && place >= STUCK && unknown[place] && !looked[place] ->
        since[place] = since[place] + 1;
        assert(since[place] < BOUND);               /* fair: each placement has its turn */
        place++
      :: place < PLACES && place >= STUCK && unknown[place] && looked[place] ->
        looked[place] = false; since[place] = 0;
        if :: unknown[place] = false :: skip fi;
        place++
      od;
      place = 0
    }
  od
}
