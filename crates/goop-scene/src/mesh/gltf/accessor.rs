//! Typed views into the buffers of a glTF file, checked against the bytes there are.

use super::super::{Fault, Place, fault};
use gltf::json;
use json::accessor::{ComponentType, Type};
use json::validation::Checked;
use std::borrow::Cow;

/// Most items of an accessor without a buffer view.
const MOST_ZEROS: usize = 1_000_000;

/// The description and the bytes.
pub(crate) struct Buffers<'a> {
    pub(crate) root: &'a json::Root,
    pub(crate) data: &'a [Cow<'a, [u8]>],
}

/// Items of one kind in a buffer.
struct Items<'a> {
    bytes: &'a [u8],
    stride: usize,
    count: usize,
    kind: ComponentType,
    normalized: bool,
}

impl Items<'_> {
    fn component(&self, item: usize, component: usize) -> f64 {
        let at = item * self.stride + component * self.kind.size();
        let bytes = &self.bytes[at..at + self.kind.size()];
        let (value, most) = match (self.kind, bytes) {
            (ComponentType::I8, &[a]) => (f64::from(a as i8), 127.0),
            (ComponentType::U8, &[a]) => (f64::from(a), 255.0),
            (ComponentType::I16, &[a, b]) => (f64::from(i16::from_le_bytes([a, b])), 32767.0),
            (ComponentType::U16, &[a, b]) => (f64::from(u16::from_le_bytes([a, b])), 65535.0),
            (ComponentType::U32, &[a, b, c, d]) => (f64::from(u32::from_le_bytes([a, b, c, d])), 1.0),
            (ComponentType::F32, &[a, b, c, d]) => (f64::from(f32::from_le_bytes([a, b, c, d])), 1.0),
            // The slice has the size of its kind.
            _ => (0.0, 1.0),
        };
        if self.normalized { (value / most).max(-1.0) } else { value }
    }
}

impl<'a> Buffers<'a> {
    /// Number of items declared; 0 for an accessor that is not there.
    pub(crate) fn count(&self, accessor: usize) -> usize {
        self.root.accessors.get(accessor).map_or(0, |accessor| usize::try_from(accessor.count.0).unwrap_or(usize::MAX))
    }

    /// Items of N components each.
    pub(crate) fn vectors<const N: usize>(&self, accessor: usize) -> Result<Vec<[f64; N]>, Fault> {
        let (json, kind) = self.accessor(accessor, N)?;
        let vector = |items: &Items, i| std::array::from_fn(|c| items.component(i, c));
        let mut all: Vec<[f64; N]> = match json.buffer_view {
            Some(view) => {
                let start = json.byte_offset.unwrap_or_default().0;
                let items = self.items(accessor, view.value(), start, json.count.0, kind, N)?;
                let items = Items { normalized: json.normalized, ..items };
                (0..items.count).map(|i| vector(&items, i)).collect()
            }
            // Zeros, for a sparse accessor to fill in: no bytes bound their number.
            None if self.count(accessor) <= MOST_ZEROS => vec![[0.0; N]; self.count(accessor)],
            None => return Err(broken(accessor, "has too many items and no buffer view")),
        };
        if let Some(sparse) = &json.sparse {
            let Checked::Valid(index_kind) = sparse.indices.component_type else {
                return Err(broken(accessor, "has indices of an unknown type"));
            };
            let (count, place, values) = (sparse.count.0, &sparse.indices, &sparse.values);
            let places =
                self.items(accessor, place.buffer_view.value(), place.byte_offset.0, count, index_kind.0, 1)?;
            let values = self.items(accessor, values.buffer_view.value(), values.byte_offset.0, count, kind, N)?;
            let values = Items { normalized: json.normalized, ..values };
            for i in 0..values.count {
                match all.get_mut(places.component(i, 0) as usize) {
                    Some(item) => *item = vector(&values, i),
                    None => return Err(broken(accessor, "replaces an item that is not there")),
                }
            }
        }
        Ok(all)
    }

    /// Indices of vertices.
    pub(crate) fn indices(&self, accessor: usize) -> Result<Vec<u32>, Fault> {
        let (_, kind) = self.accessor(accessor, 1)?;
        if !matches!(kind, ComponentType::U8 | ComponentType::U16 | ComponentType::U32) {
            return Err(broken(accessor, "has indices that are not whole numbers"));
        }
        // Exact: a u32 fits in an f64.
        Ok(self.vectors::<1>(accessor)?.into_iter().map(|[index]| index as u32).collect())
    }

    fn accessor(&self, index: usize, components: usize) -> Result<(&'a json::Accessor, ComponentType), Fault> {
        let Some(accessor) = self.root.accessors.get(index) else {
            return Err(broken(index, "is named but not there"));
        };
        let components_there = match accessor.type_ {
            Checked::Valid(Type::Scalar) => 1,
            Checked::Valid(Type::Vec2) => 2,
            Checked::Valid(Type::Vec3) => 3,
            Checked::Valid(Type::Vec4) => 4,
            Checked::Valid(Type::Mat4) => 16,
            _ => 0,
        };
        match accessor.component_type {
            Checked::Valid(kind) if components_there == components => Ok((accessor, kind.0)),
            _ => Err(broken(index, "has another type than its use asks for")),
        }
    }

    fn items(
        &self,
        accessor: usize,
        view: usize,
        start: u64,
        count: u64,
        kind: ComponentType,
        components: usize,
    ) -> Result<Items<'a>, Fault> {
        let view = self.root.buffer_views.get(view).ok_or_else(|| broken(accessor, "has no buffer view"))?;
        let bytes = self.data.get(view.buffer.value()).ok_or_else(|| broken(accessor, "has no buffer"))?;
        let size = kind.size() * components;
        let stride = view.byte_stride.map_or(0, |stride| stride.0);
        let stride = if stride == 0 { size } else { stride };
        if stride < size {
            return Err(broken(accessor, "has items that overlap"));
        }
        let part = |bytes: &'a [u8], start: u64, length: u64| {
            let start = usize::try_from(start).ok()?;
            let end = start.checked_add(usize::try_from(length).ok()?)?;
            bytes.get(start..end)
        };
        // All but the last item take a whole stride.
        let length = (stride as u64).checked_mul(count.saturating_sub(1)).and_then(|n| n.checked_add(size as u64));
        let bytes = part(bytes, view.byte_offset.unwrap_or_default().0, view.byte_length.0)
            .and_then(|bytes| part(bytes, start, if count == 0 { 0 } else { length? }))
            .ok_or_else(|| broken(accessor, "reaches past the end of its buffer"))?;
        Ok(Items { bytes, stride, count: count as usize, kind, normalized: false })
    }
}

fn broken(accessor: usize, what: &str) -> Fault {
    fault(Place::File, format!("accessor {accessor} {what}"), "export the file again")
}
