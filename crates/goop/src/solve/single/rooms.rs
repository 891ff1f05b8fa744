//! Groups of a pattern side by side, each with room for its sweeps.

use super::super::bundle::{Group, MOST_GROUPS, Pattern};
use super::super::sweep::{Before, Blocks, Bundle, Room, Single};
use crate::lanes::sixteen::WIDEST;
use crate::parallel::{Disjoint, sum};

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

    /// Sweeps what lies between pieces, then those.
    pub(super) fn backward<const N: usize>(
        &self,
        rooms: &mut Rooms,
        work: impl Fn(&Group, Option<Before>, Room) -> [f64; N] + Sync,
    ) -> [f64; N] {
        let (pieces, between) = self.groups.split_at(self.pieces);
        let [mut then, mut first] = rooms.split(self.between.start);
        if between.is_empty() {
            return then.sum(0, pieces, |group, room| work(group, None, room));
        }
        let mut total = first.sum(self.between.start, between, |group, room| work(group, None, room));
        let before = Some(first.before(self.between.start));
        let more = then.sum(0, pieces, |group, room| work(group, before, room));
        (0..N).for_each(|k| total[k] += more[k]);
        total
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
        let (even, loose) = (Disjoint::new(self.even), Disjoint::new(self.loose));
        let (found, singles) = (Disjoint::new(self.found), Disjoint::new(self.singles));
        sum::<N, MOST_GROUPS>(groups.len(), |g| {
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
