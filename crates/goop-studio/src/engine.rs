//! The engine thread: steps at its own clock, does commands between steps, lays frames into
//! a slot for whoever watches.

use crate::protocol::{self, Command, Header, Wishes};
use crate::session::{Answer, Session};
use crate::{model, state};
use axum::body::Bytes;
use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};

/// Frames a second that are sent at most.
const FRAMES: f64 = 60.0;
/// A simulation that falls behind by more than this (s on the wall) gives half of it up: what
/// the scheduler took is caught up with, what the machine cannot do is not.
const MOST_LAG: f64 = 0.2;
/// Messages that are done between two steps: however many come, time goes on.
const MOST_AT_ONCE: usize = 512;
/// Bodies larger than this in all are not checked while editing.
const MOST_CHECKED: usize = 3000;

/// What comes to the engine.
pub enum Inbound {
    /// From a page.
    Command { client: u64, command: Command, reply: mpsc::Sender<String>, received: Instant },
    /// A request for JSON.
    Ask(Question, oneshot::Sender<String>),
    /// A page is gone: what it held is let go.
    Gone(u64),
}

impl Inbound {
    /// The same page says the same thing again, with another value: the older one need not be done.
    fn replaces(&self, older: &Inbound) -> bool {
        match (self, older) {
            (Inbound::Command { client: a, command: new, .. }, Inbound::Command { client: b, command: old, .. }) => {
                a == b && new.replaces(old)
            }
            _ => false,
        }
    }
}

/// What may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// `GET /status`
    Status,
    /// `GET /state`
    State,
}

/// How time runs, and lists that are shown.
pub struct Clock {
    /// Whether it does.
    pub playing: bool,
    /// Multiple of real time that is asked for.
    pub speed: f64,
    /// And reached.
    pub reached: f64,
    /// Number of the frame message that shows what is now; none while it is still to come.
    pub shown: Option<u32>,
    /// What `check` says.
    pub checks: Vec<String>,
    /// Scenes to choose from.
    pub scenes: Vec<(String, String)>,
}

/// From a drag received to the frame that shows it.
#[derive(Default)]
pub struct Latency {
    waiting: VecDeque<(Instant, u32)>,
    /// The last ones (s).
    pub samples: VecDeque<f64>,
    /// The longest step, command and making of a frame since they were last asked for (s).
    pub longest: [f64; 3],
}

/// What may take long.
#[derive(Clone, Copy)]
enum Work {
    Step,
    Command,
    Frame,
}

impl Latency {
    fn wait(&mut self, received: Instant, sequence: u32) {
        if self.waiting.len() < 4096 {
            self.waiting.push_back((received, sequence));
        }
    }

    /// A frame was handed to a socket.
    pub fn sent(&mut self, sequence: u32) {
        while self.waiting.front().is_some_and(|(_, s)| *s <= sequence) {
            if let Some((received, _)) = self.waiting.pop_front() {
                self.samples.push_back(received.elapsed().as_secs_f64());
            }
            if self.samples.len() > 2000 {
                self.samples.pop_front();
            }
        }
    }
}

/// A frame on its way.
#[derive(Clone, Default)]
pub struct Sending {
    /// Its number.
    pub sequence: u32,
    /// The message.
    pub bytes: Bytes,
}

/// Where the engine leaves what pages take.
#[derive(Clone)]
pub struct Slots {
    /// The newest frame.
    pub frame: watch::Sender<Sending>,
    /// The model.
    pub model: watch::Sender<Bytes>,
    /// The state as JSON.
    pub state: watch::Sender<Arc<str>>,
    /// Measured on the way out.
    pub latency: Arc<Mutex<Latency>>,
}

struct Engine {
    session: Session,
    clock: Clock,
    slots: Slots,
    sequence: u32,
    /// Wall and simulated time that pace is counted from.
    base: (Instant, f64),
    measured: (Instant, f64),
    frame_due: Instant,
    /// Drags that no frame has shown yet.
    unshown: Vec<Instant>,
    /// A step was taken since.
    felt: bool,
    stale: bool,
    state_stale: bool,
    state_sent: Instant,
    scenes_read: Instant,
    version_sent: u32,
    wishes: HashMap<u64, Wishes>,
    holders: HashMap<u64, usize>,
    checker: Sender<(u64, goop::Model)>,
    checked: Receiver<Vec<String>>,
    changes_checked: u64,
    changed_at: Instant,
}

/// Runs until every sender is gone.
pub fn run(session: Session, inbox: Receiver<Inbound>, slots: Slots) {
    let now = Instant::now();
    let (checker, checked) = start_checker(session.host.check);
    let scenes = session.scenes();
    let mut engine = Engine {
        clock: Clock { playing: false, speed: 1.0, reached: 0.0, shown: None, checks: Vec::new(), scenes },
        session,
        slots,
        sequence: 0,
        base: (now, 0.0),
        measured: (now, 0.0),
        frame_due: now,
        unshown: Vec::new(),
        felt: false,
        stale: true,
        state_stale: true,
        state_sent: now,
        scenes_read: now,
        version_sent: 0,
        wishes: HashMap::new(),
        holders: HashMap::new(),
        checker,
        checked,
        changes_checked: 0,
        changed_at: now,
    };
    loop {
        let wait = engine.work();
        let first = match inbox.recv_timeout(wait) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let mut waiting = std::iter::once(first).chain(inbox.try_iter().take(MOST_AT_ONCE)).peekable();
        while let Some(message) = waiting.next() {
            match waiting.peek() {
                Some(next) if next.replaces(&message) => engine.skip(message),
                _ => engine.take(message),
            }
        }
    }
}

impl Engine {
    /// Steps if it is time, publishes if there is anything new; how long nothing need be done.
    fn work(&mut self) -> Duration {
        let mut wait = Duration::from_millis(50);
        if self.clock.playing {
            if self.session.failure().is_some() {
                self.pause();
            } else {
                wait = self.pace();
            }
        }
        let now = Instant::now();
        if self.stale && (now >= self.frame_due || self.felt || !self.clock.playing) {
            self.publish_frame(now);
        }
        self.look_at_checks(now);
        self.look_at_scenes(now);
        let often = Duration::from_millis(if self.clock.playing { 200 } else { 40 });
        if self.clock.playing && now - self.state_sent > often {
            self.state_stale = true;
        }
        if self.state_stale && (now - self.state_sent >= Duration::from_millis(40)) {
            self.publish_state(now);
        } else if self.state_stale {
            wait = wait.min(Duration::from_millis(10));
        }
        wait
    }

    /// One step, if the clock on the wall is ahead; else the time until it will be.
    fn pace(&mut self) -> Duration {
        let now = Instant::now();
        let time = self.session.time();
        let goal = self.base.1 + (now - self.base.0).as_secs_f64() * self.clock.speed;
        if goal - time > MOST_LAG * self.clock.speed.max(1e-9) {
            self.base = (now, time + 0.5 * MOST_LAG * self.clock.speed);
        } else if time > goal {
            let ahead = ((time - goal) / self.clock.speed).clamp(1e-4, 0.02);
            return Duration::from_secs_f64(ahead);
        }
        self.session.step();
        self.note(Work::Step, now);
        self.stale = true;
        self.felt = !self.unshown.is_empty();
        let span = (now - self.measured.0).as_secs_f64();
        if span > 0.5 {
            self.clock.reached = (self.session.time() - self.measured.1) / span;
            self.measured = (now, self.session.time());
        }
        if self.session.failure().is_some() {
            self.pause();
        }
        Duration::ZERO
    }

    /// Remembers what took longest.
    fn note(&self, work: Work, since: Instant) {
        if let Ok(mut latency) = self.slots.latency.lock() {
            let longest = &mut latency.longest[work as usize];
            *longest = longest.max(since.elapsed().as_secs_f64());
        }
    }

    fn pause(&mut self) {
        self.clock.playing = false;
        self.clock.reached = 0.0;
        (self.stale, self.state_stale) = (true, true);
    }

    fn play(&mut self) {
        if self.session.failure().is_none() {
            self.session.viewing = None;
            self.clock.playing = true;
            self.restart_clock();
        }
    }

    fn restart_clock(&mut self) {
        let now = Instant::now();
        self.base = (now, self.session.time());
        self.measured = self.base;
    }

    fn publish_frame(&mut self, now: Instant) {
        if self.version_sent != self.session.version {
            self.version_sent = self.session.version;
            self.slots.model.send_replace(Bytes::from(model::message(&self.session)));
        }
        self.sequence = self.sequence.wrapping_add(1);
        let wishes = self.wishes.values().fold(Wishes::default(), |all, w| Wishes {
            velocities: all.velocities || w.velocities,
            stretch: all.stretch || w.stretch,
        });
        let header = Header {
            version: self.session.version,
            sequence: self.sequence,
            recorded: self.session.viewing.is_some(),
            playing: self.clock.playing,
            speed: self.clock.reached,
        };
        let frames = self.session.shown();
        let failed = |k: usize| self.session.panes.get(k).is_some_and(|p| p.failure.is_some());
        let panes: Vec<_> = frames.iter().enumerate().map(|(k, frame)| (frame, failed(k))).collect();
        let bytes = protocol::frame(header, wishes, &panes);
        if let Ok(mut latency) = self.slots.latency.lock()
            && (self.felt || !self.clock.playing)
        {
            self.unshown.drain(..).for_each(|received| latency.wait(received, self.sequence));
        }
        self.note(Work::Frame, now);
        self.slots.frame.send_replace(Sending { sequence: self.sequence, bytes: Bytes::from(bytes) });
        let period = Duration::from_secs_f64(1.0 / FRAMES);
        // One that is a little late does not make all later ones late.
        self.frame_due = (self.frame_due + period).max(now);
        (self.stale, self.felt) = (false, false);
    }

    fn publish_state(&mut self, now: Instant) {
        let text = serde_json::json!({ "state": state::full(&self.session, &self.clock, false) }).to_string();
        self.slots.state.send_replace(text.into());
        (self.state_sent, self.state_stale) = (now, false);
    }

    /// Files come and go in the folder.
    fn look_at_scenes(&mut self, now: Instant) {
        if now - self.scenes_read > Duration::from_secs(2) {
            self.scenes_read = now;
            let scenes = self.session.scenes();
            self.state_stale |= scenes != self.clock.scenes;
            self.clock.scenes = scenes;
        }
    }

    /// Sends a changed model to `check` once it has been left alone for a while.
    fn look_at_checks(&mut self, now: Instant) {
        if let Ok(sentences) = self.checked.try_recv() {
            self.clock.checks = sentences;
            self.state_stale = true;
        }
        if self.changes_checked != self.session.changes && now - self.changed_at > Duration::from_millis(300) {
            self.changes_checked = self.session.changes;
            let model = self.session.panes[0].world.model();
            let nodes: usize = model.bodies.iter().map(|b| b.len()).sum();
            if nodes <= MOST_CHECKED {
                // The checker lives as long as the engine.
                let _ = self.checker.send((self.session.changes, model.clone()));
            } else {
                self.clock.checks = vec![format!("{nodes} nodes are not checked while editing; `goop check` does")];
            }
        }
    }

    /// A drag that a newer one replaces is seen when that one is.
    fn skip(&mut self, message: Inbound) {
        if let Inbound::Command { command: Command::Grab { .. }, received, .. } = message {
            self.unshown.push(received);
        }
    }

    fn take(&mut self, message: Inbound) {
        match message {
            Inbound::Ask(question, answer) => {
                self.clock.shown = (!self.stale).then_some(self.sequence);
                let value = match question {
                    Question::Status => state::status(&self.session, &self.clock),
                    Question::State => state::full(&self.session, &self.clock, true),
                };
                // Who asked may be gone.
                let _ = answer.send(value.to_string());
            }
            Inbound::Gone(client) => {
                self.wishes.remove(&client);
                if let Some(body) = self.holders.remove(&client) {
                    let _ = self.session.command(Command::Release { body });
                    self.stale = true;
                }
            }
            Inbound::Command { client, command, reply, received } => {
                let since = Instant::now();
                let answer = self.command(client, command, received);
                self.note(Work::Command, since);
                let sentence = match answer {
                    Ok(Answer::Done) => return,
                    Ok(Answer::Notice(sentence)) => serde_json::json!({ "notice": sentence }),
                    Err(sentence) => serde_json::json!({ "error": sentence }),
                };
                // A page that does not read its answers does without.
                let _ = reply.try_send(sentence.to_string());
            }
        }
    }

    fn command(&mut self, client: u64, command: Command, received: Instant) -> Result<Answer, String> {
        match command {
            Command::Play => self.play(),
            Command::Pause => self.pause(),
            Command::Toggle if self.clock.playing => self.pause(),
            Command::Toggle => self.play(),
            Command::Speed { value } if value.is_finite() && (0.001..=100.0).contains(&value) => {
                self.clock.speed = value;
                self.restart_clock();
            }
            Command::Speed { .. } => return Err("the speed is 0.001 to 100 times real time".into()),
            Command::View { velocities, stretch } => {
                self.wishes.insert(client, Wishes { velocities, stretch });
            }
            other => {
                let drag = matches!(other, Command::Grab { .. } | Command::Release { .. });
                match &other {
                    Command::Grab { body, .. } => drop(self.holders.insert(client, *body)),
                    Command::Release { .. } => drop(self.holders.remove(&client)),
                    _ => {}
                }
                if drag {
                    self.unshown.push(received);
                } else {
                    self.changed_at = Instant::now();
                }
                let stops = matches!(
                    other,
                    Command::Scene { .. }
                        | Command::Step
                        | Command::Reset
                        | Command::Scrub { .. }
                        | Command::Undo
                        | Command::Redo
                );
                let lists = matches!(other, Command::Save { .. } | Command::Scene { .. });
                let answer = self.session.command(other);
                // What is refused disturbs nobody.
                if stops && answer.is_ok() {
                    self.pause();
                }
                if lists {
                    self.clock.scenes = self.session.scenes();
                }
                if !drag {
                    self.restart_clock();
                }
                (self.stale, self.state_stale) = (true, true);
                return answer;
            }
        }
        (self.stale, self.state_stale) = (true, true);
        Ok(Answer::Done)
    }
}

/// A thread that checks models, the newest only: first what is told at once, without gravity,
/// then how far it sags, which takes longer.
fn start_checker(check: fn(&goop::Model) -> Vec<String>) -> (Sender<(u64, goop::Model)>, Receiver<Vec<String>>) {
    let (to, models) = channel::<(u64, goop::Model)>();
    let (answers, from) = channel();
    std::thread::spawn(move || {
        while let Ok(mut newest) = models.recv() {
            loop {
                while let Ok(newer) = models.try_recv() {
                    newest = newer;
                }
                let weightless = goop::Model { gravity: glam::DVec3::ZERO, ..newest.1.clone() };
                if answers.send(check(&weightless)).is_err() {
                    return;
                }
                match models.try_recv() {
                    Ok(newer) => newest = newer,
                    Err(_) => break,
                }
            }
            if answers.send(check(&newest.1)).is_err() {
                return;
            }
        }
    });
    (to, from)
}
