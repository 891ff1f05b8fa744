use glam::DVec3;
use goop::animate::Motion;
use goop::contact::{Obstacle, ObstacleShape};
use goop::{Axes, Body, Material, Model, Shape, World};
fn main() {
    for side in [20, 40, 64] {
        let m = Material { young: 1e4, thickness: 5e-3, damping: 0.3, drag: 0.5, ..Material::default() };
        let mut body = Body::new("s", Shape::rectangle([1.0, 1.0], [side, side]).unwrap(), m, Axes::HYBRID);
        body.start.position.y = 0.3;
        let o = Obstacle { name: "t".into(), shape: ObstacleShape::Torus { radius: 0.3, tube: 0.1 }, hollow: false, motion: Motion::default(), friction: 0.3, range: 5e-3, stiffness: None, damping: 1.0, tolerance: 1e-3, published: None, removed: false };
        let mut w = World::new(Model { bodies: vec![body], obstacles: vec![o], ..Model::default() });
        let _ = DVec3::ZERO;
        let t = std::time::Instant::now();
        let mut worst = 0.0f64;
        let mut most = 0;
        while w.time() < 1.5 {
            let s = std::time::Instant::now();
            if let Err(e) = w.step() { println!("{e}"); break; }
            worst = worst.max(s.elapsed().as_secs_f64());
            most = most.max(w.row(0).contacts);
            if t.elapsed().as_secs_f64() > 60.0 { println!("slow at {}", w.time()); break; }
        }
        let r = w.row(0);
        println!("{side}: {:.2} s, worst step {:.3} s, contacts {most} now {}, rejected {}, depth {:.1e}, residue {:.1e} of {:.2}, scheme {:.3} stretch {:.2}", t.elapsed().as_secs_f64(), worst, r.contacts, w.state().rejected, r.worst_penetration, r.residue(), r.exchanged, r.scheme, r.worst_stretch);
    }
}
