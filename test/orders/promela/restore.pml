/*
 * The journal is restored to an earlier time at any moment, and so is the table of limits and stops. Requests that are
 * under way go on with the journal that was, those that come have the one that is. Is an id sent twice, is an order placed
 * while counters lack one, or against a stop that the restore took away?
 *
 * One id; the upstream takes it once. Reads are right here: evidence.pml has those that are wrong.
 */
#define MOST 3                                /* checkpoints */

/* The journal as it is: its checkpoint, the entry, what counters have of its order. The one that was; the audit. */
byte journal, jNumber = 1;
bool isRenamed, known, counted, knownBefore, audited;
/* A copy of some moment, to which it is restored. */
bool copied, copiedKnown, copiedCounted;
byte copiedNumber;
/* Limits and stops, and the truth of the stop. */
byte cNumber = 1, keptNumber;
bool cStopped, stopped, kept;

/* The truth: requests that may leave yet or are on their way, what was taken, whether its order is open. */
byte underWay;
bool onWay, taken, open;

/* Two tables that are restored under their names, to about one time, tell nothing of each other. */
bool isRestored;
#ifdef BOTH
#define mayRestore true
#else
#define mayRestore !isRestored
#endif

#define newest (jNumber > cNumber -> jNumber : cNumber)
#ifdef UNNOTICED /* nothing is compared */
#define journalIsOld false
#define controlsAreOld false
#elif defined(NAME_ALONE) /* a table of the same name is the same table */
#define journalIsOld isRenamed
#define controlsAreOld false
#else
#define journalIsOld (isRenamed || jNumber < newest)
#define controlsAreOld (cNumber < newest)
#endif

/* Numbers grow with each write; what is compared is which is larger. */
inline checkpoint(writesJournal, writesControls) {
  cNumber = newest + 1;
  jNumber = (writesJournal -> cNumber : jNumber);
  cNumber = (writesControls -> cNumber : cNumber - 1)
}

proctype Request() {
  byte mine;
  atomic {
    mine = journal;
    if
    :: journalIsOld || controlsAreOld || cStopped -> goto told
    :: else ->
      assert(!stopped);                       /* stops: not against a stop, also after a restore */
      assert(counted || !open);               /* counted: no order is placed while counters lack one */
      underWay++
    fi
  };
  atomic {
    if
    :: mine == journal && !known -> known = true; counted = true
    :: mine != journal && !knownBefore -> knownBefore = true
    :: else -> underWay--; goto told          /* it is answered with what became of the first */
    fi
  };
  if
  :: atomic { assert(!onWay && !taken); onWay = true } /* once: nothing earlier may have an effect */
  :: atomic { underWay-- }                    /* the instance dies, or the limiter refuses */
  fi;
told:
}

proctype Upstream() {
end:
  do
  :: atomic { onWay && !taken -> taken = true; open = true; onWay = false; underWay-- }
  :: atomic { onWay -> onWay = false; underWay-- } /* it never arrives */
  :: atomic { open -> open = false }
  od
}

/* Its lines come late, or never. */
proctype Audit() {
end:
  do
  :: atomic { (known || knownBefore) && !audited -> audited = true }
  od
}

proctype Settlement() {
end:
  do
#ifdef TAKES_ALL /* a checkpoint is written into whatever is there */
  :: atomic { newest < MOST -> checkpoint(true, true); isRenamed = false }
#else
  :: atomic { !journalIsOld && !controlsAreOld && newest < MOST -> checkpoint(true, true) }
  :: atomic { journalIsOld && !controlsAreOld && newest < MOST -> checkpoint(false, true) }
#endif
#ifdef OPENS_CONTROLS /* what was restored of limits and stops counts by itself */
  :: atomic { controlsAreOld -> cNumber = newest }
#endif
  :: atomic { known && counted && taken && !open -> counted = false }
  :: atomic { journalIsOld && audited && !known -> known = true; counted = true }
#ifdef EARLY /* what is under way has no time to show */
  :: atomic { journalIsOld && (!audited || known) ->
#else
  :: atomic { journalIsOld && (!audited || known) && underWay == 0 ->
#endif
      if
#ifdef AUDIT_ALONE /* the upstream is not looked at */
      :: false
#elif defined(UNSEEN) /* that an id is taken is not written */
      :: taken && !known && open -> skip
#else
      :: taken && !known -> known = true
#endif
#ifdef UNATTRIBUTED /* an order that nothing attributes opens orders, too */
      :: else ->
#else
      :: known && open && !counted -> skip    /* it ends, or an operator cancels it */
      :: else ->
#endif
        jNumber = newest; isRenamed = false
      fi
    }
  od
}

/* Once, to any moment before. */
proctype Restore() {
  if
  :: atomic { copiedKnown = known; copiedCounted = counted; copiedNumber = jNumber; copied = true }
  :: goto spared
  fi;
endless:
  atomic {
#ifndef SAME_CHECKPOINT /* a table with its old name, and no checkpoint since */
    jNumber > copiedNumber &&
#endif
    copied && mayRestore -> isRestored = true;
    knownBefore = known; known = copiedKnown; counted = copiedCounted; jNumber = copiedNumber; journal = 1;
    if :: isRenamed = true :: skip fi
  };
spared:
}

proctype Operator() {
  atomic { keptNumber = cNumber; kept = true };
  atomic { stopped = true; cStopped = true };
endless:
  if
  :: atomic { cNumber > keptNumber && mayRestore -> isRestored = true; cStopped = false; cNumber = keptNumber };
    atomic { controlsAreOld -> cStopped = true; cNumber = newest } /* what was set since is set again, and confirmed */
  :: skip
  fi
}

init {
  atomic { run Upstream(); run Audit(); run Settlement(); run Restore(); run Operator(); run Request(); run Request() }
}
