//! USD as text, and the crate by a reader that follows the format's tables.

use super::*;

/// Catches metadata without which Blender shows a scene lying down at a hundredth of its size.
#[test]
fn text_has_units_times_and_samples() {
    let (folder, _) = exported(Format::Usda);
    let text = String::from_utf8(read(&folder, "scene.usda")).unwrap();
    for line in ["#usda 1.0", "upAxis = \"Y\"", "metersPerUnit = 1", "startTimeCode = 0", "endTimeCode = 3"] {
        assert!(text.contains(line), "{line}");
    }
    assert!(text.contains("timeCodesPerSecond = 24") && text.contains("defaultPrim = \"World\""));
    assert!(text.contains("def Mesh \"a_sheet\"") && text.contains("def BasisCurves \"rope\""));
    assert!(text.contains("int[] faceVertexIndices = [0, 1, 2, 2, 1, 3]"));
    assert!(text.contains("interpolation = \"faceVarying\"") && text.contains("int[] curveVertexCounts = [3]"));
    let [[x, y, z], ..] = rope(3);
    assert!(text.contains(&format!("            3: [({x}, {y}, {z}), ")), "{text}");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
}

/// Sections of a crate, by name.
struct Crate {
    bytes: Vec<u8>,
    tokens: Vec<String>,
    fields: Vec<(String, u64)>,
    sets: Vec<u32>,
    specs: Vec<(String, u32, u32)>,
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Literals of an LZ4 block behind a zero.
fn unblock(bytes: &[u8]) -> Vec<u8> {
    let (mut length, mut at) = ((bytes[1] >> 4) as usize, 2);
    if length == 15 {
        while bytes[at] == 255 {
            length += 255;
            at += 1;
        }
        length += bytes[at] as usize;
        at += 1;
    }
    assert_eq!((bytes[0], bytes.len()), (0, at + length));
    bytes[at..].to_vec()
}

/// A packed list of integers; moves on behind it.
fn integers(bytes: &[u8], at: &mut usize, count: usize) -> Vec<i32> {
    let length = word(bytes, *at) as usize;
    let plain = unblock(&bytes[*at + 8..*at + 8 + length]);
    *at += 8 + length;
    let common = i32::from_le_bytes(plain[..4].try_into().unwrap());
    let (mut from, mut value) = (4 + count.div_ceil(4), 0i32);
    (0..count)
        .map(|i| {
            let code = plain[4 + i / 4] >> (2 * (i % 4)) & 3;
            let width = [0, 1, 2, 4][code as usize];
            let some = &plain[from..from + width];
            from += width;
            value = value.wrapping_add(match code {
                0 => common,
                1 => i8::from_le_bytes(some.try_into().unwrap()).into(),
                2 => i16::from_le_bytes(some.try_into().unwrap()).into(),
                _ => i32::from_le_bytes(some.try_into().unwrap()),
            });
            value
        })
        .collect()
}

impl Crate {
    fn new(bytes: Vec<u8>) -> Crate {
        assert_eq!(&bytes[..8], b"PXR-USDC");
        let contents = word(&bytes, 16) as usize;
        let section = |name: &str| {
            let entry = (0..word(&bytes, contents) as usize)
                .map(|i| contents + 8 + 32 * i)
                .find(|&at| bytes[at..at + 16].starts_with(name.as_bytes()) && bytes[at + name.len()] == 0)
                .unwrap();
            let start = word(&bytes, entry + 16) as usize;
            bytes[start..start + word(&bytes, entry + 24) as usize].to_vec()
        };
        let tokens = section("TOKENS");
        let text = unblock(&tokens[24..]);
        assert_eq!((word(&tokens, 8) as usize, word(&tokens, 16) as usize), (text.len(), tokens.len() - 24));
        let tokens: Vec<String> =
            text[..text.len() - 1].split(|&b| b == 0).map(|t| String::from_utf8(t.to_vec()).unwrap()).collect();

        let section_fields = section("FIELDS");
        let (count, mut at) = (word(&section_fields, 0) as usize, 8);
        let names = integers(&section_fields, &mut at, count);
        let values = unblock(&section_fields[at + 8..]);
        let fields =
            names.iter().enumerate().map(|(i, &n)| (tokens[n as usize].clone(), word(&values, 8 * i))).collect();
        let section_sets = section("FIELDSETS");
        let (count, mut at) = (word(&section_sets, 0) as usize, 8);
        let sets = integers(&section_sets, &mut at, count).iter().map(|&set| set as u32).collect();

        let paths = paths(&section("PATHS"), &tokens);
        let section_specs = section("SPECS");
        let (count, mut at) = (word(&section_specs, 0) as usize, 8);
        let [path, set, kind] = [(); 3].map(|()| integers(&section_specs, &mut at, count));
        let specs = (0..count).map(|i| (paths[path[i] as usize].clone(), set[i] as u32, kind[i] as u32)).collect();
        Crate { bytes, tokens, fields, sets, specs }
    }

    /// Kind of a spec, and a field of it.
    fn field(&self, path: &str, name: &str) -> (u32, Option<u64>) {
        let (_, set, kind) = self.specs.iter().find(|spec| spec.0 == path).unwrap_or_else(|| panic!("no {path}"));
        let fields = self.sets[*set as usize..].iter().take_while(|&&field| field != u32::MAX);
        let found = fields.map(|&field| &self.fields[field as usize]).find(|field| field.0 == name);
        (*kind, found.map(|field| field.1))
    }

    fn payload(rep: u64) -> usize {
        (rep & 0xffff_ffff_ffff) as usize
    }

    fn floats(&self, rep: u64) -> Vec<[f32; 3]> {
        assert_eq!((rep >> 63, rep >> 48 & 0xff), (1, 24));
        let at = Crate::payload(rep);
        assert_eq!(at % 8, 0);
        let bytes = &self.bytes[at + 8..at + 8 + 12 * word(&self.bytes, at) as usize];
        triples(&bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect::<Vec<_>>())
    }
}

/// Paths by their number, from the depth-first lists.
fn paths(section: &[u8], tokens: &[String]) -> Vec<String> {
    let (count, mut at) = (word(section, 8) as usize, 16);
    assert_eq!(word(section, 0) as usize, count);
    let [index, token, jump] = [(); 3].map(|()| integers(section, &mut at, count));
    let mut paths = vec![String::new(); count];
    let mut open = vec![(0usize, String::new())];
    while let Some((mut i, mut parent)) = open.pop() {
        loop {
            let name = &tokens[token[i].unsigned_abs() as usize];
            let path = match (i, token[i] < 0) {
                (0, _) => String::new(),
                (_, true) => format!("{parent}.{name}"),
                (_, false) => format!("{parent}/{name}"),
            };
            paths[index[i] as usize] = path.clone();
            match jump[i] {
                -2 => break,
                0 => {}
                -1 => parent = path,
                far => {
                    open.push((i + far as usize, parent));
                    parent = path;
                }
            }
            i += 1;
        }
    }
    paths
}

/// Catches jumps that lose a path, values of another attribute, and samples of another frame.
#[test]
fn a_crate_says_what_the_text_says() {
    let (folder, _) = exported(Format::Usdc);
    let layer = Crate::new(read(&folder, "scene.usdc"));
    let (kind, axis) = layer.field("", "upAxis");
    assert_eq!((kind, layer.tokens[Crate::payload(axis.unwrap())].as_str()), (7, "Y"));
    let double = |name: &str| {
        let rep = layer.field("", name).1.unwrap();
        assert_eq!(rep >> 48, 9);
        f64::from_le_bytes(layer.bytes[Crate::payload(rep)..][..8].try_into().unwrap())
    };
    assert_eq!(["metersPerUnit", "endTimeCode", "timeCodesPerSecond"].map(double), [1.0, 3.0, 24.0]);
    let (kind, type_name) = layer.field("/World/rope", "typeName");
    assert_eq!((kind, layer.tokens[Crate::payload(type_name.unwrap())].as_str()), (6, "BasisCurves"));
    assert_eq!(layer.field("/World/a_sheet.material:binding", "targetPaths").0, 8);
    assert_eq!(
        layer.field("/World/Materials/glass/Surface.inputs:opacity", "default").1.unwrap() as u32,
        0.25f32.to_bits()
    );

    for (path, wanted) in [("/World/a_sheet.points", sheet(2).to_vec()), ("/World/rope.points", rope(2).to_vec())] {
        let (kind, samples) = layer.field(path, "timeSamples");
        assert_eq!((kind, samples.unwrap() >> 48), (1, 46));
        let at = Crate::payload(samples.unwrap());
        let times = at + word(&layer.bytes, at) as usize;
        let codes = Crate::payload(word(&layer.bytes, times));
        assert_eq!(word(&layer.bytes, codes), FRAMES as u64);
        assert_eq!(f64::from_bits(word(&layer.bytes, codes + 8 + 16)), 2.0);
        let values = times + 8 + word(&layer.bytes, times + 8) as usize;
        assert_eq!(word(&layer.bytes, values), FRAMES as u64);
        assert_eq!(layer.floats(word(&layer.bytes, values + 8 + 16)), wanted);
    }
    let at = Crate::payload(layer.field("/World/rope.extent", "timeSamples").1.unwrap());
    let corners = layer.floats(word(&layer.bytes, at + 32));
    let (low, high) = (rope(0)[0], rope(0)[2]);
    assert_eq!(corners, [[low[0], low[1], low[2]], [high[0], high[1], high[2]]]);
}

/// Catches a body named after a prim of ours, or with letters that USD refuses.
#[test]
fn names_are_made_fit_for_usd() {
    use crate::cache::Cache;
    let folder = tempfile::tempdir().unwrap();
    let mut all = bodies();
    all[0].rest.name = "Materials".into();
    all[1].rest.name = "3 gelées".into();
    let mut cache = Cache::create(folder.path(), all, 24.0, 0).unwrap();
    crate::sink::Sink::write(&mut cache, &frame(0)).unwrap();
    export(folder.path(), Format::Usda, folder.path().join("out")).unwrap();
    let text = String::from_utf8(read(&folder, "scene.usda")).unwrap();
    assert!(text.contains("def Mesh \"Materials_2\"") && text.contains("def BasisCurves \"_3_gel_es\""), "{text}");
}
