//! Passes that are wrong in one place: what they do must not be claimed to be right.

use crate::generator::Random;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};
use inkwell::values::{AsValueRef, FunctionValue};

/// What is done to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mutation {
    /// The operands of an operation that is not commutative are exchanged.
    Exchange,
    /// An operand is another value.
    Operand,
    /// An operand is a constant.
    Constant,
    /// The values that come in at a phi are exchanged.
    Incoming,
    /// A branch goes the other way.
    Branch,
    /// A store or call is dropped.
    Drop,
    /// A store or call is done twice.
    Twice,
    /// Two stores or calls of a block are exchanged.
    Order,
    /// Something else is done to the same operands.
    Operation,
    /// A load is done as early as its address is there, or at the head of its block.
    Early,
    /// A load, a division or a call is done at the end of its block.
    Late,
    /// What comes in at a phi over an edge is what the phi has already, or what comes in over
    /// another edge.
    Carried,
    /// A phi is what comes in over one of the edges.
    Replaced,
    /// An edge leads to another block.
    Edge,
}

pub const MUTATIONS: [Mutation; 14] = [
    Mutation::Exchange,
    Mutation::Operand,
    Mutation::Constant,
    Mutation::Incoming,
    Mutation::Branch,
    Mutation::Drop,
    Mutation::Twice,
    Mutation::Order,
    Mutation::Operation,
    Mutation::Early,
    Mutation::Late,
    Mutation::Carried,
    Mutation::Replaced,
    Mutation::Edge,
];

/// Changes a function in one place; none if there is no such place. What comes out may be invalid.
pub fn mutate(
    function: FunctionValue<'_>,
    mutation: Mutation,
    random: &mut Random,
) -> Option<String> {
    // SAFETY: all values are of the function, which is live; operands are exchanged with those of
    // the same type only. SAFETY: all handles are live and of the module that is changed.
    unsafe {
        let builder =
            LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(function.as_value_ref())));
        let result = Mutator { function: function.as_value_ref(), builder, random }.run(mutation);
        LLVMDisposeBuilder(builder);
        result
    }
}

struct Mutator<'a> {
    function: LLVMValueRef,
    builder: LLVMBuilderRef,
    random: &'a mut Random,
}

impl Mutator<'_> {
    unsafe fn run(&mut self, mutation: Mutation) -> Option<String> {
        // SAFETY: all handles are live and of the module that is changed.
        unsafe {
            let all = self.instructions();
            let mut fitting = Vec::new();
            for &inst in &all {
                if self.fits(inst, mutation) {
                    fitting.push(inst);
                }
            }
            if fitting.is_empty() {
                return None;
            }
            let inst = fitting[self.random.below(fitting.len())];
            let before = text(inst);
            let after = self.apply(inst, mutation)?;
            Some(format!("{mutation:?}: {before} becomes {after}"))
        }
    }

    unsafe fn instructions(&self) -> Vec<LLVMValueRef> {
        let mut result = Vec::new();
        // SAFETY: all handles are live and of the module that is changed.
        unsafe {
            let mut block = LLVMGetFirstBasicBlock(self.function);
            while !block.is_null() {
                let mut inst = LLVMGetFirstInstruction(block);
                while !inst.is_null() {
                    result.push(inst);
                    inst = LLVMGetNextInstruction(inst);
                }
                block = LLVMGetNextBasicBlock(block);
            }
        }
        result
    }

    unsafe fn fits(&self, inst: LLVMValueRef, mutation: Mutation) -> bool {
        use LLVMOpcode::*;
        // SAFETY: all handles are live and of the module that is changed.
        unsafe {
            let opcode = LLVMGetInstructionOpcode(inst);
            let binary = !LLVMIsABinaryOperator(inst).is_null();
            let anchor = matches!(opcode, LLVMStore)
                || opcode == LLVMCall && ["@ext", "@take"].iter().any(|n| text(inst).contains(n));
            match mutation {
                Mutation::Exchange => {
                    matches!(opcode, LLVMSub | LLVMShl | LLVMLShr | LLVMAShr | LLVMICmp)
                        || opcode == LLVMSelect && is_int(inst)
                }
                Mutation::Operand | Mutation::Constant => {
                    binary && !matches!(opcode, LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem)
                        || matches!(opcode, LLVMICmp | LLVMStore | LLVMPHI | LLVMSelect)
                        || matches!(opcode, LLVMGetElementPtr | LLVMRet | LLVMSwitch)
                        || opcode == LLVMCall
                }
                // What comes in over the back edge of a loop cannot come in elsewhere.
                Mutation::Incoming => {
                    let count = if opcode == LLVMPHI { LLVMCountIncoming(inst) } else { 0 };
                    let fixed = |n| LLVMIsAInstruction(LLVMGetIncomingValue(inst, n)).is_null();
                    count > 1 && (0..count).filter(|&n| fixed(n)).count() > 1
                }
                Mutation::Branch => opcode == LLVMBr && LLVMIsConditional(inst) != 0,
                Mutation::Carried | Mutation::Replaced => {
                    opcode == LLVMPHI && LLVMCountIncoming(inst) > 1
                }
                Mutation::Edge => matches!(opcode, LLVMBr | LLVMSwitch),
                Mutation::Drop | Mutation::Twice => anchor,
                Mutation::Order => anchor,
                Mutation::Operation => {
                    binary && !matches!(opcode, LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem)
                        || matches!(opcode, LLVMICmp | LLVMSExt | LLVMZExt)
                }
                Mutation::Early => opcode == LLVMLoad,
                Mutation::Late => {
                    matches!(opcode, LLVMLoad | LLVMUDiv | LLVMSDiv)
                        || opcode == LLVMCall && !anchor
                }
            }
        }
    }

    unsafe fn apply(&mut self, inst: LLVMValueRef, mutation: Mutation) -> Option<String> {
        // SAFETY: all handles are live and of the module that is changed.
        unsafe {
            match mutation {
                Mutation::Exchange => {
                    let first = u32::from(!LLVMIsASelectInst(inst).is_null());
                    self.exchange(inst, first, first + 1)?;
                }
                Mutation::Incoming => {
                    let count = LLVMCountIncoming(inst) as usize;
                    let (a, by) = (self.random.below(count), 1 + self.random.below(count - 1));
                    self.exchange(inst, a as u32, ((a + by) % count) as u32)?;
                }
                Mutation::Operand | Mutation::Constant => {
                    let place = self.random.below(LLVMGetNumOperands(inst) as usize) as u32;
                    let old = LLVMGetOperand(inst, place);
                    let fixed = !LLVMIsASwitchInst(inst).is_null() && place > 0;
                    if fixed || LLVMValueIsBasicBlock(old) != 0 || !is_int(old) {
                        return None;
                    }
                    let ty = LLVMTypeOf(old);
                    let new = if mutation == Mutation::Constant {
                        LLVMConstInt(ty, self.random.word(), 0)
                    } else {
                        let others = self.above(inst, ty);
                        (!others.is_empty()).then(|| others[self.random.below(others.len())])?
                    };
                    if new == old {
                        return None;
                    }
                    LLVMSetOperand(inst, place, new);
                }
                Mutation::Branch => {
                    let condition = LLVMGetCondition(inst);
                    LLVMPositionBuilderBefore(self.builder, inst);
                    let not = LLVMConstInt(LLVMTypeOf(condition), 1, 0);
                    let other = LLVMBuildXor(self.builder, condition, not, c"".as_ptr());
                    LLVMSetCondition(inst, other);
                }
                Mutation::Drop => {
                    if is_int(inst) {
                        let other = LLVMConstInt(LLVMTypeOf(inst), self.random.word(), 0);
                        LLVMReplaceAllUsesWith(inst, other);
                    }
                    LLVMInstructionEraseFromParent(inst);
                    return Some("nothing".to_string());
                }
                Mutation::Twice => {
                    LLVMPositionBuilderBefore(self.builder, inst);
                    LLVMInsertIntoBuilder(self.builder, LLVMInstructionClone(inst));
                    return Some("two of it".to_string());
                }
                Mutation::Order => {
                    let mut next = LLVMGetNextInstruction(inst);
                    while !self.fits(next, Mutation::Drop) {
                        next = LLVMGetNextInstruction(next);
                        if next.is_null() {
                            return None;
                        }
                    }
                    let behind = LLVMGetNextInstruction(next);
                    self.move_before(inst, behind);
                    return Some(format!("what runs behind {}", text(next)));
                }
                Mutation::Operation => {
                    let other = self.other(inst)?;
                    let text = text(other);
                    LLVMReplaceAllUsesWith(inst, other);
                    LLVMInstructionEraseFromParent(inst);
                    return Some(text);
                }
                Mutation::Early => {
                    let block = LLVMGetInstructionParent(inst);
                    let address = LLVMIsAInstruction(LLVMGetOperand(inst, 0));
                    let mut head = LLVMGetFirstInstruction(block);
                    if !address.is_null() && LLVMGetInstructionParent(address) == block {
                        head = LLVMGetNextInstruction(address);
                    }
                    while !LLVMIsAPHINode(head).is_null() {
                        head = LLVMGetNextInstruction(head);
                    }
                    if head == inst {
                        return None;
                    }
                    self.move_before(inst, head);
                    return Some("what runs earlier".to_string());
                }
                Mutation::Late => {
                    let end = LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(inst));
                    if LLVMGetNextInstruction(inst) == end {
                        return None;
                    }
                    self.move_before(inst, end);
                    return Some("what runs last in its block".to_string());
                }
                Mutation::Carried => {
                    let count = LLVMCountIncoming(inst) as usize;
                    let at = self.random.below(count) as u32;
                    let other = match self.random.below(count + 1) {
                        other if other < count => LLVMGetIncomingValue(inst, other as u32),
                        _ => inst,
                    };
                    if LLVMGetIncomingValue(inst, at) == other {
                        return None;
                    }
                    LLVMSetOperand(inst, at, other);
                }
                Mutation::Replaced => {
                    let from = self.random.below(LLVMCountIncoming(inst) as usize) as u32;
                    let value = LLVMGetIncomingValue(inst, from);
                    if value == inst {
                        return None;
                    }
                    let text = text(value);
                    LLVMReplaceAllUsesWith(inst, value);
                    LLVMInstructionEraseFromParent(inst);
                    return Some(text);
                }
                Mutation::Edge => return self.redirect(inst),
            }
            Some(text(inst))
        }
    }

    /// Leads an edge of a terminator to another block; what comes in there is what comes in from
    /// another predecessor.
    unsafe fn redirect(&mut self, inst: LLVMValueRef) -> Option<String> {
        // SAFETY: all handles are live and of the module that is changed.
        unsafe {
            let block = LLVMGetInstructionParent(inst);
            let edge = self.random.below(LLVMGetNumSuccessors(inst) as usize) as u32;
            let old = LLVMGetSuccessor(inst, edge);
            let mut others = Vec::new();
            let mut other = LLVMGetNextBasicBlock(LLVMGetEntryBasicBlock(self.function));
            while !other.is_null() {
                if other != old {
                    others.push(other);
                }
                other = LLVMGetNextBasicBlock(other);
            }
            if others.is_empty() {
                return None;
            }
            let new = others[self.random.below(others.len())];
            let phis = |block| {
                let first = LLVMGetFirstInstruction(block);
                std::iter::successors(Some(first), |&i| Some(LLVMGetNextInstruction(i)))
                    .take_while(|&i| !LLVMIsAPHINode(i).is_null())
                    .collect::<Vec<_>>()
            };
            // A phi without one of the edges
            for phi in phis(old) {
                let mut ways: Vec<_> = (0..LLVMCountIncoming(phi))
                    .map(|n| (LLVMGetIncomingValue(phi, n), LLVMGetIncomingBlock(phi, n)))
                    .collect();
                let gone = ways.iter().position(|way| way.1 == block)?;
                ways.remove(gone);
                LLVMPositionBuilderBefore(self.builder, phi);
                let shorter = LLVMBuildPhi(self.builder, LLVMTypeOf(phi), c"".as_ptr());
                for (mut value, mut from) in ways {
                    value = if value == phi { shorter } else { value };
                    LLVMAddIncoming(shorter, &mut value, &mut from, 1);
                }
                LLVMReplaceAllUsesWith(phi, shorter);
                LLVMInstructionEraseFromParent(phi);
            }
            for phi in phis(new) {
                let count = LLVMCountIncoming(phi) as usize;
                let same = (0..count as u32).find(|&n| LLVMGetIncomingBlock(phi, n) == block);
                let from = same.unwrap_or_else(|| self.random.below(count) as u32);
                let (mut value, mut from) = (LLVMGetIncomingValue(phi, from), block);
                LLVMAddIncoming(phi, &mut value, &mut from, 1);
            }
            let before = text(inst);
            LLVMSetSuccessor(inst, edge, new);
            Some(format!("{before} led elsewhere over edge {edge}"))
        }
    }

    unsafe fn exchange(&mut self, inst: LLVMValueRef, a: u32, b: u32) -> Option<()> {
        // SAFETY: all handles are live and of the module that is changed.
        unsafe {
            let (x, y) = (LLVMGetOperand(inst, a), LLVMGetOperand(inst, b));
            if x == y {
                return None;
            }
            LLVMSetOperand(inst, a, y);
            LLVMSetOperand(inst, b, x);
            Some(())
        }
    }

    unsafe fn move_before(&mut self, inst: LLVMValueRef, place: LLVMValueRef) {
        // SAFETY: all handles are live and of the module that is changed.
        unsafe {
            LLVMInstructionRemoveFromParent(inst);
            LLVMPositionBuilderBefore(self.builder, place);
            LLVMInsertIntoBuilder(self.builder, inst);
        }
    }

    /// Values of a type that may be above an instruction: arguments, and all instructions.
    unsafe fn above(
        &self,
        inst: LLVMValueRef,
        ty: inkwell::llvm_sys::prelude::LLVMTypeRef,
    ) -> Vec<LLVMValueRef> {
        // SAFETY: all handles are live and of the module that is changed.
        unsafe {
            let arguments =
                (0..LLVMCountParams(self.function)).map(|n| LLVMGetParam(self.function, n));
            let all = self.instructions();
            let before = all.iter().copied().take_while(|&i| i != inst);
            arguments.chain(before).filter(|&v| LLVMTypeOf(v) == ty).collect()
        }
    }

    unsafe fn other(&mut self, inst: LLVMValueRef) -> Option<LLVMValueRef> {
        use LLVMIntPredicate::*;
        use LLVMOpcode::*;
        // SAFETY: all handles are live and of the module that is changed.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, inst);
            let (builder, name) = (self.builder, c"".as_ptr());
            let a = LLVMGetOperand(inst, 0);
            let opcode = LLVMGetInstructionOpcode(inst);
            let ty = LLVMTypeOf(inst);
            let new = match opcode {
                LLVMSExt => LLVMBuildZExt(builder, a, ty, name),
                LLVMZExt => LLVMBuildSExt(builder, a, ty, name),
                LLVMICmp => {
                    let all =
                        [LLVMIntEQ, LLVMIntNE, LLVMIntSLT, LLVMIntULT, LLVMIntSGT, LLVMIntUGE];
                    let predicate = all[self.random.below(all.len())];
                    if predicate == LLVMGetICmpPredicate(inst) {
                        return None;
                    }
                    LLVMBuildICmp(builder, predicate, a, LLVMGetOperand(inst, 1), name)
                }
                _ => {
                    let all = [LLVMAdd, LLVMSub, LLVMMul, LLVMAnd, LLVMOr, LLVMXor];
                    let other = all[self.random.below(all.len())];
                    if other == opcode {
                        return None;
                    }
                    LLVMBuildBinOp(builder, other, a, LLVMGetOperand(inst, 1), name)
                }
            };
            // The builder may have found a constant.
            (!LLVMIsAInstruction(new).is_null()).then_some(new)
        }
    }
}

unsafe fn is_int(value: LLVMValueRef) -> bool {
    // SAFETY: the value is live.
    unsafe { LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMTypeKind::LLVMIntegerTypeKind }
}

unsafe fn text(value: LLVMValueRef) -> String {
    // SAFETY: the value is live; the text is disposed of once.
    unsafe {
        let raw = LLVMPrintValueToString(value);
        let text = std::ffi::CStr::from_ptr(raw).to_string_lossy().trim().to_string();
        LLVMDisposeMessage(raw);
        text
    }
}
