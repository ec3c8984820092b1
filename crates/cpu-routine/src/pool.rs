//! A small thread pool: fork, share tasks by number, join.
//!
//! The threads wait for work by spinning for some microseconds, then they sleep. A caller takes part in its own work, and
//! does not wait for threads that have not begun by the time that nothing is left to claim. One caller has the threads at a
//! time: another that comes meanwhile, from a task or from elsewhere, does its tasks itself.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle, Thread};

use crate::error::RoutineError;

/// Most threads of a pool.
pub const THREADS_MAX: usize = 1024;

/// Looks at the state of the team before a thread goes to sleep: some tens of microseconds.
const SPINS: u32 = 1000;

/// Threads that share work, the caller's among them.
///
/// They are made when work first has parts, and again in a process that was forked. A thread that the system refuses is done
/// without: nothing but speed depends on their number.
pub struct Pool {
    threads: usize,
    team: AtomicPtr<Team>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// A pool, and a flag that stops work on it.
#[derive(Clone, Copy, Debug)]
pub struct Parallel<'a> {
    pool: &'a Pool,
    stop: Option<&'a AtomicBool>,
}

/// One task of many.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Number of the task.
    pub index: usize,
    /// A number below [`Parallel::slots`] that no other task has at the same time: which part of a workspace is its own.
    pub slot: usize,
}

impl Pool {
    /// A pool of so many threads, the caller's included: at least 1 and at most [`THREADS_MAX`].
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self {
            threads: threads.clamp(1, THREADS_MAX),
            team: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Number of threads, the caller's included.
    #[must_use]
    pub const fn threads(&self) -> usize {
        self.threads
    }

    /// Work that nothing stops.
    #[must_use]
    pub const fn parallel(&self) -> Parallel<'_> {
        Parallel {
            pool: self,
            stop: None,
        }
    }

    /// Work that ends early once `stop` is true.
    #[must_use]
    pub const fn stoppable<'a>(&'a self, stop: &'a AtomicBool) -> Parallel<'a> {
        Parallel {
            pool: self,
            stop: Some(stop),
        }
    }

    /// The team of this process. A parent's, whose threads did not come along, is left alone.
    fn team(&self) -> &Team {
        let process = std::process::id();
        let mut found = self.team.load(Ordering::Acquire);
        loop {
            // SAFETY: a pointer in `team` is null or of a team that lives as long as the pool.
            if let Some(team) = unsafe { found.as_ref() }
                && team.process == process
            {
                return team;
            }
            let made = Box::into_raw(Box::new(Team::new(process)));
            match self
                .team
                .compare_exchange(found, made, Ordering::AcqRel, Ordering::Acquire)
            {
                // SAFETY: it was just made, and is never freed before the pool.
                Ok(_) => return unsafe { &*made },
                Err(current) => {
                    // SAFETY: nobody else has seen it, and it has no threads yet.
                    drop(unsafe { Box::from_raw(made) });
                    found = current;
                }
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let team = *self.team.get_mut();
        if team.is_null() {
            return;
        }
        // SAFETY: it came from a box, and nobody else has the pool any more.
        let team = unsafe { Box::from_raw(team) };
        if team.process == std::process::id() {
            team.dismiss();
        } else {
            // Its threads are in another process; what they hold cannot be given back.
            Box::leak(team);
        }
    }
}

/// A pool of the caller alone.
static ALONE: Pool = Pool {
    threads: 1,
    team: AtomicPtr::new(ptr::null_mut()),
};

impl Parallel<'static> {
    /// Work that the caller does itself, within a task, and that nothing stops.
    pub(crate) const fn alone() -> Self {
        Parallel {
            pool: &ALONE,
            stop: None,
        }
    }
}

impl Parallel<'_> {
    /// Upper bound of [`Task::slot`].
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.pool.threads
    }

    /// Whether the flag was raised: for tasks that take long.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Runs `task` for every index below `count`, in any order and at the same time.
    ///
    /// # Errors
    /// [`RoutineError::Stopped`] when the flag was raised before the last task began; some tasks have not run then.
    ///
    /// # Panics
    /// With the first panic of a task, after every running task has ended. The pool can be used again.
    pub fn run(&self, count: usize, task: &(dyn Fn(Task) + Sync)) -> Result<(), RoutineError> {
        let work = Work {
            task,
            count,
            next: AtomicUsize::new(0),
            stop: self.stop,
            stopped: AtomicBool::new(false),
            panic: Mutex::new(None),
        };
        if count > 1 && self.pool.threads > 1 {
            self.pool.team().share(&work, self.pool.threads - 1);
        } else {
            work.take_part(0);
        }
        let panic = work.panic.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
        if work.stopped.into_inner() {
            return Err(RoutineError::Stopped);
        }
        Ok(())
    }

    /// Runs `task` for every range of up to `grain` indices below `count`.
    pub(crate) fn ranges(
        &self,
        count: usize,
        grain: usize,
        task: &(dyn Fn(std::ops::Range<usize>, usize) + Sync),
    ) -> Result<(), RoutineError> {
        let grain = grain.max(1);
        self.run(count.div_ceil(grain), &|Task { index, slot }| {
            let start = index * grain;
            task(start..count.min(start + grain), slot);
        })
    }
}

/// Tasks to be claimed. It lives on the stack of its caller.
struct Work<'a> {
    task: &'a (dyn Fn(Task) + Sync),
    count: usize,
    next: AtomicUsize,
    stop: Option<&'a AtomicBool>,
    stopped: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Work<'_> {
    /// Claims tasks until none is left.
    fn take_part(&self, slot: usize) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.count {
                return;
            }
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                self.stopped.store(true, Ordering::Relaxed);
                self.abandon();
                return;
            }
            let outcome = catch_unwind(AssertUnwindSafe(|| (self.task)(Task { index, slot })));
            if let Err(payload) = outcome {
                self.abandon();
                let mut panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
                panic.get_or_insert(payload);
                return;
            }
        }
    }

    /// Leaves nothing to claim.
    fn abandon(&self) {
        self.next.store(self.count, Ordering::Relaxed);
    }
}

/// Set while work can be joined.
const OPEN: u64 = 1 << 32;
/// One more piece of work.
const EPOCH: u64 = 1 << 33;
/// Threads that are at work.
const INSIDE: u64 = OPEN - 1;

/// The threads of a pool in one process.
struct Team {
    process: u32,
    busy: AtomicBool,
    board: Arc<Board>,
    members: OnceLock<Vec<JoinHandle<()>>>,
}

/// What the threads of a team look at.
struct Board {
    /// Counts pieces of work ([`EPOCH`]), says whether the last can be joined ([`OPEN`]) and how many threads are at it.
    ///
    /// A thread joins by adding one while the work is open, and touches the work only between that and taking the one away.
    /// The caller closes the work and leaves when none is inside: so nobody touches work that is gone.
    state: AtomicU64,
    work: AtomicPtr<()>,
    /// Whom the last thread that leaves wakes.
    caller: Mutex<Option<Thread>>,
    dismissed: AtomicBool,
    asleep: Vec<AtomicBool>,
}

impl Team {
    fn new(process: u32) -> Self {
        Self {
            process,
            busy: AtomicBool::new(false),
            board: Arc::new(Board::new()),
            members: OnceLock::new(),
        }
    }

    /// Shares work with up to `helpers` threads, unless they have work already.
    fn share(&self, work: &Work<'_>, helpers: usize) {
        if self
            .busy
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            return work.take_part(0);
        }
        let members = self.members.get_or_init(|| self.board.recruit(helpers));
        self.board.open(work);
        let wanted = helpers.min(work.count - 1);
        for (member, asleep) in members.iter().zip(&self.board.asleep).take(wanted) {
            if asleep.swap(false, Ordering::SeqCst) {
                member.thread().unpark();
            }
        }
        work.take_part(0);
        self.board.close();
        self.busy.store(false, Ordering::Release);
    }

    fn dismiss(self) {
        self.board.dismissed.store(true, Ordering::SeqCst);
        for member in self.members.into_inner().into_iter().flatten() {
            member.thread().unpark();
            // A member catches the panics of its tasks, so that it ends well.
            let _ = member.join();
        }
    }
}

impl Board {
    fn new() -> Self {
        Self {
            state: AtomicU64::new(0),
            work: AtomicPtr::new(ptr::null_mut()),
            caller: Mutex::new(None),
            dismissed: AtomicBool::new(false),
            asleep: (0..THREADS_MAX).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// As many threads as the system gives.
    fn recruit(self: &Arc<Self>, helpers: usize) -> Vec<JoinHandle<()>> {
        let member = |slot: usize| {
            let board = Arc::clone(self);
            thread::Builder::new()
                .name(format!("artifact-cpu-{slot}"))
                .spawn(move || board.serve(slot))
                .ok()
        };
        (1..=helpers).map_while(member).collect()
    }

    /// Lets threads join `work`.
    fn open(&self, work: &Work<'_>) {
        *self.caller.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current());
        self.work
            .store(ptr::from_ref(work).cast::<()>().cast_mut(), Ordering::Relaxed);
        let state = self.state.load(Ordering::Relaxed);
        self.state
            .store((state & !OPEN).wrapping_add(EPOCH) | OPEN, Ordering::SeqCst);
        // Before the look at who is asleep: a thread that falls asleep meanwhile looks at the state once more.
        fence(Ordering::SeqCst);
    }

    /// Lets no more threads join, and waits for those that have.
    fn close(&self) {
        self.state.fetch_and(!OPEN, Ordering::AcqRel);
        let mut spins = 0;
        while self.state.load(Ordering::Acquire) & INSIDE != 0 {
            if spins < SPINS {
                spins += 1;
                std::hint::spin_loop();
            } else {
                thread::park();
            }
        }
    }

    /// The life of a thread.
    fn serve(&self, slot: usize) {
        let mut seen = 0;
        while let Some(state) = self.await_work(slot, seen) {
            seen = state & !(OPEN | INSIDE);
            if self.join(seen) {
                // SAFETY: this thread is inside, so that the caller waits; the state was read after the pointer was written.
                let work = unsafe { &*self.work.load(Ordering::Relaxed).cast::<Work<'_>>() };
                work.take_part(slot);
                self.leave();
            }
        }
    }

    /// Joins the work of an epoch, if it is still open.
    fn join(&self, epoch: u64) -> bool {
        let enter = |state: u64| (state & !INSIDE == epoch | OPEN).then_some(state + 1);
        self.state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, enter)
            .is_ok()
    }

    fn leave(&self) {
        // Taken before leaving: afterwards the next caller may be here.
        let caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let before = self.state.fetch_sub(1, Ordering::AcqRel);
        if before & (OPEN | INSIDE) == 1
            && let Some(caller) = caller
        {
            caller.unpark();
        }
    }

    /// The state once it shows open work of an epoch other than `seen`; `None` when the thread is dismissed.
    fn await_work(&self, slot: usize, seen: u64) -> Option<u64> {
        let look = || {
            let state = self.state.load(Ordering::SeqCst);
            (state & OPEN != 0 && state & !(OPEN | INSIDE) != seen).then_some(state)
        };
        for _ in 0..SPINS {
            if let Some(state) = look() {
                return Some(state);
            }
            std::hint::spin_loop();
        }
        let asleep = self.asleep.get(slot - 1)?;
        loop {
            if self.dismissed.load(Ordering::SeqCst) {
                return None;
            }
            asleep.store(true, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            if let Some(state) = look() {
                asleep.store(false, Ordering::SeqCst);
                return Some(state);
            }
            if self.dismissed.load(Ordering::SeqCst) {
                return None;
            }
            thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(parallel: Parallel<'_>, count: usize) -> usize {
        let total = AtomicUsize::new(0);
        parallel
            .run(count, &|task| {
                assert!(task.slot < parallel.slots());
                total.fetch_add(task.index + 1, Ordering::Relaxed);
            })
            .unwrap();
        total.into_inner()
    }

    #[test]
    fn every_task_runs_once() {
        for threads in 1..=4 {
            let pool = Pool::new(threads);
            for round in 0..300 {
                let count = round % 17;
                assert_eq!(sum(pool.parallel(), count), count * (count + 1) / 2);
            }
        }
    }

    #[test]
    fn no_thread_before_the_first_work_with_parts() {
        let pool = Pool::new(3);
        assert_eq!(sum(pool.parallel(), 1), 1);
        assert!(pool.team.load(Ordering::Relaxed).is_null());
        assert_eq!(Pool::new(0).threads(), 1);
        assert_eq!(Pool::new(usize::MAX).threads(), THREADS_MAX);
    }

    #[test]
    fn a_forked_process_has_threads_of_its_own() {
        let pool = Pool::new(2);
        let parent = Box::into_raw(Box::new(Team::new(std::process::id().wrapping_add(1))));
        pool.team.store(parent, Ordering::Release);
        assert_eq!(sum(pool.parallel(), 9), 45);
        assert_ne!(pool.team.load(Ordering::Acquire), parent);
        // SAFETY: made above, and no longer the pool's.
        drop(unsafe { Box::from_raw(parent) });
    }

    #[test]
    fn slots_are_not_shared() {
        let pool = Pool::new(3);
        let taken: Vec<AtomicBool> = (0..3).map(|_| AtomicBool::new(false)).collect();
        let task = |task: Task| {
            assert!(!taken[task.slot].swap(true, Ordering::AcqRel));
            std::hint::black_box((0..1000).sum::<usize>());
            taken[task.slot].store(false, Ordering::Release);
        };
        pool.parallel().run(2000, &task).unwrap();
    }

    #[test]
    fn nested_and_concurrent_work() {
        let pool = Pool::new(2);
        let total = AtomicUsize::new(0);
        let nest = |_: Task| {
            total.fetch_add(sum(pool.parallel(), 10), Ordering::Relaxed);
        };
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..50).for_each(|_| pool.parallel().run(4, &nest).unwrap()));
            }
        });
        assert_eq!(total.into_inner(), 3 * 50 * 4 * 55);
    }

    #[test]
    fn panics_reach_the_caller() {
        let pool = Pool::new(2);
        for bad in [0, 7, 19] {
            let task = |task: Task| assert!(task.index != bad, "task {bad}");
            let outcome = catch_unwind(AssertUnwindSafe(|| pool.parallel().run(20, &task)));
            let payload = outcome.unwrap_err();
            assert_eq!(payload.downcast_ref::<String>(), Some(&format!("task {bad}")));
            assert_eq!(sum(pool.parallel(), 20), 210);
        }
    }

    #[test]
    fn a_raised_flag_stops() {
        let pool = Pool::new(2);
        let stop = AtomicBool::new(false);
        let ran = AtomicUsize::new(0);
        let task = |task: Task| {
            ran.fetch_add(1, Ordering::Relaxed);
            if task.index == 3 {
                stop.store(true, Ordering::Relaxed);
            }
        };
        assert_eq!(
            pool.stoppable(&stop).run(1 << 30, &task),
            Err(RoutineError::Stopped)
        );
        assert!(ran.into_inner() < 1 << 30);
        assert_eq!(pool.stoppable(&stop).run(1, &|_| ()), Err(RoutineError::Stopped));
        assert_eq!(sum(pool.parallel(), 4), 10);
    }
}
