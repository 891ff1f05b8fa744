//! Named materials, SI. Round values of the right size, not measurements.

/// The values a preset fills in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// Its name in a file.
    pub name: &'static str,
    /// Density (kg/m³).
    pub density: f64,
    /// Young's modulus (Pa).
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Thickness of surfaces (m).
    pub thickness: f64,
    /// Radius of curves (m).
    pub radius: f64,
    /// Damping ratio of the lowest stretching mode.
    pub damping: f64,
    /// Drag of the surrounding medium per mass (1/s).
    pub drag: f64,
    /// Coulomb friction against obstacles.
    pub friction: f64,
    /// Why these values.
    pub reason: &'static str,
}

/// The card of a body without a preset: a soft, light rubber that shows its
/// motion at everyday sizes and steps.
pub const GENERIC: Preset = Preset {
    name: "generic",
    density: 1000.0,
    young: 1e5,
    poisson: 0.3,
    thickness: 0.005,
    radius: 0.005,
    damping: 0.05,
    drag: 0.0,
    friction: 0.4,
    reason: "a soft rubber with the density of water",
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "rubber",
        density: 1100.0,
        young: 2e6,
        poisson: 0.48,
        thickness: 0.003,
        radius: 0.004,
        damping: 0.06,
        drag: 0.0,
        friction: 0.8,
        reason: "a vulcanised sheet: nearly incompressible, grips, loses little",
    },
    Preset {
        name: "cloth",
        density: 400.0,
        young: 1e6,
        poisson: 0.2,
        thickness: 0.0005,
        radius: 0.001,
        damping: 0.1,
        drag: 0.3,
        friction: 0.4,
        reason: "0.2 kg/m² of woven cotton: thin, light, slowed by air and by its threads",
    },
    Preset {
        name: "paper",
        density: 800.0,
        young: 3e9,
        poisson: 0.2,
        thickness: 0.0001,
        radius: 0.001,
        damping: 0.05,
        drag: 0.5,
        friction: 0.4,
        reason: "80 g/m² writing paper: stiff in its plane, bends easily, air carries it",
    },
    Preset {
        name: "spring-steel",
        density: 7850.0,
        young: 2e11,
        poisson: 0.3,
        thickness: 0.0005,
        radius: 0.001,
        damping: 0.002,
        drag: 0.0,
        friction: 0.3,
        reason: "hardened strip or wire: very stiff, rings for long",
    },
    Preset {
        name: "jelly",
        density: 1050.0,
        young: 1e4,
        poisson: 0.45,
        thickness: 0.01,
        radius: 0.01,
        damping: 0.08,
        drag: 0.0,
        friction: 0.3,
        reason: "table jelly: mostly water, wobbles several times before it rests",
    },
    Preset {
        name: "silicone",
        density: 1150.0,
        young: 5e5,
        poisson: 0.48,
        thickness: 0.003,
        radius: 0.004,
        damping: 0.1,
        drag: 0.0,
        friction: 0.7,
        reason: "a casting silicone: softer than rubber, duller",
    },
    Preset {
        name: "leather",
        density: 900.0,
        young: 5e7,
        poisson: 0.35,
        thickness: 0.002,
        radius: 0.002,
        damping: 0.2,
        drag: 0.05,
        friction: 0.6,
        reason: "a belt: tough, heavy for its stiffness, hardly bounces",
    },
    Preset {
        name: "sponge",
        density: 60.0,
        young: 5e4,
        poisson: 0.1,
        thickness: 0.02,
        radius: 0.02,
        damping: 0.3,
        drag: 0.1,
        friction: 0.6,
        reason: "an open foam: light, squeezes without bulging, air in it damps",
    },
    Preset {
        name: "wood",
        density: 600.0,
        young: 1e10,
        poisson: 0.35,
        thickness: 0.003,
        radius: 0.005,
        damping: 0.01,
        drag: 0.0,
        friction: 0.4,
        reason: "a softwood along its grain, taken as the same in all directions",
    },
    Preset {
        name: "rope",
        density: 900.0,
        young: 5e8,
        poisson: 0.3,
        thickness: 0.005,
        radius: 0.005,
        damping: 0.1,
        drag: 0.1,
        friction: 0.5,
        reason: "laid fibres: a tenth of the fibre's modulus, friction between strands",
    },
];

/// Every preset.
pub fn presets() -> &'static [Preset] {
    PRESETS
}

/// The preset with a name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}
