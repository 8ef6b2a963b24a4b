//! Every reason why a function is not instrumented.

/// Why a function is left alone. The name is stable and can be read by a machine; the text is what
/// `-Rpass-missed=midflight` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skip {
    /// A copy for inlining only: the real one is profiled where it is.
    AvailableExternally,
    /// `__attribute__((naked))`
    Naked,
    /// `__attribute__((no_profile_instrument_function))`
    NoProfileAttribute,
    /// A coroutine that is not split: it may be resumed in another thread.
    Coroutine,
    /// Exception handling with funclets
    FuncletPersonality,
    /// An ifunc resolver: it runs before the program is relocated.
    IfuncResolver,
    /// A call that returns twice and may throw
    InvokeReturnsTwice,
    /// Calls that are tied to convergence tokens (code for GPUs)
    ConvergenceControl,
    /// More paths than IDs
    TooManyPaths,
    /// The list of functions leaves it out.
    NotListed,
    /// It was instrumented already, by an earlier run of the pass.
    Instrumented,
    /// A terminator of a kind that is not known
    UnknownTerminator,
    /// A block without a terminator
    BrokenBlock,
}

impl Skip {
    /// A stable name.
    pub fn name(self) -> &'static str {
        match self {
            Skip::AvailableExternally => "AvailableExternally",
            Skip::Naked => "Naked",
            Skip::NoProfileAttribute => "NoProfileAttribute",
            Skip::Coroutine => "Coroutine",
            Skip::FuncletPersonality => "FuncletPersonality",
            Skip::IfuncResolver => "IfuncResolver",
            Skip::InvokeReturnsTwice => "InvokeReturnsTwice",
            Skip::ConvergenceControl => "ConvergenceControl",
            Skip::TooManyPaths => "TooManyPaths",
            Skip::NotListed => "NotListed",
            Skip::Instrumented => "Instrumented",
            Skip::UnknownTerminator => "UnknownTerminator",
            Skip::BrokenBlock => "BrokenBlock",
        }
    }

    /// The text for a person.
    pub fn message(self) -> &'static str {
        match self {
            Skip::AvailableExternally => "its body here is a copy for inlining only",
            Skip::Naked => "it is naked: there is no frame to keep a path in",
            Skip::NoProfileAttribute => "its attributes ask for no profiling",
            Skip::Coroutine => "it is a coroutine: it may be resumed in another thread",
            Skip::FuncletPersonality => "its exception handling uses funclets",
            Skip::IfuncResolver => "it resolves an ifunc: it runs before relocation is done",
            Skip::InvokeReturnsTwice => "an invoke or asm goto in it may return twice",
            Skip::ConvergenceControl => "its calls are tied to convergence tokens",
            Skip::TooManyPaths => "it has more paths than a path ID can tell apart",
            Skip::NotListed => "the list of functions leaves it out",
            Skip::Instrumented => "it is instrumented already",
            Skip::UnknownTerminator => "it has a terminator of an unknown kind",
            Skip::BrokenBlock => "it has a block without a terminator",
        }
    }

    /// True if reports tell of it: the function is not profiled anywhere, though it could run.
    pub fn is_told(self) -> bool {
        !matches!(self, Skip::AvailableExternally | Skip::Instrumented)
    }

    /// True if a user who asks for missed remarks wants to hear of it.
    pub fn is_news(self) -> bool {
        !matches!(self, Skip::AvailableExternally | Skip::NotListed | Skip::Instrumented)
    }
}
