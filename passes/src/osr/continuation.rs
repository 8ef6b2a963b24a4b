//! Making a continuation of a version (thesis 4.1.1, `f'_to`, and Fig. 4.7).
//!
//! The version's body is moved into a function whose parameters are the live values; a new entry
//! does the compensation and jumps to the landing; the definitions of live values meet what comes
//! in by new phis; what cannot be reached any more is removed. With several landings the entry is a
//! dispatcher (thesis ch. 7), and the live values are kept in stack slots: with phis, their number
//! would be quadratic.

use crate::osr::came::Came;
use crate::osr::compensate::Material;
use crate::osr::prototype::{Prototype, Transfer};
use crate::osr::site::{Inserted, SharedTransition, Site, Target, promote_variables};
use crate::read_code::CodeSnapshot;
use midflight_bridge::builder::Builder;
use midflight_bridge::continuation::Finish;
use midflight_bridge::ir::{Block, Function, Inst, Opcode, Value};
use midflight_ir::ids::{InstId, InstRange, ValueId};
use midflight_mapping::mapping::history::Way;
use midflight_mapping::mapping::reconstruct::{Expr, PointMap};
use rustc_hash::FxHashMap as HashMap;
use typed_index_collections::TiVec;

/// More landings than this keep live values in stack slots.
const MOST_LANDINGS_WITH_PHIS: usize = 4;

/// A landing of a continuation.
pub struct Landing<'a> {
    /// Where execution goes on, and how the values live there are reconstructed
    pub map: &'a PointMap,
    /// In which slots of the prototype the values come that it uses
    pub transfers: &'a [Transfer],
}

/// A point of the version that is one of the continuation too.
pub struct SiteAt<'a, 'm> {
    /// It is before this instruction of the version.
    pub at: InstId,
    /// How control must have come there
    pub way: Option<&'a Way>,
    /// The point; its place and values are those in the version.
    pub site: Site<'a, 'm>,
}

impl<'m> SiteAt<'_, 'm> {
    /// Inserts it, into a function that has these variables.
    pub fn insert(
        &self,
        shared: Option<&SharedTransition<'m>>,
        came: &Came<'_, 'm>,
    ) -> Inserted<'m> {
        self.site.insert(shared, self.way.map(|way| came.of(way)))
    }
}

/// Fills the continuation `shell`, which was declared with `prototype`, with the body of `version`,
/// which is erased. Of `dead` instructions it has none any more. With `share`, its points lead
/// there by one shared transition.
#[expect(clippy::too_many_arguments, reason = "each is another part of a continuation")]
pub fn build<'m>(
    shell: Function<'m>,
    version: &CodeSnapshot<'m>,
    dead: &[InstId],
    prototype: &Prototype<'m>,
    landings: &[Landing<'_>],
    material: &Material<'_, 'm>,
    sites: &[SiteAt<'_, 'm>],
    share: Option<Target<'_, 'm>>,
) {
    shell.adopt(version.function);
    let parameters: Vec<_> = shell.arguments().collect();
    let slots = &parameters[usize::from(prototype.has_selector)..];
    let entry = shell.add_entry("osr.entry").expect("a version has blocks");
    let builder = Builder::new(shell.module(), shell);

    // A point's check comes before its landing: what has landed goes past it.
    let entries = entry_blocks(shell, entry, landings.len());
    match landings {
        // No way leads here.
        [] => entry.make_unreachable(),
        [_] => {}
        _ => builder.at_end(entry).switch(parameters[0], &entries),
    }
    let is_erased = |inst: &InstId| dead.binary_search(inst).is_ok();
    let mut values = Values::new(version, landings.len());
    for (number, landing) in landings.iter().enumerate() {
        let mut templates = landing.map.exprs.iter().filter_map(Expr::template);
        assert!(!templates.any(|inst| is_erased(&inst)), "a map names what is dead");
        builder.at_end(entries[number]);
        keep_allocas(version, landing.map);
        let slot_of: HashMap<ValueId, usize> = landing.transfers.iter().copied().collect();
        let source = |value: ValueId| slots[slot_of[&value]];
        for (value, incoming) in material.reconstruct(&builder, version, landing.map, source) {
            // An alloca that the continuation keeps is above all landings.
            if version.value(value) != incoming {
                values.set(version, value, number, incoming);
            }
        }
    }
    if landings.len() == 1 {
        // Counters begin in the entry, so it must be complete; where it leads to comes below.
        builder.at_end(entry).branch(entry);
    }
    let mut behind: HashMap<Inst<'m>, Block<'m>> = HashMap::default();
    let mut inserted = Vec::new();
    let shared = share.map(|target| SharedTransition::new(shell, target));
    let came = Came::keep(shell, version, sites.iter().filter_map(|site| site.way));
    for site in sites {
        let one = site.insert(shared.as_ref(), &came);
        behind.insert(version.instructions[site.at], one.rest);
        inserted.push(one);
    }
    came.note(shell);
    if landings.len() == 1 {
        entry.terminator().erase();
    }
    let home = |landing: &Landing<'_>| version.body.code.instructions[landing.map.landing].block;
    for (number, landing) in landings.iter().enumerate() {
        let at = version.instructions[landing.map.landing];
        let block = match behind.get(&at) {
            Some(&rest) => rest,
            // A phi that is kept would be so without having come in.
            None if landings.len() == 1 && !came.keeps_phi_of(version, home(landing)) => {
                values.land_at_head(version, dead, landing.map.landing, entry)
            }
            None => at.split_before("osr.landing"),
        };
        builder.at_end(entries[number]).branch(block);
    }
    let demote = landings.len() > MOST_LANDINGS_WITH_PHIS;
    let (definitions, incoming) = values.open();
    Finish {
        continuation: shell,
        version: version.function,
        arguments: &values.arguments.raw,
        definitions: &definitions,
        entries: &entries,
        values: &incoming,
        demote,
    }
    .run();
    promote_variables(shell, &inserted, came.variables());
    shell.lower_resumes();
}

/// Moves allocas that are made again to the entry: they are one for all landings.
fn keep_allocas(version: &CodeSnapshot<'_>, map: &PointMap) {
    for expr in &map.exprs {
        if let Expr::Repeat { repeat, .. } = expr {
            let inst = version.instructions[*repeat];
            if inst.opcode() == Opcode::Alloca {
                inst.move_to_entry();
            }
        }
    }
}

fn entry_blocks<'m>(shell: Function<'m>, entry: Block<'m>, landings: usize) -> Vec<Block<'m>> {
    match landings {
        1 => vec![entry],
        _ => (0..landings).map(|_| shell.add_block("osr.enter")).collect(),
    }
}

/// What comes in at the landings.
struct Values<'m> {
    landings: usize,
    /// For each argument of the version its value
    arguments: TiVec<ValueId, Value<'m>>,
    /// Instructions that are live at a landing
    definitions: Vec<Inst<'m>>,
    row: HashMap<ValueId, usize>,
    /// For each definition and landing the value
    incoming: Vec<Option<Value<'m>>>,
}

impl<'m> Values<'m> {
    fn new(version: &CodeSnapshot<'m>, landings: usize) -> Self {
        Values {
            landings,
            arguments: version.arguments.iter().map(|a| a.ty().poison()).collect(),
            definitions: Vec::new(),
            row: HashMap::default(),
            incoming: Vec::new(),
        }
    }

    fn set(
        &mut self,
        version: &CodeSnapshot<'m>,
        value: ValueId,
        landing: usize,
        incoming: Value<'m>,
    ) {
        let Some(definition) = version.body.code.definition(value) else {
            self.arguments[value] = incoming;
            return;
        };
        let row = *self.row.entry(value).or_insert_with(|| {
            self.definitions.push(version.instructions[definition]);
            self.incoming.extend(std::iter::repeat_n(None, self.landings));
            self.definitions.len() - 1
        });
        self.incoming[row * self.landings + landing] = Some(incoming);
    }

    /// The block to land in, where there is a single landing. At the head of a block the values
    /// come in by its phis, as in thesis Fig. 4.7; elsewhere it is split.
    fn land_at_head(
        &mut self,
        version: &CodeSnapshot<'m>,
        dead: &[InstId],
        landing: InstId,
        entry: Block<'m>,
    ) -> Block<'m> {
        let code = &version.body.code;
        let at = version.instructions[landing];
        let block = code.instructions[landing].block;
        if code.first_non_phi(block) != landing {
            return at.split_before("osr.landing");
        }
        let phis = InstRange { start: code.of_block[block].start, end: landing }.into_iter();
        for phi in phis.filter(|phi| dead.binary_search(phi).is_err()) {
            let inst = version.instructions[phi];
            let incoming = match self.row.remove(&code.result(phi)) {
                Some(row) => self.incoming[row].take(),
                None => None,
            };
            inst.add_incoming(incoming.unwrap_or_else(|| inst.value().ty().poison()), entry);
        }
        at.block()
    }

    /// The definitions that need repair, and what comes in for them.
    fn open(&self) -> (Vec<Inst<'m>>, Vec<Option<Value<'m>>>) {
        let rows = self.incoming.chunks(self.landings.max(1));
        let open =
            self.definitions.iter().zip(rows).filter(|(_, row)| row.iter().any(Option::is_some));
        let (definitions, rows): (Vec<_>, Vec<_>) = open.unzip();
        (definitions.into_iter().copied().collect(), rows.concat())
    }
}
