/*
 * One order that comes several times, over several instances, while a settlement and a listener release what has ended.
 * Is it sent twice, and does the counter fall below the truth?
 *
 * The upstream takes an id once. Look-ups are right here: evidence.pml has those that are wrong.
 */
mtype = { absent, pending, unknown, accepted, refused };
/* The journal's entry, and what counters have of it. Every attempt of an order has the same text of exposure. */
mtype entry = absent;
byte attempt, owner, counter;
bool guarded, exposed, wasAccepted;           /* without a limit there is nothing to count */

/* The truth: which attempt may leave yet, is on its way, was taken; whether its order is open. */
byte mayLeave, onWay, taken, refusal;
bool open;

/* Holds after every transaction, and after every step of the upstream. */
inline holds() {
  assert(!guarded || counter >= open);         /* counted: never below the truth */
  assert(counter == exposed);                  /* summed: the counter is the sum of exposures */
  assert(!wasAccepted || entry == accepted);   /* final: an accepted stays accepted */
  assert(entry != refused || (taken != attempt && onWay != attempt)); /* honest: no live order is told refused */
}

#ifdef UNCONDITIONAL /* an entry is written whatever its id has */
#define isFree (true)
#elif defined(EXPOSED_IS_FREE) /* a refused entry is taken over with its exposure */
#define isFree (entry == absent || entry == refused)
#else
#define isFree (entry == absent || (entry == refused && !exposed))
#endif

#ifdef ANY_ATTEMPT /* an outcome is written whoever wrote the entry */
#define isOf(a) (true)
#else
#define isOf(a) (attempt == a)
#endif

inline finish(a, outcome) {
  atomic {
    if
    :: isOf(a) && (entry == pending || entry == unknown || (entry == refused && outcome == accepted)) ->
      entry = outcome;
      wasAccepted = wasAccepted || outcome == accepted
    :: else
    fi;
    holds()
  }
}

/* The entry was read before, as attempt a's with an exposure; other processes go on between that and the transaction. */
inline release(a) {
#ifdef ROW2 /* the condition names the text alone, and the text of every attempt is the same */
  atomic { if :: exposed -> exposed = false; counter-- :: else fi; holds() }
#elif defined(SPLIT) /* counter and exposure in a transaction each */
  atomic { if :: exposed && attempt == a && owner == a -> counter-- :: else fi; holds() };
  atomic { if :: exposed && attempt == a && owner == a -> exposed = false :: else fi; holds() }
#else
  atomic { if :: exposed && attempt == a && owner == a -> exposed = false; counter-- :: else fi; holds() }
#endif
}

proctype Request(byte a) {
  byte seen;
again:
  if
  :: atomic {
      isFree ->
      entry = pending; attempt = a; owner = a; mayLeave = a; exposed = guarded; counter = counter + guarded;
      holds()
    }
  :: atomic { !isFree && entry == refused -> seen = attempt; goto free }
  :: atomic { !isFree && entry != refused -> goto told }
  fi;
  if
  :: goto lost                                                      /* the instance dies */
  :: atomic { mayLeave = 0 }; goto unsent                           /* the journal's answer was lost */
  :: atomic {
      assert(!onWay && !taken);                                     /* once: nothing earlier may have an effect */
      mayLeave = 0; onWay = a
    }
  fi;
  if
  :: taken == a -> finish(a, accepted)
  :: refusal == a -> refusal = 0; goto unsent
  :: finish(a, unknown); goto told                                  /* the answer is lost */
  fi;
  goto told;
unsent:
  finish(a, refused);
  release(a);
  goto told;
free:
  release(seen); seen = 0;
  goto again;
lost:
  atomic { mayLeave = (mayLeave == a -> 0 : mayLeave) };
told:
}

proctype Upstream() {
end:
  do
  :: atomic { onWay && !taken -> taken = onWay; onWay = 0; open = true; holds() }
  :: atomic { onWay -> refusal = onWay; onWay = 0 }
  :: atomic { onWay -> onWay = 0 }                                  /* it never arrives */
  :: atomic { open -> open = false }                                /* filled or cancelled */
  od
}

/* A settlement or a listener: sees, and writes later what it has seen. */
proctype Releaser() {
  byte seen;
end:
  do
  :: atomic { (entry == pending || entry == unknown) && taken == attempt -> seen = attempt };
    finish(seen, accepted); seen = 0
  :: atomic {
      (entry == pending || entry == unknown) && taken != attempt && onWay != attempt && mayLeave != attempt ->
      seen = attempt
    };
    finish(seen, refused); seen = 0
  :: atomic { exposed && (entry == refused || (entry == accepted && taken && !open)) -> seen = attempt };
    release(seen); seen = 0
  od
}

init {
  if :: guarded = false :: guarded = true fi;
  atomic {
    run Upstream(); run Releaser(); run Releaser();
    run Request(1); run Request(2); run Request(3)
  }
}
