//! From expressions to two versions of each function, with the frames and markers that lead from
//! the fast one to the base version.

use crate::Expr::{self, Atom, List};
use crate::name_of;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{AnyValueEnum, BasicMetadataValueEnum, BasicValueEnum, FloatValue};
use inkwell::values::{FunctionValue, IntValue, OperandBundle, PointerValue};
use inkwell::{FloatPredicate, IntPredicate};

/// What is to be compiled, and where.
pub struct Compiler<'c, 'm> {
    context: &'c Context,
    module: &'m Module<'c>,
    builder: Builder<'c>,
    /// It is the fast version: values are `i32`, and those of the base version are doubles.
    fast: bool,
    function: FunctionValue<'c>,
    /// Variables, and values of expressions that are not complete: the state of a frame
    variables: Vec<(String, PointerValue<'c>)>,
    stack: Vec<BasicValueEnum<'c>>,
    /// Number of the next point; both versions count alike.
    point: u64,
}

pub type Built<T> = Result<T, BuilderError>;

impl<'c, 'm> Compiler<'c, 'm> {
    /// For one version of a function, which is declared.
    pub fn new(
        context: &'c Context,
        module: &'m Module<'c>,
        function: FunctionValue<'c>,
        fast: bool,
    ) -> Self {
        let (builder, variables, stack) = (context.create_builder(), Vec::new(), Vec::new());
        Compiler { context, module, builder, fast, function, variables, stack, point: 0 }
    }

    fn ty(&self) -> BasicTypeEnum<'c> {
        if self.fast { self.context.i32_type().into() } else { self.context.f64_type().into() }
    }

    fn intrinsic(&self, name: &str, types: &[BasicTypeEnum<'c>]) -> FunctionValue<'c> {
        Intrinsic::find(name).and_then(|i| i.get_declaration(self.module, types)).expect(name)
    }

    fn double(&self, value: BasicValueEnum<'c>) -> Built<FloatValue<'c>> {
        let BasicValueEnum::IntValue(int) = value else { return Ok(value.into_float_value()) };
        self.builder.build_signed_int_to_float(int, self.context.f64_type(), "double")
    }

    /// The values of a frame: doubles, as the base version has them.
    fn state(&self) -> Built<Vec<FloatValue<'c>>> {
        let load = |(_, at): &(String, PointerValue<'c>)| {
            self.double(self.builder.build_load(self.ty(), *at, "variable")?)
        };
        let stack = self.stack.iter().map(|&value| self.double(value));
        self.variables.iter().map(load).chain(stack).collect()
    }

    /// A point: in the base version it is marked, with the values of the state there.
    fn point(&mut self) -> Built<u64> {
        if !self.fast {
            let marker = self.module.get_function("midflight.landing").expect("it is declared");
            let number = self.context.i64_type().const_int(self.point, false);
            let mut arguments: Vec<BasicMetadataValueEnum> = vec![number.into()];
            arguments.extend(self.state()?.into_iter().map(BasicMetadataValueEnum::from));
            self.builder.build_call(marker, &arguments, "")?;
        }
        self.point += 1;
        Ok(self.point - 1)
    }

    /// `ptr VERSION, i64 POINT, i32 WHEN, i32 SLOT, i32 COUNT, values…`; a frame with a slot for a
    /// result is for the place behind a call. At the version's entry its values are the arguments.
    fn frame(
        &self,
        point: Option<u64>,
        slot: Option<usize>,
        values: &[FloatValue<'c>],
    ) -> OperandBundle<'c> {
        let name = format!("{}.base", self.function.get_name().to_string_lossy());
        let base = self.module.get_function(&name).expect("it is declared");
        let number = |n: u64| self.context.i32_type().const_int(n, true);
        let point = self.context.i64_type().const_int(point.unwrap_or(u64::MAX), true);
        let after = number(slot.is_some().into());
        let slot = number(slot.map_or(u64::MAX, |slot| slot as u64));
        let base: AnyValueEnum = base.as_global_value().as_pointer_value().into();
        let mut operands = vec![base, point.into(), after.into(), slot.into()];
        operands.push(number(values.len() as u64).into());
        operands.extend(values.iter().map(|&value| AnyValueEnum::from(value)));
        OperandBundle::create("deopt", &operands)
    }

    /// Goes on in the base version, with these values, unless a condition holds.
    fn unless(
        &self,
        holds: IntValue<'c>,
        point: Option<u64>,
        more: &[FloatValue<'c>],
    ) -> Built<()> {
        let [deopt, rest] = ["deopt", "rest"].map(|n| self.block(n));
        self.builder.build_conditional_branch(holds, rest, deopt)?;
        self.builder.position_at_end(deopt);
        let mut values = if point.is_some() { self.state()? } else { Vec::new() };
        values.extend(more);
        let double = self.context.f64_type();
        let deoptimize = self.intrinsic("llvm.experimental.deoptimize", &[double.into()]);
        let frame = self.frame(point, None, &values);
        let result =
            self.builder.build_direct_call_with_operand_bundles(deoptimize, &[], &[frame], "")?;
        self.builder.build_return(Some(&result.try_as_basic_value().unwrap_basic()))?;
        self.builder.position_at_end(rest);
        Ok(())
    }

    /// A double as a value of the version; elsewhere it goes on where a double is none.
    fn checked(
        &self,
        value: FloatValue<'c>,
        point: Option<u64>,
        more: &[FloatValue<'c>],
    ) -> Built<BasicValueEnum<'c>> {
        let (int, double) = (self.context.i32_type(), self.context.f64_type());
        let convert = self.intrinsic("llvm.fptosi.sat", &[int.into(), double.into()]);
        let int = self.builder.build_call(convert, &[value.into()], "int")?;
        let int = int.try_as_basic_value().unwrap_basic();
        let back = self.double(int)?;
        let same = self.builder.build_float_compare(FloatPredicate::OEQ, back, value, "same")?;
        self.unless(same, point, more)?;
        Ok(int)
    }

    fn block(&self, name: &str) -> BasicBlock<'c> {
        self.context.append_basic_block(self.function, name)
    }

    fn expr(&mut self, expr: &Expr) -> Built<BasicValueEnum<'c>> {
        let list = match expr {
            Atom(text) => match text.parse::<i32>() {
                Ok(n) if self.fast => {
                    return Ok(self.context.i32_type().const_int(n as u64, true).into());
                }
                Ok(n) => return Ok(self.context.f64_type().const_float(n.into()).into()),
                Err(_) => return self.builder.build_load(self.ty(), self.variable(text), text),
            },
            List(list) => list,
        };
        match (name_of(&list[0]), &list[1..]) {
            ("let", [name, value]) => {
                let value = self.expr(value)?;
                let at = self.builder.build_alloca(self.ty(), name_of(name))?;
                self.variables.push((name_of(name).to_string(), at));
                self.builder.build_store(at, value)?;
                Ok(value)
            }
            ("set", [name, value]) => {
                let value = self.expr(value)?;
                self.builder.build_store(self.variable(name_of(name)), value)?;
                Ok(value)
            }
            ("while", [condition, body @ ..]) => {
                let [head, inside, behind] = ["head", "body", "done"].map(|n| self.block(n));
                self.builder.build_unconditional_branch(head)?;
                self.builder.position_at_end(head);
                let value = self.less(condition)?;
                self.builder.build_conditional_branch(value, inside, behind)?;
                self.builder.position_at_end(inside);
                body.iter().try_for_each(|expr| self.expr(expr).map(drop))?;
                self.builder.build_unconditional_branch(head)?;
                self.builder.position_at_end(behind);
                Ok(self.ty().const_zero())
            }
            (name @ ("+" | "-" | "*"), [a, b]) => self.arithmetic(name, a, b),
            (name, arguments) => self.call(name, arguments),
        }
    }

    fn variable(&self, name: &str) -> PointerValue<'c> {
        let found = self.variables.iter().find(|(variable, _)| variable == name);
        found.unwrap_or_else(|| panic!("there is no variable {name}")).1
    }

    /// `(< a b)`
    fn less(&mut self, expr: &Expr) -> Built<IntValue<'c>> {
        let List(list) = expr else { panic!("a comparison is wanted") };
        let (a, b) = (self.expr(&list[1])?, self.expr(&list[2])?);
        match (a, b) {
            (BasicValueEnum::IntValue(a), BasicValueEnum::IntValue(b)) => {
                self.builder.build_int_compare(IntPredicate::SLT, a, b, "less")
            }
            _ => self.builder.build_float_compare(
                FloatPredicate::OLT,
                self.double(a)?,
                self.double(b)?,
                "less",
            ),
        }
    }

    fn arithmetic(&mut self, op: &str, a: &Expr, b: &Expr) -> Built<BasicValueEnum<'c>> {
        for operand in [a, b] {
            let value = self.expr(operand)?;
            self.stack.push(value);
        }
        let point = self.point()?;
        let [a, b] = self.stack[self.stack.len() - 2..] else { unreachable!("two were pushed") };
        let result = if self.fast {
            let name = match op {
                "+" => "llvm.sadd.with.overflow",
                "-" => "llvm.ssub.with.overflow",
                _ => "llvm.smul.with.overflow",
            };
            let both = self.builder.build_call(
                self.intrinsic(name, &[self.ty()]),
                &[a.into(), b.into()],
                "both",
            )?;
            let both = both.try_as_basic_value().unwrap_basic().into_struct_value();
            let overflows =
                self.builder.build_extract_value(both, 1, "overflows")?.into_int_value();
            self.unless(self.builder.build_not(overflows, "fits")?, Some(point), &[])?;
            self.builder.build_extract_value(both, 0, "result")?
        } else {
            let (a, b) = (a.into_float_value(), b.into_float_value());
            match op {
                "+" => self.builder.build_float_add(a, b, "sum")?.into(),
                "-" => self.builder.build_float_sub(a, b, "difference")?.into(),
                _ => self.builder.build_float_mul(a, b, "product")?.into(),
            }
        };
        self.stack.truncate(self.stack.len() - 2);
        Ok(result)
    }

    /// Functions take and return doubles. The point is behind the call, whose result comes last.
    fn call(&mut self, name: &str, arguments: &[Expr]) -> Built<BasicValueEnum<'c>> {
        let callee = self.module.get_function(name).unwrap_or_else(|| panic!("there is no {name}"));
        let values = arguments.iter().map(|argument| {
            let value = self.expr(argument)?;
            self.double(value)
        });
        let values: Vec<BasicMetadataValueEnum> =
            values.map(|v| v.map(Into::into)).collect::<Built<_>>()?;
        let mut frames = Vec::new();
        if self.fast {
            let mut state = self.state()?;
            state.push(self.context.f64_type().get_poison());
            frames.push(self.frame(Some(self.point), Some(state.len() - 1), &state));
        }
        let call =
            self.builder.build_direct_call_with_operand_bundles(callee, &values, &frames, name)?;
        let result = call.try_as_basic_value().unwrap_basic();
        self.stack.push(result);
        let point = self.point()?;
        self.stack.pop();
        match self.fast {
            true => {
                self.checked(result.into_float_value(), Some(point), &[result.into_float_value()])
            }
            false => Ok(result),
        }
    }

    /// `(def NAME (PARAMETER…) EXPR…)`, in one version
    pub fn define(&mut self, parameters: &Expr, body: &[Expr]) -> Built<()> {
        self.builder.position_at_end(self.block("entry"));
        let List(names) = parameters else { panic!("parameters are wanted") };
        let given: Vec<_> = self.function.get_param_iter().map(|p| p.into_float_value()).collect();
        for (name, &value) in names.iter().zip(&given) {
            let value = if self.fast { self.checked(value, None, &given)? } else { value.into() };
            let at = self.builder.build_alloca(self.ty(), name_of(name))?;
            self.builder.build_store(at, value)?;
            self.variables.push((name_of(name).to_string(), at));
        }
        let mut result = self.ty().const_zero();
        for expr in body {
            result = self.expr(expr)?;
        }
        self.builder.build_return(Some(&self.double(result)?)).map(drop)
    }
}
