//! An interpreter that profiles itself, goes on with a hot loop in compiled code, in mid-loop, and
//! takes it back where a guard fails. README.md goes through it step by step.

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::{OptimizationLevel, context::Context, targets::TargetMachine};
use midflight_passes::osr::api::*;
use midflight_rt::{OSR_POINTER, OsrExit, OsrPoints};
use midflight_rt::{midflight_osr_count, midflight_osr_register_code};
use std::{collections::HashMap, ffi::CStr, mem::ManuallyDrop, mem::transmute, time::Instant};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Operands are registers, but for the head of a loop, an operation. The last operation returns.
#[derive(Clone, Copy)]
enum Op {
    Add(usize, usize, usize),
    Multiply(usize, usize, usize),
    LoopWhileLess(usize, usize, usize),
    Return(usize),
}

/// Takes the address of the registers, and returns where the interpreter is to go on.
type Compiled = unsafe extern "C" fn(*mut i128) -> usize;

struct Vm<'c> {
    context: &'c Context,
    ops: &'c [Op],
    /// A loop is hot after so many rounds, which are counted at its head.
    hot: u32,
    rounds: Vec<u32>,
    /// What goes on at the head of a loop if the integers in all registers fit in 64 bits
    compiled: HashMap<usize, Compiled>,
}

impl Vm<'_> {
    fn run(&mut self, mut r: Vec<i128>) -> Result<i128> {
        let mut pc = 0;
        loop {
            pc += 1;
            match self.ops[pc - 1] {
                Op::Add(to, a, b) => r[to] = r[a].checked_add(r[b]).ok_or("too large")?,
                Op::Multiply(to, a, b) => r[to] = r[a].checked_mul(r[b]).ok_or("too large")?,
                Op::LoopWhileLess(a, b, head) if r[a] < r[b] => pc = self.round(head, &mut r)?,
                Op::LoopWhileLess(..) => {}
                Op::Return(of) => return Ok(r[of]),
            }
        }
    }

    /// Begins a round of a loop, in compiled code if the loop is hot. Returns where to go on: at
    /// the head, or where compiled code was left.
    fn round(&mut self, head: usize, r: &mut [i128]) -> Result<usize> {
        self.rounds[head] = (self.rounds[head] + 1) % self.hot;
        if self.rounds[head] != 0 || r.iter().any(|&value| i64::try_from(value).is_err()) {
            return Ok(head);
        }
        if !self.compiled.contains_key(&head) {
            self.compiled.insert(head, compile(self.context, self.ops, r.len(), head)?);
        }
        // SAFETY: it was compiled for so many registers.
        Ok(unsafe { self.compiled[&head](r.as_mut_ptr()) })
    }
}

/// Compiled code calls this where it is left, and returns what this stores as the result.
unsafe extern "C" fn leave(exit: &OsrExit) {
    // SAFETY: the values are there until this returns, and they are those that `compile` names.
    unsafe {
        let mut registers = std::ptr::null_mut::<i128>();
        for value in std::slice::from_raw_parts(exit.values, exit.count as usize) {
            let name = CStr::from_ptr(value.name).to_string_lossy();
            match (value.kind, name.parse::<usize>()) {
                (OSR_POINTER, _) => registers = *value.address.cast(),
                (_, Ok(number)) => *registers.add(number) = (*value.address.cast::<i64>()).into(),
                (_, Err(_)) => *exit.result.cast::<usize>() = *value.address.cast(), // "pc"
            }
        }
    }
}

/// IR of `code`, which does what the operations do, and of `frame`, which has what the interpreter
/// has. An operation is a block with a phi for each register, and a cold block where it is left.
fn ir(ops: &[Op], count: usize) -> String {
    let (both, mut entry, mut code) = ("{ i64, i1 }", String::new(), String::new());
    for n in 0..count {
        entry += &format!("%at{n} = getelementptr i128, ptr %registers, i64 {n}\n");
        entry += &format!("%r{n} = load i64, ptr %at{n}\n");
    }
    for ((pc, op), next) in ops.iter().enumerate().zip(1..) {
        code += &format!("b{pc}:\n");
        for n in 0..count {
            let from = |p: usize| match ops[p] {
                Op::Add(to, ..) | Op::Multiply(to, ..) if to == n => format!("[ %new.{p}, %b{p} ]"),
                _ => format!("[ %r{n}.{p}, %b{p} ]"),
            };
            let before = pc.checked_sub(1).map_or(format!("[ %r{n}, %entry ]"), from);
            let is_back = |p: &usize| matches!(ops[*p], Op::LoopWhileLess(.., to) if to == pc);
            let back = (0..ops.len()).filter(is_back).map(|p| format!(", {}", from(p)));
            code += &format!("%r{n}.{pc} = phi i64 {before}{}\n", back.collect::<String>());
        }
        let checked = |name, a, b| {
            format!(
                "%both.{pc} = call {both} @llvm.{name}.i64(i64 %r{a}.{pc}, i64 %r{b}.{pc})
                 %new.{pc} = extractvalue {both} %both.{pc}, 0
                 %fails.{pc} = extractvalue {both} %both.{pc}, 1
                 br i1 %fails.{pc}, label %cold.{pc}, label %b{next}"
            )
        };
        code += &match *op {
            Op::Add(_, a, b) => checked("sadd.with.overflow", a, b),
            Op::Multiply(_, a, b) => checked("smul.with.overflow", a, b),
            Op::LoopWhileLess(a, b, head) => format!(
                "%less.{pc} = icmp slt i64 %r{a}.{pc}, %r{b}.{pc}
                 br i1 %less.{pc}, label %b{head}, label %b{next}"
            ),
            Op::Return(_) => format!("br label %cold.{pc}"),
        };
        code += &format!("\ncold.{pc}:\nret i64 0\n");
    }
    format!(
        "define i64 @frame(ptr %registers) {{\n{entry}ret i64 0\n}}
         define i64 @code(ptr %registers) {{\nentry:\n{entry}br label %b0\n{code}}}\n\0"
    )
}

/// Compiles operations, to be left for the interpreter, and to be entered at the head of a loop.
fn compile(context: &Context, ops: &[Op], count: usize, head: usize) -> Result<Compiled> {
    let text = MemoryBuffer::create_from_memory_range_copy(ir(ops, count).as_bytes(), "bytecode");
    let module = context.create_module_from_ir(text)?;
    module.set_triple(&TargetMachine::get_default_triple());
    // SAFETY: the module outlives the handle, in one thread.
    let handle = unsafe { Module::from_llvm(module.as_mut_ptr()) };
    let [frame, code] = ["frame", "code"].map(|name| handle.function(name).expect("it is there"));
    let [theirs, registers] = [frame, code].map(|f| f.arguments().next().expect("an argument"));
    let blocks: Vec<Block> = code.blocks().skip(1).collect();
    let phis = |pc: usize| blocks[2 * pc].instructions().take(count).map(Inst::value);

    let names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    for pc in (0..ops.len()).filter(|&pc| !matches!(ops[pc], Op::LoopWhileLess(..))) {
        let before = blocks[2 * pc + 1].terminator();
        let point = OsrPoint { before, name: format!("leave@{pc}") };
        let place = handle.int_type(64).constant(pc as u64);
        let mut named = vec![("registers", registers), ("pc", place)];
        named.extend(names.iter().map(String::as_str).zip(phis(pc)));
        insert_host_exit(&point, Condition::Always, "leave", &named)?;
    }

    let loads: Vec<Inst> = frame.blocks().flat_map(Block::instructions).collect();
    let point = OsrPoint { before: loads[2 * count], name: format!("enter@{head}") };
    let mut map = StateMap::new(frame, code);
    map.map_landing(point.before, blocks[2 * head].insertion_point());
    map.map_values(theirs, registers)?;
    for (load, phi) in loads.iter().skip(1).step_by(2).zip(phis(head)) {
        map.map_values(load.value(), phi)?;
    }
    insert_resolved_osr(&point, Condition::Always, &map)?;

    emit_registration(handle, "points")?;
    module.verify()?;
    // Compiled code stays until the program ends.
    let engine = ManuallyDrop::new(module.create_jit_execution_engine(OptimizationLevel::Default)?);
    let host = module.get_function("leave").ok_or("a function without a return")?;
    engine.add_global_mapping(&host, leave as *const () as usize);
    // SAFETY: the functions have these types.
    unsafe {
        let points = engine.get_function_address("points")?;
        midflight_osr_register_code(transmute::<usize, OsrPoints>(points));
        Ok(transmute::<usize, Compiled>(engine.get_function_address("frame")?))
    }
}

fn main() -> Result<()> {
    // The sum of 10,000 · i for all i below n
    let [n, i, sum, product, step, one] = [0, 1, 2, 3, 4, 5];
    let ops = [
        Op::Multiply(product, i, step),
        Op::Add(sum, sum, product),
        Op::Add(i, i, one),
        Op::LoopWhileLess(i, n, 0),
        Op::Return(sum),
    ];
    let context = Context::create();
    let timed = |hot| -> Result<_> {
        let (rounds, compiled) = (vec![0; ops.len()], HashMap::new());
        let mut vm = Vm { context: &context, ops: &ops, hot, rounds, compiled };
        let start = Instant::now();
        let mut sum = |n| vm.run(vec![n, 0, 0, 0, 10_000, 1]);
        Ok(([sum(45_000_000)?, sum(1_000_000)?], start.elapsed()))
    };
    let ((expected, slow), (sums, fast)) = (timed(u32::MAX)?, timed(1000)?);
    // SAFETY: the names are C strings.
    let count = |point: &CStr| unsafe { midflight_osr_count(point.as_ptr()) };
    assert_eq!((sums, [c"enter@0", c"leave@1", c"leave@4"].map(count)), (expected, [2, 1, 1]));
    let times = slow.as_secs_f64() / fast.as_secs_f64();
    println!(
        "{sums:?}: interpreted in {slow:.0?}, with OSR in {fast:.0?}, {times:.1} times as fast"
    );
    Ok(())
}
