mod common;
use common::*;
use glam::DVec3;
use goop::*;
#[test]
fn pendulum() {
    for young in [1e4, 1e6, 1e8, 1e10, 1e12] {
        for newton in [1, 2, 3, 6, 12] {
            let m = Material { young, damping: 0.0, ..Material::default() };
            let mut b = block(DVec3::new(0.4, 0.1, 0.1), [9, 3, 3], m, Axes::IMPLICIT);
            b.newton = newton;
            let top = b.shape.side(0, false);
            let mid = top[4];
            let b = b.pin(&[mid]);
            let mut w = World::new(fixed(b, 1.0 / 240.0));
            let mut low: f64 = 0.0;
            let mut at = 0.0;
            let mut it = 0;
            for _ in 0..240 {
                match w.step() {
                    Ok(r) => it += r.iterations,
                    Err(e) => {
                        eprintln!("{e}");
                        break;
                    }
                };
                let y = center(&w).y;
                if y < low {
                    low = y;
                    at = w.time();
                }
            }
            let r = w.row(0);
            eprintln!(
                "{young:.0e} newton {newton}: lowest {low:.4} at {at:.3} residue share {:.2e} scheme {:.3e} exch {:.3e} iters {it}",
                share(&r),
                r.scheme,
                r.exchanged
            );
        }
    }
}
