//! Readers and retargeting on small files made here.

mod bvh;
mod force;
mod fuzz;
mod glb;
mod gltf;
mod humanoid;
mod motion;
mod names;
mod retarget;
