//! What a piece of a run costs.

use goop::world::StepReport;
use goop::{Failure, World, stages};
use serde_json::{Value, json};
use std::sync::OnceLock;
use std::time::Instant;

/// Costs of some steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub steps: usize,
    /// Time simulated (s).
    pub simulated: f64,
    pub wall: f64,
    /// Processor time of all threads (s), waiting for one another included.
    pub cpu: f64,
    /// The quickest step (s).
    pub least: f64,
    pub iterations: usize,
    pub most_iterations: usize,
    /// Steps in which a factor had to be made.
    pub direct: usize,
    pub residual: f64,
    /// Forces, assembly, solve, contact, output (s).
    pub stages: [f64; 5],
    /// Iterations in single precision, a part of the solve (s).
    pub sweeps: f64,
}

/// Seconds since the first call.
fn now() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Processor time of the process (s); wall time where that is not known.
pub fn cpu() -> f64 {
    #[cfg(unix)]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the structure is ours.
        if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } == 0 {
            return time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64;
        }
    }
    now()
}

/// How many others want the processor: mean over the last minute, where the system tells.
pub fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// Memory in use (bytes), where the system tells.
pub fn resident() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: f64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096.0)
}

/// Takes so many steps, but no more than about `seconds` of them; `output` is done after each.
pub fn measure(world: &mut World, steps: usize, seconds: f64, mut output: impl FnMut(&World)) -> Result<Cost, Failure> {
    stages::watch(now);
    stages::take();
    let (start, start_cpu, from) = (now(), cpu(), world.time());
    let mut cost = Cost { least: f64::INFINITY, ..Cost::default() };
    while cost.steps < steps && (cost.steps < 3 || now() - start < seconds) {
        let step = now();
        let report: StepReport = world.step()?;
        let writing = now();
        output(world);
        cost.stages[4] += now() - writing;
        cost.least = cost.least.min(now() - step);
        cost.steps += 1;
        cost.iterations += report.iterations;
        cost.most_iterations = cost.most_iterations.max(report.iterations);
        cost.direct += usize::from(report.direct);
        cost.residual = cost.residual.max(report.residual);
    }
    let [forces, assembly, solve, contact, sweeps] = stages::take();
    cost.stages[..4].copy_from_slice(&[forces, assembly, solve, contact]);
    cost.sweeps = sweeps;
    (cost.wall, cost.cpu, cost.simulated) = (now() - start, cpu() - start_cpu, world.time() - from);
    Ok(cost)
}

impl Cost {
    /// Adds what more steps cost.
    pub fn add(&mut self, more: &Cost) {
        self.steps += more.steps;
        self.simulated += more.simulated;
        self.wall += more.wall;
        self.cpu += more.cpu;
        self.least = if self.steps == more.steps { more.least } else { self.least.min(more.least) };
        self.iterations += more.iterations;
        self.most_iterations = self.most_iterations.max(more.most_iterations);
        self.direct += more.direct;
        self.residual = self.residual.max(more.residual);
        self.stages.iter_mut().zip(more.stages).for_each(|(sum, part)| *sum += part);
        self.sweeps += more.sweeps;
    }

    /// Milliseconds a step: forces, assembly, solve, contact, output, and what is left.
    pub fn ms(&self) -> [f64; 6] {
        let rest = (self.wall - self.stages.iter().sum::<f64>()).max(0.0);
        let [forces, assembly, solve, contact, output] = self.stages;
        [forces, assembly, solve, contact, output, rest].map(|s| 1e3 * s / self.steps as f64)
    }

    pub fn wall_per_second(&self) -> f64 {
        self.wall / self.simulated
    }

    pub fn cpu_per_second(&self) -> f64 {
        self.cpu / self.simulated
    }

    /// Milliseconds a step: wall and processor.
    pub fn per_step(&self) -> [f64; 2] {
        [self.wall, self.cpu].map(|s| 1e3 * s / self.steps as f64)
    }

    /// Iterations a step.
    pub fn iterations_per_step(&self) -> f64 {
        self.iterations as f64 / self.steps as f64
    }

    pub fn json(&self) -> Value {
        let [forces, assembly, solve, contact, output, rest] = self.ms();
        json!({
            "steps": self.steps,
            "wall_per_second": self.wall_per_second(),
            "cpu_per_second": self.cpu_per_second(),
            "ms_per_step": self.per_step()[0],
            "cpu_ms_per_step": self.per_step()[1],
            "least_ms": 1e3 * self.least,
            "iterations_per_step": self.iterations_per_step(),
            "most_iterations": self.most_iterations,
            "direct_steps": self.direct,
            "worst_residual": self.residual,
            "ms_sweeps": 1e3 * self.sweeps / self.steps as f64,
            "ms": {
                "forces": forces, "assembly": assembly, "solve": solve, "contact": contact, "output": output,
                "rest": rest,
            },
        })
    }
}
