//! Every reason why path profiling leaves a function alone.

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident: $message:literal,)*) => {
        /// Why a function is left alone. The name is stable and can be read by a machine; the text
        /// is what `-Rpass-missed=midflight` prints.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Skip {
            $($(#[$doc])* $reason,)*
        }

        impl Skip {
            /// A stable name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Skip::$reason => stringify!($reason),)*
                }
            }

            /// The text for a person.
            pub fn message(self) -> &'static str {
                match self {
                    $(Skip::$reason => $message,)*
                }
            }
        }
    };
}

reasons! {
    /// A copy for inlining only: the real one is profiled where it is.
    AvailableExternally: "its body here is a copy for inlining only",
    /// `__attribute__((naked))`
    Naked: "it is naked: there is no frame to keep anything in",
    /// `__attribute__((no_profile_instrument_function))`
    NoProfileAttribute: "its attributes ask for no profiling",
    /// A coroutine that is not split: it may be resumed in another thread.
    Coroutine: "it is a coroutine: it may be resumed in another thread",
    /// Exception handling with funclets
    FuncletPersonality: "its exception handling uses funclets",
    /// An ifunc resolver: it runs before the program is relocated.
    IfuncResolver: "it resolves an ifunc: it runs before relocation is done",
    /// A call that returns twice and may throw
    InvokeReturnsTwice: "an invoke or asm goto in it may return twice",
    /// Calls that are tied to convergence tokens (code for GPUs)
    ConvergenceControl: "its calls are tied to convergence tokens",
    /// More paths than IDs
    TooManyPaths: "it has more paths than a path ID can tell apart",
    /// The list of functions leaves it out.
    NotListed: "the list of functions leaves it out",
    /// It was instrumented already, by an earlier run of the pass.
    Instrumented: "it is instrumented already",
    /// A terminator of a kind that is not known
    UnknownTerminator: "it has a terminator of an unknown kind",
    /// A block without a terminator
    BrokenBlock: "it has a block without a terminator",
    /// The profile that counts are taken from does not have it.
    NotInProfile: "the profile has no function of this name",
    /// In the profile it has another graph; `{}` is for the hash of the one that it has now.
    CfgMismatch: "its control flow (hash {}) is not that of the profile, which is of another version of the source or of other options",
    /// It cannot be read, as it could not when the profile was made.
    NotReadable: "its control flow is of a kind that is not profiled",
}

impl Skip {
    /// True if reports tell of it: the function is not profiled anywhere, though it could run.
    pub fn is_told(self) -> bool {
        !matches!(self, Skip::AvailableExternally | Skip::Instrumented)
    }

    /// True if a user who asks for missed remarks wants to hear of it.
    pub fn is_news(self) -> bool {
        !matches!(self, Skip::AvailableExternally | Skip::NotListed | Skip::Instrumented)
    }
}
