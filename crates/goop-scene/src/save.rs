//! Scene to text: every default written out, in a fixed order, such that reading
//! the text gives the same scene.

use crate::reader::Word;
use crate::scene::*;

impl Obstacle {
    /// The obstacle as one `[[obstacle]]` table.
    pub fn to_toml(&self) -> String {
        let mut out = Text::default();
        obstacle(&mut out, self);
        out.0
    }
}

impl Event {
    /// The event as one `[[event]]` table.
    pub fn to_toml(&self) -> String {
        let mut out = Text::default();
        event(&mut out, self);
        out.0
    }
}

impl Scene {
    /// The scene as TOML text.
    pub fn to_toml(&self) -> String {
        let mut out = Text::default();
        out.line("format", &self.format);
        if !self.title.is_empty() {
            out.line("title", &self.title);
        }
        out.header("[world]");
        out.line("gravity", &self.world.gravity);
        out.line("wind", &self.world.wind);
        out.maybe("plane", &self.world.plane.map(Word::word));
        out.header("[clip]");
        out.line("seconds", &self.clip.seconds);
        out.line("fps", &self.clip.fps);
        out.header("[step]");
        out.line("dt", &self.step.dt);
        out.line("adaptive", &self.step.adaptive);
        out.line("max-halvings", &self.step.max_halvings);
        out.maybe("max-displacement", &self.step.max_displacement);
        out.line("max-energy-jump", &self.step.max_energy_jump);
        out.line("settle", &self.step.settle);
        self.body.iter().for_each(|body| self::body(&mut out, body));
        for contact in &self.contact {
            out.header("[[contact]]");
            out.line("bodies", &contact.bodies.to_vec());
            out.line("meet", &contact.meet);
            out.maybe("friction", &contact.friction);
            out.maybe("restitution", &contact.restitution);
        }
        self.obstacle.iter().for_each(|obstacle| self::obstacle(&mut out, obstacle));
        for attach in &self.attach {
            out.header("[[attach]]");
            out.line("body", &attach.body);
            out.line("at", &attach.at);
            out.maybe("to", &attach.to);
            out.maybe("bone", &attach.bone);
            out.maybe("obstacle", &attach.obstacle);
        }
        for probe in &self.probe {
            out.header("[[probe]]");
            out.line("name", &probe.name);
            out.line("body", &probe.body);
            out.line("at", &probe.at);
        }
        self.event.iter().for_each(|entry| event(&mut out, entry));
        self.choreography.iter().for_each(|one| choreography(&mut out, one));
        if let Some(camera) = &self.camera {
            out.header("[camera]");
            out.line("position", &camera.position);
            out.line("look-at", &camera.look_at);
            out.line("lens", &camera.lens);
            out.line("orbit", &camera.orbit);
        }
        out.0
    }
}

fn body(out: &mut Text, body: &Body) {
    out.header("[[body]]");
    out.line("name", &body.name);
    out.maybe("formulation", &body.formulation.map(Word::word));
    out.maybe("elasticity", &body.elasticity.map(Word::word));
    out.maybe("coordinates", &body.coordinates.map(Word::word));
    out.maybe("integrator", &body.integrator.map(Word::word));
    if !body.without.is_empty() {
        out.line("without", &body.without.iter().map(|term| term.word()).collect::<Vec<_>>());
    }
    if body.parts > 1 {
        out.line("parts", &body.parts);
    }
    out.line("position", &body.position);
    out.line("rotation", &body.rotation);
    out.line("scale", &body.scale);
    out.line("stretch", &body.stretch);
    out.line("velocity", &body.velocity);
    out.line("spin", &body.spin);
    out.maybe("color", &body.color);
    out.line("contact", &body.contact);
    out.line("self-contact", &body.self_contact);
    out.maybe("contact-thickness", &body.contact_thickness);
    shape(out, &body.shape);
    material(out, &body.material);
    out.header("[body.solver]");
    out.line("newton", &body.solver.newton);
    out.line("tolerance", &body.solver.tolerance);
    out.line("linear", &body.solver.linear.word());
    out.line("preconditioner", &body.solver.preconditioner.word());
    out.line("max-iterations", &body.solver.max_iterations);
    if body.solver.by_parts {
        out.line("by-parts", &true);
    }
    for pin in &body.pin {
        out.header("[[body.pin]]");
        out.line("at", &pin.at);
        out.maybe("stiffness", &pin.stiffness);
        keyframes(out, "[[body.pin.key]]", &pin.key);
        block(out, "pin", pin.drive.as_ref());
    }
    bones(out, body);
    body.drive.iter().for_each(|one| drive(out, one));
    for load in &body.load {
        out.header("[[body.load]]");
        match load {
            Load::Force { at, newtons, course } => {
                let table = Inline::new().with("at", at).with("newtons", newtons).with("course", course);
                out.line("force", &table);
            }
            Load::Pressure { pascals, course, gas } => {
                let table = Inline::new().with("pascals", pascals).with("course", course).with("gas", gas);
                out.line("pressure", &table);
            }
        }
    }
}

/// A drive and its path.
fn drive(out: &mut Text, drive: &BodyDrive) {
    out.header("[[body.drive]]");
    out.line("from", &drive.from);
    out.maybe("until", &drive.until);
    if let Some(Thruster { at, newtons, axes, course }) = &drive.thruster {
        let table = Inline::new().maybe("at", at).with("newtons", newtons);
        out.line("thruster", &table.with("axes", &axes.word()).with("course", course));
    }
    if let Some(Gyro { newton_meters, axes, course }) = &drive.gyro {
        let table = Inline::new().with("newton-meters", newton_meters);
        out.line("gyro", &table.with("axes", &axes.word()).with("course", course));
    }
    if let Some(Impulse { newton_seconds, newton_meter_seconds, axes }) = &drive.impulse {
        let table = Inline::new().with("newton-seconds", newton_seconds);
        out.line("impulse", &table.with("newton-meter-seconds", newton_meter_seconds).with("axes", &axes.word()));
    }
    if let Some(servo) = &drive.servo {
        out.header("[body.drive.servo]");
        out.line("holds", &servo.holds.word());
        out.line("along", &servo.along);
        out.line("response", &servo.response);
        out.line("damping", &servo.damping);
        out.line("carries-weight", &servo.carries_weight);
        out.maybe("most-newtons", &servo.most_newtons);
        out.maybe("most-newton-meters", &servo.most_newton_meters);
        keyframes(out, "[[body.drive.servo.path]]", &servo.path);
    }
}

fn choreography(out: &mut Text, one: &Choreography) {
    out.header("[[choreography]]");
    out.line("body", &one.body);
    out.line("response", &one.response);
    out.line("strength", &one.strength);
    if one.r#move.is_empty() {
        out.line("move", &Vec::<Vector>::new());
    }
    for step in &one.r#move {
        out.header("[[choreography.move]]");
        out.line("time", &step.time);
        out.line("seconds", &step.seconds);
        out.maybe("to", &step.to);
        out.maybe("turn", &step.turn);
        out.maybe("hop", &step.hop);
        out.line("squash", &step.squash);
        out.maybe("bow", &step.bow);
        out.line("roll", &step.roll);
    }
}

fn block(out: &mut Text, owner: &str, drive: Option<&Drive>) {
    let Some(drive) = drive else { return };
    out.header(&format!("[body.{owner}.drive]"));
    out.line("mass", &drive.mass);
    out.maybe("file", &drive.file);
    out.line("reaction", &drive.reaction);
    for push in &drive.push {
        out.header(&format!("[[body.{owner}.drive.push]]"));
        out.line("time", &push.time);
        out.line("newtons", &push.newtons);
        out.line("stop", &push.stop);
        out.line("hold", &push.hold);
        out.line("release", &push.release);
        out.line("turn", &push.turn);
    }
}

fn bones(out: &mut Text, body: &Body) {
    for bone in &body.bone {
        out.header("[[body.bone]]");
        out.line("name", &bone.name);
        if let Some(Capsule { from, to, radius }) = &bone.capsule {
            out.line("capsule", &Inline::new().with("from", from).with("to", to).with("radius", radius));
        }
        if let Some(Ellipsoid { center, radii, rotation }) = &bone.ellipsoid {
            out.line(
                "ellipsoid",
                &Inline::new().with("center", center).with("radii", radii).with("rotation", rotation),
            );
        }
        out.maybe("parent", &bone.parent);
        out.maybe("joint", &bone.joint);
        keyframes(out, "[[body.bone.key]]", &bone.key);
        block(out, "bone", bone.drive.as_ref());
    }
    if let Some(motion) = &body.motion {
        out.header("[body.motion]");
        out.maybe("file", &motion.file);
        out.maybe("clip", &motion.clip);
        out.line("start", &motion.start);
        out.line("speed", &motion.speed);
        out.line("repeat", &motion.repeat);
        out.line("ground", &motion.ground);
        out.maybe("bind-frame", &motion.bind_frame);
        out.maybe("start-frame", &motion.start_frame);
        out.maybe("up", &motion.up.map(Word::word));
        out.maybe("unit", &motion.unit);
        if !motion.map.is_empty() {
            out.header("[body.motion.map]");
            motion.map.iter().for_each(|(joint, source)| out.line(&quoted(joint), source));
        }
    }
}

fn shape(out: &mut Text, shape: &Shape) {
    if let Shape::Character { file, nodes, rate, lattice, inside, skin, skeleton, height } = shape {
        out.header("[body.shape.character]");
        out.line("file", file);
        match rate {
            Some(rate) => out.line("rate", rate),
            None => out.line("nodes", nodes),
        }
        out.line("lattice", &lattice.word());
        out.line("inside", &inside.word());
        out.line("skin", &skin.word());
        out.maybe("skeleton", &skeleton.map(Word::word));
        out.maybe("height", height);
        return;
    }
    let mut open = |kind: &str, lines: &[(&str, &dyn Value)]| {
        out.header(&format!("[body.shape.{kind}]"));
        lines.iter().for_each(|(name, value)| out.line(name, *value));
    };
    match shape {
        Shape::Line { size, nodes } => open("line", &[("size", size), ("nodes", nodes)]),
        Shape::Arc { radius, angle, nodes } => {
            open("arc", &[("radius", radius), ("angle", angle), ("nodes", nodes)]);
        }
        Shape::Hoop { radius, nodes } => open("hoop", &[("radius", radius), ("nodes", nodes)]),
        Shape::Helix { radius, height, turns, nodes } => {
            open("helix", &[("radius", radius), ("height", height), ("turns", turns), ("nodes", nodes)]);
        }
        Shape::Spline { points, closed, nodes } => {
            open("spline", &[("points", points), ("closed", closed), ("nodes", nodes)]);
        }
        Shape::Rectangle { size, nodes } => open("rectangle", &[("size", size), ("nodes", nodes)]),
        Shape::Disc { radius, nodes } => open("disc", &[("radius", radius), ("nodes", nodes)]),
        Shape::Cylinder { radius, height, nodes } => {
            open("cylinder", &[("radius", radius), ("height", height), ("nodes", nodes)]);
        }
        Shape::Sphere { radius, nodes } => open("sphere", &[("radius", radius), ("nodes", nodes)]),
        Shape::Torus { radius, tube, nodes } => {
            open("torus", &[("radius", radius), ("tube", tube), ("nodes", nodes)]);
        }
        Shape::Revolve { profile, lobes, depth, bend, nodes } => open(
            "revolve",
            &[("profile", profile), ("lobes", lobes), ("depth", depth), ("bend", bend), ("nodes", nodes)],
        ),
        Shape::Bezier { net, nodes } => open("bezier", &[("net", net), ("nodes", nodes)]),
        Shape::Box { size, nodes, tetrahedra: false } => open("box", &[("size", size), ("nodes", nodes)]),
        Shape::Box { size, nodes, tetrahedra } => {
            open("box", &[("size", size), ("nodes", nodes), ("tetrahedra", tetrahedra)]);
        }
        Shape::Ball { radius, nodes } => open("ball", &[("radius", radius), ("nodes", nodes)]),
        Shape::Mesh { file, weld } => open("mesh", &[("file", file), ("weld", weld)]),
        Shape::Saved { file } => open("saved", &[("file", file)]),
        Shape::Character { .. } => {} // above
    }
}

fn material(out: &mut Text, material: &Material) {
    out.header("[body.material]");
    out.maybe("preset", &material.preset);
    out.line("density", &material.density);
    out.line("young", &material.young);
    out.line("poisson", &material.poisson);
    out.line("thickness", &material.thickness);
    out.line("radius", &material.radius);
    out.line("damping", &material.damping);
    out.line("drag", &material.drag);
    out.line("friction", &material.friction);
    out.line("restitution", &material.restitution);
    out.maybe("yield", &material.r#yield);
    out.maybe("flow", &material.flow);
    out.maybe("flow-limit", &material.flow_limit);
    out.maybe("tear", &material.tear);
    if let Some(weights) = &material.weights {
        out.header("[body.material.weights]");
        out.line("zero", &weights.zero);
        out.line("first", &weights.first);
        out.line("shear", &weights.shear);
        out.line("second", &weights.second);
        out.line("mixed", &weights.mixed);
        out.line("twist", &weights.twist);
    }
    if let Some(raw) = &material.raw {
        out.header("[body.material.raw]");
        out.line("k", &raw.k);
        out.line("d", &raw.d);
        out.line("c", &raw.c);
        out.line("node-mass", &raw.node_mass);
        out.maybe("rest", &raw.rest);
        out.line("shear", &raw.shear);
        out.line("bend", &raw.bend);
    }
    for region in &material.region {
        out.header("[[body.material.region]]");
        out.line("at", &region.at);
        out.maybe("density", &region.density);
        out.maybe("young", &region.young);
        out.maybe("thickness", &region.thickness);
        out.maybe("damping", &region.damping);
        out.maybe("k", &region.k);
        out.maybe("weight", &region.weight);
    }
}

/// A key in double quotes: keys may not stand in the longer kinds of quotes.
fn quoted(key: &str) -> String {
    let mut out = String::from('"');
    for letter in key.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            _ if letter.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(letter))),
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}

fn keyframes(out: &mut Text, header: &str, frames: &[Key]) {
    for frame in frames {
        out.header(header);
        out.line("time", &frame.time);
        out.line("position", &frame.position);
        out.line("rotation", &frame.rotation);
    }
}

fn event(out: &mut Text, event: &Event) {
    out.header("[[event]]");
    out.line("time", &event.time);
    if let Edit::Add(entry) = &event.edit {
        out.header("[event.add]");
        return obstacle_lines(out, entry, "[[event.add.key]]");
    }
    let (name, table) = edit(&event.edit);
    out.line(name, &table);
}

fn obstacle(out: &mut Text, obstacle: &Obstacle) {
    out.header("[[obstacle]]");
    obstacle_lines(out, obstacle, "[[obstacle.key]]");
}

fn obstacle_lines(out: &mut Text, obstacle: &Obstacle, key: &str) {
    out.line("name", &obstacle.name);
    let (kind, table) = match &obstacle.shape {
        ObstacleShape::Plane {} => ("plane", Inline::new()),
        ObstacleShape::Sphere { radius } => ("sphere", Inline::new().with("radius", radius)),
        ObstacleShape::Ellipsoid { radii } => ("ellipsoid", Inline::new().with("radii", radii)),
        ObstacleShape::Torus { radius, tube } => ("torus", Inline::new().with("radius", radius).with("tube", tube)),
        ObstacleShape::Hyperboloid { waist, slope, height } => {
            ("hyperboloid", Inline::new().with("waist", waist).with("slope", slope).with("height", height))
        }
        ObstacleShape::Capsule { radius, length } => {
            ("capsule", Inline::new().with("radius", radius).with("length", length))
        }
        ObstacleShape::Box { size, round } => ("box", Inline::new().with("size", size).with("round", round)),
        ObstacleShape::Mesh { file, thickness } => {
            let table = Inline::new().with("file", file);
            ("mesh", thickness.iter().fold(table, |table, thickness| table.with("thickness", thickness)))
        }
    };
    out.line(&format!("shape.{kind}"), &table);
    out.maybe("color", &obstacle.color);
    out.line("position", &obstacle.position);
    out.line("rotation", &obstacle.rotation);
    out.line("hollow", &obstacle.hollow);
    out.line("friction", &obstacle.friction);
    out.maybe("restitution", &obstacle.restitution);
    out.line("range", &obstacle.range);
    out.maybe("stiffness", &obstacle.stiffness);
    out.line("damping", &obstacle.damping);
    out.line("tolerance", &obstacle.tolerance);
    if let Some(published) = &obstacle.published {
        out.line("published", &Inline::new().with("c", &published.c).with("xi", &published.xi));
    }
    keyframes(out, key, &obstacle.key);
}

fn edit(edit: &Edit) -> (&'static str, Inline) {
    let new = Inline::new;
    match edit {
        Edit::Pin { body, at, stiffness } => {
            ("pin", new().with("body", body).with("at", at).maybe("stiffness", stiffness))
        }
        Edit::Unpin { body, at } => ("unpin", new().with("body", body).with("at", at)),
        Edit::Grab { body, at, to, stiffness } => {
            ("grab", new().with("body", body).with("at", at).with("to", to).with("stiffness", stiffness))
        }
        Edit::Release { body } => ("release", new().with("body", body)),
        Edit::Parameter { body, key, value } => {
            let table = new().maybe("body", body).with("key", key);
            let table = match value {
                ParameterValue::Number(value) => table.with("value", value),
                ParameterValue::Vector(value) => table.with("value", value),
            };
            ("parameter", table)
        }
        Edit::Obstacle { name, position, remove } => {
            ("obstacle", new().with("name", name).maybe("position", position).with("remove", remove))
        }
        Edit::Impulse { body, at, newton_seconds } => {
            ("impulse", new().with("body", body).with("at", at).with("newton-seconds", newton_seconds))
        }
        Edit::Stop { body } => ("stop", new().with("body", body)),
        Edit::Thrust { body, at, newtons } => {
            ("thrust", new().with("body", body).with("at", at).with("newtons", newtons))
        }
        Edit::Formulation { body, to, integrator } => {
            let table = new().with("body", body).with("to", &to.word());
            ("formulation", table.maybe("integrator", &integrator.map(Word::word)))
        }
        Edit::Add(_) => ("add", new()), // above
    }
}

/// Text being written.
#[derive(Default)]
struct Text(String);

impl Text {
    fn header(&mut self, header: &str) {
        self.0 += &format!("\n{header}\n");
    }

    fn line(&mut self, name: &str, value: &dyn Value) {
        self.0 += &format!("{name} = {}\n", value.toml());
    }

    fn maybe<V: Value>(&mut self, name: &str, value: &Option<V>) {
        if let Some(value) = value {
            self.line(name, value);
        }
    }
}

/// A table on one line.
struct Inline(Vec<String>);

impl Inline {
    fn new() -> Inline {
        Inline(Vec::new())
    }

    fn with(mut self, name: &str, value: &dyn Value) -> Inline {
        self.0.push(format!("{name} = {}", value.toml()));
        self
    }

    fn maybe<V: Value>(self, name: &str, value: &Option<V>) -> Inline {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

/// Something that stands to the right of `=`.
trait Value {
    fn toml(&self) -> String;
}

impl Value for Inline {
    fn toml(&self) -> String {
        if self.0.is_empty() { "{}".into() } else { format!("{{ {} }}", self.0.join(", ")) }
    }
}

/// Debug is the shortest text that reads back as the same number, and always
/// has a point or an exponent.
impl Value for f64 {
    fn toml(&self) -> String {
        format!("{self:?}")
    }
}

impl Value for u32 {
    fn toml(&self) -> String {
        self.to_string()
    }
}

impl Value for u8 {
    fn toml(&self) -> String {
        self.to_string()
    }
}

impl Value for bool {
    fn toml(&self) -> String {
        self.to_string()
    }
}

impl Value for &str {
    fn toml(&self) -> String {
        toml_edit::Value::from(*self).to_string()
    }
}

impl Value for String {
    fn toml(&self) -> String {
        self.as_str().toml()
    }
}

impl<V: Value> Value for Vec<V> {
    fn toml(&self) -> String {
        format!("[{}]", self.iter().map(Value::toml).collect::<Vec<_>>().join(", "))
    }
}

impl<V: Value, const N: usize> Value for [V; N] {
    fn toml(&self) -> String {
        format!("[{}]", self.iter().map(Value::toml).collect::<Vec<_>>().join(", "))
    }
}

impl Value for Selection {
    fn toml(&self) -> String {
        let one = |name: &str, value: &dyn Value| Inline::new().with(name, value).toml();
        match self {
            Selection::All => "all".toml(),
            Selection::Center => "center".toml(),
            Selection::Corners => "corners".toml(),
            Selection::Rim => "rim".toml(),
            Selection::Corner(corner) => one("corner", corner),
            Selection::Edge(side) => one("edge", &side.word()),
            Selection::Uv(ends) => one("uv", ends),
            Selection::Box(ends) => one("box", ends),
            Selection::Sphere { center, radius } => {
                one("sphere", &Inline::new().with("center", center).with("radius", radius))
            }
            Selection::Index(list) => one("index", list),
            Selection::Nearest(point) => one("nearest", point),
            Selection::Group(name) => one("group", name),
            Selection::Depth(ends) => one("depth", ends),
            Selection::Part(name) => one("part", name),
        }
    }
}
