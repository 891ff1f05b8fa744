//! Groups of a pattern side by side, each with room for its sweeps.

use super::super::bundle::{Group, MOST_GROUPS, Pattern};
use super::super::sweep::{Before, Blocks, Bundle, Room, Single};
use crate::lanes::sixteen::WIDEST;
use crate::parallel::{Disjoint, sum, sum_from};

impl Pattern {
    /// Does something to every group, side by side.
    pub(super) fn each(&self, work: impl Fn(&Group) + Sync) {
        self.sum(|group| {
            work(group);
            []
        });
    }

    /// The same, and adds up what it returns, in the order of groups.
    pub(super) fn sum<const N: usize>(&self, work: impl Fn(&Group) -> [f64; N] + Sync) -> [f64; N] {
        sum::<N, MOST_GROUPS>(self.groups.len(), |g| work(&self.groups[g]))
    }

    /// Sweeps pieces, then what lies between them, and adds up what is returned.
    pub(super) fn forward<const N: usize>(
        &self,
        rooms: &mut Rooms,
        work: impl Fn(&Group, Option<Before>, Room) -> [f64; N] + Sync,
    ) -> [f64; N] {
        let (pieces, between) = self.groups.split_at(self.pieces);
        let [mut first, mut then] = rooms.split(self.between.start);
        let mut total = first.sum(0, pieces, |group, room| work(group, None, room));
        if !between.is_empty() {
            let before = Some(first.before(0));
            let more = then.sum(self.between.start, between, |group, room| work(group, before, room));
            (0..N).for_each(|k| total[k] += more[k]);
        }
        total
    }

    /// Sweeps back and forth: what lies between pieces, then every piece both ways while it is near, and what lies between them
    /// again. Adds up what is returned of the way back, and of the way forth. Threads may begin with the last of their pieces.
    pub(super) fn back_and_forth(
        &self,
        rooms: &mut Rooms,
        last: bool,
        back: impl Fn(&Group, Option<Before>, Room) -> f64 + Sync,
        forth: impl Fn(&Group, Option<Before>, Room) -> [f64; 2] + Sync,
    ) -> (f64, [f64; 2]) {
        let (pieces, between) = self.groups.split_at(self.pieces);
        let start = self.between.start;
        let [mut inside, mut outside] = rooms.split(start);
        let mut both = |before| {
            let [went, a, b] = inside.sum_from(0, pieces, last, |group, mut room| {
                let went = back(group, before, room.again());
                let [a, b] = forth(group, None, room);
                [went, a, b]
            });
            (went, [a, b])
        };
        if between.is_empty() {
            return both(None);
        }
        let [first] = outside.sum(start, between, |group, room| [back(group, None, room)]);
        let (went, came) = both(Some(outside.before(start)));
        let before = Some(inside.before(0));
        let then = outside.sum(start, between, |group, room| forth(group, before, room));
        (first + went, [came[0] + then[0], came[1] + then[1]])
    }
}

/// Rooms of all groups.
pub(super) struct Rooms<'a> {
    even: &'a mut [Bundle],
    loose: &'a mut [Single],
    found: &'a mut [Bundle],
    singles: &'a mut [Single],
}

impl<'a> Rooms<'a> {
    pub(super) fn new(
        even: &'a mut [Bundle],
        loose: &'a mut [Single],
        found: &'a mut [Bundle],
        singles: &'a mut [Single],
    ) -> Self {
        Self { even, loose, found, singles }
    }

    /// Those up to a bundle, and those from there on.
    fn split(&mut self, bundle: usize) -> [Rooms<'_>; 2] {
        let (even, even_after) = self.even.split_at_mut(bundle);
        let (loose, loose_after) = self.loose.split_at_mut(WIDEST * bundle);
        let (found, found_after) = self.found.split_at_mut(bundle);
        let (singles, singles_after) = self.singles.split_at_mut(WIDEST * bundle);
        [Rooms::new(even, loose, found, singles), Rooms::new(even_after, loose_after, found_after, singles_after)]
    }

    /// Does something to groups that lie one after another from a bundle on, side by side, each with its room; adds up what is returned.
    pub(super) fn sum<const N: usize>(
        &mut self,
        first: usize,
        groups: &[Group],
        work: impl Fn(&Group, Room) -> [f64; N] + Sync,
    ) -> [f64; N] {
        self.sum_from(first, groups, false, work)
    }

    /// The same; every thread may begin with the last of its groups.
    fn sum_from<const N: usize>(
        &mut self,
        first: usize,
        groups: &[Group],
        last: bool,
        work: impl Fn(&Group, Room) -> [f64; N] + Sync,
    ) -> [f64; N] {
        let (even, loose) = (Disjoint::new(self.even), Disjoint::new(self.loose));
        let (found, singles) = (Disjoint::new(self.found), Disjoint::new(self.singles));
        sum_from::<N, MOST_GROUPS>(groups.len(), last, |g| {
            let bundles = groups[g].bundles.start - first..groups[g].bundles.end - first;
            let places = WIDEST * bundles.start..WIDEST * bundles.end;
            // SAFETY: groups are disjoint.
            let room = unsafe {
                Room {
                    even: even.slice(bundles.clone()),
                    loose: loose.slice(places.clone()),
                    found: found.slice(bundles),
                    singles: singles.slice(places),
                }
            };
            work(&groups[g], room)
        })
    }

    fn before(&self, first: usize) -> Before<'_> {
        Before { first, found: self.found, singles: self.singles }
    }
}

/// Fills the slots of all groups, side by side.
pub(super) fn fill<B: Blocks>(pattern: &Pattern, slots: &mut Vec<B>, by: impl Fn(&Group, &mut [B]) + Sync) {
    slots.resize(pattern.sources.len(), B::ZERO);
    let slots = Disjoint::new(slots);
    // SAFETY: groups are disjoint, and so are their slots.
    pattern.each(|group| by(group, unsafe { slots.slice(group.slots.clone()) }));
}
