//! `osr-point` and `osr-fuzz`: points in the functions of a module.

use crate::driver::{Driver, changeable, reason_to_refuse};
use crate::osr::condition::Condition;
use crate::osr::forms::{self, Chosen};
use crate::osr::host_exit;
use crate::osr::open;
use crate::osr::open::generator::Generator;
use crate::osr::open::key::{Key, Keys};
use crate::osr::open::plan::refuse_function;
use crate::osr::options::OsrOptions;
use crate::osr::place::{Marker, Where, is_file, place};
use crate::osr::weave::weave;
use crate::read_code::{CodeSnapshot, read_code};
use midflight_bridge::debug;
use midflight_bridge::ir::{Function, Inst, Module, Value};
use midflight_bridge::pass::{Analyses, Pass};
use midflight_bridge::sandbox::Sandbox;
use midflight_ir::liveness::liveness;
use midflight_mapping::points::{Point, points};
use midflight_mapping::refusal::Refusal;
use rustc_hash::FxHashMap as HashMap;
use std::cell::Cell;

/// The name under which remarks are asked for.
pub const REMARKS: &str = "midflight-osr";

/// What `MIDFLIGHT_OSR_POINT` and `MIDFLIGHT_OSR_OPEN` of the header call.
const MARKER_FUNCTIONS: [&str; 2] = ["midflight_osr_point_here", "midflight_osr_open_here"];

/// The pass.
pub struct OsrPass(pub OsrOptions);

impl Pass for OsrPass {
    fn run(&self, module: Module<'_>, _: &Analyses<'_>) -> bool {
        let functions = changeable(module, "inserting OSR points");
        if functions.is_empty() {
            return false;
        }
        warn_of_flags(module, &[self.0.condition]);
        let mut placed = 0;
        let has_bodies = Cell::new(false);
        let driver = Driver {
            doing: "inserting OSR points into '{}'",
            verify: self.0.verify,
            panic_at: self.0.panic_at.as_deref(),
        };
        let all_done = driver.run(module, &functions, |function| {
            let (asked, changed) = self.function(module, function, &has_bodies)?;
            placed += asked;
            Ok(changed)
        });
        if !all_done {
            return true;
        }
        if let Where::Line { file, line } = &self.0.place
            && placed == 0
        {
            report_missing_line(module, &functions, file, *line);
        }
        true
    }
}

/// Warns if points that are to be patched become flags, because of the module's target.
pub fn warn_of_flags(module: Module<'_>, conditions: &[Condition]) {
    let triple = module.target();
    if conditions.iter().any(|condition| condition.on_target(&triple) != *condition) {
        let target = match triple.as_str() {
            "" => "the module has no target triple".to_string(),
            triple => format!("the module is for {triple}"),
        };
        module.warning(&format!(
            "midflight: patch points need x86-64 or AArch64, and {target}: they become flag points"
        ));
    }
}

impl OsrPass {
    /// Returns how many points were asked for in the function, eligible or not, and all functions
    /// that were changed. `has_bodies`: the module carries the functions whose address may be a
    /// key.
    fn function<'m>(
        &self,
        module: Module<'m>,
        function: Function<'m>,
        has_bodies: &Cell<bool>,
    ) -> Result<(usize, Vec<Function<'m>>), String> {
        let options = &self.0;
        let refusal = reason_to_refuse(module, function, options.functions.as_ref());
        let refusal =
            refusal.or_else(|| options.open.as_ref().and_then(|_| refuse_function(function)));
        if let Some(refusal) = refusal {
            return Ok((self.refuse_function(module, function, refusal), Vec::new()));
        }
        if options.promote && options.open.is_some() {
            // A version takes structures apart no more once a point has passed their addresses on.
            Sandbox::default().run(function, "sroa")?;
        } else if options.promote {
            function.promote_allocas();
        }
        let asked = |snapshot: &CodeSnapshot, points: &[Point]| {
            let at: Vec<_> = points.iter().map(|p| p.at).collect();
            place(&options.place, options.callee.as_ref(), snapshot, &at)
        };
        let marked = has_markers(function);
        if !marked {
            let (snapshot, points) = read_points(function);
            if asked(&snapshot, &points).is_empty() {
                return Ok((0, Vec::new()));
            }
        }
        function.prepare_for_points();
        let markers = take_markers(function);
        let (snapshot, points) = read_points(function);
        let mut chosen: Vec<Chosen> = asked(&snapshot, &points)
            .into_iter()
            .map(|number| Chosen { number, name: format!("{}#{number}", function.name()) })
            .collect();
        name_by_markers(&mut chosen, &markers, &snapshot, &points, &options.place);
        let count = chosen.len();
        let marked = keys_of_markers(&markers, &snapshot, &points);
        let keys = self.keys(&snapshot, &points, &chosen, &marked);
        chosen.retain(|c| {
            let no_key = keys.get(&c.number).and_then(|key| key.err());
            self.is_eligible(module, &snapshot, &points[c.number], &c.name, no_key)
        });
        let chosen = thin(chosen, options.max_points);
        tell_of_many(function, chosen.len());
        if chosen.is_empty() {
            return Ok((count, Vec::new()));
        }
        let (plan, beginning) = match &options.open {
            Some(generator) => {
                let key = |chosen: &Chosen| {
                    keys[&chosen.number].expect("points without a key are not chosen")
                };
                if *generator == Generator::InlineCallee && !has_bodies.replace(true) {
                    open::carry::bodies(module);
                }
                let when = options.condition;
                let planned = open::plan::plan(&snapshot, &points, &chosen, generator, when, &key)?;
                (planned.0, Some(planned.1))
            }
            None => (forms::plan(&snapshot, &points, &chosen, options), None),
        };
        #[cfg(feature = "mutants")]
        let plan = if options.swap { crate::osr::mutants::swap(module, plan) } else { plan };
        let mut changed = weave(&snapshot, &plan);
        if let Some(beginning) = beginning {
            beginning.insert(function);
        }
        changed.push(function);
        Ok((count, changed))
    }

    fn refuse_function(
        &self,
        module: Module<'_>,
        function: Function<'_>,
        refusal: Refusal,
    ) -> usize {
        let message = format!("no OSR points in '{}': {}", function.name(), refusal.message());
        let markers = take_markers(function);
        if refusal.is_news() {
            for marker in &markers {
                warn_of_marker(module, function, &marker.name, refusal);
            }
            if !matches!(self.0.place, Where::Marker | Where::Line { .. }) {
                function.remark_missed(REMARKS, refusal.name(), &message);
            }
        }
        if let Where::Line { file, line } = &self.0.place {
            let mut all = function.blocks().flat_map(|b| b.instructions());
            if let Some(inst) = all.find(|&i| crate::osr::place::is_on_line(i, file, *line)) {
                inst.remark_missed(REMARKS, refusal.name(), &message);
                return 1;
            }
        }
        markers.len()
    }

    /// What open points profile, by the points' numbers; nothing of others.
    fn keys<'m>(
        &self,
        snapshot: &CodeSnapshot<'m>,
        points: &[Point],
        chosen: &[Chosen],
        marked: &HashMap<usize, Value<'m>>,
    ) -> HashMap<usize, Result<Key, Refusal>> {
        let Some(generator) = &self.0.open else { return HashMap::default() };
        let keys = Keys::new(snapshot);
        let key = |&Chosen { number, .. }: &Chosen| {
            let marked = marked.get(&number).copied();
            let name = self.0.key.as_deref();
            (number, keys.choose(generator, name, marked, &points[number]))
        };
        chosen.iter().map(key).collect()
    }

    /// True if the point can be one. Else its reason is reported.
    fn is_eligible(
        &self,
        module: Module<'_>,
        snapshot: &CodeSnapshot<'_>,
        point: &Point,
        name: &str,
        no_key: Option<Refusal>,
    ) -> bool {
        let to_host =
            || self.0.exit.as_ref().and_then(|_| host_exit::refusal(snapshot, &point.live));
        let refusal = point.refusal.or_else(to_host).or(no_key);
        let Some(refusal) = refusal else { return true };
        let message = format!("no OSR point here: {}", refusal.message());
        snapshot.instructions[point.at].remark_missed(REMARKS, refusal.name(), &message);
        if self.0.place == Where::Marker {
            warn_of_marker(module, snapshot.function, name, refusal);
        }
        false
    }
}

/// From so many points in a function on, compiling it takes tens of seconds.
const MANY: usize = 1000;

/// Says, before the work on a function begins, if it will take long, and what bounds that.
pub fn tell_of_many(function: Function<'_>, points: usize) {
    if points > MANY {
        let message = format!(
            "{points} OSR points in '{}', which takes long to compile; max-points=N or a list of functions bounds it",
            function.name()
        );
        function.remark_missed(REMARKS, "ManyPoints", &message);
    }
}

fn warn_of_marker(module: Module<'_>, function: Function<'_>, name: &str, refusal: Refusal) {
    module.warning(&format!(
        "midflight: OSR point '{name}' in '{}': there is none: {} [{}]",
        function.name(),
        refusal.message(),
        refusal.name()
    ));
}

fn read_points(function: Function<'_>) -> (CodeSnapshot<'_>, Vec<Point>) {
    let snapshot = read_code(function);
    let points = points(&snapshot.body, &liveness(&snapshot.body), function.facts());
    (snapshot, points)
}

fn is_marker(inst: Inst<'_>) -> bool {
    inst.called_function().is_some_and(|f| MARKER_FUNCTIONS.contains(&f.name().as_str()))
}

fn has_markers(function: Function<'_>) -> bool {
    function.blocks().any(|b| b.instructions().any(is_marker))
}

/// Removes the markers of the source; what is behind each one is its point.
fn take_markers(function: Function<'_>) -> Vec<Marker<'_>> {
    let calls: Vec<_> =
        function.blocks().flat_map(|b| b.instructions()).filter(|&i| is_marker(i)).collect();
    let mut markers = Vec::new();
    for &call in &calls {
        let name = call.operands().next().and_then(|v| v.c_text());
        // The last operand is what is called.
        let key = call.operands().nth(1).filter(|_| call.operands().count() > 2);
        let mut next = call.next();
        while let Some(inst) = next.filter(|&i| is_marker(i)) {
            next = inst.next();
        }
        let name = name.unwrap_or_else(|| format!("{}#marker{}", function.name(), markers.len()));
        markers.extend(next.map(|before| Marker { before, name, key }));
    }
    calls.into_iter().for_each(Inst::erase);
    markers
}

/// What markers say is to be profiled at their points, by the points' numbers.
fn keys_of_markers<'m>(
    markers: &[Marker<'m>],
    snapshot: &CodeSnapshot<'m>,
    points: &[Point],
) -> HashMap<usize, Value<'m>> {
    let of_point = |marker: &Marker<'m>| {
        let at = snapshot.id_of(marker.before)?;
        Some((points.binary_search_by_key(&at, |p| p.at).ok()?, marker.key?))
    };
    markers.iter().filter_map(of_point).collect()
}

/// Points at markers have their names; if markers are asked for they are the points.
fn name_by_markers<'m>(
    chosen: &mut Vec<Chosen>,
    markers: &[Marker<'m>],
    snapshot: &CodeSnapshot<'m>,
    points: &[Point],
    place: &Where,
) {
    for marker in markers {
        let number = snapshot
            .id_of(marker.before)
            .and_then(|at| points.binary_search_by_key(&at, |p| p.at).ok());
        let Some(number) = number else { continue };
        match chosen.iter_mut().find(|c| c.number == number) {
            Some(known) => known.name.clone_from(&marker.name),
            None if *place == Where::Marker => {
                chosen.push(Chosen { number, name: marker.name.clone() });
            }
            None => {}
        }
    }
    chosen.sort_by_key(|c| c.number);
}

/// At most so many, spread evenly.
pub fn thin<T: Clone>(chosen: Vec<T>, most: Option<u32>) -> Vec<T> {
    let Some(most) = most.map(|m| m as usize).filter(|&m| m < chosen.len()) else { return chosen };
    let count = chosen.len();
    (0..most).map(|i| chosen[(i * count + count / 2) / most.max(1)].clone()).collect()
}

/// An asked-for line without code: an error in the module of that file, elsewhere a remark.
fn report_missing_line(module: Module<'_>, functions: &[Function<'_>], file: &str, line: u32) {
    let mut lines: Vec<u32> = Vec::new();
    for inst in functions.iter().flat_map(|f| f.blocks().flat_map(|b| b.instructions())) {
        if let Some(location) = debug::location(inst).filter(|l| is_file(&l.inner.file, file)) {
            lines.push(location.inner.line);
        }
    }
    lines.sort_unstable();
    lines.dedup();
    if lines.is_empty() && !is_file(&module.source_file(), file) {
        let message = format!("no OSR point: nothing here is from {file}");
        functions[0].remark_missed(REMARKS, "NoSuchLine", &message);
        return;
    }
    let place = lines.partition_point(|&l| l < line);
    let near: Vec<String> = lines[place.saturating_sub(1)..lines.len().min(place + 1)]
        .iter()
        .map(u32::to_string)
        .collect();
    let hint = match near.as_slice() {
        [] => "the file has no line numbers; compile it with -g or -gline-tables-only".to_string(),
        near => format!("the nearest lines with code are {}", near.join(" and ")),
    };
    module.error(&format!(
        "midflight: inserting an OSR point at {file}:{line}: no code is there; {hint}"
    ));
}
