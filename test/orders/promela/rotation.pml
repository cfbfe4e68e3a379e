/*
 * An account whose app key is exchanged while orders are under way: does what was known under the old key stay known?
 *
 * The seed ROW4 names everything by credential, as it was once; each of its parts is a seed of its own besides. Look-ups
 * are right here, and no order ends.
 */
mtype = { absent, unknown, accepted, refused };

#if defined(ROW4) || defined(ENTRIES_BY_KEY)
#define entryOf(id, by) (2 * (id) + (by))
#else
#define entryOf(id, by) (2 * (id))
#endif
#if defined(ROW4) || defined(COUNTERS_BY_KEY)
#define counterOf(by) (by)
#else
#define counterOf(by) 0
#endif
#if defined(ROW4) || defined(LISTS_BY_KEY)
#define isListed(at) (writtenBy[at] == key)
#else
#define isListed(at) true
#endif

byte limit;                             /* so many orders may be open */
bit key;                                /* the app key that the secret has now */
mtype entry[4] = absent;
bit writtenBy[4];                       /* an attribute of the entry */
bool isTaken[4];                        /* the truth of the entry's attempt */
byte counter[2];
byte mayHaveEffect[2], open;

/* A request of an order's id, by an instance that knows this key. */
proctype Request(bit id; bit by) {
  byte at = entryOf(id, by);
  if
  :: atomic {
      (entry[at] == absent || entry[at] == refused) && counter[counterOf(by)] < limit ->
      entry[at] = unknown; writtenBy[at] = by; counter[counterOf(by)]++
    }
  :: atomic { else -> goto told }
  fi;
  atomic {
    assert(mayHaveEffect[id] == 0);     /* once: nothing earlier of the id may have an effect */
    mayHaveEffect[id]++
  };
  if
  :: atomic { isTaken[at] = true; open++; assert(open <= limit) } /* bounded: counters know of every open order */
    if :: entry[at] = accepted :: skip /* the answer is lost */ fi
  :: atomic { mayHaveEffect[id]--; entry[at] = refused; counter[counterOf(by)]-- }
  fi;
told:
}

/* Its runs begin at any time. */
active proctype Settlement() {
  byte at;
end:
  do
  :: atomic {
      at = 0;
      do
      :: at < 4 ->
        entry[at] = (entry[at] == unknown && isTaken[at] && isListed(at) -> accepted : entry[at]);
        assert(entry[at] != unknown || !isTaken[at]);   /* settled: what the upstream shows is known after a run */
        at++
      :: else -> at = 0; break
      od
    }
  od
}

init {
  if :: limit = 1 :: limit = 2 fi;
  atomic { run Request(0, 0); run Request(0, 0); run Request(1, 0) };
  key = 1;                              /* instances may have the first one in use for long */
  atomic { run Request(0, 1); run Request(1, 1) }
}
