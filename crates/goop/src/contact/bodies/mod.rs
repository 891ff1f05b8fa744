//! Bodies that meet: each other, and themselves.
//!
//! Every body takes its step as if it were alone, under the forces of others that the last step left. Then, at all
//! places where two surfaces are near (see `find`), the velocity with which they part is measured; where it is
//! not what it should be, impulses are found for all places together (`solve`), through the way in which each body
//! gives way to them (`respond`), and the bodies concerned take their step again:
//! ```text
//! g + h n·u ≥ 0      places no nearer than the distance kept       0 ≤ p_n,  one is zero
//! |p_t| ≤ μ p_n      against the slip; no slip where it is less    [Coulomb]
//! n·u ≥ e v          in the step after the one in which they met at speed v
//! ```
//! Bodies that touch, directly or through others, are an island (`island`): it is solved by itself, and only the bodies of
//! islands that lack something step again. One impulse acts on both bodies, so that momentum and angular momentum stay as they are. Bodies are asked for no
//! more than a step under given forces and the response to more of them: every scheme can have contact, and its own
//! pins, obstacles and account stay its own.
//!
//! Nodes that are tied to another body (`tie`) are places, too, which neither part nor slip.
//!
//! What passes through in spite of all is found (`crossing`) and the step is not accepted.
//!
//! Not in the papers, whose bodies meet obstacles only.

pub(crate) mod closest;
mod crossing;
mod find;
mod held;
mod island;
mod meeting;
mod respond;
mod search;
pub mod solve;
mod surface;
mod tie;

use super::Impact;
use crate::coordinates::nodal::{Outcome, Scratch};
use crate::model::{Coordinates, Model};
use crate::state::State;
use find::{Part, Reach, Search};
use glam::DVec3;
use held::{hold_framed, hold_rigid, turn};
use island::{Island, MOST_LACKING};
use meeting::measured;
pub use meeting::{Kept, Key, Meeting, NOTHING, Spot};
use rayon::prelude::*;
use respond::Touched;
pub use search::{crossed, overlap};
use solve::Wish;
use surface::Surface;
pub use tie::{Grip, Tie};

/// How a body meets others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyContact {
    /// It meets other bodies that meet others.
    pub bodies: bool,
    /// It meets itself.
    pub itself: bool,
    /// Distance that it and its like keep between their middles (m); `None`: the thickness of a sheet, the diameter of
    /// a curve, a five-hundredth of the size of a solid.
    pub thickness: Option<f64>,
}

/// What two bodies have between them, other than their materials say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairRule {
    /// Which two; the same twice for one and itself.
    pub bodies: [usize; 2],
    /// They meet.
    pub meet: bool,
    /// Coulomb's coefficient; `None`: the larger of both materials.
    pub friction: Option<f64>,
    /// Restitution; `None`: the larger of both materials.
    pub restitution: Option<f64>,
}

/// Margin over the way that two places go towards each other.
const MARGIN: f64 = 0.25;

/// Numbers to go through from which on more than one thread is worth being woken.
const WORTH: usize = 400_000;

/// Steps that bodies in touch take for one of the world, at most.
pub(crate) const ROUNDS: usize = 24;
/// Sweeps over the rows of an island in one solve, at most.
const MOST: usize = 200;
/// Products with the bodies' responses where a body answers through the factor of its matrix, which takes its time; what is missing is made good in
/// the next round and the next step, which begin with what this one found.
const MOST_LARGE: usize = 80;
/// What velocities may lack, beside what weight adds to them in a step, and beside those with which places meet. Of the latter,
/// more where it takes long.
const TOLERANCE: f64 = 3e-4;
const MEETING: f64 = 1e-3;
const SOON: usize = 2;

/// Share of how far its bodies give way by which a tie does, too: ties of several nodes that cannot all be met, as they
/// turn, do not pull at each other without end.
const GIVE: f64 = 0.02;

/// Share of what velocities lacked in the round before from which on bodies are asked anew how they give way: short of
/// it, what they said in an earlier round of the step still leads on.
const LAG: f64 = 0.3;

/// What is to be done after a round.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Every place is as it should be.
    Fine,
    /// Bodies in touch take their step again.
    Again,
    /// Two bodies pass through each other: which, at which node of the first.
    Crossed([usize; 2], u32),
    /// A response could not be found.
    Unsolved(usize, crate::solve::Report),
}

/// Two bodies, or one and itself, and a part of what is to be looked at.
type Job = ([usize; 2], Part);

/// Work space of all meetings; what a resumed run needs is in the state.
#[derive(Debug, Default)]
pub struct Meetings {
    surfaces: Vec<Option<Surface>>,
    moves: Vec<Vec<DVec3>>,
    /// Of every body the nodes that are tied, each after the body it is tied to.
    tied: Vec<Vec<[u32; 2]>>,
    pairs: Vec<[usize; 2]>,
    /// Those again, pairs of large bodies in several parts.
    jobs: Vec<Job>,
    /// Bodies from left to right.
    order: Vec<usize>,
    /// Work spaces of searches, and what they found, by job.
    lists: Vec<(Search, Vec<Meeting>)>,
    found: Vec<Meeting>,
    /// By body.
    touched: Vec<Touched>,
    /// Which bodies are in touch.
    active: Vec<bool>,
    /// Which bodies take the step again, and which of them are asked anew how they give way.
    again: Vec<bool>,
    anew: Vec<bool>,
    /// Bodies that touch each other, those of this step first.
    islands: Vec<Island>,
    count: usize,
    /// By body: the one that stands for its island, then the island.
    roots: Vec<usize>,
    /// What meetings turn their bodies by beside what they push (N m).
    couples: Vec<DVec3>,
    /// How much wider than its nodes each body counts in this step (m), and whether it is near another.
    wider: Vec<(f64, bool)>,
    /// Whether more than one thread is worth being woken for a search.
    heavy: bool,
    /// Meetings that were not thought of.
    missed: Vec<Meeting>,
    /// How many pushes of each body have been booked, and what impulse it had in all (N s).
    booked: Vec<(usize, DVec3)>,
    /// The step was not accepted, as something passed through something.
    refused: bool,
    /// By body: it takes part; and its island has something that passes through something to the last.
    members: Vec<bool>,
    apart: Vec<bool>,
    /// By body: it has stepped, and was not yet looked at for whether it came too near or passed through anything; and is so still.
    unseen: Vec<bool>,
    left: Vec<bool>,
    /// By body: its island lacks something.
    lacks: Vec<bool>,
    /// By body: it lacks something, and so does one that it touches.
    nearby: Vec<[bool; 2]>,
    /// By body: what the velocities of its island lacked in the round before (m/s).
    lacked: Vec<f64>,
    /// Products and sweeps in all.
    pub iterations: usize,
}

impl Meetings {
    /// For the bodies of a model where they start.
    pub fn new(model: &Model, state: &State) -> Self {
        let alone = model.bodies.len() < 2 && !model.bodies.iter().any(|b| b.contact.itself);
        let n = model.bodies.len();
        let (active, again, lacked) = (vec![false; n], vec![true; n], vec![f64::INFINITY; n]);
        let (members, unseen, nearby) = (again.clone(), vec![false; n], vec![[false; 2]; n]);
        let mut out = Self { active, members, again, lacked, unseen, nearby, ..Self::default() };
        for (body, state) in model.bodies.iter().zip(&state.bodies) {
            let needed = !alone && (body.contact.bodies || body.contact.itself);
            out.surfaces.push(needed.then(|| Surface::new(body, &state.positions)).filter(|s| !s.elements.is_empty()));
            out.moves.push(Vec::new());
            out.touched.push(Touched::default());
            out.tied.push(Vec::new());
        }
        for tie in &model.ties {
            let [a, b] = tie.bodies;
            out.tied[a].extend(tie.grips.iter().map(|grip| [b as u32, grip.node]));
        }
        for list in &mut out.tied {
            list.sort_unstable();
            list.dedup();
        }
        out
    }

    /// Whether a body takes the step again.
    pub(crate) fn again(&self, body: usize) -> bool {
        self.again[body]
    }

    /// Whether a step was refused as bodies passed through each other, which a moment later they may no longer do.
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }

    /// Whether anything is near anything.
    pub(crate) fn any(&self) -> bool {
        !self.found.is_empty()
    }

    /// Whether anything could ever meet anything.
    pub(crate) fn may(&self) -> bool {
        self.surfaces.iter().any(Option::is_some)
    }

    /// Finds the places that may meet in a step of length `dt` from `before`, with what the last step left. `only`: among
    /// these bodies.
    pub(crate) fn begin(&mut self, model: &Model, before: &State, dt: f64, only: Option<&[bool]>) {
        self.found.clear();
        self.active.fill(false);
        self.members.clear();
        match only {
            Some(members) => self.members.extend_from_slice(members),
            None => self.members.resize(self.again.len(), true),
        }
        self.again.clone_from(&self.members);
        self.apart.clear();
        self.refused = false;
        self.unseen.fill(false);
        self.lacked.fill(f64::INFINITY);
        self.touched.iter_mut().for_each(Touched::begin);
        if self.surfaces.iter().all(Option::is_none) && model.ties.is_empty() {
            return;
        }
        let fall = dt * dt * model.gravity;
        for (b, moves) in self.moves.iter_mut().enumerate() {
            if self.surfaces[b].is_some() && self.members[b] {
                moves.clear();
                moves.extend(before.bodies[b].velocities.iter().map(|v| dt * *v + fall));
            }
        }
        let slack = fall.length();
        let all = |_: [usize; 2]| true;
        self.near(model, before, slack, all);
        let mut found = std::mem::take(&mut self.found);
        let reach = Reach { slack, margin: MARGIN, all: false, known: &before.meetings };
        self.find(model, before, reach, &mut found, all);
        for (t, tie) in model.ties.iter().enumerate().filter(|(_, tie)| self.members[tie.bodies[0]]) {
            for grip in &tie.grips {
                let (spots, velocity) = grip.aim(tie.bodies, before, dt);
                let key = Key { kind: 2, bodies: tie.bodies.map(|b| b as u32), features: [grip.node, t as u32] };
                found.push(Meeting {
                    tied: Some(velocity),
                    ..Meeting::new(key, spots[0], spots[1], DVec3::Y, 0.0, 0.0)
                });
            }
        }
        found.sort_unstable_by_key(|m| m.key);
        for meeting in &mut found {
            self.dress(model, before, dt, meeting);
        }
        self.found = found;
        self.gather_touched();
    }

    /// Writes the forces of the meetings to the work spaces of the bodies.
    pub(crate) fn press(&mut self, model: &Model, dt: f64, before: &State, scratch: &mut [Scratch]) {
        for (scratch, _) in scratch.iter_mut().zip(&self.again).filter(|(_, again)| **again) {
            scratch.pushes.clear();
        }
        self.couples.clear();
        self.couples.resize(if self.found.is_empty() { 0 } else { scratch.len() }, DVec3::ZERO);
        for meeting in &self.found {
            if meeting.impulse == DVec3::ZERO {
                continue;
            }
            for (side, spot) in meeting.spots.iter().enumerate().filter(|(_, s)| self.again[s.body as usize]) {
                let force = meeting.impulse * (if side == 0 { 1.0 } else { -1.0 } / dt);
                for k in 0..3 {
                    if spot.weights[k] != 0.0 {
                        scratch[spot.body as usize].pushes.push((spot.nodes[k], spot.weights[k] * force));
                    }
                }
            }
            // The two spots are a distance apart: what that turns is taken back, half from each body.
            let [a, b] = meeting.spots.map(|s| s.of(&before.bodies[s.body as usize].positions));
            let couple = (a - b).cross(meeting.impulse / dt);
            meeting.spots.iter().for_each(|s| self.couples[s.body as usize] -= 0.5 * couple);
        }
        for (b, couple) in self.couples.iter().enumerate().filter(|&(b, c)| self.again[b] && *c != DVec3::ZERO) {
            let (body, x) = (&model.bodies[b], &before.bodies[b].positions);
            if body.pins.iter().all(|pin| pin.nodes.is_empty()) {
                turn(body, x, *couple, &mut scratch[b].pushes);
            }
        }
    }

    /// What the places do after a step of the bodies, and what is to be done about it.
    pub(crate) fn settle(
        &mut self,
        model: &Model,
        dt: f64,
        before: &State,
        state: &State,
        scratch: &mut [Scratch],
        round: usize,
    ) -> Verdict {
        let last = round + 1 == ROUNDS;
        if !self.take_moves(before, state) {
            return Verdict::Fine; // The step is refused for what is not a number.
        }
        self.group();
        let calm = dt.max(model.step.dt) * model.gravity.length();
        let share = MEETING * round.saturating_sub(SOON).max(1) as f64;
        for island in &mut self.islands[..self.count] {
            let moved = island.bodies.iter().any(|&b| self.again[b]);
            island.measure(model, TOLERANCE * calm, share, &mut self.found, |meeting| {
                let u = measured(&meeting.spots, dt, before, state);
                if round == 0 && meeting.impulse == DVec3::ZERO {
                    meeting.approach[1] = -u.dot(meeting.normal);
                }
                (meeting.wish(dt), u)
            });
            let lacked = island.bodies.iter().map(|&b| self.lacked[b]).fold(0.0, f64::max);
            let lags = island.bodies.iter().any(|&b| self.again[b] && self.touched[b].lags);
            let stuck = round > 1 && !lags && island.lacking > 0.5 * lacked;
            island.anew = island.lacking > LAG * lacked;
            island.bodies.iter().for_each(|&b| self.lacked[b] = island.lacking);
            island.solves = moved && !stuck && !last && island.lacking > island.tolerance;
        }
        // Islands that lack something are looked at when they no longer do.
        self.unseen.iter_mut().zip(&self.again).for_each(|(unseen, again)| *unseen |= again);
        let mut lacks = std::mem::take(&mut self.lacks);
        lacks.clear();
        lacks.resize(self.unseen.len(), false);
        for island in self.islands[..self.count].iter().filter(|island| island.solves && round != 1) {
            island.bodies.iter().for_each(|&b| lacks[b] = true);
        }
        let unseen = std::mem::take(&mut self.unseen);
        let looks = |[a, b]: [usize; 2]| (unseen[a] || unseen[b]) && !lacks[a] && !lacks[b];
        let (mut news, mut crossed) = (false, None);
        if (0..unseen.len()).any(|b| unseen[b] && !lacks[b]) {
            self.near(model, before, 0.0, looks);
            news = !last && self.add_missed(model, dt, before, state, looks);
            crossed = self.look_for_crossings(model, dt, before, looks);
        }
        // Who is looked at again with others that lack something is not yet seen.
        let mut left = std::mem::take(&mut self.left);
        left.clear();
        left.extend(unseen.iter().zip(&lacks).map(|(unseen, lacks)| *unseen && *lacks));
        for (&([a, b], _), (_, list)) in self.jobs.iter().zip(&self.lists) {
            if lacks[a] || lacks[b] || (crossed.is_some() && !list.is_empty()) {
                [a, b].into_iter().for_each(|k| left[k] |= unseen[k]);
            }
        }
        (self.unseen, self.left, self.lacks) = (left, unseen, lacks);
        if let Some((bodies, node)) = crossed.filter(|_| last) {
            self.refused = true;
            self.set_apart();
            return Verdict::Crossed(bodies, node);
        }
        if news || crossed.is_some() {
            self.join(model, TOLERANCE * calm, |meeting| {
                (meeting.wish(dt), measured(&meeting.spots, dt, before, state))
            });
        }
        self.again.fill(false);
        for island in self.islands[..self.count].iter_mut().filter(|island| island.solves) {
            // In the first round all that lacks anything is solved, then what lacks most.
            island.narrow(&self.found, &mut self.nearby, if round > 0 { MOST_LACKING } else { 0.0 });
            island.bodies.iter().for_each(|&b| self.again[b] = true);
        }
        if !self.again.contains(&true) {
            return Verdict::Fine;
        }
        if let Err((body, report)) = self.respond(model, dt, before, state, scratch) {
            return Verdict::Unsolved(body, report);
        }
        let Self { islands, touched, found, .. } = self;
        for island in islands[..self.count].iter_mut().filter(|island| island.solves) {
            self.iterations += island.solve(touched, scratch);
            for (&k, impulse) in island.meetings.iter().zip(&island.rows.impulses) {
                found[k].impulse = *impulse;
            }
        }
        Verdict::Again
    }

    /// Takes the islands out in which something was passed through.
    fn set_apart(&mut self) {
        self.group();
        self.apart.resize(self.active.len(), false);
        for island in &self.islands[..self.count] {
            if island.meetings.iter().any(|&k| self.found[k].crossed) {
                island.bodies.iter().for_each(|&b| self.apart[b] = true);
            }
        }
        let Self { found, members, apart, .. } = self;
        found.retain(|m| !apart[m.spots[0].body as usize]);
        members.iter_mut().zip(apart).for_each(|(member, apart)| *member &= !*apart);
        self.gather_touched();
    }

    /// The bodies that were taken out of a step, as they pass through each other in it.
    pub(crate) fn apart(&self) -> &[bool] {
        &self.apart
    }

    /// Whether bodies that took the step by themselves passed through others.
    pub(crate) fn passes(&mut self, model: &Model, before: &State, state: &State, alone: &[bool]) -> bool {
        self.members.fill(true);
        self.again.clone_from_slice(alone);
        if !self.take_moves(before, state) {
            return true;
        }
        self.near(model, before, 0.0, |_| true);
        let mut list = Vec::new();
        self.pairs.iter().filter(|[a, b]| alone[*a] != alone[*b]).any(|&[a, b]| {
            let (Some(one), Some(two)) = (self.side(model, before, a), self.side(model, before, b)) else {
                return false;
            };
            crossing::find(one, two, Part { which: 0, of: 1 }, model.flat, &mut Search::default(), &mut list).is_some()
        })
    }

    /// Puts bodies that touch each other into islands.
    fn group(&mut self) {
        let n = self.active.len();
        self.roots.clear();
        self.roots.extend(0..n);
        for meeting in &self.found {
            let [a, b] = meeting.spots.map(|s| island::root(&mut self.roots, s.body as usize));
            self.roots[a.max(b)] = a.min(b);
        }
        self.count = 0;
        for b in 0..n {
            // The one that stands for an island is its first body, whose place says which island it is.
            let root = island::root(&mut self.roots, b);
            if root != b || !self.active[b] {
                continue;
            }
            if self.islands.len() == self.count {
                self.islands.push(Island::default());
            }
            self.islands[self.count].clear();
            self.islands[self.count].bodies.push(b);
            self.count += 1;
        }
        let first = |islands: &[Island], b: usize| islands.binary_search_by_key(&b, |i| i.bodies[0]).unwrap_or(0);
        let islands = &mut self.islands[..self.count];
        for b in (0..n).filter(|&b| self.active[b]) {
            let root = island::root(&mut self.roots, b);
            if root != b {
                islands[first(islands, root)].bodies.push(b);
            }
        }
        for (k, meeting) in self.found.iter().enumerate() {
            let root = island::root(&mut self.roots, meeting.spots[0].body as usize);
            islands[first(islands, root)].meetings.push(k);
        }
    }

    /// Makes islands anew after places were added: what was to be solved still is, and so is what has new places.
    fn join(&mut self, model: &Model, least: f64, look: impl Fn(&Meeting) -> (Wish, DVec3)) {
        self.again.fill(false);
        for island in self.islands[..self.count].iter().filter(|island| island.solves) {
            island.bodies.iter().for_each(|&b| self.again[b] = true);
        }
        for meeting in self.found.iter_mut().filter(|m| m.fresh) {
            meeting.spots.iter().for_each(|s| self.again[s.body as usize] = true);
            (meeting.crossed, meeting.fresh) = (false, false);
        }
        self.group();
        for island in &mut self.islands[..self.count] {
            island.measure(model, least, MEETING, &mut self.found, |meeting| look(meeting));
            island.solves = island.bodies.iter().any(|&b| self.again[b]);
            if island.solves {
                island.bodies.iter().for_each(|&b| self.lacked[b] = f64::INFINITY);
            }
        }
    }

    /// Learns how the bodies of islands that are solved give way, and adds the pins and obstacles that hold them.
    fn respond(
        &mut self,
        model: &Model,
        dt: f64,
        before: &State,
        state: &State,
        scratch: &mut [Scratch],
    ) -> Result<(), (usize, crate::solve::Report)> {
        let Self { islands, touched, again, anew, found, .. } = self;
        let islands = &mut islands[..self.count];
        anew.resize(again.len(), false);
        for island in islands.iter_mut().filter(|island| island.solves) {
            for &b in &island.bodies {
                touched[b].reset(b as u32);
                anew[b] = island.anew;
            }
            for &k in &island.meetings {
                for spot in &found[k].spots {
                    let used = spot.nodes.iter().zip(spot.weights).filter(|(_, w)| *w != 0.0);
                    touched[spot.body as usize].nodes.extend(used.map(|(&i, _)| i));
                }
            }
            for k in 0..island.bodies.len() {
                let b = island.bodies[k];
                match model.bodies[b].axes.coordinates {
                    Coordinates::Rigid => hold_rigid(island, b, &before.bodies[b], &state.bodies[b], dt, &scratch[b]),
                    Coordinates::Framed => hold_framed(island, b, &before.bodies[b], &state.bodies[b], dt, &scratch[b]),
                    Coordinates::Nodal | Coordinates::Reduced => {}
                }
            }
            for spots in &island.spots[island.meetings.len()..] {
                touched[spots[0].body as usize].nodes.push(spots[0].nodes[0]);
            }
        }
        let prepare = |(b, (touched, scratch)): (usize, (&mut Touched, &mut Scratch))| {
            if !again[b] {
                return None;
            }
            touched.arrange();
            let (old, new) = (&before.bodies[b], &state.bodies[b]);
            touched.prepare(anew[b], model, &model.bodies[b], dt, old, new, scratch).err().map(|report| (b, report))
        };
        let bodies = || model.bodies.iter().zip(&*again).filter(|(_, again)| **again);
        let heavy = bodies().count() > 1 && 1000 * bodies().map(|(body, _)| body.len()).sum::<usize>() > WORTH;
        let failed = match heavy {
            true => touched.par_iter_mut().zip(&mut *scratch).enumerate().filter_map(prepare).min_by_key(|(b, _)| *b),
            false => touched.iter_mut().zip(&mut *scratch).enumerate().filter_map(prepare).min_by_key(|(b, _)| *b),
        };
        if let Some(failed) = failed {
            return Err(failed);
        }
        for island in islands.iter_mut().filter(|island| island.solves) {
            island.learn(model, touched, scratch, found);
        }
        Ok(())
    }

    /// Takes the ways that bodies really went; whether they are all numbers.
    fn take_moves(&mut self, before: &State, state: &State) -> bool {
        for (b, moves) in self.moves.iter_mut().enumerate() {
            if self.surfaces[b].is_some() && self.again[b] {
                let (from, to) = (&before.bodies[b].positions, &state.bodies[b].positions);
                moves.clear();
                moves.extend(from.iter().zip(to).map(|(from, to)| *to - *from));
            }
        }
        self.moves.iter().flatten().all(|m| m.is_finite())
    }

    /// Books what the impulses did, and keeps what the next step needs.
    pub(crate) fn finish(
        &mut self,
        model: &Model,
        dt: f64,
        state: &mut State,
        scratch: &[Scratch],
        outcomes: &mut [Outcome],
    ) {
        for (body, _) in state.bodies.iter_mut().zip(&self.members).filter(|(_, member)| **member) {
            body.row.body_contacts = 0;
        }
        let Self { found, booked, members, .. } = self;
        booked.clear();
        booked.resize(scratch.len(), (0, DVec3::ZERO));
        for meeting in &*found {
            let mut velocity = [DVec3::ZERO; 2];
            if meeting.impulse != DVec3::ZERO {
                for (side, spot) in meeting.spots.iter().enumerate() {
                    let b = spot.body as usize;
                    for k in (0..3).filter(|&k| spot.weights[k] != 0.0) {
                        velocity[side] += spot.weights[k] * scratch[b].push_velocities[booked[b].0];
                        booked[b].0 += 1;
                    }
                }
                let relative = velocity[0] - velocity[1];
                let along = meeting.impulse.dot(meeting.normal) * meeting.normal;
                let (impact, friction) = (-along.dot(relative), -(meeting.impulse - along).dot(relative));
                for spot in &meeting.spots {
                    let row = &mut state.bodies[spot.body as usize].row;
                    if meeting.tied.is_some() {
                        // A tie takes nothing: what it seems to is the scheme's.
                        row.scheme += 0.5 * (impact + friction);
                    } else {
                        row.impact += 0.5 * impact;
                        row.friction += 0.5 * friction;
                    }
                    row.exchange += 0.5 * (impact + friction);
                    // As at obstacles, what an impact costs is not missed elsewhere.
                    outcomes[spot.body as usize].created -= 0.5 * (impact + friction).max(0.0);
                }
                booked[meeting.spots[0].body as usize].1 += meeting.impulse;
                booked[meeting.spots[1].body as usize].1 -= meeting.impulse;
            }
            if meeting.tied.is_some() {
                state.meetings.push(Kept { key: meeting.key, force: meeting.impulse / dt, rebound: 0.0 });
                continue;
            }
            let near = meeting.too_near(state);
            let pressed = meeting.impulse.dot(meeting.normal) > 0.0;
            for spot in meeting.spots.iter().filter(|_| pressed) {
                let row = &mut state.bodies[spot.body as usize].row;
                row.worst_penetration = row.worst_penetration.max(near);
            }
            if !pressed {
                continue;
            }
            state.bodies[meeting.spots[0].body as usize].row.body_contacts += 1;
            let Meeting { restitution, approach, gap, .. } = *meeting;
            let rebound = match meeting.rebound > 0.0 {
                true => 0.0,
                false => Impact { restitution, approach, gap }.rebound(model.gravity.length(), dt),
            };
            state.meetings.push(Kept { key: meeting.key, force: meeting.impulse / dt, rebound });
        }
        for (b, body) in state.bodies.iter_mut().enumerate().filter(|(b, _)| members[*b]) {
            // The couples that keep the angular momentum are the scheme's.
            let (cursor, pushed) = booked[b];
            let rest = scratch[b].pushes.iter().zip(&scratch[b].push_velocities).skip(cursor);
            let work: f64 = rest.map(|((_, force), v)| dt * force.dot(*v)).sum();
            body.row.exchange -= work;
            body.row.scheme -= work;
            // Weight does its work over the end of the step, an impact in the middle of it: that is no instability.
            outcomes[b].created -= 0.5 * dt * model.gravity.length() * pushed.length() + work;
        }
    }
}

impl Model {
    /// What is said of two bodies.
    pub fn rule(&self, a: usize, b: usize) -> Option<&PairRule> {
        self.pairs.iter().find(|rule| rule.bodies == [a, b] || rule.bodies == [b, a])
    }
}

impl Scratch {
    /// Takes the work of other bodies, over these velocities of the nodes (m/s), out of that of the loads.
    pub(crate) fn book_pushes(&mut self, row: &mut crate::ledger::Row, dt: f64, velocity: impl Fn(usize) -> DVec3) {
        self.push_velocities.clear();
        let mut work = 0.0;
        for &(node, force) in &self.pushes {
            let v = velocity(node as usize);
            work += dt * force.dot(v);
            self.push_velocities.push(v);
        }
        row.load_work -= work;
        row.exchange += work;
    }
}

/// The names of two bodies that pass through each other, for a message.
pub(crate) fn names(model: &Model, [a, b]: [usize; 2]) -> String {
    let name = |b: usize| &model.bodies[b].name;
    if a == b { "passes through itself".to_owned() } else { format!("passes through body '{}'", name(b)) }
}
