//! Helpers that look for the next piece of work for a moment before they sleep.
//!
//! A step has hundreds of short parallel pieces. Waking a thread for each would cost as much as the
//! piece, so helpers keep looking for some tens of microseconds after the last one. Which thread does
//! which piece is left open; results must not depend on it (see [`Chunks`](crate::parallel::Chunks)).
//!
//! There is one crew. Whoever finds it busy, another world or a piece of work of its own, works alone.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::Thread;

/// How often a helper looks before it yields, and yields before it sleeps: about 50 µs in all.
const LOOKS: u32 = 1000;
const YIELDS: u32 = 40;

type Work = dyn Fn(usize) + Sync + 'static;

#[derive(Default)]
struct Crew {
    taken: AtomicBool,
    /// `pieces` and `next` of the piece of work at hand, who may help, and its number.
    ticket: AtomicU64,
    work: Slot,
    done: AtomicU32,
    panicked: AtomicBool,
    asleep: AtomicU32,
    helpers: Mutex<Vec<Thread>>,
}

/// The work at hand. Written while no piece of the one before is left, read under a ticket of its own.
struct Slot(UnsafeCell<Option<&'static Work>>);

impl Default for Slot {
    fn default() -> Self {
        Self(UnsafeCell::new(None))
    }
}

// SAFETY: see `Slot`; the ticket orders writes and reads.
unsafe impl Sync for Slot {}

/// What the ticket says.
#[derive(Clone, Copy)]
struct Ticket {
    number: u64,
    helpers: u64,
    pieces: u64,
    next: u64,
}

impl Ticket {
    fn read(bits: u64) -> Self {
        Self { number: bits >> 30, helpers: bits >> 16 & 0x3fff, pieces: bits >> 8 & 0xff, next: bits & 0xff }
    }

    fn bits(self) -> u64 {
        self.number << 30 | self.helpers << 16 | self.pieces << 8 | self.next
    }
}

static CREW: OnceLock<Crew> = OnceLock::new();

/// Does pieces `0..pieces` (at most 255), each once, on up to as many threads as the pool in use has.
pub fn each(pieces: usize, work: &(dyn Fn(usize) + Sync)) {
    let threads = if pieces > 1 { rayon::current_num_threads().min(pieces).min(256) } else { 1 };
    let crew = CREW.get_or_init(Crew::default);
    if threads == 1 || pieces > 255 || crew.taken.swap(true, Ordering::Acquire) {
        (0..pieces).for_each(work);
        return;
    }
    crew.hire(threads - 1);
    // SAFETY: the borrow ends when this function returns, and it returns only after every piece is
    // done; a ticket for this work cannot be taken after that.
    unsafe { *crew.work.0.get() = Some(std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static Work>(work)) };
    crew.done.store(0, Ordering::Relaxed);
    let number = Ticket::read(crew.ticket.load(Ordering::Relaxed)).number.wrapping_add(1) & 0x3_ffff_ffff;
    let ticket = Ticket { number, helpers: threads as u64 - 1, pieces: pieces as u64, next: 0 };
    crew.ticket.store(ticket.bits(), Ordering::SeqCst);
    if crew.asleep.load(Ordering::SeqCst) > 0 {
        let helpers = crew.helpers.lock().unwrap_or_else(PoisonError::into_inner);
        helpers.iter().take(threads - 1).for_each(Thread::unpark);
    }
    while crew.take_piece(None) {}
    let mut looks = 0u32;
    while crew.done.load(Ordering::Acquire) < pieces as u32 {
        looks += 1;
        if looks > LOOKS {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
    let panicked = crew.panicked.swap(false, Ordering::Relaxed);
    crew.taken.store(false, Ordering::Release);
    assert!(!panicked, "a piece of work failed");
}

impl Crew {
    fn hire(&'static self, count: usize) {
        let mut helpers = self.helpers.lock().unwrap_or_else(PoisonError::into_inner);
        while helpers.len() < count {
            let index = helpers.len() as u64;
            let builder = std::thread::Builder::new().name(format!("goop-helper-{index}"));
            match builder.spawn(move || self.help(index)) {
                Ok(handle) => helpers.push(handle.thread().clone()),
                // Those there are do the work.
                Err(_) => break,
            }
        }
    }

    fn help(&self, index: u64) {
        let mut idle = 0u32;
        loop {
            if self.take_piece(Some(index)) {
                idle = 0;
                continue;
            }
            idle += 1;
            if idle < LOOKS {
                std::hint::spin_loop();
            } else if idle < LOOKS + YIELDS {
                std::thread::yield_now();
            } else {
                self.asleep.fetch_add(1, Ordering::SeqCst);
                if !self.open(Some(index), Ticket::read(self.ticket.load(Ordering::SeqCst))) {
                    std::thread::park();
                }
                self.asleep.fetch_sub(1, Ordering::SeqCst);
                idle = 0;
            }
        }
    }

    /// Whether there is a piece for this helper, or for the one who gave the work.
    fn open(&self, helper: Option<u64>, ticket: Ticket) -> bool {
        ticket.next < ticket.pieces && helper.is_none_or(|index| index < ticket.helpers)
    }

    /// Does one piece, if there is one.
    fn take_piece(&self, helper: Option<u64>) -> bool {
        let bits = self.ticket.load(Ordering::Acquire);
        let ticket = Ticket::read(bits);
        if !self.open(helper, ticket) {
            return false;
        }
        if self.ticket.compare_exchange(bits, bits + 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return true;
        }
        // SAFETY: a piece of this work is ours and not done, so the slot holds this work and is not
        // written until it is.
        if let Some(work) = unsafe { *self.work.0.get() }
            && catch_unwind(AssertUnwindSafe(|| work(ticket.next as usize))).is_err()
        {
            self.panicked.store(true, Ordering::Relaxed);
        }
        self.done.fetch_add(1, Ordering::Release);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    fn on<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
    }

    /// Catches pieces done twice or not at all, by many callers at once and by work that calls for more.
    #[test]
    fn every_piece_is_done_once() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    on(3, || {
                        for round in 0..2000 {
                            let pieces = 1 + round % 64;
                            let seen: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
                            each(pieces, &|k| {
                                each(2, &|_| _ = seen[k].fetch_add(1, Ordering::Relaxed));
                            });
                            assert!(seen.iter().all(|s| s.load(Ordering::Relaxed) == 2));
                            if round % 500 == 0 {
                                std::thread::sleep(std::time::Duration::from_millis(2));
                            }
                        }
                    });
                });
            }
        });
    }

    /// Catches a crew that stays busy, or a caller that waits for ever, after work that failed.
    #[test]
    fn a_failure_reaches_the_caller_and_leaves_the_crew_usable() {
        let failed = on(2, || catch_unwind(|| each(8, &|k| assert!(k != 5, "on purpose"))).is_err());
        assert!(failed);
        let count = AtomicUsize::new(0);
        on(2, || each(8, &|_| _ = count.fetch_add(1, Ordering::Relaxed)));
        assert_eq!(count.into_inner(), 8);
    }
}
