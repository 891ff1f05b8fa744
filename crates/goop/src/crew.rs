//! Helpers that look for the next piece of work for a moment before they sleep.
//!
//! A step has hundreds of short parallel pieces. Waking a thread for each would cost as much as the
//! piece, so helpers keep looking for some tens of microseconds after the last one. Every thread begins with its own share of the
//! pieces, the same from one call to the next, so that what it works on stays in its cache; one that is done takes pieces of
//! others. Results must not depend on who did what (see [`Chunks`](crate::parallel::Chunks)).
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
/// Threads at most.
const MOST: usize = 256;

type Work = dyn Fn(usize) + Sync + 'static;

struct Crew {
    taken: AtomicBool,
    /// Number of the work at hand and threads on it.
    ticket: AtomicU64,
    /// What is left of every thread's share: number of the work, next piece and end.
    shares: Vec<Share>,
    work: Slot,
    /// Shares are done from their ends.
    last: AtomicBool,
    done: AtomicU32,
    panicked: AtomicBool,
    asleep: AtomicU32,
    helpers: Mutex<Vec<Thread>>,
}

/// On a line of memory of its own.
#[derive(Default)]
#[repr(align(64))]
struct Share(AtomicU64);

/// The work at hand. Written while no piece of the one before is left, read with a piece in hand.
struct Slot(UnsafeCell<Option<&'static Work>>);

// SAFETY: see `Slot`; shares order writes and reads.
unsafe impl Sync for Slot {}

/// What a share says.
#[derive(Clone, Copy)]
struct Left {
    number: u64,
    next: u64,
    end: u64,
}

impl Left {
    fn read(bits: u64) -> Self {
        Self { number: bits >> 16, next: bits >> 8 & 0xff, end: bits & 0xff }
    }

    fn bits(self) -> u64 {
        self.number << 16 | self.next << 8 | self.end
    }
}

static CREW: OnceLock<Crew> = OnceLock::new();

/// Does pieces `0..pieces` (at most 255), each once, on up to as many threads as the pool in use has.
pub fn each(pieces: usize, work: &(dyn Fn(usize) + Sync)) {
    each_from(pieces, false, work);
}

/// The same; every thread may begin with the last piece of its share: where pieces are gone through again and again, that one is
/// still in its cache.
pub fn each_from(pieces: usize, last: bool, work: &(dyn Fn(usize) + Sync)) {
    let threads = if pieces > 1 { rayon::current_num_threads().min(pieces).min(MOST) } else { 1 };
    let crew = CREW.get_or_init(Crew::new);
    if threads == 1 || pieces > 255 || crew.taken.swap(true, Ordering::Acquire) {
        (0..pieces).for_each(|k| work(if last { pieces - 1 - k } else { k }));
        return;
    }
    crew.hire(threads - 1);
    // SAFETY: the borrow ends when this function returns, and it returns only after every piece is
    // done; no piece of this work can be taken after that.
    unsafe { *crew.work.0.get() = Some(std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static Work>(work)) };
    crew.done.store(0, Ordering::Relaxed);
    crew.last.store(last, Ordering::Relaxed);
    let number = (crew.ticket.load(Ordering::Relaxed) >> 16).wrapping_add(1) & 0xffff_ffff_ffff;
    for (t, share) in crew.shares[..threads].iter().enumerate() {
        let [next, end] = [t, t + 1].map(|t| (t * pieces / threads) as u64);
        share.0.store(Left { number, next, end }.bits(), Ordering::Release);
    }
    crew.ticket.store(number << 16 | threads as u64, Ordering::SeqCst);
    if crew.asleep.load(Ordering::SeqCst) > 0 {
        let helpers = crew.helpers.lock().unwrap_or_else(PoisonError::into_inner);
        helpers.iter().take(threads - 1).for_each(Thread::unpark);
    }
    crew.work_on(0, number, threads);
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
    fn new() -> Self {
        Self {
            taken: AtomicBool::default(),
            ticket: AtomicU64::default(),
            shares: (0..MOST).map(|_| Share::default()).collect(),
            work: Slot(UnsafeCell::new(None)),
            last: AtomicBool::default(),
            done: AtomicU32::default(),
            panicked: AtomicBool::default(),
            asleep: AtomicU32::default(),
            helpers: Mutex::default(),
        }
    }

    fn hire(&'static self, count: usize) {
        let mut helpers = self.helpers.lock().unwrap_or_else(PoisonError::into_inner);
        while helpers.len() < count {
            let thread = helpers.len() + 1;
            let builder = std::thread::Builder::new().name(format!("goop-helper-{thread}"));
            match builder.spawn(move || self.help(thread)) {
                Ok(handle) => helpers.push(handle.thread().clone()),
                // Those there are do the work.
                Err(_) => break,
            }
        }
    }

    fn help(&self, thread: usize) {
        let (mut idle, mut known) = (0u32, 0);
        loop {
            let ticket = self.ticket.load(Ordering::SeqCst);
            let (number, threads) = (ticket >> 16, (ticket & 0xffff) as usize);
            if number != known && thread < threads {
                self.work_on(thread, number, threads);
                (idle, known) = (0, number);
                continue;
            }
            idle += 1;
            if idle < LOOKS {
                std::hint::spin_loop();
            } else if idle < LOOKS + YIELDS {
                std::thread::yield_now();
            } else {
                self.asleep.fetch_add(1, Ordering::SeqCst);
                if self.ticket.load(Ordering::SeqCst) == ticket {
                    std::thread::park();
                }
                self.asleep.fetch_sub(1, Ordering::SeqCst);
                idle = 0;
            }
        }
    }

    /// Does a thread's own pieces, then what others have left.
    fn work_on(&self, thread: usize, number: u64, threads: usize) {
        for k in 0..threads {
            let share = &self.shares[(thread + k) % threads].0;
            loop {
                let bits = share.load(Ordering::Acquire);
                let left = Left::read(bits);
                if left.number != number || left.next >= left.end {
                    break;
                }
                let (piece, rest) = match self.last.load(Ordering::Relaxed) {
                    true => (left.end - 1, Left { end: left.end - 1, ..left }),
                    false => (left.next, Left { next: left.next + 1, ..left }),
                };
                if share.compare_exchange(bits, rest.bits(), Ordering::AcqRel, Ordering::Relaxed).is_err() {
                    continue;
                }
                // SAFETY: a piece of this work is ours and not done, so the slot holds this work and is not
                // written until it is.
                if let Some(work) = unsafe { *self.work.0.get() }
                    && catch_unwind(AssertUnwindSafe(|| work(piece as usize))).is_err()
                {
                    self.panicked.store(true, Ordering::Relaxed);
                }
                self.done.fetch_add(1, Ordering::Release);
            }
        }
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
                            each_from(pieces, round % 3 == 0, &|k| {
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
