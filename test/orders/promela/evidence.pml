/*
 * An order whose answer came or was lost, and reads that are wrong: what may the gateway conclude?
 *
 * A blank read finds nothing of the account; there may be any number. A read that finds other orders and misses this one
 * is assumed to be rare: such a spell is shorter than the time between two absences that count, and there is one at most.
 * `spells` counts them. After a second one a refusal may be untrue, and what is promised is that a later sight heals it.
 */
#define SPELLS 2
#define FOREIGN 3                       /* an attempt that no request made: another program's order */
#ifdef TWO_SPELLS
#define assumed true
#else
#define assumed (spells <= 1)
#endif

mtype = { absent, pending, unknown, accepted, refused };
mtype = { nothing, answer, sight, absence };
mtype entry = absent, by = nothing;     /* the grade of the evidence */
byte attempt;
bool counted, wasMissed, minutesAgo;    /* one absence was seen; it was minutes ago */

/* The truth: an attempt that may still arrive, the one that was taken, whether its order is open, how reads go. */
byte mayArrive, taken, refusal, spells;
bool open, isNew, wasAccepted, misses, hasOther;

inline holds() {
  assert(!assumed || !open || counted);                     /* counted: never below the truth */
  assert(!assumed || entry != refused || taken != attempt); /* honest: no live order is told refused */
  assert(!wasAccepted || entry == accepted);                /* final: what was accepted stays so */
  assert(entry != accepted || taken);                       /* taken: what counts as accepted was taken */
  assert(attempt != FOREIGN)                                /* owned: an order of the gateway keeps its entry */
}

inline settle(outcome, grade) {
  /* What turns a refusal into an order counts it again, be it a sight or an answer that is written late. */
  counted = (outcome == accepted && (counted || entry == refused));
  entry = outcome; by = grade; wasMissed = false; minutesAgo = false;
  wasAccepted = wasAccepted || (outcome == accepted)
}

proctype Request(byte a) {
  if
  :: atomic {
      entry == absent || (entry == refused && !counted) ->
      assert(!assumed || (!mayArrive && !taken));           /* once: nothing earlier may have an effect */
      entry = pending; by = nothing; attempt = a; counted = true; mayArrive = a
    }
  :: atomic { else -> goto told }
  fi;
  if
  :: atomic { taken == a -> if :: attempt == a && entry != accepted -> settle(accepted, answer) :: else fi; holds() }
  :: atomic { refusal == a -> refusal = 0; if :: attempt == a && entry != accepted -> settle(refused, answer) :: else fi; holds() }
  /* No answer, or one about another order. */
  :: atomic { if :: attempt == a && entry == pending -> entry = unknown :: else fi }
#ifdef ANY_ANSWER                       /* an answer about another order is one about this one */
  :: atomic { attempt == a && entry != accepted -> settle(accepted, answer); holds() }
#endif
  :: skip                                                   /* the instance dies */
  fi;
told:
}

proctype World() {
end:
  do
  :: atomic { mayArrive && !taken -> taken = mayArrive; mayArrive = 0; open = true; isNew = true; holds() }
  :: atomic { mayArrive && !taken -> refusal = mayArrive; mayArrive = 0 }
  :: mayArrive = 0                                          /* it never arrives, or its id is taken */
  :: open = false
  :: hasOther = !hasOther
  :: atomic { !misses && spells < SPELLS -> misses = true; spells++ }
  :: atomic { misses = false; isNew = false; minutesAgo = wasMissed } /* minutes go by */
  od
}

#define isLeft (entry == pending || entry == unknown)
#ifdef EARLY                            /* an absence counts before the order must be visible */
#define isOver true
#else
#define isOver wasOver
#endif
#ifdef ONE_ABSENCE
#define isSecond true
#elif defined(BY_ITS_END)               /* how far two reads are apart goes by when they were concluded */
#define isSecond (wasMissed && minutesAgo)
#else
#define isSecond isLater
#endif
#ifdef UNPROVED                         /* also where the same read finds no other order */
#define isProved true
#else
#define isProved proof
#endif

inline seen() {
  if
  :: isLeft -> settle(accepted, sight)
#ifndef FOR_EVER                        /* a refusal by absence stays one */
  :: entry == refused && by == absence -> settle(accepted, sight)
#endif
  :: else
  fi;
  counted = counted && !(entry == accepted && ended);
  assert(entry == accepted && (counted || !open))           /* heals: what a sight shows is accepted and counted */
}

inline missed() {
#ifdef ROW6                             /* one absence decides, also of what an answer accepted */
  if
  :: entry == accepted -> counted = false
  :: isLeft && isOver -> settle(refused, absence)
  :: else
  fi
#else
  if
#ifdef UNGRADED                         /* two absences undo what an answer accepted */
  :: entry == accepted && isSecond && isProved -> settle(refused, absence)
  :: entry == accepted && !isSecond && isProved -> wasMissed = true
#endif
  :: isLeft && isOver && isProved && isSecond -> settle(refused, absence)
  :: isLeft && isOver && isProved && !isSecond -> wasMissed = true
  :: else
  fi
#endif
}

/* A run reads, and concludes later. A listener is one whose reads are always right. */
proctype Run() {
  byte asked;
  bool found, ended, proof, wasOver, isLater;
end:
  do
  :: atomic {
      entry != absent -> asked = attempt; wasOver = !mayArrive && !isNew; isLater = wasMissed && minutesAgo;
      if
      :: found = (taken != 0); ended = (taken && !open); proof = hasOther
      :: misses || isNew -> proof = hasOther                /* not shown, or not yet */
      :: skip                                               /* blank */
      fi
    };
    atomic {
      if
      :: attempt == asked && found -> seen()
      :: attempt == asked && !found -> missed()
      :: else
      fi;
      holds();
      asked = 0; found = false; ended = false; proof = false; wasOver = false; isLater = false
    }
  od
}

#define isShown (taken && open && !misses && !isNew)

/* Turns of the account: its list of open orders is compared with the journal. No event is needed for them. */
proctype Turn() {
end:
  do
  :: atomic {
      isShown && taken == attempt ->
      if
      :: isLeft -> settle(accepted, sight)
#ifndef EVENTS_ALONE                    /* a list is compared with what is unknown alone */
      :: entry == refused && by == absence -> settle(accepted, sight)
#endif
      :: else
      fi;
      assert(entry == accepted && counted);                 /* watched: what a list shows is accepted and counted */
      holds()
    }
  od
}

/* The owner of the order replaces it: the gateway looks it up. */
proctype Replacement() {
  atomic {
    isShown && entry == refused && by == absence ->
#ifdef ADOPTED                          /* an order whose entry was refused is another program's */
    attempt = FOREIGN;
#endif
    settle(accepted, sight);
    holds()
  }
}

init { atomic { run World(); run Run(); run Run(); run Turn(); run Replacement(); run Request(1); run Request(2) } }
