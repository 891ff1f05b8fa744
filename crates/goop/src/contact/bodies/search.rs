//! Where bodies meet: which are near, at which places, and what passed through.

use super::find::{self, Part, Reach, Search, Side};
use super::meeting::{Meeting, Spot, measured};
use super::surface::Surface;
use super::{Job, MARGIN, Meetings, WORTH, crossing};
use crate::model::Model;
use crate::state::State;
use glam::DVec3;
use rayon::prelude::*;

/// Edges of the larger of two bodies for every part in which their search is done, and how many parts at most.
const PART_OF_SEARCH: usize = 1000;
const MOST_PARTS: usize = 64;

/// Share of the distance kept by which places that nobody thought of may be too near: the next step parts them.
const MISSED: f64 = 0.25;

impl Meetings {
    /// Bodies whose bounds over the step meet, and their boxes, as far as a pair is looked at.
    pub(super) fn near(&mut self, model: &Model, before: &State, slack: f64, looks: impl Fn([usize; 2]) -> bool) {
        self.pairs.clear();
        self.wider.clear();
        self.wider.resize(self.surfaces.len(), (0.0, false));
        for b in 0..self.surfaces.len() {
            if let Some(surface) = &mut self.surfaces[b] {
                let moves = &self.moves[b];
                let most = moves.iter().map(|m| m.length_squared()).fold(0.0, f64::max).sqrt();
                self.wider[b].0 = surface.half + 0.5 * slack + MARGIN * most;
                surface.follow_bounds(&before.bodies[b].positions, |i| moves[i], self.wider[b].0);
            }
        }
        self.sweep(model, looks);
        let (moves, wider) = (&self.moves, &self.wider);
        let follow = |(b, surface): (usize, &mut Option<Surface>)| {
            if let Some(surface) = surface.as_mut().filter(|_| wider[b].1) {
                surface.follow(&before.bodies[b].positions, |i| moves[b][i], wider[b].0);
            }
        };
        let elements: usize = self.surfaces.iter().flatten().map(|s| s.elements.len()).sum();
        self.heavy = 100 * elements > WORTH;
        match self.heavy {
            true => self.surfaces.par_iter_mut().enumerate().for_each(follow),
            false => self.surfaces.iter_mut().enumerate().for_each(follow),
        }
    }

    /// Pairs whose bounds meet: bodies in the order of their lower ends along x, each beside those that begin before it ends.
    pub(super) fn sweep(&mut self, model: &Model, looks: impl Fn([usize; 2]) -> bool) {
        let Self { surfaces, order, pairs, jobs, wider, members, .. } = self;
        order.clear();
        order.extend((0..surfaces.len()).filter(|&b| surfaces[b].is_some() && members[b]));
        let low = |b: usize| surfaces[b].as_ref().map_or(f64::INFINITY, |s| s.low.x);
        order.sort_unstable_by(|&a, &b| low(a).total_cmp(&low(b)).then(a.cmp(&b)));
        for (k, &one) in order.iter().enumerate() {
            let Some(first) = &surfaces[one] else { continue };
            if model.bodies[one].contact.itself && model.rule(one, one).is_none_or(|rule| rule.meet) {
                pairs.push([one, one]);
            }
            for &two in order[k + 1..].iter().take_while(|&&two| low(two) <= first.high.x) {
                let Some(second) = &surfaces[two] else { continue };
                let meets = model.bodies[one].contact.bodies && model.bodies[two].contact.bodies;
                let apart = first.low.cmpgt(second.high).any() || second.low.cmpgt(first.high).any();
                if meets && !apart && model.rule(one, two).is_none_or(|rule| rule.meet) {
                    pairs.push([one.min(two), one.max(two)]);
                }
            }
        }
        pairs.sort_unstable();
        jobs.clear();
        for &pair in pairs.iter() {
            let edges = pair.map(|b| surfaces[b].as_ref().map_or(0, |s| s.edges.len()));
            let of = (edges[0].max(edges[1]) / PART_OF_SEARCH).clamp(1, MOST_PARTS);
            jobs.extend((0..of).map(|which| (pair, Part { which, of })));
        }
        for &[a, b] in pairs.iter().filter(|pair| looks(**pair)) {
            (wider[a].1, wider[b].1) = (true, true);
        }
    }

    pub(super) fn side<'a>(&'a self, model: &'a Model, before: &'a State, b: usize) -> Option<Side<'a>> {
        Some(Side {
            index: b as u32,
            body: &model.bodies[b],
            surface: self.surfaces[b].as_ref()?,
            x: &before.bodies[b].positions,
            moves: &self.moves[b],
            tied: &self.tied[b],
        })
    }

    /// All meetings of near bodies that are looked at, in the order of their names.
    pub(super) fn find(
        &mut self,
        model: &Model,
        before: &State,
        reach: Reach,
        out: &mut Vec<Meeting>,
        looks: impl Fn([usize; 2]) -> bool + Sync,
    ) {
        let mut lists = std::mem::take(&mut self.lists);
        if lists.len() < self.jobs.len() {
            lists.resize_with(self.jobs.len(), Default::default);
        }
        let look = |(&([a, b], part), (search, list)): (&Job, &mut (Search, Vec<Meeting>))| {
            list.clear();
            if !looks([a, b]) {
                return;
            }
            if let (Some(a), Some(b)) = (self.side(model, before, a), self.side(model, before, b)) {
                find::meetings(a, b, part, reach, search, list);
            }
        };
        match self.heavy {
            true => self.jobs.par_iter().zip(&mut lists).for_each(look),
            false => self.jobs.iter().zip(&mut lists).for_each(look),
        }
        out.extend(lists.iter().take(self.jobs.len()).flat_map(|(_, list)| list));
        self.lists = lists;
        out.sort_unstable_by_key(|m| m.key);
    }

    /// Gives a meeting what its bodies and the last step say of it.
    pub(super) fn dress(&self, model: &Model, before: &State, dt: f64, meeting: &mut Meeting) {
        let [a, b] = meeting.spots.map(|s| s.body as usize);
        let rule = model.rule(a, b);
        let card = |b: usize| &model.bodies[b].material.card;
        let larger = |of: fn(&crate::material::Material) -> f64| of(card(a)).max(of(card(b)));
        meeting.friction = rule.and_then(|r| r.friction).unwrap_or_else(|| larger(|card| card.friction));
        meeting.restitution = rule.and_then(|r| r.restitution).unwrap_or_else(|| larger(|card| card.restitution));
        if let Ok(k) = before.meetings.binary_search_by_key(&meeting.key, |kept| kept.key) {
            let kept = &before.meetings[k];
            (meeting.impulse, meeting.rebound) = (kept.force * dt, kept.rebound);
        }
        if meeting.tied.is_some() {
            return;
        }
        let velocity = |s: &Spot| s.of(&before.bodies[s.body as usize].velocities);
        let approach = -(velocity(&meeting.spots[0]) - velocity(&meeting.spots[1])).dot(meeting.normal);
        meeting.approach = [approach; 2];
    }

    /// Which bodies are in touch.
    pub(super) fn gather_touched(&mut self) {
        self.active.fill(false);
        for meeting in &self.found {
            meeting.spots.iter().for_each(|s| self.active[s.body as usize] = true);
        }
    }

    /// Adds places that nobody thought of and that came too near on the way that was really taken; whether there are any.
    pub(super) fn add_missed(
        &mut self,
        model: &Model,
        dt: f64,
        before: &State,
        state: &State,
        looks: impl Fn([usize; 2]) -> bool + Sync,
    ) -> bool {
        let mut missed = std::mem::take(&mut self.missed);
        missed.clear();
        let reach = Reach { slack: 0.0, margin: 0.0, all: false, known: &before.meetings };
        self.find(model, before, reach, &mut missed, looks);
        missed.retain(|m| {
            let near = m.gap + dt * measured(&m.spots, dt, before, state).dot(m.normal);
            near < -MISSED * m.kept && self.found.binary_search_by_key(&m.key, |m| m.key).is_err()
        });
        for meeting in &mut missed {
            self.dress(model, before, dt, meeting);
            (meeting.impulse, meeting.fresh) = (DVec3::ZERO, true);
        }
        let any = !missed.is_empty();
        if any {
            self.found.append(&mut missed);
            self.found.sort_unstable_by_key(|m| m.key);
            self.gather_touched();
        }
        self.missed = missed;
        any
    }

    /// Whether anything passed through anything on the way that was really taken, among bodies that are looked at.
    /// Where it did, the place and the direction at that moment become those of a meeting.
    pub(super) fn look_for_crossings(
        &mut self,
        model: &Model,
        dt: f64,
        before: &State,
        looks: impl Fn([usize; 2]) -> bool + Sync,
    ) -> Option<([usize; 2], u32)> {
        let mut lists = std::mem::take(&mut self.lists);
        if lists.len() < self.jobs.len() {
            lists.resize_with(self.jobs.len(), Default::default);
        }
        let look = |(&([a, b], part), (search, list)): (&Job, &mut (Search, Vec<Meeting>))| {
            list.clear();
            if !looks([a, b]) {
                return None;
            }
            let (one, two) = (self.side(model, before, a)?, self.side(model, before, b)?);
            crossing::find(one, two, part, model.flat, search, list).map(|node| ([a, b], node))
        };
        let crossed = match self.heavy {
            true => self.jobs.par_iter().zip(&mut lists).filter_map(look).min(),
            false => self.jobs.iter().zip(&mut lists).filter_map(look).min(),
        };
        if crossed.is_some() {
            for meeting in lists.iter().take(self.jobs.len()).flat_map(|(_, list)| list) {
                let mut meeting = *meeting;
                self.dress(model, before, dt, &mut meeting);
                (meeting.crossed, meeting.fresh) = (true, true);
                match self.found.binary_search_by_key(&meeting.key, |m| m.key) {
                    Ok(k) => {
                        meeting.impulse = self.found[k].impulse;
                        self.found[k] = meeting;
                    }
                    Err(k) => {
                        meeting.impulse = DVec3::ZERO;
                        self.found.insert(k, meeting);
                    }
                }
            }
            self.gather_touched();
        }
        self.lists = lists;
        crossed
    }
}

/// Two bodies, or one and itself, that are in each other in a state.
pub fn crossed(model: &Model, state: &State) -> Option<[usize; 2]> {
    let mut meetings = Meetings::new(model, state);
    for (b, moves) in meetings.moves.iter_mut().enumerate() {
        moves.resize(state.bodies[b].positions.len(), DVec3::ZERO);
    }
    meetings.near(model, state, 0.0, |_| true);
    let found = meetings.pairs.iter().find(|&&[a, b]| {
        let (Some(one), Some(two)) = (meetings.side(model, state, a), meetings.side(model, state, b)) else {
            return false;
        };
        crossing::overlap(one, two, model.flat, &mut Search::default())
    });
    found.copied()
}

/// Two bodies, or one and itself, that are in each other where they start: a scene cannot start so.
pub fn overlap(model: &Model) -> Option<[usize; 2]> {
    // Most scenes have nothing near anything: look at that first, without the states that framed bodies need.
    let boxes: Vec<[DVec3; 2]> = (model.bodies.iter())
        .map(|body| {
            let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
            body.start_positions().iter().fold(start, |[low, high], x| [low.min(*x), high.max(*x)])
        })
        .collect();
    let apart = |a: usize, b: usize| boxes[a][0].cmpgt(boxes[b][1]).any() || boxes[b][0].cmpgt(boxes[a][1]).any();
    let n = boxes.len();
    let meet = |a: usize, b: usize| model.bodies[a].contact.bodies && model.bodies[b].contact.bodies;
    let near = (0..n).any(|a| model.bodies[a].contact.itself || (a + 1..n).any(|b| meet(a, b) && !apart(a, b)));
    if !near {
        return None;
    }
    crossed(model, &State::new(model))
}
