/*
 * More orders are unknown than a run looks up: is each of them looked up within a bound of runs?
 *
 * The list has the oldest first. Between two runs new ones come, as many as there is room for, and events settle some. A
 * look-up settles an order, or leaves it where it is. The seed ROW3 has replacements in the same list, as it was once.
 */
#define ROOM 7                          /* so many placements are unknown at once, at most */
#define EACH 3                          /* so many of them are looked up in a run */
#define LAP ((ROOM + EACH - 1) / EACH)

#ifdef ROW3
#define STUCK EACH                      /* replacements that no evidence decides */
#else
#define STUCK 0
#endif

byte length = STUCK;
byte since[ROOM + STUCK];               /* runs that went by without a look-up, the oldest order first */
bool looked[ROOM + STUCK];
byte left;                              /* so many older ones than those that were looked up are left of the lap */
byte place, at, picks;
short runs;

inline leave(place) {
  at = place;
  do
  :: at + 1 < length -> since[at] = since[at + 1]; looked[at] = looked[at + 1]; at++
  :: else -> break
  od;
  length--; since[length] = 0; looked[length] = false;
  left = (left > place -> left - 1 : left);
  at = 0
}

/* Which ones a run looks up. */
inline pick() {
  picks = 0;
#ifdef ROW3                             /* the oldest */
  do :: picks < EACH && picks < length -> looked[picks] = true; picks++ :: else -> break od;
#elif defined(BY_PLACE)                 /* from a place that moves on by so many each run, whatever left the list */
  do :: picks < EACH && picks < length -> looked[(runs * EACH + picks) % length] = true; picks++ :: else -> break od;
  runs = (runs + 1) % 420;              /* divided by each length */
#elif defined(FROM_OLDEST)              /* on from the one that was looked up last, to the youngest */
  left = (left == length -> 0 : left);
  do :: picks < EACH && left < length -> looked[left] = true; left++; picks++ :: else -> break od;
#else                                   /* on from the one that was looked up last, to the oldest */
  left = (left == 0 -> length : left);
  do :: picks < EACH && left > 0 -> left--; looked[left] = true; picks++ :: else -> break od;
#endif
  picks = 0
}

active proctype Runs() {
end:
  do
  :: atomic { length < ROOM + STUCK -> length++ }
  :: atomic {                           /* an event settles one */
      length > STUCK -> place = STUCK;
      do :: place + 1 < length -> place++ :: break od;
      leave(place); place = 0
    }
  :: atomic {
      length > 0 -> pick();
      place = length;
      do
      :: place == 0 -> break
      :: place > 0 && !looked[place - 1] ->
        place--; since[place] = (place < STUCK -> 0 : since[place] + 1);
        assert(since[place] < 2 * LAP)              /* fair: each placement has its turn */
      :: place > 0 && looked[place - 1] ->
        place--; looked[place] = false; since[place] = 0;
        if :: place >= STUCK -> leave(place) :: skip fi
      od
    }
  od
}
