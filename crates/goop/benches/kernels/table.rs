//! How the figures are printed.

/// One kernel on one body.
pub struct Line {
    pub body: String,
    pub kernel: String,
    pub nodes: usize,
    /// Best and median of a call (s).
    pub seconds: [f64; 2],
    /// What a call has to move.
    pub bytes: usize,
    /// Of a triad of that size (bytes/s).
    pub bandwidth: f64,
    /// Of the linear solve, where there is one.
    pub iterations: usize,
    /// What the roots and divisions of the springs alone take (s); 0 where memory binds anyway.
    pub roots: f64,
}

impl Line {
    fn ns_per_node(&self) -> f64 {
        self.seconds[0] * 1e9 / self.nodes as f64
    }

    fn bound(&self) -> f64 {
        self.bytes as f64 / self.bandwidth * 1e9 / self.nodes as f64
    }
}

/// Prints the lines of one body and hands them back.
pub fn print(lines: Vec<Line>) -> Vec<Line> {
    let first = &lines[0];
    println!("\n{} of {} nodes", first.body, first.nodes);
    println!("  kernel                    ns/node  median   B/node    GB/s    bound   ratio");
    for l in &lines {
        let (ns, bound) = (l.ns_per_node(), l.bound());
        let median = l.seconds[1] * 1e9 / l.nodes as f64;
        let bytes = l.bytes as f64 / l.nodes as f64;
        print!(
            "  {:<24} {ns:8.1} {median:8.1} {bytes:8.0} {:7.1} {bound:8.1} {:7.2}",
            l.kernel,
            l.bandwidth * 1e-9,
            ns / bound
        );
        if l.iterations > 0 {
            let each = ns / l.iterations as f64;
            print!("   {} iterations, {each:.1} ns/node each, {:.3} s a step", l.iterations, l.seconds[0]);
        }
        if l.roots > 0.0 {
            print!("   roots and divisions alone {:.1}", l.roots * 1e9 / l.nodes as f64);
        }
        println!();
    }
    lines
}

/// Time per node of the largest cube over that of the one before.
pub fn print_flatness(lines: &[Line]) {
    let cubes: Vec<&Line> = lines.iter().filter(|l| l.body == "cube").collect();
    let mut sizes: Vec<usize> = cubes.iter().map(|l| l.nodes).collect();
    sizes.dedup();
    let [.., small, large] = sizes[..] else { return };
    println!("\ntime per node at {large} nodes over that at {small}");
    for l in cubes.iter().filter(|l| l.nodes == large) {
        if let Some(s) = cubes.iter().find(|s| s.nodes == small && s.kernel == l.kernel) {
            let each = |l: &Line| l.ns_per_node() / l.iterations.max(1) as f64;
            println!("  {:<24} {:.2}", l.kernel, each(l) / each(s));
        }
    }
}

/// Everything on one line.
pub fn json(lines: &[Line], memory: usize) -> String {
    let rows: Vec<String> = (lines.iter())
        .map(|l| {
            format!(
                r#"{{"body":"{}","kernel":"{}","nodes":{},"ns_per_node":{:.3},"median_ns_per_node":{:.3},"bytes_per_node":{:.1},"bandwidth":{:.4e},"bound_ns_per_node":{:.3},"ratio":{:.3},"roots_ns_per_node":{:.3},"iterations":{}}}"#,
                l.body,
                l.kernel,
                l.nodes,
                l.ns_per_node(),
                l.seconds[1] * 1e9 / l.nodes as f64,
                l.bytes as f64 / l.nodes as f64,
                l.bandwidth,
                l.bound(),
                l.ns_per_node() / l.bound(),
                l.roots * 1e9 / l.nodes as f64,
                l.iterations
            )
        })
        .collect();
    format!(r#"{{"peak_memory_bytes":{memory},"kernels":[{}]}}"#, rows.join(","))
}
