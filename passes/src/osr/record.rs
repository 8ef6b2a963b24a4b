//! The record of a function's points, as `midflight_abi::osr` lays it out.

use crate::osr::condition::Condition;
use midflight_abi::osr::{
    OSR_FUNCTION_SIZE, OSR_SECTION, OSR_STATE_LEFT, OSR_STATE_SIZE, OSR_STATE_TRANSITIONS,
    OSR_VERSION,
};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Module, Value};

/// What is known of a site when it is compiled.
#[derive(Clone, Debug)]
pub struct SiteInfo {
    /// Number of its point
    pub point: u32,
    /// Name of its point
    pub name: String,
    /// Name of the version that it is in
    pub from: String,
    /// Name of the version that it leads to
    pub to: String,
    /// Source line, or 0
    pub line: u32,
    /// When it fires
    pub condition: Condition,
}

/// A function's record in the module.
#[derive(Clone)]
pub struct Record<'m> {
    /// The `OsrFunction`
    pub address: Value<'m>,
    ids: Vec<u64>,
}

/// Identity of a site, the same in every build. FNV-1a.
pub fn site_id(file: &str, function: &str, site: usize, info: &SiteInfo) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let number = site.to_string();
    for text in [file, function, &info.name, &info.from, &info.to, &number] {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

impl<'m> Record<'m> {
    /// Emits the record of a function. The first `points` sites are those of the base version.
    /// `description` is kept in the binary as long as the record is.
    pub fn emit(
        module: Module<'m>,
        function: &str,
        file: &str,
        points: usize,
        sites: &[SiteInfo],
        description: Option<Value<'m>>,
    ) -> Record<'m> {
        let (int16, int32, int64) = (module.int_type(16), module.int_type(32), module.int_type(64));
        let mut texts = std::collections::HashMap::new();
        let mut text =
            |text: &str| *texts.entry(text.to_string()).or_insert_with(|| module.c_string(text));
        let identify = |(number, site)| site_id(file, function, number, site);
        let ids: Vec<u64> = sites.iter().enumerate().map(identify).collect();
        let infos: Vec<Value> = sites
            .iter()
            .zip(&ids)
            .map(|(site, &id)| {
                let (condition, n) = site.condition.encoded();
                module.constant_struct(&[
                    int64.constant(id),
                    text(&site.name),
                    text(&site.from),
                    text(&site.to),
                    int32.constant(site.point.into()),
                    int32.constant(site.line.into()),
                    int32.constant(condition.into()),
                    int32.constant(n.into()),
                ])
            })
            .collect();
        let states: Vec<Value> = sites
            .iter()
            .map(|site| {
                let left = match site.condition {
                    Condition::Every(n) => n,
                    _ => 0,
                };
                module.constant_struct(&[
                    int32.constant(0),
                    int32.constant(left.into()),
                    int64.constant(0),
                    int64.constant(0),
                ])
            })
            .collect();
        let Some((info, state)) = infos.first().zip(states.first()) else {
            return Record { address: module.pointer_type().null(), ids };
        };
        let mut infos = module.constant_array(info.ty(), &infos);
        if let Some(description) = description {
            infos = module.constant_struct(&[infos, description]);
        }
        let infos = module.private_global("midflight.osr.infos", infos, true);
        let size = OSR_FUNCTION_SIZE + sites.len() * OSR_STATE_SIZE;
        let record = module.constant_struct(&[
            int32.constant(size as u64),
            int16.constant(OSR_VERSION.into()),
            int16.constant(0),
            int32.constant(points as u64),
            int32.constant(sites.len() as u64),
            text(function),
            text(file),
            infos,
            module.constant_array(state.ty(), &states),
        ]);
        Record { address: module.section_record("midflight.osr", OSR_SECTION, record), ids }
    }

    /// Address of a site's `armed`, in an unnamed constant expression.
    pub fn armed(&self, builder: &Builder<'m>, site: usize) -> Value<'m> {
        builder.offset(self.address, (OSR_FUNCTION_SIZE + site * OSR_STATE_SIZE) as u64)
    }

    /// Address of a site's `left`.
    pub fn left(&self, builder: &Builder<'m>, site: usize) -> Value<'m> {
        let state = OSR_FUNCTION_SIZE + site * OSR_STATE_SIZE;
        builder.offset(self.address, (state + OSR_STATE_LEFT) as u64)
    }

    /// Address of a site's `transitions`.
    pub fn transitions(&self, builder: &Builder<'m>, site: usize) -> Value<'m> {
        let state = OSR_FUNCTION_SIZE + site * OSR_STATE_SIZE;
        builder.offset(self.address, (state + OSR_STATE_TRANSITIONS) as u64)
    }

    /// Identity of a site.
    pub fn id(&self, site: usize) -> u64 {
        self.ids[site]
    }
}
